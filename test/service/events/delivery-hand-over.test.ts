import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { fanOut } from '../../../src/store/events/deliveries.ts';
import { acceptAndHandOver, acceptAndHandOverSql } from '../../../src/store/events/hand-over.ts';
import { list } from '../../../src/store/sql-functions.ts';
import { type DeliveryHarness, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { seedOf } from '../../support/seed.ts';
import { on } from '../../support/steps.ts';

/** Events that are accepted, fanned out and claimed in one transaction: HAND OVER in delivery/engine.ts. */

const now = (harness: DeliveryHarness) => new Date(harness.clock.now()).toISOString();

/** With a webhook, and a worker that has shown a sign of life. */
async function present() {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  await harness.engine.drain();
  return { harness, no };
}

async function connected({ admin }: DeliveryHarness): Promise<pg.Client> {
  const { user, host, port, database, password } = admin;
  const client = new pg.Client({ user, host, port, database, password: password ?? undefined });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const one = (harness: DeliveryHarness, id: string, more: object = {}) => ({
  id: `evt_${id}`,
  payload: {
    object: 'Appointment' as const,
    id,
    practice_group_id: 'group',
    event: 'appointment.confirmed' as const,
  },
  sourceId: 'test',
  traceparent: undefined,
  keyed: undefined,
  acceptedAt: now(harness),
  ...more,
});

const sequences = ({ sent }: DeliveryHarness) => sent.map(({ sequence }) => sequence);
const states = (harness: DeliveryHarness) =>
  harness.rows('SELECT sequence::integer, state FROM deliveries ORDER BY webhook_no, sequence');
const head = async (harness: DeliveryHarness) =>
  (await harness.rows<{ position: number }>('SELECT position::integer FROM feed_head'))[0]?.position;

/** Which of these functions were called since. */
function calls(): (name: string) => number {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => spy.mockRestore());
  return (name) => spy.mock.calls.filter(([sql]) => JSON.stringify(sql).includes(`FROM ${name}(`)).length;
}

/** Somebody holds the lanes, and the engine waits for one of them. What is done meanwhile is done before they are given back. */
async function meanwhileLocked(harness: DeliveryHarness, work: () => Promise<unknown>): Promise<void> {
  const other = await connected(harness);
  await other.query('BEGIN; SELECT FROM webhook_lanes FOR UPDATE');
  const drained = harness.engine.drain();
  await expect.poll(() => harness.rows('SELECT FROM pg_locks WHERE NOT granted')).not.toEqual([]);
  const done = vi.fn();
  const worked = work().then(done);
  await expect.poll(() => done.mock.calls.length).toBe(1);
  await other.query('COMMIT');
  await Promise.all([drained, worked]);
  await harness.engine.drain();
}

describe('an event', () => {
  it('is on its way with the statement that accepts it', async () => {
    const { harness } = await present();
    const called = calls();
    await harness.accept([{ id: 'a' }]);
    // While that is written down it has the lane, for which the next one waits for a moment only.
    await expect.poll(() => states(harness)).toEqual([{ sequence: 1, state: 'delivered' }]);
    await harness.accept([{ id: 'b' }]);
    expect(sequences(harness)).toEqual([1, 2]);
    expect(['accept_and_hand_over', 'accept_events', 'fan_out', 'claim_deliveries_3'].map(called)).toEqual([
      2, 0, 0, 0,
    ]);
    await harness.engine.drain();
    expect(await states(harness)).toEqual([
      { sequence: 1, state: 'delivered' },
      { sequence: 2, state: 'delivered' },
    ]);
    expect(await head(harness)).toBe(2);
    expect(sequences(harness)).toEqual([1, 2]);
  });

  it('waits for an earlier one about its object, and goes when that is done', async () => {
    const { harness } = await present();
    harness.answerWith(({ sequence }) => (sequence === 1 && harness.sent.length === 1 ? 500 : 200));
    await harness.accept([{ id: 'a' }]);
    await expect
      .poll(() => harness.rows('SELECT state, tries FROM deliveries'))
      .toEqual([{ state: 'due', tries: 1 }]);
    await harness.accept([{ id: 'a' }, { id: 'b' }]);
    await expect.poll(() => sequences(harness)).toEqual([1, 3]);
    do await harness.engine.drain();
    while (await harness.toNextDue());
    expect(sequences(harness)).toEqual([1, 3, 1, 2]);
  });

  it('that nobody may have is accepted, and sent to nobody', async () => {
    const { harness } = await present();
    await harness.rows("UPDATE api_keys SET revoked_at = now() WHERE practice_group_id = 'group'");
    await harness.accept([{ id: 'a' }]);
    await harness.engine.drain();
    expect(harness.sent).toEqual([]);
    expect(await head(harness)).toBe(1);
  });

  it('is accepted beside others that are refused, and each hears its own', async () => {
    const { harness } = await present();
    const keyed = { key: 'k', bodyHash: Buffer.from('00', 'hex'), answer: { event_ids: ['evt_a'] } };
    const events = [
      one(harness, 'a', { keyed }),
      one(harness, 'b', { payload: { ...one(harness, 'b').payload, practice_group_id: 'nowhere' } }),
      one(harness, 'c', { keyed }),
    ];
    expect(await harness.engine.accept(now(harness), events)).toEqual([
      { outcome: 'accepted' },
      { outcome: 'unknown_group' },
      { outcome: 'repeated', bodyHash: keyed.bodyHash, answer: keyed.answer },
    ]);
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['a']);
    // Nothing at all is left of a call that is refused alone.
    expect(await harness.engine.accept(now(harness), events.slice(2))).toEqual([
      { outcome: 'repeated', bodyHash: keyed.bodyHash, answer: keyed.answer },
    ]);
    expect(await head(harness)).toBe(1);
  });

  it('goes to whoever holds the lane, if that is another node', async () => {
    const { harness } = await present();
    const first = Promise.withResolvers<number>();
    const holder = await harness.workerThat(({ sequence }) => (sequence === 1 ? first.promise : 202));
    holder.engine.start();
    await harness.publish({ id: 'a' });
    await expect.poll(() => sequences(harness)).toEqual([1]);
    harness.answerWith(() => {
      throw new Error('sent by a node that does not hold the lane');
    });
    await harness.accept([{ id: 'b' }]);
    await expect.poll(() => sequences(harness)).toEqual([1, 2]);
    first.resolve(200);
    await holder.engine.stop();
  });

  it('is sent by another node if the one that accepted it died before it could', async () => {
    const { harness } = await present();
    const dead = { at: now(harness), leaseMs: 20_000, me: 99, deliveriesMax: 10, usualRoom: 4, known: [] };
    const handed = await acceptAndHandOver(harness.db, now(harness), [one(harness, 'a')], 100, dead);
    expect(handed).toMatchObject({ outcomes: [{ outcome: 'accepted' }], taken: 1, more: false });
    expect(await harness.rows('SELECT holder::integer FROM webhook_lanes')).toEqual([{ holder: 99 }]);
    expect(harness.sent).toEqual([]);
    await harness.engine.drain();
    expect(sequences(harness)).toEqual([1]);
  });

  it('is not handed to a node that takes a lane for its own which it has lost', async () => {
    const { harness, no } = await present();
    const lost = {
      ...{ at: now(harness), leaseMs: 20_000, me: 7, deliveriesMax: 10, usualRoom: 4 },
      known: [{ no, room: 64, held: true, from: 1, underWay: [] }],
    };
    const handed = await acceptAndHandOver(harness.db, now(harness), [one(harness, 'a')], 100, lost);
    expect(handed).toMatchObject({ taken: 1, isRest: true });
    expect(await harness.rows('SELECT holder FROM webhook_lanes')).toEqual([{ holder: null }]);
    await harness.engine.drain();
    expect(sequences(harness)).toEqual([1]);
  });

  it('takes with it what else is new, in its turn', async () => {
    const { harness } = await present();
    await harness.publish({ id: 'a' }, { id: 'b' });
    await harness.accept([{ id: 'c' }]);
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['a', 'b', 'c']);
    expect(sequences(harness)).toEqual([1, 2, 3]);
  });
});

describe('the usual way goes', () => {
  it('an event whose lane is locked for long', async () => {
    const { harness } = await present();
    const other = await connected(harness);
    await other.query('BEGIN; SELECT FROM webhook_lanes FOR UPDATE');
    await harness.accept([{ id: 'a' }]);
    expect(await harness.rows('SELECT FROM new_events')).toHaveLength(1);
    expect(await states(harness)).toEqual([]);
    expect(await head(harness)).toBe(0);
    expect(await harness.engine.metrics()).toContain('porter_hand_overs_failed_total 0');
    await other.query('COMMIT');
    await harness.engine.drain();
    expect(sequences(harness)).toEqual([1]);
  });

  it('an event that comes while another node fans out, and the workers are told', async () => {
    const { harness } = await present();
    const other = await connected(harness);
    const told = vi.fn();
    other.on('notification', told);
    await other.query('LISTEN porter_events');
    await other.query('BEGIN; SELECT pg_advisory_xact_lock(7205759403793)');
    await harness.accept([{ id: 'a' }]);
    expect(harness.sent).toEqual([]);
    await other.query('COMMIT');
    await expect.poll(() => told.mock.calls.length).toBe(1);
    expect(await harness.engine.metrics()).toContain('porter_hand_overs_failed_total 0');
    await harness.engine.drain();
    expect(sequences(harness)).toEqual([1]);
  });

  it('an event whose Idempotency-Key is being used elsewhere: nobody else waits for that', async () => {
    const { harness } = await present();
    const other = await connected(harness);
    await other.query('BEGIN');
    await other.query(
      `INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at) VALUES ('test', 'k', '\\x00', '{}', now())`,
    );
    const keyed = { key: 'k', bodyHash: Buffer.from('00', 'hex'), answer: {} };
    expect(await harness.engine.accept(now(harness), [one(harness, 'a', { keyed })])).toBeUndefined();
    await harness.accept([{ id: 'b' }]);
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['b']);
    await other.query('ROLLBACK');
  });

  it('an event that comes while a fan-out waits for a lane', async () => {
    const { harness } = await present();
    await harness.publish({ id: 'a' });
    await meanwhileLocked(harness, () => harness.accept([{ id: 'b' }]));
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['a', 'b']);
  });

  it('an event that comes while a claim waits for a lane', async () => {
    const { harness } = await present();
    await harness.publish({ id: 'a' });
    await fanOut(harness.db, now(harness), 1, 100);
    await meanwhileLocked(harness, () => harness.accept([{ id: 'b' }]));
    expect(harness.sent.map(({ payload }) => payload.id)).toEqual(['a', 'b']);
  });

  it('an event that a fault keeps from being handed over, which is counted', async () => {
    const { harness } = await present();
    await harness.rows('ALTER TABLE feed ADD CONSTRAINT broken CHECK (false) NOT VALID');
    await harness.accept([{ id: 'a' }]);
    expect(await harness.rows('SELECT FROM new_events')).toHaveLength(1);
    expect(await harness.engine.metrics()).toContain('porter_hand_overs_failed_total 1');
    await harness.rows('ALTER TABLE feed DROP CONSTRAINT broken');
    await harness.engine.drain();
    expect(sequences(harness)).toEqual([1]);
  });

  it('an event that was handed over and that a fault keeps from being sent, which is counted and logged', async () => {
    const { harness } = await present();
    await harness.rows('ALTER TABLE webhook_secrets RENAME TO lost_secrets');
    await harness.accept([{ id: 'a' }]);
    expect(await harness.rows('SELECT FROM deliveries')).toHaveLength(1);
    expect(await harness.engine.metrics()).toContain('porter_hand_overs_failed_total 1');
    expect(harness.logLines).toMatchObject([
      {
        msg: 'events could not be handed over',
        err: { message: expect.stringContaining('webhook_secrets') },
      },
    ]);
    await harness.rows('ALTER TABLE lost_secrets RENAME TO webhook_secrets');
    await harness.engine.drain();
    expect(sequences(harness)).toEqual([1]);
  });

  it('a burst', async () => {
    const { harness } = await present();
    const burst = Array.from({ length: 17 }, (_, n) => one(harness, `a-${n}`));
    expect(await harness.engine.accept(now(harness), burst)).toBeUndefined();
    expect(await harness.engine.accept(now(harness), burst.slice(1))).toHaveLength(16);
  });

  it('what comes while there is more to fan out than a statement has the time for', async () => {
    const { harness } = await present();
    // As on a slow disk, where PostgreSQL ends the statement.
    await harness.rows(`
      CREATE FUNCTION too_many() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (SELECT count(*) FROM fresh) > 50 THEN
          RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014';
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER too_many AFTER INSERT ON deliveries REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION too_many()`);
    for (let n = 0; n < 4; n++)
      await harness.publish(...Array.from({ length: 25 }, (_, i) => ({ id: `a-${n}-${i}` })));
    await expect(harness.engine.drain()).rejects.toThrow('statement timeout');
    const called = calls();
    await harness.accept([{ id: 'b' }]);
    expect(['accept_and_hand_over', 'accept_events'].map(called)).toEqual([0, 1]);
    await harness.engine.drain();
    expect(harness.sent).toHaveLength(101);
    await harness.accept([{ id: 'c' }]);
    expect(called('accept_and_hand_over')).toBe(1);
  });

  it('a burst that comes while a fan-out waits for a lane, without waiting for it', async () => {
    const { harness } = await present();
    // Whoever waits for the fan-out does so until this timer is over.
    const timer = vi.spyOn(harness.clock, 'timer').mockReturnValue(() => {});
    onTestFinished(() => timer.mockRestore());
    await harness.publish({ id: 'a' });
    await meanwhileLocked(harness, () =>
      harness.accept(Array.from({ length: 17 }, (_, n) => ({ id: `b-${n}` }))),
    );
    expect(harness.sent).toHaveLength(18);
  });

  it('whatever follows a burst, until that is fanned out together', async () => {
    const { harness } = await present();
    const pauses: (() => void)[] = [];
    const timer = vi.spyOn(harness.clock, 'timer').mockImplementation((milliseconds, fire) => {
      if (milliseconds !== 10) return systemClock.timer(milliseconds, fire);
      pauses.push(fire);
      return () => {};
    });
    onTestFinished(() => timer.mockRestore());
    harness.engine.start();
    await harness.accept(Array.from({ length: 17 }, (_, n) => ({ id: `a-${n}` })));
    await expect.poll(() => pauses.length).toBe(1);
    const called = calls();
    await harness.accept([{ id: 'b' }]);
    await harness.accept([{ id: 'c' }]);
    expect(['accept_and_hand_over', 'accept_events', 'fan_out'].map(called)).toEqual([0, 2, 0]);
    pauses[0]?.();
    await expect.poll(() => harness.sent.length).toBe(19);
    // And then, as soon as nothing else is under way, events are handed over again.
    let n = 0;
    await expect
      .poll(async () => {
        await harness.accept([{ id: `d-${n++}` }]);
        return called('accept_and_hand_over');
      })
      .toBeGreaterThan(0);
    await harness.engine.stop();
  });

  it('what comes before a worker has shown a sign of life, and after it has stopped', async () => {
    const harness = await openDeliveryHarness();
    expect(await harness.engine.accept(now(harness), [one(harness, 'a')])).toBeUndefined();
    await harness.engine.drain();
    await harness.engine.stop();
    expect(await harness.engine.accept(now(harness), [one(harness, 'a')])).toBeUndefined();
  });
});

it('two nodes that accept at once for one webhook number without a gap, and send in order', async () => {
  const call = fc.record({
    node: fc.constantFrom(0, 1),
    objects: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 }),
  });
  const round = fc.array(call, { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(round, async (calls) => {
      const { harness, no } = await present();
      const other = await harness.workerThat(() => 200);
      await other.engine.drain();
      const nodes = [harness.engine, other.engine];
      for (const engine of nodes) engine.start();
      const accepted = await Promise.all(
        calls.map(({ node, objects }) =>
          harness.accept(
            objects.map((object) => ({ id: `object-${object}` })),
            nodes[node],
          ),
        ),
      );
      await expect.poll(() => harness.sent.length).toBe(accepted.flat().length);
      const rows = await harness.rows<{ sequence: number; id: string }>(
        'SELECT sequence::integer, e.id FROM deliveries d JOIN events e ON e.no = d.event_no WHERE webhook_no = $1 ORDER BY sequence',
        [no],
      );
      expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, place) => place + 1));
      expect(rows.map(({ id }) => id).sort()).toEqual(accepted.flat().sort());
      for (const object of new Set(harness.sent.map(({ payload }) => payload.id))) {
        const arrived = harness.sent.filter(({ payload }) => payload.id === object);
        expect(arrived.map(({ sequence }) => sequence)).toEqual(
          arrived.map(({ sequence }) => sequence).toSorted((a, b) => a - b),
        );
      }
      for (const engine of nodes) await engine.stop();
      await harness.close();
    }),
    { seed: seedOf('two nodes', 11), numRuns: 8 },
  );
});

/** How a webhook stands when an event comes. */
const WEBHOOK = fc.record({
  wants: fc.constantFrom(true, true, true, false),
  status: fc.constantFrom('active', 'active', 'active', 'paused'),
  isWithheld: fc.constantFrom(false, false, false, true),
  isDeleted: fc.constantFrom(false, false, false, true),
  holder: fc.constantFrom('nobody', 'me', 'me', 'another', 'one whose lease ran out'),
  /** As the worker has it: undefined, nothing of it. */
  room: fc.constantFrom(undefined, 0, 1, 64),
  isHeld: fc.boolean(),
  /** What was put into its queue before, the last of it last. */
  before: fc.array(
    fc.record({
      object: fc.constantFrom('a', 'b'),
      is: fc.constantFrom('new', 'done', 'done', 'due later', 'waiting'),
    }),
    { maxLength: 4 },
  ),
});
const WORLD = fc.record({
  webhooks: fc.array(WEBHOOK, { maxLength: 4 }),
  key: fc.constantFrom('for good', 'for good', 'for half a second', 'revoked'),
});

it('one event that is handed over by itself goes where the steps for many would take it', async () => {
  const harness = await openDeliveryHarness();
  const at = now(harness);
  const later = (ms: number) => new Date(harness.clock.now() + ms).toISOString();
  const world = async ({ webhooks, key }: typeof WORLD extends fc.Arbitrary<infer W> ? W : never) => {
    await harness.rows('UPDATE api_keys SET expires_at = $1, revoked_at = $2', [
      key === 'for half a second' ? later(500) : null,
      key === 'revoked' ? at : null,
    ]);
    const known: { no: number; room: number; held: boolean; from: number | null }[] = [];
    for (const { wants, status, isWithheld, isDeleted, holder, room, isHeld, before } of webhooks) {
      const no = await harness.addWebhook({
        eventTypes: [wants ? 'appointment.confirmed' : 'appointment.cancelled'],
      });
      await harness.rows(
        'UPDATE webhooks SET status = $2, withheld_since = $3, deleted_at = $4 WHERE no = $1',
        [no, status, isWithheld ? at : null, isDeleted ? at : null],
      );
      const firstNew = before.findIndex(({ is }) => is === 'new');
      await harness.rows(
        'UPDATE webhook_lanes SET last_sequence = $2, open_from = $3, holder = $4, held_until = $5 WHERE webhook_no = $1',
        [
          no,
          before.length,
          firstNew < 0 ? before.length + 1 : firstNew + 1,
          { nobody: null, me: 7, another: 8, 'one whose lease ran out': 8 }[holder],
          holder === 'nobody' ? null : later(holder === 'one whose lease ran out' ? -1 : 15_000),
        ],
      );
      for (const [index, { object, is }] of before.entries())
        await harness.rows(
          `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, retry_at, created_at)
           VALUES ($1, $2::bigint, -$2::bigint, hashtextextended('Appointment ' || $3, 0), $4, $5, $6)`,
          [
            no,
            index + 1,
            object,
            { new: 'due', done: 'delivered', 'due later': 'due', waiting: 'waiting' }[is],
            { new: null, done: null, 'due later': later(60_000), waiting: 'infinity' }[is],
            at,
          ],
        );
      const held = isHeld && holder === 'me';
      // Of a lane that it holds it has what was put into it; of another it knows nothing for sure.
      if (room !== undefined) known.push({ no, room, held, from: held ? before.length + 1 : null });
    }
    return known;
  };
  const handOver = async (known: Awaited<ReturnType<typeof world>>) => {
    const rows = await acceptAndHandOverSql<{
      taken: number | null;
      webhook_no: number | null;
      sequences: string | null;
      event_nos: unknown;
    }>(on(harness.admin), {
      accepted_at: at,
      id_lines: 'evt_one',
      payload_lines: '{}',
      group_lines: 'group',
      event_lines: 'appointment.confirmed',
      object_lines: 'Appointment',
      object_ids: ['a'],
      source_lines: 'test',
      traceparents: null,
      keys: null,
      body_hashes: null,
      answers: null,
      events_max: 100,
      at,
      lease_ms: 20_000,
      me: 7,
      deliveries_max: 100,
      usual_room: 4,
      known_nos: known.map(({ no }) => no),
      known_rooms: known.map(({ room }) => room),
      known_held: known.map(({ held }) => held),
      known_froms: list(known, ({ from }) => from ?? 'NULL'),
      under_way: known.map(() => '{}').join('\n'),
    });
    expect(rows.find(({ taken }) => taken !== null)).toMatchObject({ taken: 1 });
    const handed = rows.flatMap(({ event_nos: _, ...row }) => (row.webhook_no && row.sequences ? [row] : []));
    const lanes = await harness.rows<{ webhook_no: number; last_sequence: string }>(
      'SELECT * FROM webhook_lanes ORDER BY webhook_no',
    );
    const queues = await harness.rows(
      'SELECT webhook_no, sequence, object_hash, state, retry_at, created_at FROM deliveries ORDER BY 1, 2',
    );
    return {
      handed,
      lanes,
      queues,
      feed: await harness.rows('SELECT position, event, only_partner_id FROM feed'),
    };
  };
  const undone = async <T>(work: () => Promise<T>): Promise<T> => {
    await harness.rows('SAVEPOINT before');
    const result = await work();
    await harness.rows('ROLLBACK TO before');
    return result;
  };

  let handedOver = 0;
  await fc.assert(
    fc.asyncProperty(WORLD, async (drawn) => {
      const both = async () => {
        await harness.rows("SET LOCAL porter.tenant = '*'");
        const known = await world(drawn);
        const byItself = await undone(() => handOver(known));
        // With a webhook for several practices, which has nothing to do with it, nothing is handed over by itself.
        await harness.addWebhook({ group: null, eventTypes: ['prescription.issued'] });
        return [byItself, await handOver(known)] as const;
      };
      await harness.rows('BEGIN');
      const [byItself, asMany] = await both().finally(() => harness.rows('ROLLBACK'));
      expect(byItself.feed).toEqual(asMany.feed);
      expect(byItself.queues).toEqual(asMany.queues);
      handedOver += byItself.handed.length;
      for (const [index, lane] of byItself.lanes.entries()) {
        const [one] = byItself.handed.filter((row) => row.webhook_no === lane.webhook_no);
        const [many] = asMany.handed.filter((row) => row.webhook_no === lane.webhook_no);
        if (one || !many) {
          expect(one && { ...one, is_rest: null }).toEqual(many);
          expect({ ...lane, held_until: null }).toEqual({ ...asMany.lanes[index], held_until: null });
        }
        // What has others before it is left to a claim, which takes these first.
        else expect(Number(many.sequences?.split(',')[0])).toBeLessThan(Number(lane.last_sequence));
      }
    }),
    { seed: seedOf('by itself', 11), numRuns: 100 },
  );
  expect(handedOver).toBeGreaterThan(10);
});
