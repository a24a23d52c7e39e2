import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { payloadOf } from './latency.ts';
import { drive, httpRequest } from './load.ts';
import { median, say, valueLine } from './measure.ts';
import { startUsedPostgres } from './used-postgres.ts';

/**
 * What a call and a delivery cost in processor time, by the number of processes that share the work: `npm run bench -- cores`. How many of
 * each a machine with more cores could do follows from that, and not from what this one does.
 */
const ARRANGEMENTS: { processes: number; windows: 'memory' | 'shared' }[] = [
  { processes: 1, windows: 'memory' },
  { processes: 2, windows: 'memory' },
  { processes: 4, windows: 'memory' },
  { processes: 1, windows: 'shared' },
  { processes: 4, windows: 'shared' },
];
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const GROUPS = 16;
const CALLERS = 64;
/** Of each round, to one webhook each. */
const EVENTS = 4_000;
const ROUND_MS = 500;
const CALM_EVENTS = 100;
/** Of `utime` and `stime` in /proc. */
const TICK_MS = 10;
const OPERATOR = 'bench-operator-token';
const AUTHORIZATION = { authorization: `Bearer ${OPERATOR}` };

const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const postgres = await startUsedPostgres(folder);
const children: ChildProcess[] = [];
let published = 0;

try {
  const receiver = await startReceiver();
  const services: Arranged[] = [];
  for (const { processes, windows } of ARRANGEMENTS) {
    const service = await start(processes, windows);
    const world = await makeWorld(service.url, receiver);
    const name = `${processes} ${processes === 1 ? 'process' : 'processes'}${windows === 'memory' ? '' : ', calls counted in PostgreSQL'}`;
    services.push({ name, service, world });
  }
  const works: Record<string, (one: Arranged) => Promise<Done>> = {
    GET: ({ service, world }) => calls(service, world.gets),
    PATCH: ({ service, world }) => calls(service, world.patches),
    'single event, accepted': ({ service, world }) => calls(service, world.events, '202'),
    delivery: ({ service }) => deliveries(service, receiver),
    'event published alone, 100/s': ({ service }) => calmly(service, receiver),
  };
  for (const [work, doIt] of Object.entries(works)) {
    say(work);
    const costs = new Map<string, Cost[]>(services.map(({ name }) => [name, []]));
    const rounds = work.startsWith('event') ? Math.ceil(ROUNDS / 3) : ROUNDS;
    // The first two warm up.
    for (let round = -2; round < rounds; round++)
      for (const one of services) {
        const cost = await costOf(one.service, () => doIt(one));
        if (round >= 0) costs.get(one.name)?.push(cost);
      }
    for (const [name, all] of costs) line(`${work}, ${name}`, all);
  }
  for (const { name, service } of services)
    valueLine(`memory, ${name}`, `${service.residentMb().join(' + ')} MB`, '', 'the parent first');
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map((child) => once(child, 'exit')));
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

interface Arranged {
  name: string;
  service: Served;
  world: Awaited<ReturnType<typeof makeWorld>>;
}

interface Done {
  count: number;
  perSecond: number;
}

interface Cost {
  perSecond: number;
  /** Microseconds for each call or delivery: of all processes of the service, of its parent alone, and of PostgreSQL. */
  serviceUs: number;
  parentUs: number;
  databaseUs: number;
}

function line(work: string, costs: Cost[]): void {
  const of = (name: keyof Cost) => median(costs.map((cost) => cost[name]));
  const note = `${of('parentUs').toFixed(1)} µs of it the parent; PostgreSQL ${of('databaseUs').toFixed(0)} µs; ${of('perSecond').toFixed(0)}/s`;
  valueLine(work, `${of('serviceUs').toFixed(0)} µs`, '', note);
}

async function costOf(service: Served, work: () => Promise<Done>): Promise<Cost> {
  const before = { service: service.cpuMs(), database: databaseMs() };
  const { count, perSecond } = await work();
  const mine = service.cpuMs().map((ms, n) => ms - (before.service[n] ?? 0));
  const each = (ms: number) => (ms * 1000) / count;
  return {
    perSecond,
    serviceUs: each(mine.reduce((sum, ms) => sum + ms, 0)),
    parentUs: mine.length === 1 ? 0 : each(mine[0] ?? 0),
    databaseUs: each(databaseMs() - before.database),
  };
}

// ---- The work ----

async function calls({ port }: Served, requests: Buffer[][], status = '200'): Promise<Done> {
  const { perSecond, statuses } = await drive({
    port,
    connections: CALLERS,
    milliseconds: ROUND_MS,
    request: (connection, turn) => {
      const mine = requests[connection % requests.length] ?? [];
      return mine[turn % mine.length] as Buffer;
    },
  });
  if (statuses.size !== 1 || !statuses.has(status)) throw new Error(JSON.stringify([...statuses]));
  return { perSecond, count: statuses.get(status) ?? 0 };
}

/** To a webhook in each group, in batches, a few at once. */
async function deliveries({ url }: Served, receiver: string): Promise<Done> {
  await receivedBy(receiver);
  const started = performance.now();
  const batches = Array.from({ length: GROUPS }, (_, g) =>
    Array.from({ length: EVENTS / GROUPS }, () => payloadOf(published++, `bench-${g}`)),
  );
  await Promise.all(batches.map((events) => operator(url, '/events', { events })));
  const count = EVENTS;
  await until(receiver, count);
  return { count, perSecond: (count * 1000) / (performance.now() - started) };
}

/** One by one, a hundred a second. */
async function calmly({ url }: Served, receiver: string): Promise<Done> {
  await receivedBy(receiver);
  const count = CALM_EVENTS;
  const started = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    sent.push(operator(url, '/events', payloadOf(published++, `bench-${n % GROUPS}`)));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(sent);
  await until(receiver, count);
  return { count, perSecond: (count * 1000) / (performance.now() - started) };
}

async function until(receiver: string, count: number): Promise<void> {
  for (let received = 0; received < count; received += await receivedBy(receiver))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

async function receivedBy(receiver: string): Promise<number> {
  const { received } = (await (await fetch(receiver)).json()) as { received: number };
  return received;
}

async function operator(url: string, path: string, body: unknown = {}) {
  return post(`${url}/operator/v1${path}`, AUTHORIZATION, body);
}

async function post(url: string, headers: Record<string, string>, body: unknown) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`);
  return (await answer.json()) as { id: string; key: string };
}

async function makeWorld(url: string, receiver: string) {
  const partner = await operator(url, '/partners', { name: 'Bench', contact_email: 'bench@partner.example' });
  await operator(url, `/partners/${partner.id}/sign-agreement`);
  await operator(url, `/partners/${partner.id}/verify`);
  const gets: Buffer[][] = [];
  const patches: Buffer[][] = [];
  const events: Buffer[][] = [];
  // Nobody listens to this one.
  await operator(url, '/practice-groups', { id: 'quiet', name: 'Practice' });
  for (let c = 0; c < CALLERS; c++) {
    const group = `bench-${c % GROUPS}`;
    if (c < GROUPS) await operator(url, '/practice-groups', { id: group, name: `Practice ${c}` });
    await operator(url, `/practice-groups/${group}/submission-types`, {
      id: `type-${c}`,
      pathway_id: 'pathway',
      title: 'Type',
    });
    const { key } = await operator(url, '/keys', {
      partner_id: partner.id,
      practice_group_id: group,
      scopes: ['practice-groups:read', 'submission-types:write', 'webhooks:write', 'events:read'],
      rate_limit_per_minute: 100_000,
    });
    const headers = { 'x-api-key': key, 'x-practice-group-id': group };
    if (c < GROUPS) await post(`${url}/v1/webhooks`, headers, { url: `${receiver}/hook-${c}` });
    gets.push([httpRequest('GET', '/v1/practice-groups', headers)]);
    const event = JSON.stringify(payloadOf(c, 'quiet'));
    events.push([httpRequest('POST', '/operator/v1/events', AUTHORIZATION, event)]);
    const path = `/v1/care-nav/submission-types/type-${c}`;
    patches.push(
      ['one', 'two', 'three'].map((title) => httpRequest('PATCH', path, headers, JSON.stringify({ title }))),
    );
  }
  return { gets, patches, events };
}

// ---- Processes ----

interface Served {
  port: number;
  url: string;
  /** So far, the parent's first. */
  cpuMs: () => number[];
  residentMb: () => number[];
}

/** As `npm start` starts it, on a database of its own. */
async function start(processes: number, windows: string): Promise<Served> {
  const admin = new pg.Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  const database = `bench_${children.length}`;
  await admin.query(`CREATE DATABASE ${database} OWNER porter`);
  await admin.end();
  const port = await freePort();
  const child = spawn(process.execPath, ['src/service/main.ts'], {
    env: {
      ...process.env,
      DATABASE_URL: postgres.serviceUrl.replace(/porter$/, database),
      PORTER_MIGRATION_DATABASE_URL: postgres.url.replace(/porter$/, database),
      PORTER_PORT: String(port),
      PORTER_PROCESSES: String(processes),
      PORTER_RATE_WINDOWS: windows,
      PORTER_OPERATOR_TOKEN: OPERATOR,
      PORTER_DEMO: 'off',
      PORTER_DATA_DIR: join(folder, database),
    },
    stdio: 'ignore',
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  const pids = () => [child.pid as number, ...childrenOf(child.pid as number)];
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady && pids().length === (processes === 1 ? 1 : processes + 1)) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    port,
    url,
    cpuMs: () => pids().map(cpuMs),
    residentMb: () => pids().map((pid) => Math.round(statusKb(pid) / 1000)),
  };
}

async function startReceiver(): Promise<string> {
  const child = spawn(process.execPath, ['bench/receiver.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [chunk] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  return `http://127.0.0.1:${Number(chunk)}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** The server with its processes, and with what those took that are gone. */
function databaseMs(): number {
  const file = join(folder, 'data', 'postgres', 'postmaster.pid');
  const postmaster = Number.parseInt(readFileSync(file, 'utf8'), 10);
  const [, , goneUser = 0, goneSystem = 0] = timesOf(postmaster);
  return [postmaster, ...childrenOf(postmaster)].reduce(
    (sum, pid) => sum + cpuMs(pid),
    (goneUser + goneSystem) * TICK_MS,
  );
}

function cpuMs(pid: number): number {
  const [user = 0, system = 0] = timesOf(pid);
  return (user + system) * TICK_MS;
}

/** utime, stime, and those of children that are gone. */
function timesOf(pid: number): number[] {
  return fieldsOf(pid).slice(11, 15).map(Number);
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && Number(fieldsOf(pid)[1]) === parent);
}

/** After the name, which may hold anything. */
function fieldsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}

function statusKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
