import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createEngine } from '../src/delivery/engine.ts';
import { SYSTEM } from '../src/domain/access/principal.ts';
import { signedHeaders } from '../src/domain/events/signature.ts';
import { deliveryId, newId } from '../src/domain/ids.ts';
import { Bell } from '../src/platform/bell.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createEgress } from '../src/platform/egress/egress.ts';
import { createLogger } from '../src/platform/logger.ts';
import { pooledRandomBytes } from '../src/platform/random.ts';
import { Figures } from '../src/runtime/oversight/figures.ts';
import { Usage } from '../src/runtime/oversight/usage.ts';
import { closeDatabase, openDatabase, transact } from '../src/store/database.ts';
import { appendEvents } from '../src/store/events/events.ts';
import { prepareDatabase } from '../src/store/migrate.ts';
import { payloadOf } from './latency.ts';
import { inTurns, ratioLine, say, valueLine } from './measure.ts';
import { hasPgbench, insertEvents } from './pgbench.ts';
import { startUsedPostgres } from './used-postgres.ts';

/** The post: from the publishing of an event to the recorded result of its delivery. */

const EVENTS = Number(process.env.BENCH_EVENTS ?? 20_000);
const WEBHOOKS = 3;
const FINISHED = Number(process.env.BENCH_FINISHED ?? 5_000_000);
/** As many as the engine has under way to a webhook that is well. */
const AT_ONCE = 64 * WEBHOOKS;
const log = createLogger(() => {});
const random = pooledRandomBytes();

const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const postgres = await startUsedPostgres(folder, { shared_preload_libraries: 'pg_stat_statements' });
const children: ChildProcess[] = [];

try {
  const receiver = await startReceiver();
  say(
    `deliveries, ${EVENTS} events to ${WEBHOOKS} webhooks (and into tables with ${FINISHED} finished ones)`,
  );
  const empty = await office('empty', receiver);
  const full = await office('full', receiver);
  await full.fill();
  const bare = () => bareLoop(receiver);
  // Many rounds: one of the bare loop takes between 1.8 and 3.7 s within a minute here, and with 15 of each the same code had 0.73 and 0.63.
  const deliveries = await inTurns(
    { empty: empty.deliver, bare, full: full.deliver },
    { rounds: 35, warmUps: 2 },
  );
  ratioLine('durable deliveries, to the bare loop', deliveries, 'empty', 'bare', '≥ 0.65', 'deliveries/s');
  ratioLine(
    `the same with ${FINISHED / 1e6} million finished ones`,
    deliveries,
    'full',
    'empty',
    '≥ 0.95',
    'deliveries/s',
  );

  say('statements per delivered event');
  const perEvent = await empty.statements();
  valueLine(
    'SQL statements for each delivered event',
    perEvent.toFixed(3),
    '≤ 1',
    'pg_stat_statements, full load',
  );
  await full.close();

  say('publishing in batches of 100');
  const publishing = await inTurns(
    {
      batches: empty.publishBatches,
      pgbench: () => insertEvents({ adminUrl: empty.adminUrl, folder, seconds: 2 }),
    },
    { rounds: 9, warmUps: 2 },
  );
  const name = hasPgbench() ? 'pgbench -c 16' : 'a bare driver loop, 16 at once';
  ratioLine(
    `publishing, 100 at a time, to ${name}, one a row`,
    publishing,
    'batches',
    'pgbench',
    '≥ 4',
    'events/s',
  );
  await empty.close();
} finally {
  for (const child of children) child.kill('SIGKILL');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startReceiver(): Promise<string> {
  const child = spawn(process.execPath, ['bench/receiver.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [chunk] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  return `http://127.0.0.1:${Number(chunk)}`;
}

/** Signs and posts the same bodies with the same client, and writes nothing down. */
async function bareLoop(receiver: string): Promise<number> {
  const egress = createEgress({ targets: 'loopback' });
  const secrets = [randomBytes(32)];
  const total = EVENTS * WEBHOOKS;
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < total) {
        const sequence = next++;
        const body = JSON.stringify(payloadOf(sequence));
        const id = deliveryId('wh_00Vb13pkZeDP1yAD86FW5V4Dr', sequence, Date.now());
        const headers = signedHeaders({
          id,
          timestampSeconds: Math.floor(Date.now() / 1000),
          sequence,
          body,
          secrets,
        });
        const { status } = await egress.post({ url: `${receiver}/hook`, headers, body });
        if (status !== 204) throw new Error(`the receiver answered ${status}`);
      }
    }),
  );
  const perSecond = (total * 1000) / (performance.now() - started);
  await egress.close();
  return perSecond;
}

async function asAdmin(statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  await admin.query(statement);
  await admin.end();
}

async function createDatabase(name: string): Promise<{ url: string; adminUrl: string }> {
  await asAdmin(`CREATE DATABASE "${name}"`);
  const url = new URL(postgres.adminUrl);
  url.pathname = name;
  return { url: url.href, adminUrl: url.href };
}

/** A queue with a few webhooks, and what is measured on it. */
async function office(name: string, receiver: string) {
  const { url, adminUrl } = await createDatabase(name);
  const { role } = await prepareDatabase(url, async () => {});
  const db = openDatabase({ url, connectionsMax: 10, role });
  const admin = new pg.Client({ connectionString: adminUrl });
  admin.on('error', () => {});
  await admin.connect();
  await admin.query(`
    CREATE EXTENSION pg_stat_statements;
    INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
      VALUES ('group', 'Group', 'Europe/London', '{}', now(), now());
    INSERT INTO partners (id, name, contact_email, status, created_at, updated_at)
      VALUES ('partner', 'P', 'p@partner.example', 'verified', now(), now());
    INSERT INTO api_keys (id, partner_id, practice_group_id, key_hash, prefix, last_four, scopes, created_at)
      VALUES ('key', 'partner', 'group', '\\x00', 'ptr', 'four', '{events:read}', now());`);
  for (let n = 0; n < WEBHOOKS; n++)
    await admin.query(
      `WITH w AS (INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
                  VALUES ($1, 'partner', 'group', $2, '{appointment.confirmed}', 'active', now(), now()) RETURNING no),
            lane AS (INSERT INTO webhook_lanes (webhook_no) SELECT no FROM w)
       INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at) SELECT no, $3, 'k', now() FROM w`,
      [newId('wh', Date.now(), randomBytes), `${receiver}/hook`, randomBytes(32)],
    );
  let published = 0;

  async function publish(count: number): Promise<void> {
    const acceptedAt = new Date().toISOString();
    const events = Array.from({ length: count }, () => ({
      id: newId('evt', Date.now(), random),
      payload: payloadOf(published++),
    }));
    await transact(db, SYSTEM, async (tx) => appendEvents(tx, { sourceId: 'bench', acceptedAt }, events));
  }

  /** From the first event to the last recorded result. */
  async function deliver(): Promise<number> {
    const egress = createEgress({ targets: 'loopback' });
    let posted = 0;
    const usage = new Usage(db, systemClock, log, new Figures(db, systemClock, log));
    const engine = createEngine({
      db,
      clock: systemClock,
      random,
      log,
      post(request) {
        posted++;
        return egress.post(request);
      },
      dial: egress.dial,
      operatorEgress: egress,
      newChanges: new Bell(systemClock),
      isOnTime: () => true,
      open: ({ sealed }) => sealed,
      retention: {
        events: 3_650,
        formSubmissions: 3_650,
        writeToRecordJobs: 3_650,
        endedKeys: 3_650,
        accessLog: 3_650,
        alerts: 3_650,
        endedChanges: 3_650,
        usage: 3_650,
      },
      usage,
    });
    const { rows } = await admin.query('SELECT sum(last_sequence)::integer AS before FROM webhook_lanes');
    const until = rows[0].before + EVENTS * WEBHOOKS;
    // A service is running when events are published.
    engine.start();
    await systemClock.sleep(200);
    const started = performance.now();
    for (let n = 0; n < EVENTS; n += 1_000) await publish(1_000);
    while (posted < EVENTS * WEBHOOKS) await systemClock.sleep(5);
    while (!(await areLanesDone(admin, until))) await systemClock.sleep(5);
    const perSecond = (EVENTS * WEBHOOKS * 1000) / (performance.now() - started);
    if (await isAnySetAside(admin)) throw new Error('a delivery was not received');
    await engine.stop();
    await egress.close();
    return perSecond;
  }

  return {
    adminUrl,
    deliver,
    /** Batches of 100, a few at once, as an operator's systems send them. */
    async publishBatches(): Promise<number> {
      const until = performance.now() + 2_000;
      const started = performance.now();
      let events = 0;
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          while (performance.now() < until) {
            await publish(100);
            events += 100;
          }
        }),
      );
      const perSecond = (events * 1000) / (performance.now() - started);
      await admin.query('TRUNCATE events, new_events');
      return perSecond;
    },
    async statements(): Promise<number> {
      await admin.query('SELECT pg_stat_statements_reset()');
      await deliver();
      const { rows } = await admin.query(
        `SELECT sum(calls)::integer AS calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
          WHERE d.datname = $1 AND query NOT LIKE '%AS done%' AND query NOT LIKE '%AS is_any%'`,
        [name],
      );
      return rows[0].calls / (EVENTS * WEBHOOKS);
    },
    /** Events and deliveries of days gone by, and statistics that know of them. */
    async fill(): Promise<void> {
      const events = Math.ceil(FINISHED / WEBHOOKS);
      await admin.query(
        `INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         SELECT 'evt_old_' || n, 'group', 'appointment.confirmed', 'old-' || n, n, $2, 'bench', now() - interval '1 day'
           FROM generate_series(1, $1::integer) AS n`,
        [events, JSON.stringify(payloadOf(0))],
      );
      await admin.query("INSERT INTO feed SELECT no, 'group', object_hash, event FROM events");
      // Put first and finished later, as in life: rows that come finished leave room in every page for one more, and each new
      // one then went to a page of its own.
      await admin.query(
        `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
         SELECT w.no, e.object_hash, e.no, e.object_hash, 'due', now() FROM events e CROSS JOIN webhooks w`,
      );
      await admin.query(
        `UPDATE deliveries SET state = 'delivered', tries = 1, finished_at = now(),
                attempts = '[{"at":"2026-01-01T00:00:00.000Z","status":204,"duration_ms":3}]'`,
      );
      await admin.query('UPDATE webhook_lanes SET last_sequence = $1, open_from = $1::bigint + 1', [events]);
      await admin.query('UPDATE feed_head SET position = $1', [events]);
      await admin.query('VACUUM ANALYZE');
      await admin.query('CHECKPOINT');
    },
    async close(): Promise<void> {
      await admin.end();
      await closeDatabase(db);
    },
  };
}

/** Not asked before the last delivery is on its way, so that nothing is disturbed by it. */
async function areLanesDone(admin: pg.Client, sequences: number): Promise<boolean> {
  const { rows } = await admin.query({
    name: 'lanes-done',
    text: 'SELECT sum(last_sequence) >= $1 AND NOT bool_or(has_new) AS done FROM webhook_lanes',
    values: [sequences],
  });
  return rows[0].done;
}

/** Goes through all deliveries, so it is asked when the time is taken. */
async function isAnySetAside(admin: pg.Client): Promise<boolean> {
  const { rows } = await admin.query(
    'SELECT EXISTS (SELECT FROM deliveries WHERE retry_at IS NOT NULL) AS is_any',
  );
  return rows[0].is_any;
}
