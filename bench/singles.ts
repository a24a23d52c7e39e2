import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import pg from 'pg';
import { systemClock } from '../src/platform/clock.ts';
import { payloadOf } from './latency.ts';
import { drive, httpRequest } from './load.ts';
import { inTurns, median, ratioLine, say, valueLine } from './measure.ts';
import { startUsedPostgres } from './used-postgres.ts';
import { OPERATOR } from './world.ts';

/** Events one by one, as most practice software publishes them: 64 callers, each with one event in each call. */

const CALLERS = 64;
const WEBHOOKS = 3;
const EVENTS = Number(process.env.BENCH_SINGLES ?? 10_000);
const BATCH = 1_000;
const ROUND_MS = 1_000;
const A_MINUTE = 60_000;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);

const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const postgres = await startUsedPostgres(folder, { shared_preload_libraries: 'pg_stat_statements' });
const children: ChildProcess[] = [];
const AUTHORIZATION = { authorization: `Bearer ${OPERATOR}` };
let made = 0;

try {
  const receiver = `http://127.0.0.1:${await start('bench/receiver.ts')}`;
  const database = new URL(postgres.adminUrl);
  database.pathname = 'porter';
  const port = await start('bench/targets.ts', 'service', postgres.url);
  const call = async (path: string, headers: Record<string, string>, body: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer;
  };
  const operator = async (path: string, body: unknown = {}) =>
    (await (await call(`/operator/v1${path}`, AUTHORIZATION, body)).json()) as { id: string; key: string };

  const partner = await operator('/partners', { name: 'P', contact_email: 'p@partner.example' });
  await operator(`/partners/${partner.id}/sign-agreement`);
  await operator(`/partners/${partner.id}/verify`);
  for (const id of ['group', 'quiet']) await operator('/practice-groups', { id, name: 'Group' });
  for (let n = 0; n < WEBHOOKS; n++) {
    const scopes = ['webhooks:write', 'events:read'];
    const { key } = await operator('/keys', { partner_id: partner.id, practice_group_id: 'group', scopes });
    const caller = { 'x-api-key': key, 'x-practice-group-id': 'group' };
    await call('/v1/webhooks', caller, { url: `${receiver}/hook-${n}` });
  }
  const answer = await call('/operator/v1/events', AUTHORIZATION, payloadOf(0, 'quiet'));
  const kept = [...answer.headers].filter(
    ([name]) => !/^(date|connection|keep-alive|content-length)$/.test(name),
  );
  const bytes = JSON.stringify({ headers: Object.fromEntries(kept), body: await answer.text() });
  const bare = await start('bench/targets.ts', 'bare', postgres.url, bytes);

  /** Accepted in a second, of a practice that nobody listens to, or by a route that only answers. */
  const accept = (at: number) => publish(at, ROUND_MS, () => publishing(payloadOf(made++, 'quiet')));
  say('single events, 64 callers');
  const accepted = await inTurns(
    { service: () => accept(port), bare: () => accept(bare) },
    { rounds: ROUNDS, warmUps: 2 },
  );
  ratioLine(
    'single events, 64 callers, accepted, to a bare Fastify route',
    accepted,
    'service',
    'bare',
    '≥ 0.40',
    'events/s',
  );

  const admin = new pg.Client({ connectionString: database.href });
  await admin.connect();
  await admin.query('CREATE EXTENSION pg_stat_statements');
  const statements = async () => {
    const { rows } = await admin.query(
      `SELECT coalesce(sum(calls), 0)::integer AS calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = current_database()`,
    );
    return rows[0].calls as number;
  };

  const untilReceived = async () => {
    for (let sum = 0; sum < EVENTS * WEBHOOKS; ) {
      await systemClock.sleep(10);
      const told = (await (await fetch(receiver)).json()) as { received: number };
      sum += told.received;
    }
  };
  const perEvent: number[] = [];
  const acceptedMeanwhile: number[] = [];
  const one = async () => {
    const before = await statements();
    const started = performance.now();
    const end = made + EVENTS;
    await publish(port, A_MINUTE, () => (made < end ? publishing(payloadOf(made++)) : undefined));
    acceptedMeanwhile.push((EVENTS * 1000) / (performance.now() - started));
    await untilReceived();
    const perSecond = (EVENTS * WEBHOOKS * 1000) / (performance.now() - started);
    perEvent.push(((await statements()) - before) / EVENTS);
    return perSecond;
  };
  const many = async () => {
    const started = performance.now();
    for (let n = 0; n < EVENTS; n += BATCH)
      await operator('/events', { events: Array.from({ length: BATCH }, () => payloadOf(made++)) });
    await untilReceived();
    return (EVENTS * WEBHOOKS * 1000) / (performance.now() - started);
  };
  say(`the same until ${WEBHOOKS} webhooks have received them, and batches of ${BATCH}`);
  const delivered = await inTurns({ one, many }, { rounds: ROUNDS, warmUps: 1 });
  ratioLine(
    'single events, 64 callers, until the last is received, to batches of 1,000',
    delivered,
    'one',
    'many',
    '≥ 0.50',
    'deliveries/s',
  );
  valueLine(
    'SQL statements for each single event, its deliveries included',
    median(perEvent).toFixed(3),
    '≤ 0.2',
    `pg_stat_statements; ${Math.round(median(acceptedMeanwhile))} accepted/s meanwhile`,
  );
  await admin.end();
} finally {
  for (const child of children) child.kill('SIGKILL');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function publish(
  port: number,
  milliseconds: number,
  request: () => Buffer | undefined,
): Promise<number> {
  const { statuses, perSecond } = await drive({ port, connections: CALLERS, milliseconds, request });
  if ([...statuses.keys()].some((status) => status !== '202'))
    throw new Error(`not only 202: ${JSON.stringify([...statuses])}`);
  return perSecond;
}

/** Each in a process of its own. Tells the port that it listens on. */
async function start(...args: string[]): Promise<number> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    // What it leaves behind goes with the folder.
    env: { ...process.env, TMPDIR: folder },
  });
  children.push(child);
  const [chunk] = await once(child.stdout as Readable, 'data');
  return Number(chunk);
}

function publishing(payload: object): Buffer {
  return httpRequest('POST', '/operator/v1/events', AUTHORIZATION, JSON.stringify(payload));
}
