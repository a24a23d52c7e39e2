import { type Content, nameOf, type OpenApi, type Operation, type Schema } from './document.ts';
import { jsonOf, operationsOf, querySchema, resolve } from './groups.ts';
import { declaration, typeWriter } from './types.ts';

/**
 * A document as one table: what each operation takes and answers as a type, its method and path as data. The console calls by name, with
 * one function for all of them.
 */
export function operationsFile(openApi: OpenApi, events: readonly string[]): string {
  const type = typeWriter(events);
  const found = operationsOf(openApi).map((one) => ({ ...one, answer: answerOf(one.operation) }));
  const types = found.map(({ operation, answer }) => {
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
    return `${operation.operationId}: { input: ${input}; answer: ${answer ? type(answer) : 'undefined'} };`;
  });
  const table = found.map(
    ({ operation, method, path }) => `${operation.operationId}: ['${method}', '${path}'],`,
  );
  return [
    `export type EventName = ${events.map((name) => JSON.stringify(name)).join(' | ')};`,
    ...Object.entries(openApi.components.schemas).map(([name, schema]) => declaration(name, schema, type)),
    `export interface Operations {\n${types.join('\n')}\n}`,
    `export const operations = {\n${table.join('\n')}\n} as const satisfies Record<keyof Operations, readonly [string, string]>;`,
  ].join('\n\n');
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

/** Undefined: nothing, or what is not read as one JSON text. */
function answerOf({ responses }: Operation): Schema | undefined {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  if (success && '$ref' in success) throw new Error(`${nameOf(success.$ref)} is no success.`);
  return jsonOf(success as Content | undefined);
}
