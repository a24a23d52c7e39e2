import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AsyncApi, OpenApi, Operation } from '../../packages/sdk/generator/document.ts';
import { groupsFile, operationsOf } from '../../packages/sdk/generator/groups.ts';
import { camelCase, methodNames, problemDetails } from '../../packages/sdk/generator/names.ts';
import { typesFile } from '../../packages/sdk/generator/types.ts';
import { Porter, PorterApiError } from '../../packages/sdk/src/index.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => JSON.parse(readFileSync(resolve(root, path), 'utf8'));
const openApi: OpenApi = read('spec/openapi.json');
const asyncApi: AsyncApi = read('spec/asyncapi.json');

/** The specification with a change to one operation. */
function changed(operationId: string, change: (operation: Operation) => Partial<Operation>): OpenApi {
  const copy = structuredClone(openApi);
  const found = operationsOf(copy).find(({ operation }) => operation.operationId === operationId);
  if (!found) throw new Error(`No ${operationId}.`);
  Object.assign(found.operation, change(found.operation));
  return copy;
}

describe('the generated library', () => {
  it('says what the specification says', () => {
    const options = { cwd: root, encoding: 'utf8', stdio: 'pipe' } as const;
    expect(execFileSync(process.execPath, ['packages/sdk/generate.ts', '--check'], options)).toBe('');
  });

  it('reaches every operation of the specification', async () => {
    const sent: string[] = [];
    const porter = new Porter({
      apiKey: 'key',
      practiceGroupId: 'group',
      baseUrl: 'https://porter.test',
      fetch: async (url, init) => {
        sent.push(`${init?.method} ${new URL(String(url)).pathname}`);
        return new Response('{}', { status: 404 });
      },
    });
    const groups = porter as unknown as Record<string, Record<string, (...given: unknown[]) => unknown>>;
    const operations = operationsOf(openApi);
    for (const { operation, path } of operations) {
      const { operationId, tags, requestBody } = operation;
      const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const group = groups[camelCase(tags[0] ?? '')];
      const call = group?.[methodNames[operationId] ?? '']?.call(group, ...ids, ...(requestBody ? [{}] : []));
      const end =
        operationId === 'streamEvents' ? (call as AsyncGenerator).next() : (call as Promise<unknown>);
      await expect(end).rejects.toThrow(PorterApiError);
    }
    expect(operations.length).toBeGreaterThanOrEqual(17);
    expect(sent).toEqual(operations.map(({ method, path }) => `${method} ${path.replaceAll(/[{}]/g, '')}`));
  });

  it('names no operation that is gone', () => {
    const known = operationsOf(openApi).map(({ operation }) => operation.operationId);
    expect(Object.keys(methodNames).sort()).toEqual(known.sort());
  });
});

it('a problem comes with the details that its type promises, in every example of the specification', () => {
  const found: Record<string, unknown>[] = [];
  JSON.stringify(openApi, (_key, value) => {
    if (typeof value?.error === 'string' && value.statusCode) found.push(value);
    return value;
  });
  const details = Object.keys(problemDetails);
  for (const example of found)
    expect(details.filter((name) => name in example)).toEqual(
      details.filter((name) => problemDetails[name] === example.error),
    );
  const shown = new Set(found.map(({ error }) => error));
  expect(Object.values(problemDetails).filter((code) => code && !shown.has(code))).toEqual([]);
});

describe('the generator refuses', () => {
  it('an operation without a name', () => {
    const document = changed('listWebhooks', () => ({ operationId: 'listSomethingNew' }));
    expect(() => groupsFile(document)).toThrow('Give listSomethingNew a name in generator/names.ts.');
  });

  it('a header that no option stands for', () => {
    const parameter = { name: 'x-new', in: 'header', schema: { type: 'string' } };
    const document = changed('listWebhooks', () => ({ parameters: [parameter] }));
    expect(() => groupsFile(document)).toThrow('listWebhooks takes the header x-new');
  });

  it('a stream of nobody knows what', () => {
    const document = changed('getWebhook', () => ({
      responses: { 200: { content: { 'text/event-stream': { schema: { type: 'string' } } } } },
    }));
    expect(() => groupsFile(document)).toThrow('what getWebhook streams');
  });

  it('an answer without a name, and a schema that it cannot read', () => {
    const nameless = changed('getWebhook', () => ({
      responses: { 200: { content: { 'application/json': { schema: { type: 'object' } } } } },
    }));
    expect(() => groupsFile(nameless)).toThrow('The answer of getWebhook has a schema without a name.');
    const strange = structuredClone(openApi);
    strange.components.schemas.Address = { type: 'strange' };
    expect(() => typesFile(strange, asyncApi)).toThrow('No type for this schema');
  });

  it('events that the two documents do not agree on', () => {
    const { 'prescription.issued': _dropped, ...channels } = asyncApi.channels;
    expect(() => typesFile(openApi, { channels })).toThrow('do not have the same events');
  });

  it('a detail of problems of which nobody said when it comes', () => {
    const copy = structuredClone(openApi);
    Object.assign(copy.components.schemas.Problem?.properties ?? {}, { hint: { type: 'string' } });
    expect(() => typesFile(copy, asyncApi)).toThrow('which problem comes with hint');
  });
});

describe('the options of an operation', () => {
  it('have an idempotency key exactly where the specification declares it', () => {
    const key = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } };
    const document = changed('createWebhook', ({ parameters = [] }) => ({
      parameters: [...parameters, key],
    }));
    const signature = 'create(body: CreateWebhookBody, options: CallOptions & Idempotency = {})';
    expect(groupsFile(document)).toContain(signature);
    const declared = operationsOf(openApi).filter(({ operation }) =>
      /Idempotency-?Key/.test(JSON.stringify(operation.parameters)),
    );
    expect(groupsFile(openApi).split('& Idempotency').length - 1).toBe(declared.length);
  });
});
