import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { PartnerPrincipal } from '../src/domain/access/principal.ts';
import { systemClock } from '../src/platform/clock.ts';
import { gatherUpdates } from '../src/runtime/practices/submission-type-updates.ts';
import { openDatabase } from '../src/store/database.ts';
import { readSqlFunctions } from '../src/store/sql-functions.ts';
import { drive, hasWrk, type Load, type Outcome, wrk } from './load.ts';
import { inTurns, median, percentile, ratioLine, say, valueLine } from './measure.ts';
import { ceiling, hasPgbench, oneStatement } from './pgbench.ts';
import { startUsedPostgres } from './used-postgres.ts';
import { type CalledRows, GROUPS, makeWorld, ROWS } from './world.ts';

/** The door: both specified operations, and what stands behind the update. */

/** What the door does once a second belongs to every turn; pgbench and wrk count in whole seconds. */
const ROUND_MS = 1_000;
/** Each target runs so many times, and they take turns: two processes of one program differ by up to a third here. */
const INSTANCES = 3;

const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const postgres = await startUsedPostgres(folder);
const children: ChildProcess[] = [];

try {
  const world = await makeWorld({ url: postgres.url, adminUrl: adminOfPorter(), folder });

  say('GET, 64 connections');
  const get = (port: number) => measureHttp(port, 64, world.gets, true);
  const getters = {
    service: await startTargets('service'),
    bare: await startTargets('bare', world.groupBytes),
  };
  const gets = await inTurns({
    service: (round) => get(getters.service(round)),
    bare: (round) => get(getters.bare(round)),
  });
  stopTargets();
  ratioLine('GET, the whole path, to a bare Fastify route', gets, 'service', 'bare', '≥ 0.80', 'requests/s');

  say('GET beside 500 hostile connections');
  const besieged = await startTarget('service');
  const p99 = async () =>
    percentile((await load(besieged, 64, world.gets, { timed: true })).latenciesMs, 0.99);
  let residentMb = 0;
  const sieges = await inTurns({
    beside: () =>
      besiege(besieged, async () => {
        const measured = await p99();
        residentMb = Math.max(residentMb, await residentMbOf(besieged));
        return measured;
      }),
    without: p99,
  });
  stopTargets();
  ratioLine(
    `GET p99 beside 500 hostile connections, to without; ${residentMb} MB at most`,
    sieges,
    'beside',
    'without',
    '≤ 2.0',
    'ms',
  );

  say('PATCH, 128 at once');
  const patch = (port: number, set: CalledRows) => measureHttp(port, 128, world.patches[set]);
  const patchers = {
    service: await startTargets('service'),
    usual: await startTargets('usual'),
    constant: await startTargets('constant'),
  };
  const patches = await inTurns({
    service: (round) => patch(patchers.service(round), serviceRows(round)),
    usual: (round) => patch(patchers.usual(round), 'usual'),
    constant: (round) => patch(patchers.constant(round), serviceRows(round)),
  });
  stopTargets();
  ratioLine('PATCH, 128 at once, to a transaction each', patches, 'service', 'usual', '≥ 2.0', 'requests/s');
  ratioLine(
    'PATCH, 128 at once, to a constant store',
    patches,
    'service',
    'constant',
    '≥ 0.65',
    'requests/s',
  );

  say(
    `the gathered write alone, against ${hasPgbench() ? 'pgbench' : 'a bare driver loop (pgbench is not installed)'}`,
  );
  const gathered = gatheredWriter(world.principals);
  const writes = await inTurns(
    {
      gathered,
      pgbench: () => ceiling({ adminUrl: adminOfPorter(), folder, rows: ROWS, groups: GROUPS, seconds: 1 }),
    },
    { rounds: 15, warmUps: 3 },
  );
  const name = hasPgbench() ? 'pgbench -M prepared -c 16' : 'a bare driver loop, 16 at once';
  ratioLine(`gathered write, 128 at once, to ${name}`, writes, 'gathered', 'pgbench', '≥ 2.0', 'changes/s');

  say('the gathered write with and without row-level security');
  const secured = await inTurns({
    with: () => switchRowSecurity('ENABLE').then(() => gathered()),
    without: () => switchRowSecurity('DISABLE').then(() => gathered()),
  });
  await switchRowSecurity('ENABLE');
  ratioLine('gathered write, to the same without RLS', secured, 'with', 'without', '≥ 0.90', 'changes/s');

  say('the gathered write with and without the feed of changes');
  const fed = await inTurns({
    with: () => switchChangeFeed('with').then(() => gathered()),
    without: () => switchChangeFeed('without').then(() => gathered()),
  });
  await switchChangeFeed('with');
  ratioLine('gathered write with the change feed, to without', fed, 'with', 'without', '≥ 0.90', 'changes/s');

  say(
    `PATCH, one at a time${hasWrk() ? ', called by wrk' : ' (wrk is not installed: called by a script, which is slower)'}`,
  );
  const own = ownStatement();
  const lone = await startTarget('service');
  const requests = world.patches['service-0'].slice(0, 1);
  const single = await inTurns(
    {
      service: () => (hasWrk() ? wrk(lone, requests.flat(), folder) : measureHttp(lone, 1, requests)),
      statement: () => singleStatements(adminOfPorter(), oneStatement),
      own: () => singleStatements(postgres.url, own),
    },
    // V8 compiles what runs a thousand times a second later than what runs in a crowd.
    { rounds: 15, warmUps: 10 },
  );
  ratioLine(
    'PATCH, 1 at a time, to UPDATE + INSERT alone',
    single,
    'service',
    'statement',
    '≥ 0.5',
    'requests/s',
  );
  // With version, row-level security, chain of hashes and count of the day besides.
  ratioLine(
    'PATCH, 1 at a time, to its own statement alone',
    single,
    'service',
    'own',
    '≥ 0.5',
    'requests/s',
  );
  stopTargets();

  say('start to first 200');
  const starts: number[] = [];
  await timeToFirstAnswer(); // makes the data
  for (let round = 0; round < 5; round++) starts.push(await timeToFirstAnswer());
  valueLine(
    'start to first 200, embedded PostgreSQL, data present',
    (median(starts) / 1000).toFixed(2),
    '≤ 1.5 s',
    `${starts.map((ms) => Math.round(ms)).join(', ')} ms`,
  );
} finally {
  stopTargets();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

// ---- Measuring ----

async function measureHttp(
  port: number,
  connections: number,
  requests: Buffer[][],
  awake = false,
): Promise<number> {
  return (await load(port, connections, requests, { awake })).perSecond;
}

async function load(
  port: number,
  connections: number,
  requests: Buffer[][],
  how: Pick<Load, 'awake' | 'timed'>,
): Promise<Outcome> {
  const outcome = await drive({
    ...how,
    port,
    connections,
    milliseconds: ROUND_MS,
    request: (connection, turn) => {
      const mine = requests[connection % requests.length] ?? [];
      return mine[turn % mine.length] as Buffer;
    },
  });
  const { statuses } = outcome;
  if (statuses.size !== 1 || !statuses.has('200'))
    throw new Error(`not only 200: ${JSON.stringify([...statuses])}`);
  return outcome;
}

/** Does the work while strangers are at it. */
async function besiege<T>(port: number, work: () => Promise<T>): Promise<T> {
  const strangers = spawn(process.execPath, ['bench/strangers.ts', String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(strangers.stdout as NodeJS.ReadableStream, 'data');
    return await work();
  } finally {
    strangers.kill('SIGKILL');
    await once(strangers, 'exit');
  }
}

async function residentMbOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Math.round(Number(/^porter_process_resident_bytes (\d+)/m.exec(text)?.[1]) / 1e6);
}

function gatheredWriter(principals: PartnerPrincipal[]): () => Promise<number> {
  const db = openDatabase({ url: postgres.url, connectionsMax: 10 });
  const updates = gatherUpdates({ db, clock: systemClock, changed: () => {} });
  return async () => {
    let done = 0;
    const started = performance.now();
    await Promise.all(
      Array.from({ length: 128 }, async () => {
        while (performance.now() - started < ROUND_MS) {
          const n = 1 + Math.floor(Math.random() * ROWS);
          const principal = principals[n % GROUPS] as PartnerPrincipal;
          const patch = { title: `title ${Math.random()}` };
          await updates.submit({
            principal,
            id: `gathered-${n}`,
            patch,
            ifMatch: undefined,
            requestId: 'bench',
          });
          done++;
        }
      }),
    );
    return (done * 1000) / (performance.now() - started);
  };
}

async function switchRowSecurity(how: 'ENABLE' | 'DISABLE'): Promise<void> {
  const admin = new pg.Client({ connectionString: adminOfPorter() });
  await admin.connect();
  for (const table of ['submission_types', 'form_counts', 'audit_entries'])
    await admin.query(`ALTER TABLE ${table} ${how} ROW LEVEL SECURITY`);
  await admin.end();
}

/** Without: the statement of the write as it is, but for what it says to the feed. */
async function switchChangeFeed(how: 'with' | 'without'): Promise<void> {
  const text = (await readSqlFunctions()).get('change_submission_types_2') ?? '';
  const without = text.replace(/^ {2}INSERT INTO new_changes[^;]*;$/m, '');
  if (without === text) throw new Error('the write says nothing to the feed of changes');
  const admin = new pg.Client({ connectionString: adminOfPorter() });
  await admin.connect();
  await admin.query(how === 'with' ? text : without);
  await admin.end();
}

type Statement = (n: number, groups: number) => { name: string; text: string; values: unknown[] };

async function singleStatements(connectionString: string, statement: Statement): Promise<number> {
  const client = new pg.Client({ connectionString });
  // What a statement fails with is told by the statement.
  client.on('error', () => {});
  await client.connect();
  let done = 0;
  const started = performance.now();
  while (performance.now() - started < ROUND_MS) {
    // A connection of the load keeps to its practice group; so do these.
    await client.query(statement(GROUPS * (1 + Math.floor((Math.random() * ROWS) / GROUPS)), GROUPS));
    done++;
  }
  await client.end();
  return (done * 1000) / (performance.now() - started);
}

/** The statement that a lone PATCH sends, by the same user of the database, on rows that nobody else writes meanwhile. */
function ownStatement(): Statement {
  const untouched = [
    'form_id',
    'description',
    'in_hours',
    'out_of_hours',
    'suspended',
    'external_url',
    'external_url_name',
    'type',
    'default_priority',
    'daily_limit',
    'patient_eligibility_check',
    'assignee_id',
    'assignee_type',
    'order',
  ];
  const versions = new Map<number, number>();
  return (n, groups) => {
    const version = versions.get(n) ?? 0;
    versions.set(n, version + 1);
    const group = `bench-${n % groups}`;
    const at = new Date().toISOString();
    const values: Record<string, unknown> = {
      tenant: group,
      at,
      group_lines: group,
      id_lines: `own-${n}`,
      versions: [version],
      new_versions: [version + 1],
      local_days: ['2026-01-01'],
      ...Object.fromEntries(untouched.map((name) => [name, null])),
      title: [`title ${Math.random()}`],
      entry_rows: [1],
      actor_lines: 'key_bench',
      entry_lines: 'x'.repeat(330),
    };
    const named = Object.keys(values).map((name, index) => `"${name}" => $${index + 1}`);
    return {
      name: 'bench-own',
      text: `SELECT * FROM change_submission_types_2 (${named.join(', ')})`,
      values: Object.values(values),
    };
  };
}

async function timeToFirstAnswer(): Promise<number> {
  const port = await freePort();
  const env = {
    ...process.env,
    PORTER_PORT: String(port),
    PORTER_DATA_DIR: join(folder, 'start'),
    DATABASE_URL: '',
    // As `npm start` does: compiled code is kept, which takes a third off the time.
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  };
  const started = performance.now();
  const child = spawn(process.execPath, ['src/service/main.ts'], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answer?.text();
    if (answer?.status === 200) break;
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const elapsed = performance.now() - started;
  child.kill('SIGTERM');
  await ended;
  return elapsed;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

// ---- Preparing ----

function adminOfPorter(): string {
  const url = new URL(postgres.adminUrl);
  url.pathname = 'porter';
  return url.href;
}

function serviceRows(round: number): CalledRows {
  return `service-${round % INSTANCES}` as CalledRows;
}

/** The port that has its turn. */
async function startTargets(variant: string, bytes = ''): Promise<(round: number) => number> {
  const ports: number[] = [];
  for (let n = 0; n < INSTANCES; n++) ports.push(await startTarget(variant, bytes));
  return (round) => ports[round % INSTANCES] as number;
}

/** As soon as they are not needed: a service that only waits takes a hundredth of a core. */
function stopTargets(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}

async function startTarget(variant: string, bytes = ''): Promise<number> {
  const url = variant === 'usual' ? adminOfPorter() : postgres.url;
  const child = spawn(process.execPath, ['bench/targets.ts', variant, url, bytes], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // What it leaves behind goes with the folder.
    env: { ...process.env, TMPDIR: folder },
  });
  children.push(child);
  const [chunk] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  return Number(chunk);
}
