import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Destinations } from '../../../src/delivery/destinations.ts';
import { Dispatch } from '../../../src/delivery/dispatch.ts';
import { createMetrics } from '../../../src/delivery/metrics.ts';
import { Recorder } from '../../../src/delivery/recorder.ts';
import { CircuitBreaker } from '../../../src/domain/events/flow-control.ts';
import {
  type ClaimedDelivery,
  isVoid,
  type LaneCommand,
  newLane,
  openFromAfter,
  stepLane,
} from '../../../src/domain/events/lane.ts';
import { Bell } from '../../../src/platform/bell.ts';
import type { PostOutcome } from '../../../src/platform/egress/egress.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { alone } from '../../../src/store/database.ts';
import { fanOut } from '../../../src/store/events/deliveries.ts';
import { CLAIM_LISTS, claimDeliveries } from '../../../src/store/events/deliveries-claim.ts';
import { type Result, recordResults } from '../../../src/store/events/deliveries-record.ts';
import { sqlFunction } from '../../../src/store/sql-functions.ts';
import { answered, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { claimStep, eventNos, on, replayStep } from '../../support/steps.ts';

/** What a lane keeps in memory and what the database knows of it may come apart. Each of these did, once. */

it('a worker that lost its lane without noticing does not send a later delivery before an earlier one', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  let answerFirst = (_status: number) => {};
  harness.answerWith(({ sequence }) =>
    sequence === 1
      ? new Promise((resolve) => {
          answerFirst = resolve;
        })
      : 200,
  );
  harness.engine.start();
  await harness.publish({ id: 'a' });
  await until(() => harness.sent.length === 1);
  // As another worker does that sees no sign of life.
  await harness.rows('UPDATE webhook_lanes SET holder = NULL, held_until = NULL');
  // Put back to wait for the first, which nobody writes down for one that does not hold the lane.
  await harness.publish({ id: 'a' });
  await expect.poll(() => harness.rows('SELECT FROM deliveries')).toHaveLength(2);
  const claims = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => claims.mockRestore());
  await until(
    () => claims.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('claim_deliveries')).length > 1,
  );
  answerFirst(200);
  await harness.publish({ id: 'a' });
  await until(() => new Set(harness.sent.map(({ sequence }) => sequence)).size === 3);
  expect([...new Set(harness.sent.map(({ sequence }) => sequence))]).toEqual([1, 2, 3]);
});

it('what was put back before a lane was lost is not written after it was leased again', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  const log = createLogger(() => {});
  await harness.publish({ id: 'a' }, { id: 'a' }, { id: 'a' });
  const at = new Date(harness.clock.now()).toISOString();
  await fanOut(harness.db, at, 7, 100);
  const lane = newLane(1);
  const claim = { at, leaseMs: 0, me: 7, afterNo: 0, deliveriesMax: 10, usualRoom: 10, lookBack: false };
  const claimFrom = async (held: boolean) => {
    const [command] = stepLane(lane, { type: 'claiming', isHeld: held, looksBack: false });
    if (command?.type !== 'claim') throw new Error('no claim');
    const known = [{ no, room: 10, held, from: command.from, underWay: command.except }];
    const [claimed] = await claimDeliveries(harness.db, { ...claim, known, passedOver: [] });
    return claimed?.deliveries ?? [];
  };
  const deliveries = await claimFrom(false);
  const waiting = (command: LaneCommand | undefined): Result => {
    if (command?.type !== 'putBack') throw new Error('not put back');
    const { sequence, objectHash, tries } = command.delivery;
    return {
      webhookNo: no,
      sequence,
      objectHash,
      triesBefore: tries,
      state: 'waiting',
      retryDelayMs: undefined,
      answeredAt: 0,
      delayMs: 0,
      cause: '',
      after: command.after,
      attempt: '',
      gone: undefined,
    };
  };
  const [second, third] = stepLane(lane, { type: 'claimed', deliveries, isAll: true, places: 1 });
  const recorder = new Recorder(
    { db: harness.db, clock: harness.clock, log, me: 7, usage: { deliver: () => {} } },
    {
      prepare(results) {
        const good = results.filter((result) => {
          if (!isVoid(lane, result)) return true;
          stepLane(lane, { type: 'unrecorded', result });
          return false;
        });
        return { results: good, lows: [{ no, low: openFromAfter(lane, good) }] };
      },
      recorded(results, lanes) {
        for (const result of results) stepLane(lane, { type: 'recorded', result });
        if (!lanes[0]?.held) stepLane(lane, { type: 'lost' });
      },
      resume() {},
      unrecorded(results) {
        for (const result of results) stepLane(lane, { type: 'unrecorded', result });
      },
    },
  );
  const hold = (holder: number | null) => harness.rows('UPDATE webhook_lanes SET holder = $1', [holder]);
  await hold(null);
  recorder.add(waiting(second));
  await recorder.idle();
  await hold(7);
  recorder.add(waiting(third));
  await recorder.idle();
  // Otherwise the third would be due, and the second still be new.
  const untouched = { state: 'due', retry_at: null };
  expect(await harness.rows('SELECT state, retry_at FROM deliveries')).toEqual([
    untouched,
    untouched,
    untouched,
  ]);
  stepLane(lane, {
    type: 'answered',
    delivery: deliveries[0] as ClaimedDelivery,
    state: 'delivered',
    places: 0,
  });
  stepLane(lane, {
    type: 'unrecorded',
    result: { ...(deliveries[0] as ClaimedDelivery), state: 'delivered' },
  });
  expect((await claimFrom(true)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

it('deliveries that wait for each other after a replay and a takeover are woken', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  await harness.publish({ id: 'a' });
  await harness.engine.drain();
  const doomed = await harness.workerThat(() => new Promise(() => {}));
  harness.clock.advance(20_000);
  await harness.publish({ id: 'a' }, { id: 'a' });
  void doomed.engine.drain();
  while ((await harness.rows("SELECT FROM deliveries WHERE state = 'waiting'")).length < 1) await pause(20);
  // The first waits behind the third, the third for the second, and whoever takes over finds the second behind the first.
  const first = await eventNos(harness.admin, 'SELECT min(no) AS no FROM events');
  await replayStep(no, first, new Date(harness.clock.now()).toISOString())(on(harness.admin));
  await doomed.die();
  await harness.engine.drain();
  expect(await harness.rows('SELECT DISTINCT state FROM deliveries')).toEqual([{ state: 'delivered' }]);
});

it('of deliveries that were put back together, the next is not sent while the first of them is set aside', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  harness.answerWith(({ sequence }) => (sequence === 2 ? 500 : 200));
  await harness.publish({ id: 'a' }, { id: 'a' }, { id: 'a' });
  await harness.engine.drain();
  expect(harness.sent.map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(await harness.rows('SELECT state, tries FROM deliveries ORDER BY sequence')).toEqual([
    { state: 'delivered', tries: 1 },
    { state: 'due', tries: 1 },
    { state: 'waiting', tries: 0 },
  ]);
});

it('hundreds of events about one object do not hold up one about another', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  let release = () => {};
  const hanging = new Promise<number>((resolve) => {
    release = () => resolve(200);
  });
  harness.answerWith(({ payload }) => (payload.id === 'a' ? hanging : 200));
  harness.engine.start();
  await harness.publish(...Array.from({ length: 300 }, () => ({ id: 'a' })), { id: 'b' });
  const begun = Date.now();
  await until(() => harness.sent.some(({ payload }) => payload.id === 'b'));
  // A look's pause after each of the claims in between would take 38 s; without it they take a fraction of one.
  expect(Date.now() - begun).toBeLessThan(30_000);
  release();
});

it('a replay that what is old is cleared away under does not leave the next one waiting', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  const { user, host, port, database, password } = harness.admin;
  const replayer = new pg.Client({ user, host, port, database, password: password ?? undefined });
  await replayer.connect();
  await harness.publish({ id: 'a' });
  harness.clock.advance(31 * 24 * 3_600_000);
  await harness.publish({ id: 'a' });
  await harness.engine.drain();

  await replayer.query('BEGIN');
  const at = new Date(harness.clock.now()).toISOString();
  await replayStep(no, await eventNos(replayer), at)(on(replayer));
  const cleared = harness.engine.clear();
  const isBlocked =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while ((await harness.rows(isBlocked)).length === 0) await pause(5);
  await replayer.query('COMMIT');
  await replayer.end();
  await cleared;
  await harness.engine.drain();
  expect(await harness.rows('SELECT sequence::integer, state FROM deliveries')).toEqual([
    { sequence: 2, state: 'delivered' },
  ]);
  expect(harness.sent.map(({ sequence }) => sequence)).toEqual([1, 2, 2]);
});

it('what is due again is not handed out before an earlier one about its object that is new', async () => {
  const harness = await openDeliveryHarness();
  await harness.addWebhook();
  await harness.publish({ id: 'a' }, { id: 'a' });
  const at = new Date(harness.clock.now()).toISOString();
  await fanOut(harness.db, at, 7, 100);
  await harness.rows('UPDATE deliveries SET retry_at = $1, tries = 1 WHERE sequence = 2', [at]);
  const [claimed] = await claimDeliveries(harness.db, {
    at,
    leaseMs: 0,
    me: 7,
    afterNo: 0,
    deliveriesMax: 10,
    usualRoom: 10,
    lookBack: true,
    known: [],
    passedOver: [],
  });
  expect(claimed?.deliveries.map(({ sequence }) => sequence)).toEqual([1]);
});

it('a claim passes over what it is told to, new or set aside, and leases none of it', async () => {
  const harness = await openDeliveryHarness();
  const [anew, aside, wanted] = [
    await harness.addWebhook(),
    await harness.addWebhook(),
    await harness.addWebhook(),
  ];
  await harness.publish({ id: 'a' });
  const at = new Date(harness.clock.now()).toISOString();
  await fanOut(harness.db, at, 7, 100);
  await harness.rows('UPDATE deliveries SET retry_at = $1, tries = 1 WHERE webhook_no = $2', [at, aside]);
  const claim = {
    at,
    leaseMs: 20_000,
    me: 7,
    afterNo: 0,
    deliveriesMax: 10,
    usualRoom: 10,
    lookBack: true,
    known: [],
  };
  const claimed = async (passedOver: number[]) =>
    (await claimDeliveries(harness.db, { ...claim, passedOver })).map(({ webhookNo }) => webhookNo);
  expect(await claimed([anew, aside])).toEqual([wanted]);
  expect(await harness.rows('SELECT webhook_no AS no FROM webhook_lanes WHERE holder = 7')).toEqual([
    { no: wanted },
  ]);
  expect(await claimed([])).toEqual([anew, aside, wanted]);
});

it('nodes of the version before name what is to be passed over as lanes without room', async () => {
  const harness = await openDeliveryHarness();
  const [full, wanted] = [await harness.addWebhook(), await harness.addWebhook()];
  await harness.publish({ id: 'a' });
  const at = new Date(harness.clock.now()).toISOString();
  await fanOut(harness.db, at, 7, 100);
  const claimOfBefore = sqlFunction('claim_deliveries_2', {
    ...CLAIM_LISTS,
    after_no: 'integer',
    look_back: 'boolean',
    usual_only: 'boolean',
  });
  const claimed = await claimOfBefore<{ webhook_no: number | null; sequences: string }>(alone(harness.db), {
    ...{ at, lease_ms: 20_000, me: 7, after_no: 0, deliveries_max: 10, usual_room: 10, look_back: true },
    ...{ known_nos: [full], known_rooms: [0], known_held: [false], known_froms: '{NULL}', under_way: '{}' },
    usual_only: false,
  });
  expect(claimed.filter(({ webhook_no }) => webhook_no)).toMatchObject([
    { webhook_no: wanted, sequences: '1' },
  ]);
});

it('a replay puts deliveries behind the one about their object that is set aside, and wakes none', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  harness.answerWith(({ sequence }) => (sequence === 2 ? 500 : 200));
  await harness.publish({ id: 'a' }, { id: 'a' }, { id: 'a' });
  await harness.engine.drain();
  const at = new Date(harness.clock.now()).toISOString();
  await replayStep(no, await eventNos(harness.admin), at)(on(harness.admin));
  expect(
    await harness.rows("SELECT state, retry_at = 'infinity' AS waits FROM deliveries ORDER BY sequence"),
  ).toEqual([
    { state: 'waiting', waits: true },
    { state: 'due', waits: false },
    { state: 'waiting', waits: true },
  ]);
});

describe('two workers at the same lane at once', () => {
  /** A delivery in a lane, and a transaction of somebody else that has not ended yet. */
  async function contested() {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    await harness.publish({ id: 'a' });
    const at = new Date(harness.clock.now()).toISOString();
    await fanOut(harness.db, at, 7, 100);
    const { user, host, port, database, password } = harness.admin;
    const other = new pg.Client({ user, host, port, database, password: password ?? undefined });
    await other.connect();
    await other.query('BEGIN');
    return {
      harness,
      no,
      at,
      other,
      async commit() {
        const isBlocked =
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while ((await harness.rows(isBlocked)).length === 0) await pause(5);
        await other.query('COMMIT');
        await other.end();
      },
    };
  }

  it('get its deliveries one of them, who was first', async () => {
    const { harness, at, other, commit } = await contested();
    const claim = { at, leaseMs: 20_000, deliveriesMax: 10, usualRoom: 10, lookBack: false };
    await claimStep({ ...claim, me: 8 })(on(other));
    const second = claimDeliveries(harness.db, { ...claim, me: 7, afterNo: 0, known: [], passedOver: [] });
    await commit();
    expect(await second).toEqual([]);
    expect(await harness.rows('SELECT holder FROM webhook_lanes')).toEqual([{ holder: '8' }]);
  });

  it('cannot both write: a failure from the one that loses it in this moment does not count', async () => {
    const { harness, no, at, other, commit } = await contested();
    await harness.rows('UPDATE webhook_lanes SET holder = 7');
    await other.query('UPDATE webhook_lanes SET holder = 8');
    const failed: Result = {
      webhookNo: no,
      sequence: 1,
      objectHash: '',
      triesBefore: 0,
      state: 'due',
      retryDelayMs: 0,
      answeredAt: 0,
      delayMs: 0,
      cause: '',
      after: 0,
      attempt: '',
      gone: undefined,
    };
    const written = recordResults(harness.db, { at, moment: 0 }, 7, [failed], [{ no, low: 2 }]);
    await commit();
    expect(await written).toMatchObject([{ held: false }]);
    expect(await harness.rows('SELECT state, tries, retry_at FROM deliveries')).toEqual([
      { state: 'due', tries: 0, retry_at: null },
    ]);
  });
});

describe('while a delivery hangs', () => {
  /** A worker whose receiver answers when it is told to. `learning` is done after a claim was answered, before its deliveries are taken. */
  async function hanging() {
    const harness = await openDeliveryHarness();
    const no = await harness.addWebhook();
    const posted: (string | undefined)[] = [];
    const results: Result[] = [];
    let answer = (_outcome: PostOutcome) => {};
    let learning = async () => {};
    const destination = {
      id: 'wh_1',
      version: 1,
      url: 'https://receiver.example/',
      origin: 'https://receiver.example',
      isOfOperator: false,
      secretsAt: () => [],
    };
    const host = new CircuitBreaker(10);
    const dispatch = new Dispatch({
      db: harness.db,
      clock: harness.clock,
      random: randomBytes,
      me: 7,
      post({ headers }) {
        posted.push(headers['webhook-sequence']);
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      dial: async () => false,
      operatorEgress: { post: () => Promise.reject(new Error('of a partner')), dial: async () => false },
      isOnTime: () => true,
      log: createLogger(() => {}),
      destinations: {
        get: () => destination,
        hostOf: () => host,
        learn: () => learning(),
      } as unknown as Destinations,
      recorderFor: () =>
        ({
          add: (result: Result) => results.push(result),
          size: 0,
          isBehind: () => false,
        }) as unknown as Recorder,
      metrics: createMetrics(),
      due: new Bell(harness.clock),
    });
    return {
      harness,
      dispatch,
      posted,
      results,
      no,
      answer: (status: number) => answer(answered(status)),
      learnWith(next: () => Promise<void>) {
        learning = next;
      },
      async publish(id: string) {
        await harness.publish({ id });
        await fanOut(harness.db, new Date(harness.clock.now()).toISOString(), 7, 100);
      },
    };
  }

  it('what is claimed of a lane that is lost meanwhile is not sent', async () => {
    const { dispatch, posted, no, publish, learnWith } = await hanging();
    await publish('a');
    await dispatch.claims.claim(false);
    await publish('b');
    learnWith(async () =>
      dispatch.recorded([], [{ webhook_no: no, failures: 0, failing_since: null, woken: 0, held: false }]),
    );
    await dispatch.claims.claim(false);
    expect(posted).toEqual(['1']);
    learnWith(async () => {});
    await dispatch.claims.claim(false);
    expect(posted).toEqual(['1', '2']);
  });

  it('one about the same object that is claimed while its failure is written waits for it', async () => {
    const { dispatch, posted, results, publish, learnWith, answer } = await hanging();
    await publish('a');
    await dispatch.claims.claim(false);
    await publish('a');
    learnWith(async () => {
      answer(500);
      await until(() => results.length === 1);
      dispatch.recorded(results, []);
    });
    await dispatch.claims.claim(false);
    expect(posted).toEqual(['1']);
    expect(results).toMatchObject([
      { sequence: 1, state: 'due' },
      { sequence: 2, state: 'waiting' },
    ]);
  });

  it('and its lane is found to be with another worker, nothing is put back any more', async () => {
    const { harness, dispatch, results, publish } = await hanging();
    await publish('a');
    await publish('a');
    await dispatch.claims.claim(false);
    const [second] = results as [Result];
    expect(second).toMatchObject({ sequence: 2, state: 'waiting' });
    expect(dispatch.prepare([second]).results).toEqual([second]);
    await harness.rows('UPDATE webhook_lanes SET holder = 8');
    harness.clock.advance(8_000);
    await dispatch.claims.claim(false);
    expect(dispatch.prepare([second]).results).toEqual([]);
    expect(await harness.rows('SELECT holder FROM webhook_lanes')).toEqual([{ holder: '8' }]);
  });

  it('its lane is leased anew before the lease runs out, whatever was claimed meanwhile', async () => {
    const { harness, dispatch, posted, publish } = await hanging();
    await publish('a');
    await dispatch.claims.claim(false);
    harness.clock.advance(7_000);
    await publish('b');
    await dispatch.claims.claim(false);
    expect(posted).toEqual(['1', '2']);
    harness.clock.advance(7_900);
    await dispatch.claims.claim(false);
    expect(await harness.rows('SELECT held_until FROM webhook_lanes')).toEqual([
      { held_until: new Date(harness.clock.now() + 20_000) },
    ]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}
