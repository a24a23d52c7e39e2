import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { statement, transact } from '../../../src/store/database.ts';
import { claimDeliveries } from '../../../src/store/events/deliveries-claim.ts';
import { readQueueNumbers } from '../../../src/store/events/queue-numbers.ts';
import { type DeliveryHarness, openDeliveryHarness } from '../../support/delivery-harness.ts';
import {
  claimStep,
  clearOldStep,
  fanOutStep,
  on,
  recordStep,
  recordStretchStep,
  replayStep,
  type Step,
} from '../../support/steps.ts';

const WEBHOOKS = 3_000;
const EVENTS = 30;

/** As the service does it, behind row-level security: what PostgreSQL may do with a condition depends on that. */
async function asService(harness: DeliveryHarness, step: Step, before = ''): Promise<object[]> {
  await harness.rows('SET ROLE porter_app');
  const rows = await step(on(harness.admin, before));
  await harness.rows('RESET ROLE');
  return rows;
}

/** What a step reads of the tables that grow with the number of webhooks and of deliveries. It is undone. */
async function rowsRead(harness: DeliveryHarness, step: Step): Promise<number> {
  const read = async () => {
    const [row] = await harness.rows<{ read: number }>(
      `SELECT coalesce(sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), 0)::integer AS read FROM pg_stat_xact_user_tables
        WHERE relname IN ('webhooks', 'webhook_lanes', 'deliveries', 'events', 'feed', 'new_events', 'api_keys', 'practice_groups', 'network_members')`,
    );
    return row?.read ?? 0;
  };
  await harness.rows('BEGIN');
  const before = await read();
  await asService(harness, step);
  const after = await read();
  await harness.rows('ROLLBACK');
  return after - before;
}

/**
 * Plans are made once for a connection. Those of a database that has grown since were made for one webhook, and stay until
 * somebody looks at the tables again.
 */
it.each(['fresh', 'from when there was one webhook'])(
  'a step costs what there is to do, not how many webhooks there are; statistics: %s',
  async (statistics) => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.rows("SET porter.tenant = '*'");
    const now = new Date(harness.clock.now()).toISOString();
    const fanOut = fanOutStep(now);
    const claim = claimStep({ at: now, lookBack: true });
    const record = (nos: readonly number[]) =>
      recordStep(
        nos.map((webhookNo) => ({ webhookNo, sequence: 1, state: 'delivered' })),
        2,
        now,
      );
    await harness.rows('ANALYZE');
    await harness.publish({ id: 'first' });
    for (const step of [fanOut, claim, record([1])]) await asService(harness, step);

    // Every other practice is reached through the key of its neighbour, in a network of two.
    await harness.rows(`
    INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
      SELECT 'g-' || n, 'Group', 'Europe/London', '{}', now(), now() FROM generate_series(1, ${WEBHOOKS}) AS n;
    INSERT INTO api_keys (id, partner_id, practice_group_id, key_hash, prefix, last_four, scopes, created_at)
      SELECT 'k-' || n, 'partner', 'g-' || n, sha256(n::text::bytea), 'ptr', 'last', '{events:read}', now()
        FROM generate_series(2, ${WEBHOOKS}, 2) AS n;
    INSERT INTO networks (id, name, created_at, updated_at)
      SELECT 'n-' || n, 'Network', now(), now() FROM generate_series(1, ${WEBHOOKS / 2}) AS n;
    INSERT INTO network_members (network_id, practice_group_id)
      SELECT 'n-' || (n + 1) / 2, 'g-' || n FROM generate_series(1, ${WEBHOOKS}) AS n;
    INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
      SELECT 'wh_' || n, 'partner', 'g-' || n, 'https://receiver.example/' || n, '{appointment.confirmed}', 'active', now(), now()
        FROM generate_series(1, ${WEBHOOKS}) AS n;
    INSERT INTO webhook_lanes (webhook_no) SELECT no FROM webhooks ON CONFLICT DO NOTHING;
    INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at)
      SELECT w.no, s.sealed, s.key_id, now() FROM webhooks w, webhook_secrets s WHERE w.id LIKE 'wh\\_%' AND w.no <> s.webhook_no;`);
    if (statistics === 'fresh') await harness.rows('ANALYZE');
    const groups = Array.from({ length: EVENTS }, (_, n) => `g-${1 + n * 97}`);
    await harness.publish(...groups.map((practice_group_id, n) => ({ practice_group_id, id: `a-${n}` })));

    expect(await rowsRead(harness, fanOut)).toBeLessThan(WEBHOOKS / 3);
    await asService(harness, fanOut);
    expect(await rowsRead(harness, claim)).toBeLessThan(WEBHOOKS / 3);
    const queued = await harness.rows<{ no: number }>(
      "SELECT webhook_no AS no FROM deliveries WHERE state = 'due' ORDER BY no",
    );
    expect(queued).toHaveLength(EVENTS);
    expect(await rowsRead(harness, record(queued.map(({ no }) => no)))).toBeLessThan(WEBHOOKS / 3);

    harness.clock.advance(60_000);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(EVENTS);
    expect(await rowsRead(harness, claim)).toBeLessThan(EVENTS);

    // One that is cut short is gone on with after the last webhook that it reached.
    await harness.publish(...groups.map((practice_group_id, n) => ({ practice_group_id, id: `b-${n}` })));
    await asService(harness, fanOut);
    const at = new Date(harness.clock.now() + 60_000).toISOString();
    const cut = {
      at,
      leaseMs: 0,
      me: 1,
      deliveriesMax: 20,
      usualRoom: 4,
      lookBack: true,
      known: [],
      passedOver: [],
    };
    const reached: number[] = [];
    for (let round = 0; round < 2; round++) {
      const claimed = await claimDeliveries(harness.db, { ...cut, afterNo: reached.at(-1) ?? 0 });
      reached.push(...claimed.map(({ webhookNo }) => webhookNo));
    }
    expect(new Set(reached).size).toBe(EVENTS);
    expect(reached).toEqual(reached.toSorted((a, b) => a - b));
  },
);

it.each(['statistics', 'plans'])(
  'results cost what they are, also with %s from when the queue was nearly empty',
  async (left) => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.rows("SET porter.tenant = '*'");
    const states = ['delivered', 'due', 'waiting'] as const;
    const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
    const record = (count: number, state: (typeof states)[number]) =>
      recordStep(
        upTo(count).map((sequence) => ({ webhookNo: no, sequence, state })),
        1,
      );
    const recordStretch = (count: number) => recordStretchStep(no, upTo(count), 1);
    // Some wait, so that finishing others means to look for the next of their object.
    const insert = async (from: number, to: number, waitingFrom: number) => {
      await harness.rows(
        `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, retry_at, created_at)
       SELECT $1::integer, n, n, n % 3000, CASE WHEN n < $4 THEN 'due' ELSE 'waiting' END,
              CASE WHEN n >= $4::integer THEN 'infinity'::timestamptz END, now()
         FROM generate_series($2::integer, $3::integer) AS n`,
        [no, from, to, waitingFrom],
      );
      await harness.rows('UPDATE webhook_lanes SET last_sequence = $1, holder = 1', [to]);
    };
    await insert(1, 2, 2);
    await harness.rows('ANALYZE deliveries');
    if (left === 'plans') {
      for (const state of states) await rowsRead(harness, record(1, state));
      await rowsRead(harness, recordStretch(1));
    }
    await insert(3, 10_000, 9_000);
    const results = 300;
    for (const state of states)
      expect(await rowsRead(harness, record(results, state)), state).toBeLessThan(10 * results);
    expect(await rowsRead(harness, recordStretch(results))).toBeLessThan(10 * results);
  },
);

it.each(['statistics', 'plans'])(
  'claims, replays and clearing cost what they are, also with %s from when half of the queue was set aside',
  async (left) => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.rows("SET porter.tenant = '*'");
    const insert = async (from: number, to: number) => {
      await harness.rows(
        `WITH accepted AS (
         INSERT INTO events (no, id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         OVERRIDING SYSTEM VALUE
         SELECT n, 'evt_' || n, 'group', 'appointment.confirmed', 'a-' || n, n % 3000, '{}', 's', now() - interval '1 day'
           FROM generate_series($1::integer, $2::integer) AS n
         RETURNING no)
       INSERT INTO feed SELECT no, 'group', no, 'appointment.confirmed' FROM accepted`,
        [from, to],
      );
      await harness.rows(
        `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, retry_at, created_at)
       SELECT $1::integer, n, n, n % 3000, CASE n WHEN 2 THEN 'waiting' ELSE 'due' END,
              CASE n WHEN 2 THEN 'infinity'::timestamptz END, now()
         FROM generate_series($2::integer, $3::integer) AS n`,
        [no, from, to],
      );
      await harness.rows('UPDATE webhook_lanes SET last_sequence = $1, holder = 1', [to]);
    };
    const steps: [name: string, Step][] = [
      ['claim and look back', claimStep({ deliveriesMax: 100, usualRoom: 100, lookBack: true })],
      ['claim', claimStep({ deliveriesMax: 100, usualRoom: 100, lookBack: false })],
      [
        'replay',
        replayStep(
          no,
          Array.from({ length: 100 }, (_, n) => n + 1),
        ),
      ],
      ['clear all', clearOldStep({ keptDays: 0, openKeptDays: 0, rowsMax: 100 })],
      ['clear what is finished', clearOldStep({ keptDays: 0, openKeptDays: 365, rowsMax: 100 })],
    ];
    await insert(1, 2);
    await harness.rows('ANALYZE');
    if (left === 'plans') for (const [, step] of steps) await rowsRead(harness, step);
    await insert(3, 10_000);
    for (const [name, step] of steps) expect(await rowsRead(harness, step), name).toBeLessThan(1_000);
    // Most of it finished.
    await harness.rows("UPDATE deliveries SET state = 'delivered' WHERE state = 'due' AND sequence < 9900");
    await harness.rows('UPDATE webhook_lanes SET open_from = 9900');
    for (const [name, step] of steps) expect(await rowsRead(harness, step), name).toBeLessThan(1_000);
  },
);

it('an event is read once by a claim, whatever the number of its webhooks, also when the tables have been in use for long', async () => {
  const harness = await openDeliveryHarness();
  const webhooks = 10;
  for (let n = 0; n < webhooks; n++) await harness.addWebhook();
  await harness.rows("SET porter.tenant = '*'");
  const publish = (name: string, count: number) =>
    harness.publish(...Array.from({ length: count }, (_, n) => ({ id: `${name}-${n}` })));
  await publish('old', 400);
  await harness.engine.drain();
  await harness.rows('ANALYZE');
  await publish('new', 50);
  await asService(harness, fanOutStep());
  await harness.rows('UPDATE webhook_lanes SET holder = NULL');
  const reads = () =>
    harness.rows<{ read: number }>(
      "SELECT idx_tup_fetch::integer AS read FROM pg_stat_xact_user_tables WHERE relname = 'events'",
    );
  await harness.rows('BEGIN');
  const [before] = await reads();
  const claimed = await asService(harness, claimStep({ leaseMs: 60_000, usualRoom: 100, lookBack: false }));
  const [after] = await reads();
  await harness.rows('ROLLBACK');
  // A row for each webhook, and one with all events.
  expect(claimed).toHaveLength(webhooks + 1);
  expect(Number(after?.read) - Number(before?.read)).toBe(50);
});

it('a worker that takes over a lane does not go through what was ever delivered', async () => {
  const harness = await openDeliveryHarness();
  for (let n = 0; n < 3; n++) await harness.addWebhook();
  await harness.rows("SET porter.tenant = '*'");
  const finished = 20_000;
  await harness.rows(
    `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, tries, created_at, finished_at)
     SELECT no, n, n, n, 'delivered', 1, now(), now() FROM generate_series(1, $1::integer) AS n, webhooks`,
    [finished],
  );
  await harness.rows('UPDATE webhook_lanes SET last_sequence = $1::bigint, open_from = $1::bigint - 5', [
    finished,
  ]);
  await harness.rows('ALTER TABLE events ALTER COLUMN no RESTART WITH 30000');
  await harness.publish({ id: 'a' });
  await harness.rows('VACUUM ANALYZE');
  await asService(harness, fanOutStep(null, 100));
  for (const lookBack of [false, true])
    expect(await rowsRead(harness, claimStep({ lookBack }))).toBeLessThan(100);
  // And when it turns out that there is nothing new.
  await harness.rows("UPDATE deliveries SET state = 'delivered' WHERE state = 'due'");
  expect(await rowsRead(harness, claimStep({ lookBack: false }))).toBeLessThan(100);
});

it('an event is written once, however far it comes', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  await harness.publish({ id: 'a' });
  const written = () => harness.rows('SELECT ctid, xmin FROM events');
  const first = await written();
  await harness.engine.drain();
  expect(harness.sent).toHaveLength(1);
  expect(await harness.rows('SELECT position::integer FROM feed')).toEqual([{ position: 1 }]);
  expect(await written()).toEqual(first);
});

it('no plan is compiled', async () => {
  const harness = await openDeliveryHarness();
  expect(await statement(harness.db, 'SHOW jit', [])).toEqual([{ jit: 'off' }]);
});

it('what others have set aside costs nobody anything', async () => {
  const harness = await openDeliveryHarness();
  const webhooks = 100;
  const nos: number[] = [];
  for (let n = 0; n < webhooks; n++) nos.push(await harness.addWebhook());
  await harness.rows("SET porter.tenant = '*'");
  await harness.rows(`
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, retry_at, created_at)
      SELECT no, n, n, n, CASE WHEN n % 2 = 0 THEN 'due' ELSE 'waiting' END,
             CASE WHEN n % 2 = 0 THEN now() + interval '1 day' ELSE 'infinity' END, now()
        FROM webhooks, generate_series(1, 100) AS n;
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
      SELECT no, 101, 101, 101, 'due', now() FROM webhooks;
    UPDATE webhook_lanes SET last_sequence = 101, open_from = 101, holder = 1;
    ANALYZE`);
  const record = (state: 'delivered' | 'waiting') =>
    recordStep(
      nos.map((webhookNo) => ({ webhookNo, sequence: 101, state })),
      102,
    );
  const steps: [name: string, Step][] = [
    ['claim and look back', claimStep({ lookBack: true })],
    ['claim', claimStep({ lookBack: false })],
    ['delivered', record('delivered')],
    ['waiting', record('waiting')],
  ];
  for (const [name, step] of steps) expect(await rowsRead(harness, step), name).toBeLessThan(12 * webhooks);
});

it('clearing away deleted webhooks does not go through the deliveries of others', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  await harness.rows("SET porter.tenant = '*'");
  const clear = clearOldStep({ keptDays: 365, openKeptDays: 365, rowsMax: 100 });
  const deliver = (from: number, to: number) =>
    harness.rows(
      `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
       SELECT $1::integer, n, n, n, 'delivered', now() FROM generate_series($2::integer, $3::integer) AS n`,
      [no, from, to],
    );
  await deliver(1, 1);
  await harness.rows('ANALYZE');
  await asService(harness, clear);
  await deliver(2, 20_000);
  for (let n = 0; n < 40; n++) await harness.addWebhook();
  await harness.rows('UPDATE webhooks SET deleted_at = now() WHERE no <> $1', [no]);
  // Once before, undone: a session whose catalogue others have changed meanwhile, with databases of their own, reads it again,
  // and that is a thousand pages.
  await harness.rows('BEGIN');
  await asService(harness, clear);
  await harness.rows('ROLLBACK');
  const [plan] = (await asService(harness, clear, 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ')) as [
    { 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] },
  ];
  // Through all of an index: 55 pages for each webhook, twice.
  expect(plan['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(1_500);
  expect(await harness.rows('SELECT FROM webhooks')).toHaveLength(1);
});

it('a worker that has fanned out an event looks into the queues once, and does not answer its own call', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  const claims = () =>
    query.mock.calls.filter((call) => JSON.stringify(call[0]).includes('claim_deliveries')).length;
  harness.engine.start();
  const started = performance.now();
  const events = 20;
  for (let n = 1; n <= events; n++) {
    await harness.publish({ id: `a-${n}` });
    await expect
      .poll(() => harness.rows("SELECT FROM deliveries WHERE state = 'delivered'"), { interval: 5 })
      .toHaveLength(n);
  }
  // And twice a second, whatever happens.
  const looks = (performance.now() - started) / 500;
  expect(claims()).toBeLessThan(1.5 * events + looks);
  await harness.close();
});

it('the first events of a burst are fanned out by themselves, so that their deliveries need not wait for the others', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  await harness.rows(`
    CREATE TABLE steps (position bigint);
    CREATE FUNCTION note_step() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      'BEGIN INSERT INTO steps VALUES (NEW.position); RETURN NEW; END';
    CREATE TRIGGER note_step AFTER UPDATE ON feed_head FOR EACH ROW EXECUTE FUNCTION note_step();`);
  const burst = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `a-${n}` }));
  await harness.publish(...burst(1_000));
  await harness.engine.drain();
  await harness.publish(...burst(300));
  await harness.engine.drain();
  const steps = await harness.rows<{ position: number }>(
    'SELECT position::integer FROM steps ORDER BY position',
  );
  expect(steps.map(({ position }) => position)).toEqual([99, 399, 1_000, 1_099, 1_300]);
  await harness.close();
});

it('the numbers of a queue are told without reading it whole, before PostgreSQL has looked at it', async () => {
  const [NEW, ASIDE, READ_AT_MOST] = [150_000, 140_000, 210_000];
  const harness = await openDeliveryHarness();
  const [fresh, failing] = [await harness.addWebhook(), await harness.addWebhook()];
  await harness.rows(
    `INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
     SELECT 'evt_' || n, 'group', 'appointment.confirmed', 'a' || n, n, '{}', 'source', now() FROM generate_series(1, $1::integer) AS n`,
    [NEW],
  );
  await harness.rows(
    `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
     SELECT $1, object_hash, no, object_hash, 'due', timestamptz '2026-01-03' + object_hash * interval '1 second' FROM events`,
    [fresh],
  );
  // The first of them is tried again the latest.
  await harness.rows(
    `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at, tries, retry_at)
     SELECT $1, object_hash, no, object_hash, CASE object_hash % 2 WHEN 0 THEN 'due' ELSE 'waiting' END,
            timestamptz '2026-01-02' + object_hash * interval '1 second', 1, now() - object_hash * interval '1 second'
       FROM events WHERE object_hash <= $2::integer`,
    [failing, ASIDE],
  );
  await harness.rows('UPDATE webhook_lanes SET last_sequence = $2 WHERE webhook_no = $1', [fresh, NEW]);
  await harness.rows(
    'UPDATE webhook_lanes SET last_sequence = $2, open_from = $2::bigint + 1 WHERE webhook_no = $1',
    [failing, ASIDE],
  );

  const look = () =>
    transact(harness.db, SYSTEM, async (tx) => {
      const numbers = await readQueueNumbers(tx);
      const counted = await tx.first<{ read: number }>(
        `SELECT (idx_tup_fetch + seq_tup_read)::integer AS read FROM pg_stat_xact_user_tables WHERE relname = 'deliveries'`,
      );
      return { numbers, read: counted?.read };
    });
  const { numbers, read } = await look();
  expect(numbers).toEqual({
    events_new: 0,
    due: NEW + 50_000,
    waiting: 50_000,
    held: 0,
    oldest: '2026-01-02T00:00:01.000Z',
    withheld: 0,
    failing: [],
    changes_pending: 0,
    oldest_change: null,
  });
  expect(read).toBeLessThan(READ_AT_MOST);

  // Of webhooks that are paused, none is due.
  await harness.rows("UPDATE webhooks SET status = 'paused'");
  const paused = await look();
  expect(paused.numbers).toMatchObject({ due: 0, waiting: 0, held: NEW + 100_000, oldest: null });
  // PostgreSQL may not have put the look before aside yet.
  expect(paused.read).toBeLessThan(2 * READ_AT_MOST);
});
