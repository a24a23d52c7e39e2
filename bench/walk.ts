import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { scopeNames } from '../src/contract/access.ts';
import { createLogger } from '../src/platform/logger.ts';
import { startService } from '../src/service/compose.ts';
import { readConfig } from '../src/service/config.ts';
import { valueLine } from './measure.ts';

/**
 * The two walks of ARCHITECTURE.md, counted in files of `src`: those of which V8 saw a function run, on a service that is warm, between a call
 * and its answer, or between the publishing of an event and the arrival of its signed request.
 */

const SRC = new URL('../src/', import.meta.url).href;
/** What runs beside the calls is not in each of them. */
const ROUNDS = 8;
const WARM_UPS = 20;
const OPERATOR = 'bench-operator-token';
const operator = { authorization: `Bearer ${OPERATOR}` };

const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const service = await startService(
  readConfig(
    {
      PORTER_PORT: '0',
      PORTER_DATA_DIR: folder,
      PORTER_OPERATOR_TOKEN: OPERATOR,
      PORTER_DEMO: 'off',
    },
    folder,
  ),
  { log: createLogger(() => {}) },
);
const profiler = new Session();
profiler.connect();
await profiler.post('Profiler.enable');
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

let arrived = () => {};
const receiver = createServer((request, response) => {
  request.resume().once('end', () => {
    arrived();
    response.end();
  });
}).listen(0, '127.0.0.1');

try {
  await once(receiver, 'listening');
  const caller = await makeCaller();
  const { port } = receiver.address() as AddressInfo;
  await call('POST', '/v1/webhooks', caller, { url: `http://127.0.0.1:${port}/` });
  let calls = 0;
  await report('files that a PATCH runs through', '≤ 15', () =>
    call('PATCH', '/v1/care-nav/submission-types/type', caller, { title: `Title ${++calls}` }),
  );
  await report('files that an event runs through until its signed request is there', '≤ 20', async () => {
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const id = `appointment-${++calls}`;
    const event = { object: 'Appointment', id, practice_group_id: 'group', event: 'appointment.confirmed' };
    await call('POST', '/operator/v1/events', operator, event);
    await arrival;
  });
} finally {
  receiver.close();
  profiler.disconnect();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Counts the files that are in every walk of several. */
async function report(name: string, bar: string, walk: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < WARM_UPS; n++) await walk();
  let files: string[] | undefined;
  for (let n = 0; n < ROUNDS; n++) {
    // Whatever the walk before left to be done.
    await pause(50);
    await filesRun();
    await walk();
    const ran = await filesRun();
    files = files?.filter((file) => ran.includes(file)) ?? ran.sort();
  }
  valueLine(name, String(files?.length), bar, 'listed above');
  process.stdout.write(`${name}:\n${files?.map((file) => `  ${file}\n`).join('')}`);
}

/** Since it was asked the last time. The first function of a file is its own text, which runs when it is loaded. */
async function filesRun(): Promise<string[]> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  const ran = result.filter(
    ({ url, functions }) =>
      url.startsWith(SRC) &&
      functions.some(({ ranges: [range] }) => range && range.startOffset > 0 && range.count > 0),
  );
  return ran.map(({ url }) => url.slice(SRC.length));
}

async function call(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: object = {},
): Promise<{ id: string; key: string }> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json() as Promise<{ id: string; key: string }>;
}

/** The headers of a partner of a practice group with one submission type. */
async function makeCaller(): Promise<Record<string, string>> {
  const ask = (path: string, body?: object) => call('POST', `/operator/v1${path}`, operator, body);
  await ask('/practice-groups', { id: 'group', name: 'Practice' });
  await ask('/practice-groups/group/submission-types', { id: 'type', pathway_id: 'pathway', title: 'Type' });
  const { id } = await ask('/partners', { name: 'Bench', contact_email: 'bench@partner.example' });
  for (const step of ['sign-agreement', 'verify']) await ask(`/partners/${id}/${step}`);
  const { key } = await ask('/keys', { partner_id: id, practice_group_id: 'group', scopes: scopeNames });
  return { 'x-api-key': key, 'x-practice-group-id': 'group' };
}
