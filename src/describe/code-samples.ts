import type { Endpoint } from '../contract/endpoint.ts';
import { methodNames } from './client-methods.ts';
import type { Examples } from './examples/examples.ts';
import type { Node } from './extensions.ts';

/** The same call with the client libraries: shown in the reference beside the one with curl. */

export function codeSamplesOf(
  endpoint: Endpoint,
  request: Examples | undefined,
  parameters: Node[],
  origin: string,
): Node[] {
  const method = methodNames[endpoint.operationId];
  if (method === undefined) throw new Error(`Give ${endpoint.operationId} a name in client-methods.ts.`);
  const ids = parameters
    .filter((one) => one.in === 'path')
    .map(({ name, schema }) =>
      String(
        (schema as Node & { examples?: unknown[] }).examples?.[0] ?? placeholder(String(name), endpoint.tag),
      ),
    );
  const [example] = Object.values(request ?? {});
  const given = { origin, group: endpoint.tag, method, ids, body: example?.value };
  const many = endpoint.response.stream || isPage(endpoint) ? 'many' : 'one';
  const kind = endpoint.response.body || endpoint.response.stream ? many : 'none';
  return [
    { 'x-extension': true, lang: 'typescript', label: 'TypeScript', source: typeScript(given, kind) },
    { 'x-extension': true, lang: 'python', label: 'Python', source: python(given, kind) },
  ];
}

interface Given {
  origin: string;
  group: string;
  method: string;
  ids: string[];
  body: unknown;
}

/** How many things the call gives back. */
type Kind = 'none' | 'one' | 'many';

const placeholder = (name: string, tag: string): string =>
  name === 'id' ? `${tag.toLowerCase().replace(/s$/, '').replaceAll(' ', '_')}_id` : name;

const isPage = ({ query }: Endpoint): boolean => query !== undefined && 'page_size' in query.shape;

function typeScript({ origin, group, method, ids, body }: Given, kind: Kind): string {
  const [first = '', ...others] = group.split(' ');
  const name = [first.toLowerCase(), ...others.map((word) => word[0]?.toUpperCase() + word.slice(1))].join(
    '',
  );
  const values = [
    ...ids.map((id) => `'${id}'`),
    ...(body === undefined ? [] : [JSON.stringify(body, null, 2)]),
  ];
  const call = `porter.${name}.${method}(${values.join(', ')})`;
  const uses = {
    none: `await ${call};`,
    one: `console.log(await ${call});`,
    many: `for await (const one of ${call}) console.log(one);`,
  };
  return `import { Porter } from '@porter/sdk';

const porter = new Porter({
  baseUrl: '${origin}',
  apiKey: 'YOUR_KEY',
  practiceGroupId: 'riverside-surgery',
});
${uses[kind]}
`;
}

function python({ origin, group, method, ids, body }: Given, kind: Kind): string {
  const name = group.toLowerCase().replaceAll(' ', '_');
  const verb = method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const values = [...ids.map((id) => `"${id}"`), ...(body === undefined ? [] : [pythonValue(body, '')])];
  const call = `porter.${name}.${verb}(${values.join(', ')})`;
  const uses = { none: call, one: `print(${call})`, many: `for one in ${call}:\n    print(one)` };
  return `from porter_sdk import Porter

porter = Porter(
    base_url="${origin}",
    api_key="YOUR_KEY",
    practice_group_id="riverside-surgery",
)
${uses[kind]}
`;
}

function pythonValue(value: unknown, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const entries = Array.isArray(value)
    ? value.map((one) => pythonValue(one, inner))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pythonValue(one, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return entries.length === 0
    ? `${open}${close}`
    : `${open}\n${entries.map((one) => `${inner}${one},\n`).join('')}${indent}${close}`;
}
