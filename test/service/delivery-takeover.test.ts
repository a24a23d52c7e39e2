import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Destinations } from '../../src/delivery/destinations.ts';
import { Dispatch } from '../../src/delivery/dispatch.ts';
import { Lane } from '../../src/delivery/lane.ts';
import { Recorder } from '../../src/delivery/recorder.ts';
import type { PostOutcome } from '../../src/platform/egress/egress.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { claimDeliveries, fanOut } from '../../src/store/deliveries.ts';
import { type Result, recordResults } from '../../src/store/deliveries-record.ts';
import { answered, openPostOffice } from '../support/post-office.ts';

/** What a lane keeps in memory and what the database knows of it may come apart. Each of these did, once. */

it('a worker that lost its lane without noticing does not send a later letter before an earlier one', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  let answerFirst = (_status: number) => {};
  office.answerWith(({ sequence }) =>
    sequence === 1
      ? new Promise((resolve) => {
          answerFirst = resolve;
        })
      : 200,
  );
  office.engine.start();
  await office.publish({ id: 'a' });
  await until(() => office.letters.length === 1);
  // As another worker does that sees no sign of life.
  await office.rows('UPDATE webhook_lanes SET holder = NULL, held_until = NULL');
  // Put back to wait for the first, which nobody writes down for one that does not hold the lane.
  await office.publish({ id: 'a' });
  await expect.poll(() => office.rows('SELECT FROM deliveries')).toHaveLength(2);
  const claims = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => claims.mockRestore());
  await until(
    () => claims.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('claim_deliveries')).length > 1,
  );
  answerFirst(200);
  await office.publish({ id: 'a' });
  await until(() => new Set(office.letters.map(({ sequence }) => sequence)).size === 3);
  expect([...new Set(office.letters.map(({ sequence }) => sequence))]).toEqual([1, 2, 3]);
});

it('what was put back before a lane was lost is not written after it was leased again', async () => {
  const office = await openPostOffice();
  const no = await office.addWebhook();
  const log = createLogger(() => {});
  await office.publish({ id: 'a' }, { id: 'a' }, { id: 'a' });
  const at = new Date(office.clock.now()).toISOString();
  await fanOut(office.db, at, 7, 100);
  const lane = new Lane(no);
  const claim = { at, until: at, me: 7, afterNo: 0, deliveriesMax: 10, usualRoom: 10, lookBack: false };
  const [claimed] = await claimDeliveries(office.db, {
    ...claim,
    known: [lane.beginClaim(10, false, false)],
  });
  const [second, third] = lane.take(claimed?.letters ?? [], true) as [Result, Result];
  const recorder = new Recorder({
    db: office.db,
    clock: office.clock,
    log,
    me: 7,
    lowsAfter: (results) => [lane.lowAfter(results)],
    isVoid: (result) => lane.isVoid(result),
    written(results, lanes) {
      for (const result of results) lane.settle(result, true);
      if (!lanes[0]?.held) lane.lose();
    },
    afterwards: async () => {},
    unwritten: (result) => lane.settle(result, false),
  });
  const hold = (holder: number | null) => office.rows('UPDATE webhook_lanes SET holder = $1', [holder]);
  await hold(null);
  recorder.add(second);
  await recorder.idle();
  await hold(7);
  recorder.add(third);
  await recorder.idle();
  // Otherwise the third would be due, and the second still be new.
  const untouched = { state: 'due', retry_at: null };
  expect(await office.rows('SELECT state, retry_at FROM deliveries')).toEqual([
    untouched,
    untouched,
    untouched,
  ]);
  const again = await claimDeliveries(office.db, { ...claim, known: [lane.beginClaim(10, true, false)] });
  expect(again[0]?.letters.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

it('letters that wait for each other after a replay and a takeover are woken', async () => {
  const office = await openPostOffice();
  const no = await office.addWebhook();
  await office.publish({ id: 'a' });
  await office.engine.drain();
  const doomed = await office.workerThat(() => new Promise(() => {}));
  office.clock.advance(20_000);
  await office.publish({ id: 'a' }, { id: 'a' });
  void doomed.engine.drain();
  while ((await office.rows("SELECT FROM deliveries WHERE state = 'waiting'")).length < 1) await pause(20);
  // The first waits behind the third, the third for the second, and whoever takes over finds the second behind the first.
  const [event] = await office.rows<{ no: number }>('SELECT min(no) AS no FROM events');
  await office.rows('SELECT replay_deliveries($1, $2, ARRAY[$3::bigint])', [
    new Date(office.clock.now()).toISOString(),
    no,
    event?.no,
  ]);
  await doomed.die();
  await office.engine.drain();
  expect(await office.rows('SELECT DISTINCT state FROM deliveries')).toEqual([{ state: 'delivered' }]);
});

it('of letters that were put back together, the next is not sent while the first of them is set aside', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  office.answerWith(({ sequence }) => (sequence === 2 ? 500 : 200));
  await office.publish({ id: 'a' }, { id: 'a' }, { id: 'a' });
  await office.engine.drain();
  expect(office.letters.map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(await office.rows('SELECT state, tries FROM deliveries ORDER BY sequence')).toEqual([
    { state: 'delivered', tries: 1 },
    { state: 'due', tries: 1 },
    { state: 'waiting', tries: 0 },
  ]);
});

it('hundreds of events about one object do not hold up one about another', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  let release = () => {};
  const hanging = new Promise<number>((resolve) => {
    release = () => resolve(200);
  });
  office.answerWith(({ payload }) => (payload.id === 'a' ? hanging : 200));
  office.engine.start();
  await office.publish(...Array.from({ length: 300 }, () => ({ id: 'a' })), { id: 'b' });
  const begun = Date.now();
  await until(() => office.letters.some(({ payload }) => payload.id === 'b'));
  // A look's pause after each of the claims in between would take 38 s; without it they take a fraction of one.
  expect(Date.now() - begun).toBeLessThan(30_000);
  release();
});

it('a replay that what is old is cleared away under does not leave the next one waiting', async () => {
  const office = await openPostOffice();
  const no = await office.addWebhook();
  const { user, host, port, database, password } = office.admin;
  const replayer = new pg.Client({ user, host, port, database, password: password ?? undefined });
  await replayer.connect();
  await office.publish({ id: 'a' });
  office.clock.advance(31 * 24 * 3_600_000);
  await office.publish({ id: 'a' });
  await office.engine.drain();

  await replayer.query('BEGIN');
  await replayer.query('SELECT replay_deliveries($1, $2, (SELECT array_agg(no) FROM events))', [
    new Date(office.clock.now()).toISOString(),
    no,
  ]);
  const cleared = office.engine.clear();
  const isBlocked =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while ((await office.rows(isBlocked)).length === 0) await pause(5);
  await replayer.query('COMMIT');
  await replayer.end();
  await cleared;
  await office.engine.drain();
  expect(await office.rows('SELECT sequence::integer, state FROM deliveries')).toEqual([
    { sequence: 2, state: 'delivered' },
  ]);
  expect(office.letters.map(({ sequence }) => sequence)).toEqual([1, 2, 2]);
});

it('what is due again is not handed out before an earlier one about its object that is new', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  await office.publish({ id: 'a' }, { id: 'a' });
  const at = new Date(office.clock.now()).toISOString();
  await fanOut(office.db, at, 7, 100);
  await office.rows('UPDATE deliveries SET retry_at = $1, tries = 1 WHERE sequence = 2', [at]);
  const [claimed] = await claimDeliveries(office.db, {
    at,
    until: at,
    me: 7,
    afterNo: 0,
    deliveriesMax: 10,
    usualRoom: 10,
    lookBack: true,
    known: [],
  });
  expect(claimed?.letters.map(({ sequence }) => sequence)).toEqual([1]);
});

it('a replay puts letters behind the one about their object that is set aside, and wakes none', async () => {
  const office = await openPostOffice();
  const no = await office.addWebhook();
  office.answerWith(({ sequence }) => (sequence === 2 ? 500 : 200));
  await office.publish({ id: 'a' }, { id: 'a' }, { id: 'a' });
  await office.engine.drain();
  await office.rows('SELECT replay_deliveries($1, $2, (SELECT array_agg(no) FROM events))', [
    new Date(office.clock.now()).toISOString(),
    no,
  ]);
  expect(
    await office.rows("SELECT state, retry_at = 'infinity' AS waits FROM deliveries ORDER BY sequence"),
  ).toEqual([
    { state: 'waiting', waits: true },
    { state: 'due', waits: false },
    { state: 'waiting', waits: true },
  ]);
});

describe('two workers at the same lane at once', () => {
  /** A letter in a lane, and a transaction of somebody else that has not ended yet. */
  async function contested() {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    await office.publish({ id: 'a' });
    const at = new Date(office.clock.now()).toISOString();
    await fanOut(office.db, at, 7, 100);
    const { user, host, port, database, password } = office.admin;
    const other = new pg.Client({ user, host, port, database, password: password ?? undefined });
    await other.connect();
    await other.query('BEGIN');
    return {
      office,
      no,
      at,
      other,
      async commit() {
        const isBlocked =
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while ((await office.rows(isBlocked)).length === 0) await pause(5);
        await other.query('COMMIT');
        await other.end();
      },
    };
  }

  it('get its letters one of them, who was first', async () => {
    const { office, at, other, commit } = await contested();
    const until = new Date(office.clock.now() + 20_000).toISOString();
    await other.query(
      "SELECT * FROM claim_deliveries($1, $2, 8, 0, 10, 10, false, '{}', '{}', '{}', '{}', '')",
      [at, until],
    );
    const claim = {
      at,
      until,
      me: 7,
      afterNo: 0,
      deliveriesMax: 10,
      usualRoom: 10,
      lookBack: false,
      known: [],
    };
    const second = claimDeliveries(office.db, claim);
    await commit();
    expect(await second).toEqual([]);
    expect(await office.rows('SELECT holder FROM webhook_lanes')).toEqual([{ holder: '8' }]);
  });

  it('cannot both write: a failure from the one that loses it in this moment does not count', async () => {
    const { office, no, at, other, commit } = await contested();
    await office.rows('UPDATE webhook_lanes SET holder = 7');
    await other.query('UPDATE webhook_lanes SET holder = 8');
    const failed: Result = {
      webhookNo: no,
      sequence: 1,
      objectHash: '',
      triesBefore: 0,
      state: 'due',
      retryAt: at,
      after: 0,
      attempt: '',
      gone: undefined,
    };
    const written = recordResults(office.db, at, 7, [failed], [{ no, low: 2 }]);
    await commit();
    expect(await written).toMatchObject([{ held: false }]);
    expect(await office.rows('SELECT state, tries, retry_at FROM deliveries')).toEqual([
      { state: 'due', tries: 0, retry_at: null },
    ]);
  });
});

describe('while a letter hangs', () => {
  /** A worker whose receiver answers when it is told to. `learning` is done after a claim was answered, before its letters are taken. */
  async function hanging() {
    const office = await openPostOffice();
    const no = await office.addWebhook();
    const posted: (string | undefined)[] = [];
    const results: Result[] = [];
    let answer = (_outcome: PostOutcome) => {};
    let learning = async () => {};
    const destination = {
      id: 'wh_1',
      version: 1,
      url: 'https://receiver.example/',
      origin: 'https://receiver.example',
      secretsAt: () => [],
    };
    const dispatch = new Dispatch({
      db: office.db,
      clock: office.clock,
      random: randomBytes,
      me: 7,
      post({ headers }) {
        posted.push(headers['webhook-sequence']);
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      destinations: { get: () => destination, learn: () => learning() } as unknown as Destinations,
      recorder: { add: (result: Result) => results.push(result) } as unknown as Recorder,
      hungry: () => {},
      sent: () => {},
      leaseExpired: () => {},
    });
    return {
      office,
      dispatch,
      posted,
      results,
      no,
      answer: (status: number) => answer(answered(status)),
      learnWith(next: () => Promise<void>) {
        learning = next;
      },
      async publish(id: string) {
        await office.publish({ id });
        await fanOut(office.db, new Date(office.clock.now()).toISOString(), 7, 100);
      },
    };
  }

  it('what is claimed of a lane that is lost meanwhile is not sent', async () => {
    const { dispatch, posted, no, publish, learnWith } = await hanging();
    await publish('a');
    await dispatch.claim(false);
    await publish('b');
    learnWith(async () => dispatch.lost([no]));
    await dispatch.claim(false);
    expect(posted).toEqual(['1']);
    learnWith(async () => {});
    await dispatch.claim(false);
    expect(posted).toEqual(['1', '2']);
  });

  it('one about the same object that is claimed while its failure is written waits for it', async () => {
    const { dispatch, posted, results, publish, learnWith, answer } = await hanging();
    await publish('a');
    await dispatch.claim(false);
    await publish('a');
    learnWith(async () => {
      answer(500);
      await until(() => results.length === 1);
      dispatch.settled(results, true);
    });
    await dispatch.claim(false);
    expect(posted).toEqual(['1']);
    expect(results).toMatchObject([
      { sequence: 1, state: 'due' },
      { sequence: 2, state: 'waiting' },
    ]);
  });

  it('and its lane is found to be with another worker, nothing is put back any more', async () => {
    const { office, dispatch, results, publish } = await hanging();
    await publish('a');
    await publish('a');
    await dispatch.claim(false);
    const [second] = results as [Result];
    expect(second).toMatchObject({ sequence: 2, state: 'waiting' });
    expect(dispatch.isVoid(second)).toBe(false);
    await office.rows('UPDATE webhook_lanes SET holder = 8');
    office.clock.advance(8_000);
    await dispatch.claim(false);
    expect(dispatch.isVoid(second)).toBe(true);
    expect(await office.rows('SELECT holder FROM webhook_lanes')).toEqual([{ holder: '8' }]);
  });

  it('its lane is leased anew before the lease runs out, whatever was claimed meanwhile', async () => {
    const { office, dispatch, posted, publish } = await hanging();
    await publish('a');
    await dispatch.claim(false);
    office.clock.advance(7_000);
    await publish('b');
    await dispatch.claim(false);
    expect(posted).toEqual(['1', '2']);
    office.clock.advance(7_900);
    await dispatch.claim(false);
    expect(await office.rows('SELECT held_until FROM webhook_lanes')).toEqual([
      { held_until: new Date(office.clock.now() + 20_000) },
    ]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}
