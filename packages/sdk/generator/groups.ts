import {
  type Content,
  nameOf,
  type OpenApi,
  type Operation,
  type Parameter,
  type Schema,
  typeName,
} from './document.ts';
import { camelCase, headerOptions, methodNames, pascalCase, streamedTypes } from './names.ts';
import { comment, declaration, typeWriter } from './types.ts';

/** Every operation as a method of the group that its tag names. */

export interface Found {
  operation: Operation;
  method: string;
  path: string;
}

export function operationsOf(openApi: OpenApi): Found[] {
  return Object.entries(openApi.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation === true ? [] : [{ operation, method: method.toUpperCase(), path }],
    ),
  );
}

export function groupsFile(openApi: OpenApi): string {
  const type = typeWriter();
  const types: string[] = [];
  const groups = openApi.tags.map((tag) => {
    const methods = operationsOf(openApi)
      .filter(({ operation }) => operation.tags[0] === tag.name)
      .map((found) => method(found, openApi, type, types));
    return `${comment(tag.description)}export class ${pascalCase(tag.name)} {
      readonly #transport: Transport;

      constructor(transport: Transport) {
        this.#transport = transport;
      }

      ${methods.join('\n\n')}
    }`;
  });
  const names = openApi.tags.map(({ name }) => name);
  const code = [
    ...types,
    ...groups,
    `/** Everything that the API can do. */
    export class Groups {
      ${names.map((name) => `readonly ${camelCase(name)}: ${pascalCase(name)};`).join('\n')}

      constructor(transport: Transport) {
        ${names.map((name) => `this.${camelCase(name)} = new ${pascalCase(name)}(transport);`).join('\n')}
      }
    }`,
  ].join('\n\n');
  const imports = [
    importOf(['Call', 'PageCall'], '../call.ts', code),
    importOf(['readFeedEvent'], '../event.ts', code, ''),
    importOf(['type Followed', 'type FollowOptions', 'follow'], '../follow.ts', code, ''),
    importOf(['CallOptions', 'Idempotency', 'IfMatch'], '../options.ts', code),
    importOf(['segment'], '../segment.ts', code, ''),
    importOf(['Transport'], '../transport.ts', code),
    importOf(Object.keys(openApi.components.schemas).map(typeName).sort(), './types.ts', code),
  ];
  return `${imports.filter(Boolean).join('\n')}\n\n${code}`;
}

function importOf(names: string[], from: string, code: string, kind = 'type '): string {
  const used = names.filter((name) =>
    new RegExp(`\\b${name.replace('type ', '')}\\b`).test(code.replaceAll(/\/\*\*.*?\*\//gs, '')),
  );
  return used.length === 0 ? '' : `import ${kind}{ ${used.join(', ')} } from '${from}';`;
}

function method(found: Found, openApi: OpenApi, type: (schema: Schema) => string, types: string[]): string {
  const { operation, path } = found;
  const { operationId } = operation;
  const name = methodNames[operationId];
  if (name === undefined) throw new Error(`Give ${operationId} a name in generator/names.ts.`);

  const parameters = (operation.parameters ?? []).map((one) => resolve(one, openApi));
  const named = (suffix: string, schema: Schema | undefined): string | undefined => {
    if (!schema || schema.$ref !== undefined) return schema && type(schema);
    types.push(declaration(pascalCase(operationId) + suffix, schema, type));
    return pascalCase(operationId) + suffix;
  };
  const ids = parameters.filter((one) => one.in === 'path').map((one) => one.name);
  const query = named('Query', querySchema(parameters.filter((one) => one.in === 'query')));
  const body = named('Body', jsonOf(operation.requestBody));
  const answer = answerOf(operation);
  const doc = comment(`${operation.summary.replace(/\w$/, '$&.')}\n\n${operation.description}`);

  if (answer.stream)
    return `${doc}${name}(options: ${query} & FollowOptions = {}): AsyncGenerator<Followed<${answer.type}>, never> {
      return follow(this.#transport, '${path}', options, ${readerOf(answer.type)});
    }`;

  const options = optionsType(operationId, parameters);
  const takes = [
    ...ids.map((id) => `${camelCase(id)}: string`),
    ...(body ? [`body: ${body}`] : []),
    ...(query ? [`query: ${query} = {}`] : []),
    `options: ${options} = {}`,
  ];
  const request = [
    `method: '${found.method}'`,
    `path: ${pathTemplate(path)}`,
    ...(query ? ['query'] : []),
    ...(body ? ['body'] : []),
    'options',
  ];
  const item = pageItem(answer.schema, openApi);
  const returns = item === undefined ? `Call<${answer.type}>` : `PageCall<${item}, ${answer.type}>`;
  const send = item === undefined ? 'call' : 'pages';
  const reader = item === undefined ? '' : readerOf(item);
  return `${doc}${name}(${takes.join(', ')}): ${returns} {
    return this.#transport.${send}({ ${request.join(', ')} }${reader && `, ${reader}`});
  }`;
}

export function resolve(parameter: Parameter | { $ref: string }, openApi: OpenApi): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const found = openApi.components.parameters[nameOf(parameter.$ref)];
  if (!found) throw new Error(`${parameter.$ref} leads nowhere.`);
  return found;
}

export function querySchema(parameters: Parameter[]): Schema | undefined {
  if (parameters.length === 0) return undefined;
  const properties = parameters.map(({ name, description, schema }) => [
    name,
    // What is undefined is not sent, so a cursor that may be there can be handed over as it is.
    { anyOf: [schema, { type: 'undefined' }], ...(description !== undefined && { description }) },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

export function jsonOf(content: Content | undefined): Schema | undefined {
  return content?.content?.['application/json']?.schema;
}

export function answerOf({ operationId, responses }: Operation): {
  type: string;
  schema?: Schema;
  stream?: true;
} {
  const [, success = {}] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const { content = {} } = success as Content;
  const [contentType, answer] = Object.entries(content)[0] ?? [];
  if (!answer) return { type: 'void' };
  if (contentType === 'text/event-stream') {
    const type = streamedTypes[operationId];
    if (type === undefined) throw new Error(`Say in generator/names.ts what ${operationId} streams.`);
    return { type, stream: true };
  }
  if (answer.schema.$ref === undefined)
    throw new Error(`The answer of ${operationId} has a schema without a name.`);
  return { type: nameOf(answer.schema.$ref), schema: answer.schema };
}

/** The schema of the entries, if the answer is a page that leads to a next one. */
export function pageItem(answer: Schema | undefined, openApi: OpenApi): string | undefined {
  const { properties = {} } = openApi.components.schemas[nameOf(answer?.$ref ?? '')] ?? {};
  return 'next_cursor' in properties ? nameOf(properties.data?.items?.$ref ?? '') : undefined;
}

/** Events may be of a kind that this version does not know, so they are looked at when they arrive. */
const readerOf = (item: string): string => (item === 'FeedEvent' ? 'readFeedEvent' : '');

function optionsType(operationId: string, parameters: Parameter[]): string {
  const headers = parameters.filter((one) => one.in === 'header').map((one) => one.name);
  const nameless = headers.find((header) => !(header in headerOptions));
  if (nameless)
    throw new Error(`${operationId} takes the header ${nameless}: name its option in generator/names.ts.`);
  const options = headers.flatMap((header) => headerOptions[header] ?? []);
  return [...new Set(['CallOptions', ...options])].join(' & ');
}

const pathTemplate = (path: string): string =>
  path.includes('{')
    ? `\`${path.replaceAll(/\{(\w+)\}/g, (_, name) => `\${segment(${camelCase(name)})}`)}\``
    : `'${path}'`;
