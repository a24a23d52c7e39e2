import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { afterwards, temporaryFolder } from '../support/afterwards.ts';
import { installJudge } from '../support/npm-tools.ts';
import { freePort } from '../support/porter-process.ts';
import { type RecordedCall, recordedCalls } from '../support/recorded-calls.ts';

/**
 * What the service tests have sent and were answered goes once more through Prism, a proxy that compares both with the documents. The calls
 * are those of `PORTER_RECORD_CALLS`, where `npm test` ran with it; otherwise the quick tier and the
 * tests of guests are run here, which make some of each kind.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const calls = recordedCalls(process.env.PORTER_RECORD_CALLS ?? (await recordQuickTier()));
const prism = join(await installJudge('prism'), '@stoplight/prism-cli/dist/index.js');
const upstream = await startUpstream();

async function recordQuickTier(): Promise<string> {
  const folder = temporaryFolder();
  const env = { ...process.env, PORTER_RECORD_CALLS: folder };
  const record = (...which: string[]) =>
    run('npx', ['vitest', 'run', '--project', ...which], { cwd: ROOT, env, maxBuffer: 64 * 1024 * 1024 });
  await record('quick');
  // Nobody is a guest in the quick tier.
  await record('service', 'test/service/portal-', 'test/service/practice-pages', 'test/service/stops');
  return folder;
}

/** Answers each call with what was recorded. */
async function startUpstream(): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    for await (const _chunk of incoming);
    const call = calls[Number(incoming.headers['x-recorded-call'])];
    const { 'content-length': _, connection: __, 'keep-alive': ___, ...headers } = call?.answer.headers ?? {};
    outgoing.writeHead(call?.answer.status ?? 599, headers).end(call?.answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** It answers in the service's place when something is not as documented. */
async function startPrism(document: string, ...options: string[]): Promise<string> {
  const port = await freePort();
  const args = [prism, 'proxy', join(ROOT, 'spec', document), upstream, '--port', String(port), '--errors'];
  const child = spawn(process.execPath, [...args, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  afterwards(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await new Promise<void>((done, fail) => {
    child.once('exit', (code) => fail(new Error(`Prism ended with ${code}.`)));
    child.stdout.on('data', (text) => String(text).includes('listening on') && done());
  });
  return `http://127.0.0.1:${port}`;
}

interface Complaint {
  detail: string;
  validation?: { location?: string[]; message: string }[];
}

/** Whatever a refused call was: it is not judged, and Prism does not live through some of them. */
const WITH_CREDENTIALS = {
  'x-api-key': 'any',
  'x-practice-group-id': 'any',
  authorization: 'Bearer any',
  cookie: '__Host-porter-session=any',
};

/** The documents name the cookie as it is called over HTTPS, and Prism does not know that `bearer` is `Bearer`. */
const asDescribed = ({ cookie, authorization, ...headers }: Record<string, string>) => ({
  ...headers,
  ...(authorization !== undefined && { authorization: authorization.replace(/^bearer/i, 'Bearer') }),
  ...(cookie !== undefined && { cookie: `__Host-${cookie}` }),
});

async function complaintsAbout(call: RecordedCall, at: number, proxy: string): Promise<string[]> {
  const { operationId, method, path, body, answer } = call;
  const response = await request(proxy + path, {
    method: method as 'GET',
    headers: {
      ...(answer.status < 400 ? asDescribed(call.headers) : WITH_CREDENTIALS),
      'x-recorded-call': String(at),
    },
    body: body === null ? null : Buffer.from(body, 'base64'),
    headersTimeout: 60_000,
  }).catch((error) => {
    throw new Error(`Prism does not answer ${operationId} ${answer.status}`, { cause: error });
  });
  const text = await response.body.text();
  if (!String(response.headers['content-type']).startsWith('application/problem+json')) {
    expect([operationId, response.statusCode]).toEqual([operationId, answer.status]);
    return [];
  }
  const { detail, validation = [] }: Complaint = JSON.parse(text);
  const found = validation.map(({ location = [], message }) => `${location.join('.')} ${message}`);
  return (found.length > 0 ? found : [detail]).map((what) => `${operationId} ${answer.status}: ${what}`);
}

it.each([
  ['partner', 'openapi.json'],
  ['operator', 'operator.openapi.json'],
  ['portal', 'portal.openapi.json'],
  ['practice', 'practice.openapi.json'],
] as const)('the %s document describes every call and every answer', async (audience, document) => {
  const ofBoth = await startPrism(document);
  // Refusals answer to requests that are wrong, and an import says in its 200 which items are: only the answer is judged.
  const ofAnswers = await startPrism(document, '--validate-request=false');
  const queue = [...calls.entries()].filter(([, call]) => call.audience === audience);
  const operations = new Set(queue.map(([, { operationId }]) => operationId));
  console.log(`${queue.length} calls of ${operations.size} operations`);
  expect(queue).not.toEqual([]);
  const wrong = new Set<string>();
  const work = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      const [at, call] = next;
      const isRight = call.answer.status < 400 && call.operationId !== 'importItems';
      const proxy = isRight ? ofBoth : ofAnswers;
      for (const complaint of await complaintsAbout(call, at, proxy)) wrong.add(complaint);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect([...wrong].sort()).toEqual([]);
});
