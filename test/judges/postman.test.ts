import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isNode, type Node } from '../../src/describe/extensions.ts';
import { ROOT } from '../support/examples.ts';
import { installJudge } from '../support/npm-tools.ts';

/** Postman's own importer makes a collection of each document, with a request for each operation. */

interface Item {
  name: string;
  item?: Item[];
  request?: { method: string; url: { path: string[] } };
}

interface Importer {
  convert(
    input: { type: 'string'; data: string },
    options: object,
    done: (
      error: Error | null,
      outcome: { result: boolean; reason?: string; output?: { data: Item }[] },
    ) => void,
  ): void;
}

const importer: Importer = createRequire(import.meta.url)(
  join(await installJudge('postman'), 'openapi-to-postmanv2'),
);

const requestsOf = ({ item = [], request }: Item): string[] => [
  ...(request ? [`${request.method} /${request.url.path.join('/').replaceAll(/:(\w+)/g, '{$1}')}`] : []),
  ...item.flatMap(requestsOf),
];

const operationsOf = ({ paths }: { paths: Record<string, Node> }): string[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => isNode(operation))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );

it.each([
  'openapi.json',
  'specified/openapi.json',
  'operator.openapi.json',
  'portal.openapi.json',
  'practice.openapi.json',
])('Postman imports %s with one request for each operation', async (file) => {
  const data = readFileSync(join(ROOT, 'spec', file), 'utf8');
  const { promise, resolve, reject } = Promise.withResolvers<Item>();
  importer.convert({ type: 'string', data }, {}, (error, { result, reason, output } = { result: false }) => {
    const collection = output?.[0]?.data;
    if (error || !result || !collection) reject(error ?? new Error(reason));
    else resolve(collection);
  });
  expect(requestsOf(await promise).toSorted()).toEqual(operationsOf(JSON.parse(data)).toSorted());
});
