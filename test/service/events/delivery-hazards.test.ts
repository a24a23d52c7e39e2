import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Destinations } from '../../../src/delivery/destinations.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { type DeliveryHarness, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { clearOldStep, eventNos, fanOutStep, on, replayStep } from '../../support/steps.ts';

/** What happens beside a delivery: events that grow old, webhooks that change, more of everything than fits. */

const DAY = 24 * 3_600_000;
const SLOW = { timeout: 60_000 };
const now = (harness: DeliveryHarness) => new Date(harness.clock.now()).toISOString();
/** What is older than a month. */
const clearOld = (harness: DeliveryHarness, client: pg.Client) =>
  clearOldStep({ at: now(harness), keptDays: 30, openKeptDays: 30, rowsMax: 500 })(on(client));

describe('events that are cleared away', () => {
  it('are not put into a queue by a replay at the same time', async () => {
    const harness = await openDeliveryHarness();
    await harness.publish({ id: 'old' });
    await harness.engine.drain();
    harness.clock.advance(31 * DAY);
    const young = await harness.addWebhook();
    const { user, host, port, database, password } = harness.admin;
    const clearing = new pg.Client({ user, host, port, database, password: password ?? undefined });
    await clearing.connect();
    onTestFinished(() => clearing.end());
    const replay = async () =>
      replayStep(young, await eventNos(harness.admin), now(harness))(on(harness.admin));
    const orphans = () =>
      harness.rows('SELECT FROM deliveries d WHERE NOT EXISTS (SELECT FROM events WHERE no = d.event_no)');

    await clearing.query('BEGIN');
    await clearOld(harness, clearing);
    await replay();
    await clearing.query('COMMIT');
    expect(await orphans()).toEqual([]);

    await harness.publish({ id: 'older' });
    await harness.engine.drain();
    harness.clock.advance(31 * DAY);
    // The other way round: what a replay holds on to is cleared the next time.
    await harness.rows('DELETE FROM deliveries');
    await harness.rows('BEGIN');
    await replay();
    await clearOld(harness, clearing);
    await harness.rows('COMMIT');
    expect(await orphans()).toEqual([]);
    expect(await harness.rows('SELECT FROM deliveries')).toHaveLength(1);
    await clearOld(harness, clearing);
    expect(await harness.rows('SELECT FROM deliveries')).toEqual([]);
  });

  it('stay while they are on their way to a webhook that is active, and no longer than a while', async () => {
    const harness = await openDeliveryHarness();
    const [active, paused, deleted] = [
      await harness.addWebhook(),
      await harness.addWebhook(),
      await harness.addWebhook(),
    ];
    harness.answerWith(() => 500);
    const only = async (no: number, id: string) => {
      await harness.rows("UPDATE webhooks SET status = CASE no WHEN $1 THEN 'active' ELSE 'paused' END", [
        no,
      ]);
      const [event] = await harness.publish({ id });
      await harness.engine.drain();
      await harness.rows(
        'DELETE FROM deliveries WHERE webhook_no <> $1 AND event_no = (SELECT no FROM events WHERE id = $2)',
        [no, event],
      );
    };
    await only(paused, 'to the paused one');
    await only(deleted, 'to the deleted one');
    await only(active, 'to the active one');
    await harness.rows("UPDATE webhooks SET status = 'active', deleted_at = now() WHERE no = $1", [deleted]);
    const left = async () => {
      await harness.engine.clear();
      return (await harness.rows<{ id: string }>('SELECT object_id AS id FROM events ORDER BY no')).map(
        ({ id }) => id,
      );
    };
    harness.clock.advance(29 * DAY);
    expect(await left()).toHaveLength(3);
    harness.clock.advance(2 * DAY);
    expect(await left()).toEqual(['to the active one']);
    expect(await harness.rows('SELECT FROM deliveries')).toHaveLength(1);
    harness.clock.advance(12 * DAY);
    expect(await left()).toEqual(['to the active one']);
    harness.clock.advance(2 * DAY);
    expect(await left()).toEqual([]);
  });

  it('do not wake a delivery that waits for another one', async () => {
    const harness = await openDeliveryHarness();
    await harness.publish({ id: 'a' });
    await harness.engine.drain();
    harness.clock.advance(30 * DAY - 1_000);
    // Added later. Its first delivery is set aside, the second waits for it.
    const no = await harness.addWebhook();
    harness.answerWith(({ sequence }) => (sequence === 1 ? 500 : 200));
    await harness.publish({ id: 'a' }, { id: 'a' });
    await harness.engine.drain();
    // It asks for what was before; that is in its queue, and grows too old there.
    const first = await eventNos(harness.admin, 'SELECT min(no) AS no FROM events');
    await replayStep(no, first, now(harness))(on(harness.admin));
    harness.clock.advance(2_000);
    await clearOld(harness, harness.admin);
    expect(await harness.rows('SELECT sequence::integer, state FROM deliveries ORDER BY 1')).toEqual([
      { sequence: 1, state: 'due' },
      { sequence: 2, state: 'waiting' },
    ]);
    await harness.engine.drain();
    expect(harness.sent.map(({ sequence }) => sequence)).toEqual([1]);
  });

  it('by somebody else leave their deliveries where they are, and the others get their own', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    await harness.publish({ id: 'a' }, { id: 'b' }, { id: 'c' });
    await fanOutStep(now(harness))(on(harness.admin));
    await harness.rows("DELETE FROM events WHERE object_id = 'a'");
    await harness.engine.drain();
    expect(harness.sent.map(({ sequence, payload }) => [sequence, payload.id])).toEqual([
      [2, 'b'],
      [3, 'c'],
    ]);
  });
});

describe('a webhook that changes while deliveries to it are under way', () => {
  /** It is well, so that many are fetched ahead, and then answers nothing until it is told to. */
  async function busy() {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook({ url: 'https://old.example/' });
    const { looks } = counting(harness);
    const held: ((status: number) => void)[] = [];
    let holds = false;
    harness.answerWith(({ url }) =>
      holds && url.includes('old') ? new Promise((resolve) => held.push(resolve)) : 200,
    );
    harness.engine.start();
    await harness.publish(...Array.from({ length: 400 }, (_, n) => ({ id: `a-${n}` })));
    const delivered = async () =>
      (await harness.rows("SELECT FROM deliveries WHERE state = 'delivered'")).length;
    await vi.waitFor(async () => expect(await delivered()).toBe(400), SLOW);
    holds = true;
    await harness.publish(...Array.from({ length: 900 }, (_, n) => ({ id: `b-${n}` })));
    await vi.waitFor(() => expect(held).toHaveLength(64), SLOW);
    return {
      harness,
      no,
      delivered,
      answer: () => held.splice(0).map((resolve) => resolve(200)),
      async looked() {
        const before = looks();
        await vi.waitFor(() => expect(looks()).toBeGreaterThan(before + 2), SLOW);
      },
    };
  }

  it('gets the rest at its new address', async () => {
    const { harness, no, delivered, answer, looked } = await busy();
    await harness.rows(
      "UPDATE webhooks SET url = 'https://new.example/', version = version + 1 WHERE no = $1",
      [no],
    );
    await looked();
    answer();
    await vi.waitFor(async () => expect(await delivered()).toBe(1_300), SLOW);
    const rest = harness.sent.slice(464).map(({ url }) => url);
    expect(rest.filter((url) => url.includes('old'))).toEqual([]);
  });

  it('gets nothing more while it is paused', async () => {
    const { harness, no, delivered, answer, looked } = await busy();
    await harness.rows("UPDATE webhooks SET status = 'paused', version = version + 1 WHERE no = $1", [no]);
    await looked();
    answer();
    await vi.waitFor(async () => expect(await delivered()).toBe(464), SLOW);
    expect(harness.sent).toHaveLength(464);
  });

  it('is not disabled for what its old address says', async () => {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook({ url: 'https://old.example/' });
    let answerOld = (_status: number) => {};
    harness.answerWith(
      ({ url }) =>
        new Promise((resolve) => {
          if (url.includes('old')) answerOld = resolve;
          else resolve(200);
        }),
    );
    harness.engine.start();
    await harness.publish({ id: 'a' });
    await vi.waitFor(() => expect(harness.sent).toHaveLength(1), SLOW);
    await harness.rows(
      "UPDATE webhooks SET url = 'https://new.example/', version = version + 1 WHERE no = $1",
      [no],
    );
    answerOld(410);
    await harness.engine.stop();
    const state = 'SELECT status, state, tries FROM webhooks JOIN deliveries ON webhook_no = no';
    expect(await harness.rows(state)).toEqual([{ status: 'active', state: 'due', tries: 1 }]);
  });
});

it('a webhook whose address is being changed is not disabled for the old one, however long that has failed', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  harness.answerWith(() => 500);
  await harness.publish({ id: 'a' });
  await harness.engine.drain();
  harness.clock.advance(6 * DAY);
  // Its owner's change is written, and commits while the engine is about to disable the webhook.
  await harness.rows('BEGIN');
  await harness.rows(
    "UPDATE webhooks SET url = 'https://new.example/', version = version + 1 WHERE no = $1",
    [no],
  );
  const drained = harness.engine.drain();
  const waiting = `SELECT pg_stat_clear_snapshot() FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await harness.rows(waiting)).length === 0);
  await harness.rows('UPDATE webhook_lanes SET failures = 0, failing_since = NULL WHERE webhook_no = $1', [
    no,
  ]);
  await harness.rows('COMMIT');
  await drained;
  expect(await harness.rows('SELECT status, url FROM webhooks')).toEqual([
    { status: 'active', url: 'https://new.example/' },
  ]);
});

it('a webhook that works again is not disabled because a delivery is put back to wait', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  harness.answerWith(() => 500);
  await harness.publish({ id: 'a' });
  do await harness.engine.drain();
  while (await harness.toNextDue());
  expect(await harness.rows('SELECT state FROM deliveries')).toEqual([{ state: 'failed' }]);
  // Nothing happens for some days, in which the receiver is repaired. Then two events about one object.
  harness.clock.advance(3 * DAY);
  harness.answerWith(async ({ sequence }) => {
    if (sequence === 2)
      await vi.waitFor(
        async () =>
          expect(await harness.rows("SELECT FROM deliveries WHERE state = 'waiting'")).toHaveLength(1),
        SLOW,
      );
    return 200;
  });
  await harness.publish({ id: 'b' }, { id: 'b' });
  await harness.engine.drain();
  expect(harness.sent.slice(10).map(({ sequence }) => sequence)).toEqual([2, 3]);
  expect(await harness.rows('SELECT status FROM webhooks')).toEqual([{ status: 'active' }]);
});

describe('more than fits', () => {
  const addMany = (harness: DeliveryHarness, count: number) =>
    harness.rows(
      `WITH w AS (INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
         SELECT 'wh_' || n, 'partner', 'group', 'https://r' || n % 50 || '.example/' || n, '{appointment.confirmed}', 'active', $1, $1
           FROM generate_series(1, $2::integer) AS n RETURNING no),
       lane AS (INSERT INTO webhook_lanes (webhook_no) SELECT no FROM w)
       INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at) SELECT no, '\\x0102', 'k', $1 FROM w`,
      [now(harness), count],
    );
  /** They hang until the test is over. */
  const hang = (harness: DeliveryHarness) => {
    const hung: (() => void)[] = [];
    harness.answerWith(() => new Promise((resolve) => hung.push(() => resolve(200))));
    return () => {
      harness.answerWith(() => 200);
      for (const answer of hung) answer();
    };
  };

  async function claimsInFourLooks({ claims, looks }: ReturnType<typeof counting>) {
    const before = { claims: claims(), looks: looks() };
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(before.looks + 3), SLOW);
    return claims() - before.claims;
  }

  it('is not fetched again and again while as much is under way as may be', async () => {
    const harness = await openDeliveryHarness();
    await addMany(harness, 1_000);
    const counts = counting(harness);
    const release = hang(harness);
    await harness.publish({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    harness.engine.start();
    await vi.waitFor(() => expect(harness.sent).toHaveLength(2_000), SLOW);
    expect(await claimsInFourLooks(counts)).toBeLessThan(12);
    expect(harness.sent).toHaveLength(2_000);
    release();
    // And all of it arrives.
    const open = "SELECT FROM deliveries WHERE state <> 'delivered'";
    await vi.waitFor(async () => expect(await harness.rows(open)).toEqual([]), SLOW);
    expect(harness.sent).toHaveLength(4_000);
  });

  it('is not looked for again and again when all that is due is under way', async () => {
    const harness = await openDeliveryHarness();
    await addMany(harness, 1_000);
    const counts = counting(harness);
    harness.answerWith(() => 500);
    await harness.publish({ id: 'a' });
    harness.engine.start();
    await vi.waitFor(
      async () => expect(await harness.rows('SELECT FROM deliveries WHERE tries = 1')).toHaveLength(1_000),
      SLOW,
    );
    const release = hang(harness);
    harness.clock.advance(6_000);
    await vi.waitFor(() => expect(harness.sent).toHaveLength(2_000), SLOW);
    expect(await claimsInFourLooks(counts)).toBeLessThan(20);
    release();
  });

  it('is held by one connection for each webhook that hangs, also when its deliveries are retried', async () => {
    const harness = await openDeliveryHarness();
    await harness.addWebhook();
    const events = Array.from({ length: 8 }, (_, n) => ({ id: `object-${n}` }));
    harness.answerWith(() => 500);
    await harness.publish(...events);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(8);
    let underWay = 0;
    let most = 0;
    harness.answerWith(async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return 500;
    });
    harness.clock.advance(6_000);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(16);
    expect(most).toBe(1);
    // Once it is well, it gets more and more at a time.
    const slowly = async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return 200;
    };
    harness.answerWith(slowly);
    harness.clock.advance(400_000);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(24);
    expect(most).toBeGreaterThan(2);
  });

  it('is forgotten of addresses, but none that is needed now', async () => {
    const harness = await openDeliveryHarness();
    await addMany(harness, 10_002);
    const destinations = new Destinations(
      harness.db,
      ({ sealed }) => sealed,
      createLogger(() => {}),
    );
    const numbered = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, n) => ({ webhookNo: first + n, version: 1 }));
    await destinations.learn(numbered(1, 10_001));
    await destinations.learn(numbered(9_900, 10_002));
    for (const { webhookNo } of numbered(9_900, 10_002)) expect(destinations.get(webhookNo)).toBeDefined();
    expect(destinations.get(1)).toBeUndefined();
  });

  it('is found in a list by halving it', async () => {
    const harness = await openDeliveryHarness();
    const nos = [...new Set(randomBytes(40))].sort((a, b) => a - b);
    const places = (list: number[]) =>
      harness.rows(
        'SELECT n, place_in(n, $1) AS place, array_position($1, n) AS really FROM generate_series(-1, 260) AS n',
        [list],
      );
    for (const list of [nos, [], [7]])
      for (const { place, really } of (await places(list)) as { place: unknown; really: unknown }[])
        expect(place).toBe(really);
  });
});

/** How often the engine has claimed, and looked for itself whether there is anything to do. */
function counting(harness: DeliveryHarness) {
  const texts: string[] = [];
  const seen = new WeakSet<object>();
  const { pool } = harness.db;
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  vi.spyOn(pool, 'connect').mockImplementation((async () => {
    const client = await connect();
    if (!seen.has(client)) {
      seen.add(client);
      const query = client.query.bind(client) as (...given: unknown[]) => unknown;
      client.query = ((...given: unknown[]) => {
        texts.push((given[0] as { text?: string }).text ?? '');
        return query(...given);
      }) as typeof client.query;
    }
    return client;
  }) as typeof pool.connect);
  const count = (name: string) => texts.filter((text) => text.includes(name)).length;
  return { claims: () => count('claim_deliveries'), looks: () => count('free_lanes_of_the_dead') };
}

it.each([
  ['a burst', 150],
  ['what one call has published', 30],
])('%s that is too much for one statement is fanned out in smaller parts', async (_, limit) => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  // As on a slow disk, where PostgreSQL ends the statement.
  await harness.rows(`
    CREATE FUNCTION too_many() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM fresh) > ${limit} THEN
        RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014';
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER too_many AFTER INSERT ON deliveries REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION too_many()`);
  for (let n = 0; n < 10; n++)
    await harness.publish(...Array.from({ length: 100 }, (_, i) => ({ id: `object-${n}-${i}` })));
  harness.engine.start();
  const fannedOut = async () => (await harness.rows('SELECT FROM deliveries')).length;
  await expect.poll(fannedOut).toBe(1_000);
  const inOrder = await harness.rows<{ no: number }>(
    'SELECT event_no AS no FROM deliveries ORDER BY sequence',
  );
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a.no - b.no));
  expect(await harness.rows('SELECT FROM feed WHERE position NOT BETWEEN 1 AND 1000')).toEqual([]);
});

it('a delivery that was fetched ahead, of an object that is erased, is dropped by the next claim of its webhook', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  await harness.engine.drain();
  for (let n = 0; n < 30; n++) await harness.accept([{ id: `warm-${n}` }]);
  await harness.engine.drain();
  const answer = Promise.withResolvers<void>();
  harness.answerWith(() => answer.promise.then(() => 200));
  for (let n = 0; n < 6; n++)
    await harness.accept(Array.from({ length: 16 }, (_, i) => ({ id: `other-${n}-${i}` })));
  await harness.accept([{ id: 'of-a-patient' }]);
  const ids = () => harness.sent.map(({ payload }) => payload.id);
  expect(ids()).not.toContain('of-a-patient');
  const [erased] = await harness.rows<{ deliveries_withdrawn: number }>(
    "SELECT * FROM erase_events($1, 'group', 'Appointment', 'of-a-patient', 'era_1', NULL, 5000, '[]')",
    [now(harness)],
  );
  expect(erased?.deliveries_withdrawn).toBe(1);
  await harness.accept([{ id: 'fresh' }]);
  answer.resolve();
  await harness.engine.drain();
  expect(ids()).toEqual(expect.arrayContaining(['other-5-15', 'fresh']));
  expect(ids()).not.toContain('of-a-patient');
});
