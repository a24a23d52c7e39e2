import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import pg from 'pg';
import type { EventPayload } from '../src/contract/event-payloads.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createEgress } from '../src/platform/egress/egress.ts';
import { createLogger } from '../src/platform/logger.ts';
import { startService } from '../src/service/compose.ts';
import { readConfig } from '../src/service/config.ts';

const HANGING = 50;
/** What is queued for a receiver that was away. */
const BACKLOG = 20_000;
const OPERATOR = 'bench-operator-token';
const SECONDS = 8;
const RATE = 200;

export function payloadOf(n: number, group = 'group'): EventPayload {
  return {
    object: 'Appointment',
    id: `appointment-${n}`,
    practice_group_id: group,
    event: 'appointment.confirmed',
  };
}

interface Answer {
  id: string;
  key: string;
  /** Of many keys. */
  data: { practice_group_id: string; key: string }[];
}

/** The times from `at` to the receipt, of those after the first second. */
export interface Pace {
  latencies: number[];
  /** SQL statements for each event, where PostgreSQL counts them. */
  statements: number;
}

/**
 * What nobody can do without: each event is inserted, which commits, and is then posted, by the client that the service posts with. Measured as
 * the service is.
 */
export async function measureBareChain(url: string, receiver: string): Promise<Pace> {
  const db = new pg.Client({ connectionString: url, pipeline: true });
  await db.connect();
  await db.query(
    'CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL)',
  );
  const egress = createEgress({ targets: 'loopback' });
  await atRate(async (n, at) => {
    const body = JSON.stringify({ ...payloadOf(n), id: `sent-${at}-${n}` });
    await db.query({ name: 'bare', text: 'INSERT INTO bare (body) VALUES ($1)', values: [body] });
    const { status } = await egress.post({ url: `${receiver}/timed`, headers: JSON_HEADERS, body });
    if (status !== 204) throw new Error(`the receiver answered ${status}`);
  });
  const { latencies } = await receivedBy(receiver);
  await egress.close();
  await db.end();
  return { latencies: latencies.slice(RATE), statements: 1 };
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/** One after the other at an even pace, whether or not those before it have ended. `at`: when it began. */
async function atRate(work: (n: number, at: string) => Promise<unknown>): Promise<void> {
  const started = performance.now();
  const begun: Promise<unknown>[] = [];
  for (let n = 0; n < SECONDS * RATE; n++) {
    const late = started + (n * 1000) / RATE - performance.now();
    if (late > 0) await systemClock.sleep(late);
    begun.push(work(n, (performance.timeOrigin + performance.now()).toFixed(3)));
  }
  await Promise.all(begun);
  await systemClock.sleep(500);
}

export interface Beside {
  /** Webhooks that hang. */
  hanging?: boolean;
  /** So many practices, each with a webhook, which have the events in turns. */
  crowd?: number;
  /** So many webhooks of one host, which comes back to their backlogs while this is measured. */
  returning?: number;
  /** No events besides those that are measured. */
  lone?: boolean;
}

/** The whole service: events published one by one over HTTP, received by a webhook, with others beside it. */
export async function measureLatency(
  url: string,
  receiver: string,
  { hanging = false, crowd = 0, returning = 0, lone = false }: Beside = {},
): Promise<Pace> {
  const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
  const env = {
    DATABASE_URL: url,
    PORTER_PORT: '0',
    PORTER_OPERATOR_TOKEN: OPERATOR,
    PORTER_DEMO: 'off',
    // Whoever publishes here opens a connection for each event that waits: after a second of a machine that stands still, hundreds.
    PORTER_CONNECTIONS_PER_ADDRESS_MAX: '4096',
  };
  const config = readConfig({ ...env, PORTER_DATA_DIR: folder }, folder);
  const service = await startService(config, { log: createLogger(() => {}) });
  const call = async (path: string, headers: Record<string, string>, body: unknown) => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
  const operator = (path: string, body: unknown = {}) =>
    call(`/operator/v1${path}`, { authorization: `Bearer ${OPERATOR}` }, body);

  const partner = await operator('/partners', { name: 'P', contact_email: 'p@partner.example' });
  await operator(`/partners/${partner.id}/sign-agreement`);
  await operator(`/partners/${partner.id}/verify`);
  const scopes = ['webhooks:write', 'events:read'];
  const registerWith = (key: string, group: string, address: string) =>
    call('/v1/webhooks', { 'x-api-key': key, 'x-practice-group-id': group }, { url: address });
  const register = async (group: string, path: string, origin = receiver) => {
    const { key } = await operator('/keys', { partner_id: partner.id, practice_group_id: group, scopes });
    await registerWith(key, group, origin + path);
  };
  /** As many practices, each with a webhook. */
  const addCrowd = async () => {
    const ids = Array.from({ length: crowd }, (_, n) => `crowd-${1 + n}`);
    await insertGroups(url, ids);
    for (let n = 0; n < crowd; n += 1_000) {
      const { data } = await operator('/keys/bulk', {
        partner_id: partner.id,
        practice_group_ids: ids.slice(n, n + 1_000),
        scopes,
      });
      const add = async () => {
        for (let one = data.pop(); one; one = data.pop())
          await registerWith(one.key, one.practice_group_id, `${receiver}/timed`);
      };
      await Promise.all(Array.from({ length: 16 }, add));
    }
  };
  await operator('/practice-groups', { id: 'group', name: 'Group' });
  await register('group', '/timed');
  // The same is published either way; only whether there are webhooks that hang makes the difference.
  for (let n = 0; n < HANGING; n++) {
    await operator('/practice-groups', { id: `hanging-${n}`, name: 'Group' });
    if (hanging) await register(`hanging-${n}`, `/hang-${n}`);
  }

  if (crowd > 0) await addCrowd();

  let back: ChildProcess | undefined;
  let away = '';
  /** Of the backlog, before the measurement. */
  let outside = 0;
  if (returning > 0) {
    const port = await portOfNobody();
    away = `http://127.0.0.1:${port}`;
    for (let n = 0; n < returning; n++) {
      await operator('/practice-groups', { id: `away-${n}`, name: 'Group' });
      await register(`away-${n}`, `/${n}`, away);
    }
    for (let n = 0; n < BACKLOG; n += 1_000) {
      const events = Array.from({ length: 1_000 }, (_, more) =>
        payloadOf(n + more, `away-${more % returning}`),
      );
      await operator('/events', { events });
    }
    await untilFannedOut(url);
    back = spawn(process.execPath, ['bench/receiver.ts', String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(back.stdout as Readable, 'data');
    // A host that was away is dialled every few seconds: measured is what follows the first answer.
    outside = await untilReceived(away, 1);
  }
  const egress = createEgress({ targets: 'loopback' });
  const publish = async (payload: EventPayload) => {
    const { status, failure } = await egress.post({
      url: `${service.url}/operator/v1/events`,
      headers: { ...JSON_HEADERS, authorization: `Bearer ${OPERATOR}` },
      body: JSON.stringify(payload),
    });
    if (status !== 202) throw new Error(`publishing an event was answered ${status ?? failure?.code}`);
  };
  const before = await countStatements(url);
  await atRate(async (n, at) => {
    const group = crowd > 0 ? `crowd-${1 + ((n * 7_919) % crowd)}` : 'group';
    const besides = n % 4 === 0 && !lone ? publish(payloadOf(n, `hanging-${n % HANGING}`)) : undefined;
    await Promise.all([publish({ ...payloadOf(n, group), id: `sent-${at}-${n}` }), besides]);
  });
  const statements = ((await countStatements(url)) - before) / (SECONDS * RATE);
  await egress.close();
  const { latencies } = await receivedBy(receiver);
  if (back) {
    const { received } = await receivedBy(away);
    // What was tried in vain while it was away comes at its own times.
    const left = 0.95 * BACKLOG - outside - received;
    if (left <= 0) throw new Error('the backlog was out before the measurement was over');
    await untilReceived(away, left);
    back.kill('SIGKILL');
  }
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
  if (latencies.length < SECONDS * RATE) throw new Error(`only ${latencies.length} deliveries were received`);
  return { latencies: latencies.slice(RATE), statements };
}

/** By all sessions of this database, where `pg_stat_statements` is there. */
async function countStatements(url: string): Promise<number> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const { rows } = await db.query(
    "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements') AS is_there",
  );
  const counted = rows[0].is_there
    ? await db.query(
        `SELECT coalesce(sum(calls), 0)::integer AS calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
          WHERE d.datname = current_database()`,
      )
    : undefined;
  await db.end();
  return counted?.rows[0].calls ?? Number.NaN;
}

async function receivedBy(receiver: string): Promise<{ latencies: number[]; received: number }> {
  return (await (await fetch(receiver)).json()) as { latencies: number[]; received: number };
}

/** The receiver tells how many came since it was asked before. */
async function untilReceived(receiver: string, count: number): Promise<number> {
  let sum = 0;
  for (let waits = 0; sum < count; waits++) {
    if (waits > 600) throw new Error(`only ${sum} deliveries of the backlog were received within a minute`);
    await systemClock.sleep(100);
    sum += (await receivedBy(receiver)).received;
  }
  return sum;
}

/** What waits for a host that is away is in its queues. */
async function untilFannedOut(url: string): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  while ((await db.query('SELECT FROM new_events LIMIT 1')).rowCount) await systemClock.sleep(100);
  await db.end();
}

/** A port at which nobody listens. */
async function portOfNobody(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Into the table itself: an operator may make only so many in a minute. */
async function insertGroups(url: string, ids: string[]): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  await db.query(
    `INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
     SELECT id, 'Group', 'Europe/London', '{}', now(), now() FROM unnest($1::text[]) AS id`,
    [ids],
  );
  await db.end();
}
