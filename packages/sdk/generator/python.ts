import { nameOf, type OpenApi, type Parameter, type Schema, typeName } from './document.ts';
import { answerOf, type Found, jsonOf, operationsOf, pageItem, resolve } from './groups.ts';
import { methodNames, pascalCase } from './names.ts';

/** The same specification as Python: schemas as TypedDicts, operations as methods, for programs that wait and for those that do not. */

const KEYWORDS = ['from', 'import', 'in', 'is', 'class', 'global', 'not', 'pass'];

const snakeCase = (words: string): string =>
  words
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[\s-]+/g, '_')
    .toLowerCase();

const argumentName = (name: string): string => (KEYWORDS.includes(name) ? `${name}_` : snakeCase(name));

/** Writes schemas as types; what has fields but no name becomes a class of its own, named after where it stands. */
class Types {
  readonly classes: string[] = [];

  declare(name: string, schema: Schema): void {
    const { properties = {}, minProperties, maxProperties } = schema;
    const names = Object.keys(properties);
    if (!schema.properties) this.#alias(name, schema.description, this.type(schema, name));
    // Exactly one of them.
    else if (minProperties === 1 && maxProperties === 1) {
      const shapes = names.map((field) => `${name}${pascalCase(field)}`);
      for (const [at, field] of names.entries())
        this.#class(shapes[at] ?? '', { ...schema, required: [field], properties: pick(properties, field) });
      this.#alias(name, schema.description, shapes.join(' | '));
    } else this.#class(name, schema);
  }

  #alias(name: string, description: string | undefined, type: string): void {
    const text = `${name}: TypeAlias = "${type.replaceAll('"', "'")}"`;
    this.classes.push([text, ...(description ? [docstring(description, '')] : [])].join('\n'));
  }

  #class(name: string, schema: Schema): void {
    const fields = Object.entries(schema.properties ?? {}).map(([field, property]) => {
      if (KEYWORDS.includes(field)) throw new Error(`${name}.${field} is a keyword of Python.`);
      const type = this.type(property, `${name}${pascalCase(field)}`);
      const isRequired = schema.required?.includes(field);
      const lines = [`    ${field}: ${isRequired ? type : `NotRequired[${type}]`}`];
      if (property.description) lines.push(docstring(property.description, '    '));
      return lines.join('\n');
    });
    const head = schema.description ? [docstring(schema.description, '    '), ''] : [];
    this.classes.push([`class ${name}(TypedDict):`, ...head, ...fields].join('\n'));
  }

  type(schema: Schema, place: string): string {
    if (schema.$ref !== undefined) return typeName(nameOf(schema.$ref));
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const choices = schema.anyOf ?? schema.oneOf;
    const union = (types: string[]) => [...new Set(types)].join(' | ');
    if (choices) return union(choices.map((one) => this.type(one, place)));
    if (Array.isArray(schema.type))
      return union(schema.type.map((one) => this.type({ ...schema, type: one }, place)));
    switch (schema.type) {
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'array':
        return `list[${this.type(schema.items ?? {}, `${place}Item`)}]`;
      case 'object':
        return this.#objectType(schema, place);
      default:
        throw new Error(`No type for this schema: ${JSON.stringify(schema)}`);
    }
  }

  #objectType(schema: Schema, place: string): string {
    if (schema.properties) {
      this.#class(place, schema);
      return place;
    }
    const { additionalProperties: others } = schema;
    return `dict[str, ${typeof others === 'object' ? this.type(others, `${place}Value`) : 'object'}]`;
  }
}

const literal = (value: unknown): string =>
  value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : JSON.stringify(value);

const pick = (properties: Record<string, Schema>, name: string): Record<string, Schema> => ({
  [name]: properties[name] ?? {},
});

export function pythonTypes(openApi: OpenApi, events: readonly string[]): string {
  const types = new Types();
  const { EventPayload: payload, EventType: _names, ...schemas } = openApi.components.schemas;
  for (const [name, schema] of Object.entries(schemas)) types.declare(name, schema);
  for (const { operation } of operationsOf(openApi)) {
    const body = jsonOf(operation.requestBody);
    if (body && body.$ref === undefined) types.declare(`${pascalCase(operation.operationId)}Body`, body);
  }
  const names = events.map((name) => `    ${JSON.stringify(name)},`).join('\n');
  return [
    '"""What travels over the wire."""',
    'from __future__ import annotations',
    'from typing import Literal, NotRequired, TypeAlias, TypedDict, get_args',
    `EventName = Literal[\n${names}\n]\n"""The events that this version of the library knows."""`,
    'EVENT_NAMES: tuple[EventName, ...] = get_args(EventName)',
    `class UnknownEvent(TypedDict):
    """An event of a kind that is not known here: acknowledge it and go on, or look at \`name\` and \`payload\`."""

    event: Literal["unknown"]
    name: str
    payload: dict[str, object]`,
    ...types.classes,
    `EventPayload: TypeAlias = "${types.type(payload ?? {}, 'EventPayload')} | UnknownEvent"
"""What happened: told apart by \`event\`. New kinds may come at any time, and arrive as \`unknown\`."""`,
  ]
    .join('\n\n\n')
    .replaceAll(/\n\n\n(?=from |EVENT_NAMES)/g, '\n\n');
}

export function pythonGroups(openApi: OpenApi): string {
  const types = new Types();
  const groups = openApi.tags.flatMap((tag) => {
    const found = operationsOf(openApi).filter(({ operation }) => operation.tags[0] === tag.name);
    return [false, true].map((isAsync) => {
      const prefix = isAsync ? 'Async' : '';
      const methods = found.map((one) => method(one, openApi, types, isAsync));
      return `class ${prefix}${pascalCase(tag.name)}:
${docstring(tag.description, '    ')}

    def __init__(self, transport: ${prefix}Transport) -> None:
        self._transport = transport

${methods.join('\n\n')}`;
    });
  });
  const all = ['', 'Async'].map((prefix) => {
    const fields = openApi.tags.map(
      ({ name }) => `        self.${snakeCase(name)} = ${prefix}${pascalCase(name)}(transport)`,
    );
    return `class ${prefix}Groups:
    """Everything that the API can do."""

    def __init__(self, transport: ${prefix}Transport) -> None:
${fields.join('\n')}`;
  });
  const code = [...groups, ...all].join('\n\n\n');
  const names = [
    ...Object.keys(openApi.components.schemas).map(typeName),
    ...operationsOf(openApi).map(({ operation }) => `${pascalCase(operation.operationId)}Body`),
  ];
  const bare = code.replaceAll(/"""[\s\S]*?"""/g, '');
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(bare)).sort();
  return `"""The operations of the API, a class for each group and a method for each operation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Literal, Unpack, cast

from ._options import CallOptions, IdempotentOptions, IfMatchOptions
from ._pages import AsyncPages, Pages
from ._stream import Followed
from ._transport import AsyncTransport, Transport, segment
from .types import (
${used.map((name) => `    ${name},`).join('\n')}
)


${code}
`;
}

const optionsTypes: Record<string, string> = {
  'If-Match': 'IfMatchOptions',
  'Idempotency-Key': 'IdempotentOptions',
};

function method(
  { operation, method: verb, path }: Found,
  openApi: OpenApi,
  types: Types,
  isAsync: boolean,
): string {
  const { operationId } = operation;
  const name = snakeCase(methodNames[operationId] ?? '');
  const parameters = (operation.parameters ?? []).map((one) => resolve(one, openApi));
  const ids = parameters.filter((one) => one.in === 'path').map((one) => argumentName(one.name));
  const query = parameters.filter((one) => one.in === 'query');
  const schema = jsonOf(operation.requestBody);
  const body = schema && (schema.$ref === undefined ? `${pascalCase(operationId)}Body` : nameOf(schema.$ref));
  const options =
    parameters.flatMap((one) => (one.in === 'header' ? (optionsTypes[one.name] ?? []) : []))[0] ??
    'CallOptions';
  const answer = answerOf(operation);
  const prefix = isAsync ? 'Async' : '';
  const typeOfParameter = ({ schema: one }: Parameter) => queryType(types, one);
  const takes = [
    'self',
    ...ids.map((id) => `${id}: str`),
    ...(ids.length > 0 ? ['/'] : []),
    ...(body ? [`body: ${body}`] : []),
    ...(query.length > 0 ? ['*'] : []),
    ...query.map((one) => `${argumentName(one.name)}: ${typeOfParameter(one)} | None = None`),
  ];
  const url = path.includes('{')
    ? `f"${path.replaceAll(/\{(\w+)\}/g, (_, id) => `{segment(${argumentName(id)})}`)}"`
    : `"${path}"`;
  const given = `{${query.map((one) => `"${one.name}": ${argumentName(one.name)}`).join(', ')}}`;
  const doc = docstring(`${operation.summary.replace(/\w$/, '$&.')}\n\n${operation.description}`, '        ');
  const define = (returns: string, code: string, extra: string, keyword = 'def') =>
    `    ${keyword} ${name}(
${[...takes, extra]
  .map((one) => `        ${one},`)
  .join('\n')
  .replace(/(\*\*options.*),$/, '$1,')}
    ) -> ${returns}:
${doc}
        ${code}`;
  if (answer.stream)
    return define(
      isAsync ? 'AsyncIterator[Followed]' : 'Iterator[Followed]',
      `return self._transport.follow(${url}, ${given}, silence)`,
      'silence: float = 45.0',
    );
  const options_ = `**options: Unpack[${options}]`;
  const item = pageItem(answer.schema, openApi);
  if (item !== undefined)
    return define(
      `${prefix}Pages[${item}, ${answer.type}]`,
      `return ${prefix}Pages(self._transport, ${url}, ${given}, options)`,
      options_,
    );
  const sent = `self._transport.call("${verb}", ${url}, ${given}, ${body ? 'body' : 'None'}, options)`;
  const waited = isAsync ? `await ${sent}` : sent;
  const keyword = isAsync ? 'async def' : 'def';
  return answer.type === 'void'
    ? define('None', waited, options_, keyword)
    : define(answer.type, `return cast(${answer.type}, ${waited})`, options_, keyword);
}

function queryType(types: Types, schema: Schema): string {
  const type = types.type(schema, '');
  return type.replace(/^list\[(.*)\]$/, 'Sequence[$1]');
}

/** Wrapped, and without what would end it. */
function docstring(text: string, indent: string): string {
  const lines = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', "'''")
    .trim()
    .split('\n')
    .flatMap((line) => line.match(/.{1,96}(?:\s|$)|^$/g) ?? [line])
    .map((line) => line.trimEnd());
  const tail = lines.at(-1)?.endsWith('"') ? ' ' : '';
  return lines.length === 1
    ? `${indent}"""${lines[0]}${tail}"""`
    : `${indent}"""${lines.map((line, at) => (at === 0 || line === '' ? line : indent + line)).join('\n')}\n${indent}"""`;
}
