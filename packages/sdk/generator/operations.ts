import { nameOf, type OpenApi, type Operation, type Schema, typeName } from './document.ts';
import { jsonOf, operationsOf, querySchema, resolve } from './groups.ts';
import { declaration, typeWriter } from './types.ts';

/**
 * A document as one table: what each operation takes and answers as a type, its method and path as data. The console calls by name, with
 * one function for all of them.
 */
export function operationsFile(openApi: OpenApi): string {
  const type = typeWriter();
  const found = operationsOf(openApi).map((one) => ({ ...one, answers: answersOf(one.operation, openApi) }));
  const types = found.map(({ operation, answers }) => {
    const answer = answers.map((schema) => (schema ? type(schema) : 'undefined')).join(' | ');
    const parameters = (operation.parameters ?? []).map((one) => resolve(one, openApi));
    const path = parameters.filter((one) => one.in === 'path');
    const parts = [
      ...(path.length > 0
        ? [`params: { ${path.map(({ name }) => `${name}: string | number`).join('; ')} };`]
        : []),
      ...taken('query', querySchema(parameters.filter((one) => one.in === 'query')), false, type),
      ...taken('body', jsonOf(operation.requestBody), isRequired(operation), type),
    ];
    const input = parts.length > 0 ? `{ ${parts.join(' ')} }` : 'Record<never, never>';
    return `${operation.operationId}: { input: ${input}; answer: ${answer} };`;
  });
  const table = found.map(
    ({ operation, method, path }) => `${operation.operationId}: ['${method}', '${path}'],`,
  );
  return [
    ...Object.entries(openApi.components.schemas).map(([name, schema]) =>
      declaration(typeName(name), schema, type),
    ),
    `export interface Operations {\n${types.join('\n')}\n}`,
    `export const operations = {\n${table.join('\n')}\n} as const satisfies Record<keyof Operations, readonly [string, string]>;`,
  ].join('\n\n');
}

/** What people call each operation of these documents. An ID is the same operation in all of them. */
export function titlesFile(documents: readonly OpenApi[]): string {
  const titles = new Map(
    documents
      .flatMap(operationsOf)
      .map(({ operation: { operationId, summary } }) => [operationId, summary] as const),
  );
  const table = [...titles]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, title]) => `${id}: ${JSON.stringify(title)},`);
  return `export const operationTitles: Readonly<Record<string, string>> = {\n${table.join('\n')}\n};`;
}

function taken(
  name: string,
  schema: Schema | undefined,
  required: boolean,
  type: (schema: Schema) => string,
): string[] {
  return schema ? [`${name}${required ? '' : '?'}: ${type(schema)};`] : [];
}

function isRequired({ requestBody }: Operation): boolean {
  return (requestBody as { required?: boolean } | undefined)?.required === true;
}

/** What a success brings: undefined where that is nothing, or not read as one JSON text. Several, where a call may be taken down to be done later. */
function answersOf({ responses }: Operation, openApi: OpenApi): (Schema | undefined)[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, success]) =>
      jsonOf('$ref' in success ? openApi.components.responses[nameOf(success.$ref)] : success),
    );
}
