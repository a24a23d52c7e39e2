import { type AsyncApi, nameOf, type OpenApi, type Schema, typeName } from './document.ts';
import { problemDetails } from './names.ts';

/** Schemas as TypeScript. What may be null says so, what may be left out has a `?`: they are not the same. */

export const eventNamesOf = (asyncApi: AsyncApi): string[] => Object.keys(asyncApi.channels);

export function typesFile(openApi: OpenApi, asyncApi: AsyncApi): string {
  const events = eventNamesOf(asyncApi);
  const {
    Problem: problem,
    EventPayload: payload,
    EventType: _names,
    ...schemas
  } = openApi.components.schemas;
  if (!problem || !payload) throw new Error('The specification has no Problem or no EventPayload.');
  const described = (payload.oneOf ?? []).map(({ $ref = '' }) => openApi.components.schemas[nameOf($ref)]);
  const names = described.map((schema) => schema?.properties?.event?.const);
  if (names.join() !== events.join())
    throw new Error('openapi.json and asyncapi.json do not have the same events.');

  const type = typeWriter();
  return [
    "import type { UnknownEvent } from '../unknown.ts';",
    `export const eventNames = ${JSON.stringify(events)} as const;`,
    '/** The events that this version of the library knows. */\nexport type EventName = (typeof eventNames)[number];',
    ...Object.entries(schemas).map(([name, schema]) => declaration(name, schema, type)),
    `/** What happened: told apart by \`event\`. New kinds may come at any time, and arrive as \`unknown\`. */
    export type EventPayload = ${type(payload)} | UnknownEvent;`,
    problemTypes(problem, type),
  ].join('\n\n');
}

type TypeWriter = (schema: Schema) => string;

export function typeWriter(): TypeWriter {
  const union = (types: string[]) => [...new Set(types)].join(' | ');
  const type: TypeWriter = (schema) => {
    if (schema.$ref !== undefined) return typeName(nameOf(schema.$ref));
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return union(choices.map(type));
    if (Array.isArray(schema.type)) return union(schema.type.map((one) => type({ ...schema, type: one })));
    switch (schema.type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'undefined':
        return schema.type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array':
        return arrayOf(type(schema.items ?? {}));
      case 'object':
        return objectType(schema, type);
      case undefined:
        // Any JSON at all: what the schema does not narrow.
        if (Object.keys(schema).every((key) => key === 'description')) return 'unknown';
        throw new Error(`No type for this schema: ${JSON.stringify(schema)}`);
      default:
        throw new Error(`No type for this schema: ${JSON.stringify(schema)}`);
    }
  };
  return type;
}

const arrayOf = (item: string): string => (item.includes(' ') ? `(${item})[]` : `${item}[]`);

function objectType(schema: Schema, type: TypeWriter): string {
  const names = Object.keys(schema.properties ?? {});
  if (!schema.properties && typeof schema.additionalProperties === 'object')
    return `Record<string, ${type(schema.additionalProperties)}>`;
  // Exactly one of them, with those that depend on it: each shape has no field of the others.
  const dependent = schema.dependentRequired ?? {};
  const leading = names.filter((name) => !(name in dependent));
  if (schema.minProperties === 1 && schema.maxProperties === 1 + Object.keys(dependent).length)
    return leading
      .map((lead) =>
        names.map((name) => {
          if (name === lead) return field(schema, name, type, true);
          return dependent[name]?.includes(lead) ? field(schema, name, type, false) : `${name}?: never;`;
        }),
      )
      .map((fields) => `{\n${fields.join('\n')}\n}`)
      .join(' | ');
  return `{\n${names.map((name) => field(schema, name, type)).join('\n')}\n}`;
}

function field(
  schema: Schema,
  name: string,
  type: TypeWriter,
  required = schema.required?.includes(name),
): string {
  const property = schema.properties?.[name] ?? {};
  return `${comment(property.description)}${name}${required ? '' : '?'}: ${type(property)};`;
}

export function declaration(name: string, schema: Schema, type: TypeWriter): string {
  const text = type(schema);
  const head = `${comment(schema.description)}export`;
  const isInterface = schema.properties && schema.maxProperties === undefined;
  return isInterface ? `${head} interface ${name} ${text}` : `${head} type ${name} = ${text};`;
}

/** One shape for each set of details, so that whoever has looked at `error` knows which there are. */
function problemTypes(problem: Schema, type: TypeWriter): string {
  const { error, ...properties } = problem.properties ?? {};
  const required = problem.required ?? [];
  const details = Object.keys(properties).filter((name) => !required.includes(name));
  const nameless = details.find((name) => !(name in problemDetails));
  if (nameless) throw new Error(`Say in generator/names.ts which problem comes with ${nameless}.`);

  const codes = (error?.enum ?? []).map(String);
  const detailsOf = (code: string) => details.filter((name) => problemDetails[name] === code);
  const shape = (forCodes: string[], extra: string[]) =>
    objectType(
      {
        properties: { error: { enum: forCodes }, ...pick(properties, required), ...pick(properties, extra) },
        required: [...required, ...extra],
      },
      type,
    );
  const plain = codes.filter((code) => detailsOf(code).length === 0);
  const detailed = codes.filter((code) => detailsOf(code).length > 0);
  const shapes = [shape(plain, []), ...detailed.map((code) => shape([code], detailsOf(code)))];
  return [
    `export const problemCodes = ${JSON.stringify(codes)} as const;`,
    `${comment(problem.description)}export type Problem = ${shapes.join(' | ')};`,
  ].join('\n\n');
}

const pick = (properties: Record<string, Schema>, names: string[]): Record<string, Schema> =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)));

/** Lines that are not too long to read, and cannot end the comment. */
export function comment(text: string | undefined): string {
  if (!text) return '';
  const lines = text
    .replaceAll('*/', '* /')
    .split('\n')
    .flatMap((line) => line.match(/.{1,100}(?:\s|$)|^$/g) ?? [line])
    .map((line) => line.trimEnd());
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}
