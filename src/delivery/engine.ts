import { BATCH_MAX, BATCH_MIN, BatchSize } from '../domain/batch-size.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { Bell } from '../platform/bell.ts';
import { type Clock, databaseTime } from '../platform/clock.ts';
import type { Egress } from '../platform/egress/egress.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import type { Database } from '../store/database.ts';
import { isOnlyLate } from '../store/database-errors.ts';
import { fanOut, reviewEntitlement } from '../store/events/deliveries.ts';
import type { AcceptedOne, OneEvent } from '../store/events/events.ts';
import { fanOutToOperators } from '../store/events/operator-events.ts';
import { announceLiveness, freeLanesOfTheDead } from '../store/events/presence.ts';
import type { Retention } from '../store/oversight/retention.ts';
import { withdrawLate } from '../store/practices/write-through.ts';
import { HAND_OVER_WAIT_MS, HANDED_OVER_MAX } from './claims.ts';
import { Destinations, type Open } from './destinations.ts';
import { Dispatch } from './dispatch.ts';
import { clearAway } from './housekeeping.ts';
import { createMetrics } from './metrics.ts';
import { type DeliveryUsage, Recorder } from './recorder.ts';

/**
 * The engine that delivers events to webhooks. Read this before anything else in this room.
 *
 * An event is accepted when its row commits, in one transaction with whatever caused it: a transactional outbox. From then on it
 * must reach every webhook that wants it and may have it, at least once, whatever process dies at whatever instruction. The queue
 * is tables in PostgreSQL, and every step below is one transaction that moves rows from one state to the next. A crash between
 * two steps leaves rows in a state from which the next worker goes on, on this node or another.
 *
 *   1. FAN OUT  (`fan_out`) One node at a time takes new events: the oldest of each practice group, then the next of each, so
 *      a burst of one does not keep another waiting. For each webhook that wants an event, and whose partner may act for the
 *      practice at this moment, it inserts a delivery with the next number of that webhook's sequence, and gives the events
 *      their place in the feed. What is new is listed (`new_events`), not told by a position in a log, so an event that commits
 *      late is not overlooked.
 *      What partners change, and what else is for the operator's own systems, goes the same way by `fan_out_to_operators`: to webhooks
 *      of the operator, which nobody can lose access to, and to the feed of changes. From CLAIM on they are webhooks like any other.
 *   2. CLAIM  (`Claims`, `claim_deliveries_3`) A worker takes the leases of lanes that have something new, or set aside and due,
 *      and reads as much from each as it has room for, so a million deliveries to one webhook do not keep another waiting.
 *      A lane has one holder at a time, who knows what it has under way (`domain/events/lane.ts`). The holder renews the lease while there
 *      is something; else it runs out.
 *      Whether the partner may still have it is asked with every claim, and what it may not have is not handed out (see ENTITLED).
 *   3. SEND  (`Dispatch`) Signed and posted, with no transaction open and no lock held. The AIMD window of a webhook that fails
 *      gets smaller, the circuit breaker of a host that cannot be reached opens (`domain/events/flow-control.ts`); nobody else notices.
 *   4. RECORD  (`Recorder`, `record_results`) A batcher writes what became of them: delivered, set aside until a later time, or
 *      given up. Only the holder of the lease may write a failure; a success counts from anybody, for the delivery has
 *      arrived. Writing the same result twice changes nothing.
 *
 * If the process dies before 4, the delivery is still due. Another worker takes over the lane and sends it, under the same
 * `webhook-id`: a receiver sees it twice, never not at all. A row leaves the queue by step 4 alone (and, after the retention
 * time, by housekeeping).
 *
 * HAND OVER. At a calm pace an event waited longest for three commits in a row, to be accepted, fanned out and claimed. So the node that
 * accepts a few events does 1 and 2 in the transaction that accepts them (`Claims.accept`, `accept_and_hand_over`), and sends what the answer names.
 * Nothing is promised less for it:
 *   It is the same fan-out and the same claim. A crash before the commit leaves nothing, and nobody heard that the event was accepted; one after
 * it leaves what a crash between 2 and 3 leaves, deliveries that are due in lanes of a worker that is gone. Numbers, deliveries and leases commit
 * before the first byte goes out, so that no number is ever given twice.
 *   Fan-out holds the same lock, and takes what was accepted before in its turn. A node that finds the lock taken by a hand-over goes away, as
 * from any other fan-out: the node that hands over hears of the same event, waits until its own is done, and fans out what is left (`fanOutNew`).
 *   Claims have turns, whichever way they come, so a lane is answered before it is asked again. Only those lanes are claimed that the events
 * were just put into, and these are locked already: nobody waits for a lane out of their order. Who is entitled is asked by the same statement,
 * and its answer counts from before the statement was sent.
 *   Acceptance does not depend on any of it. It is tried in a subtransaction. It waits at most 50 ms for a lane, and at most 50 ms for a fan-out
 * or a claim that this node has under way; if it fails, the event is accepted and goes the usual way. That way is also that of a burst,
 * which costs less in large batches (what follows one within 10 ms is fanned out together), and of a node that does not deliver.
 *
 * NEW AND SET ASIDE. A delivery that was never attempted is new. It is found by its place: none before `open_from` of its lane is
 * new, and the holder, which knows what it has under way, moves that on with the results that it writes. Whoever takes over
 * begins there. Everything else that is open was set aside, until a time or until another one is finished, and only that is in
 * the indexes of what is due: most deliveries never are.
 *
 * ORDER. A new delivery is not sent while an earlier one to the same webhook about the same object is under way or set aside: it
 * is put back to wait for that one, and step 4 wakes the next when it finishes one. Both happen under the lock on the webhook's
 * lane, so neither can miss what the other is doing. Events about different objects never wait for each other.
 *
 * SEQUENCE. Numbers are given in step 1 under the same lock and commit with their deliveries, so they have no gaps; a sequence
 * of PostgreSQL would leave one with every transaction that is undone.
 *
 * TAKING OVER. A worker holds an advisory lock on a connection of its own, which PostgreSQL lets go with the connection. The
 * others look for lanes whose holder shows no such sign of life, so the leases of a worker that dies are free at once; one that is
 * stuck, but connected, keeps them until they run out. Whoever takes over too early sends twice. Whoever finds out, when it
 * writes results, that a lease is no longer its own forgets all that it had of the lane.
 *
 * STALE. A worker that was frozen, or is too slow to renew its lease, is taken over from while it still has deliveries. The worker
 * checks its lease, by the monotonic clock, when it begins a delivery. It checks again when the connection is established, before the first byte,
 * because a receiver may take seconds to accept a connection. The second check is also about the version and the entitlement (`staleness`). A delivery that fails it has
 * cost no attempt: it is due as before, and the next claim decides. The connection is kept, so a receiver that is slow to connect to is reached.
 * What was sent and is not recorded is bounded (`SENT_UNRECORDED_MAX`, `RECORD_WAIT_MAX_MS`), and with it what is sent twice when the way
 * to the database is cut.
 *
 * CLOCKS. Leases, retry times, fan-out and retention go by the clock of the database: statements are told durations. A worker whose own
 * clock is off by more than a few seconds claims nothing (`isOnTime`).
 *
 * CHANGES. What a worker knows of a webhook is of one version. Whoever has deliveries of it queued looks twice a second whether it
 * was changed, paused or deleted since; then these go back, and are claimed anew for the address that it has. A call that pauses, deletes or
 * changes a webhook waits as one does that takes access away (see ENTITLED).
 *
 * ENTITLED. Whoever loses access (a key is revoked or expires, a partner is suspended, a network changes) gets nothing any more, not
 * even what is queued. A claim asks PostgreSQL for each webhook (`entitled_webhooks_2`, of the rule `receives_until`), and so does the look
 * at what is queued here. The answer is good for 900 ms by the monotonic clock, counted from before the question, and no longer than the key
 * that it rests on: after that nothing is sent before it was asked again, however much was fetched ahead. Whoever takes access away
 * answers when more than a second has passed since it was committed (`settle` in runtime/access/access.ts). No byte of a delivery leaves after that
 * answer, on any node, and nodes need not notify each other. The exception is a request whose bytes were already leaving: it ends within the 15 s
 * that an attempt may take, and then the kernel discards the bytes that are left (`reset` in platform/egress/dial.ts).
 *   The queue of such a webhook is withheld: nothing leaves it, and every delivery keeps its place and number, so order holds
 * when it goes on. `review_entitlement` notes it at the webhook (`withheld_since`, for everybody to see, and claims pass it over), twice
 * a second for all that have open deliveries, and takes the note away when the partner may receive again. What was never
 * fanned out, because the partner was not entitled when it happened, is not in the queue; a replay brings it.
 *
 * FOR ALL PRACTICES. A webhook may be for every practice group that its partner may act for. It has one lane and one sequence, and
 * entitlement is a question for the group of each delivery. `withhold_groups` asks it under the lock on the lane, as part of the claim: what is of a group
 * that was lost is set aside until `infinity`, in the order of its objects, and noted (`withheld_groups`); the rest goes on.
 * `review_entitlement` brings it back. An answer is good for the groups that were asked about: what is queued here of others waits until these were
 * asked about again (`entitle`, `queuedGroups`).
 *
 * CLEARING. Events go with their deliveries when they are too old, under the lock of the lanes; what is still on its way to an
 * active webhook goes later, so that no delivery is gone before its last attempt; what is withheld does not. An event that a replay is just putting into
 * a queue is left for the next time, so that no delivery is without its event.
 *
 * WAKING UP. NOTIFY and the bells are hints that save time. Whoever misses one looks by itself twice a second.
 */

const LOOK_MS = 500;
/** Placed one by one as they are made, changes took a third of the time of the updates themselves. */
const GATHER_MS = 100;
/** A fan-out takes PostgreSQL half a millisecond, however few its events are: those of a burst are gathered for so long. */
const GATHER_BURST_MS = 10;
/** After the database was out of reach. */
const RECOVER_MS = 250;
const HOUSEKEEPING_MS = 60_000;

export interface EngineOptions {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  log: Logger;
  post: Egress['post'];
  dial: Egress['dial'];
  /** The way out to webhooks of the operator's own. */
  operatorEgress: Pick<Egress, 'post' | 'dial'>;
  /** Whether anybody traces deliveries. */
  traces?: boolean | undefined;
  /** Rung when a partner has changed something. */
  newChanges: Bell;
  /** Whether this node's own clock is right. While it is not, nothing is claimed or sent from here. */
  isOnTime: () => boolean;
  /** Opens the webhooks' secrets. */
  open: Open;
  retention: Retention;
  usage: DeliveryUsage;
}

export interface Engine {
  /** Works on its own until it is stopped. */
  start(): void;
  /**
   * Accepts events, and begins to send what comes of them: see HAND OVER. Undefined, and nothing was done: there is more to do than a few events,
   * or this node cannot deliver now.
   */
  accept(acceptedAt: string, events: readonly OneEvent[]): Promise<AcceptedOne[] | undefined>;
  /** Does all that can be done now, then returns: for a test that decides how time passes. */
  drain(): Promise<void>;
  /** Removes what is older than the retention time. Returns how many rows went. */
  clear(): Promise<number>;
  /** Prometheus text. */
  metrics(): Promise<string>;
  /** Begins nothing more, waits for what is under way and writes it down. */
  stop(): Promise<void>;
}

export function createEngine(options: EngineOptions): Engine {
  const { db, clock, random, log, post, dial, isOnTime, open, retention, usage } = options;
  const { operatorEgress, newChanges } = options;
  const metrics = createMetrics();
  const newEvents = new Bell(clock);
  const dueDeliveries = new Bell(clock);
  const nextLook = new Bell(clock);
  const nextSweep = new Bell(clock);
  const running: Promise<void>[] = [];
  let stopping = false;
  const me = Buffer.from(random(6)).readUIntBE(0, 6);
  const dispatch = new Dispatch({
    db,
    clock,
    random,
    me,
    post,
    dial,
    operatorEgress,
    traces: options.traces,
    isOnTime,
    destinations: new Destinations(db, open, log),
    recorderFor: (holder) => new Recorder({ db, clock, log, me, usage }, holder),
    metrics,
    log,
    due: dueDeliveries,
  });

  const eventsAtOnce = new BatchSize();
  /** From a fan-out of more than a few until what follows it was gathered. */
  let isBurst = false;
  let fanningOut: Promise<unknown> | undefined;
  const handingOver = new Set<Promise<unknown>>();

  async function fanOutNew(): Promise<boolean> {
    // Whoever hears of an event while this node hands over others must not find the lock taken by its own.
    await Promise.allSettled(handingOver);
    const fanned = fanOut(db, databaseTime(clock), me, eventsAtOnce.size);
    const { taken, made, more } = await fanned.catch((error) => {
      if (isOnlyLate(error)) eventsAtOnce.shrink();
      throw error;
    });
    if (taken > 0) metrics.fannedOut.inc(taken);
    if (made > 0) dueDeliveries.ring();
    isBurst = taken > HANDED_OVER_MAX;
    if (more) eventsAtOnce.grow();
    else if (!isBurst) eventsAtOnce.reset();
    return more;
  }

  /** Returns whether there may be more to do at once. */
  function fanOutOnce(): Promise<boolean> {
    const fanned = fanOutNew().finally(() => {
      fanningOut = undefined;
    });
    fanningOut = fanned.catch(() => {});
    return fanned;
  }

  const gather = (milliseconds: number) =>
    new Promise<void>((resolve) => void clock.timer(milliseconds, resolve));

  async function soonOver(work: Promise<unknown>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = clock.timer(HAND_OVER_WAIT_MS, late.resolve);
    await Promise.race([work, late.promise]);
    cancel();
  }

  async function accept(acceptedAt: string, events: readonly OneEvent[]): Promise<AcceptedOne[] | undefined> {
    if (events.length > HANDED_OVER_MAX || isBurst || eventsAtOnce.isCut) return undefined;
    // One fan-out is soon over, unless it waits for a lane. Whoever is at it again has more to do.
    if (fanningOut) await soonOver(fanningOut);
    if (stopping || fanningOut || isBurst || !presence.isThere()) return undefined;
    const handed = dispatch.claims.accept(acceptedAt, events, BATCH_MIN);
    handingOver.add(handed);
    try {
      const { outcomes, taken = 0, more } = (await handed) ?? {};
      if (taken > 0) metrics.fannedOut.inc(taken);
      if (more) newEvents.ring();
      return outcomes;
    } finally {
      handingOver.delete(handed);
    }
  }

  /** Returns whether there may be more to do at once. */
  async function fanOutToOperatorsOnce(): Promise<boolean> {
    const { made, more } = await fanOutToOperators(db, databaseTime(clock), me, BATCH_MAX);
    if (made > 0) dueDeliveries.ring();
    return more;
  }

  const clear = () => clearAway({ db, clock, log, retention, isStopping: () => stopping });

  /** Again and again: at once as long as there is more to do, else when the bell rings or it is time to look. */
  async function keepDoing(work: () => Promise<boolean>, bell: Bell, lookMs: number): Promise<void> {
    while (!stopping) {
      try {
        if (await work()) continue;
        await bell.wait(lookMs);
      } catch (error) {
        if (!(error instanceof Outage)) log.error({ err: error }, 'the delivery engine stumbled');
        // An outage is told by the readiness of the node. This one, that a statement may never get done.
        else if (isOnlyLate(error))
          log.warn({ err: error }, 'the database is late: the delivery engine tries again');
        await bell.wait(RECOVER_MS);
      }
    }
  }

  const heard: Record<string, (what: string) => void> = {
    porter_events: () => newEvents.ring(),
    // Something was announced to the operator's systems.
    porter_changes: () => newChanges.ring(),
    // A worker has put new deliveries into the queues. Of its own it knows already.
    porter_queue: (worker) => worker === String(me) || dueDeliveries.ring(),
    // Somebody has made old ones due again.
    porter_deliveries: () => dispatch.claims.wake(),
  };
  const presence = announceLiveness(
    db,
    me,
    Object.keys(heard),
    (channel, what) => heard[channel]?.(what),
    clock,
  );

  async function takeOver(): Promise<void> {
    const freed = await freeLanesOfTheDead(db, me);
    if (freed === 0) return;
    metrics.leasesExpired.inc(freed);
    log.warn({ lanes: freed }, 'took over from a worker that is gone');
  }

  let reviewedNo = 0;
  /** Looks at some of the webhooks that have open deliveries: whose are withheld? Returns whether there are more. */
  async function review(): Promise<boolean> {
    const { last_no, withheld, resumed } = await reviewEntitlement(db, databaseTime(clock), {
      afterNo: reviewedNo,
    });
    reviewedNo = last_no;
    if (withheld > 0) log.warn({ webhooks: withheld }, 'deliveries are withheld: their partners lost access');
    if (resumed > 0) log.info({ webhooks: resumed }, 'deliveries go on: their partners have access again');
    return last_no > 0;
  }

  /** Whoever put a change to the practice software and died before it was made. */
  async function settleProposals(): Promise<void> {
    const withdrawn = await withdrawLate(db, new Date(clock.now()).toISOString());
    if (withdrawn > 0)
      log.warn({ changes: withdrawn }, 'changes that nobody made are withdrawn from practice software');
  }

  return {
    start() {
      const work = [
        // The first of a burst is on its way at once, and what follows is placed together.
        keepDoing(
          async () => {
            const more = await fanOutOnce();
            if (more || !isBurst) return more;
            await gather(GATHER_BURST_MS);
            isBurst = false;
            return false;
          },
          newEvents,
          LOOK_MS,
        ),
        keepDoing(
          async () => {
            const more = await fanOutToOperatorsOnce();
            if (!more) await gather(GATHER_MS);
            return more;
          },
          newChanges,
          LOOK_MS,
        ),
        keepDoing(
          async () => {
            // Nobody may hold a lane without a sign of life.
            await presence.ensure();
            return dispatch.claims.claimNext();
          },
          dueDeliveries,
          LOOK_MS,
        ),
        keepDoing(
          async () => {
            await takeOver();
            await review();
            await settleProposals();
            dispatch.claims.wake();
            return false;
          },
          nextLook,
          LOOK_MS,
        ),
        keepDoing(async () => (await clear()) > 0, nextSweep, HOUSEKEEPING_MS),
      ];
      running.push(...work);
    },
    async drain() {
      await presence.ensure();
      await takeOver();
      while (await review());
      for (;;) {
        while (await fanOutOnce());
        while (await fanOutToOperatorsOnce());
        const { count, more } = await dispatch.claims.claim(true);
        await dispatch.idle();
        if (count === 0 && !more) return;
      }
    },
    accept,
    clear,
    metrics: metrics.text,
    async stop() {
      stopping = true;
      dispatch.hurry();
      for (const bell of [newEvents, newChanges, dueDeliveries, nextLook, nextSweep]) bell.ring();
      await Promise.all(running);
      await Promise.allSettled(handingOver);
      await dispatch.stop();
      // Last of all: without a sign of life, others would send at once what is still under way here.
      presence.leave();
    },
  };
}
