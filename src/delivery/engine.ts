import type { RandomBytes } from '../domain/ids.ts';
import { SYSTEM } from '../domain/principal.ts';
import { Bell } from '../platform/bell.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress } from '../platform/egress/egress.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import { type Database, transact } from '../store/database.ts';
import { fanOut } from '../store/deliveries.ts';
import { bePresent, freeLanesOfTheDead } from '../store/presence.ts';
import { readQueueNumbers } from '../store/queue-numbers.ts';
import { clearStep, type Retention } from '../store/retention.ts';
import { cautiousNow } from '../store/server-clock.ts';
import { Destinations, type Open } from './destinations.ts';
import { Dispatch } from './dispatch.ts';
import { createMetrics } from './metrics.ts';
import { Recorder } from './recorder.ts';

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
 *   2. CLAIM  (`Dispatch`, `claim_deliveries`) A worker takes the leases of lanes that have something new, or set aside and due,
 *      and reads as much from each as it has room for, so a million deliveries to one webhook do not keep another waiting.
 *      A lane has one holder at a time, who knows what it has under way (`domain/lane.ts`). The holder renews the lease while there
 *      is something; else it runs out.
 *   3. SEND  (`Dispatch`) Signed and posted, with no transaction open and no lock held. The AIMD window of a webhook that fails
 *      gets smaller, the circuit breaker of a host that cannot be reached opens (`domain/flow-control.ts`); nobody else notices.
 *   4. RECORD  (`Recorder`, `record_results`) A batcher writes what became of them: delivered, set aside until a later time, or
 *      given up. Only the holder of the lease may write a failure; a success counts from anybody, for the delivery has
 *      arrived. Writing the same result twice changes nothing.
 *
 * If the process dies before 4, the delivery is still due. Another worker takes over the lane and sends it, under the same
 * `webhook-id`: a receiver sees it twice, never not at all. A row leaves the queue by step 4 alone (and, after the retention
 * time, by housekeeping).
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
 * CHANGES. What a worker knows of a webhook is of one version. Whoever has deliveries of it queued looks twice a second whether it
 * was changed, paused or deleted since; then these go back, and are claimed anew for the address that it has.
 *
 * CLEARING. Events go with their deliveries when they are too old, under the lock of the lanes; what is still on its way to an
 * active webhook goes later, so that no delivery is gone before its last attempt. An event that a replay is just putting into
 * a queue is left for the next time, so that no delivery is without its event.
 *
 * WAKING UP. NOTIFY and the bells are hints that save time. Whoever misses one looks by itself twice a second.
 */

/** Events that are taken at a time: few at first, so that the deliveries of the first are under way while the rest of a burst follows. */
const EVENTS_MIN = 100;
const EVENTS_MAX = 1_000;
const LOOK_MS = 500;
/** After the database was out of reach. */
const RECOVER_MS = 250;
const HOUSEKEEPING_MS = 60_000;

export interface EngineOptions {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  log: Logger;
  post: Egress['post'];
  /** Opens the webhooks' secrets. */
  open: Open;
  retention: Retention;
}

export interface Engine {
  /** Works on its own until it is stopped. */
  start(): void;
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
  const { db, clock, random, log, post, open, retention } = options;
  const metrics = createMetrics(
    () => transact(db, SYSTEM, readQueueNumbers),
    () => clock.now(),
  );
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
    destinations: new Destinations(db, open, log),
    recorderFor: (holder) => new Recorder({ db, clock, log, me }, holder),
    metrics,
    due: dueDeliveries,
  });

  let eventsAtOnce = EVENTS_MIN;

  /** Returns whether there may be more to do at once. */
  async function fanOutOnce(): Promise<boolean> {
    const { taken, made, more } = await fanOut(db, new Date(clock.now()).toISOString(), me, eventsAtOnce);
    if (taken > 0) metrics.fannedOut.inc(taken);
    if (made > 0) dueDeliveries.ring();
    eventsAtOnce = more ? Math.min(EVENTS_MAX, eventsAtOnce * 3) : EVENTS_MIN;
    return more;
  }

  async function clear(): Promise<number> {
    const now = await cautiousNow(db, clock);
    let cleared = 0;
    for (;;) {
      // Each call is short transactions, so nobody ever waits for long.
      const rows = await clearStep(db, now, retention);
      cleared += rows;
      if (rows === 0 || stopping) return cleared;
    }
  }

  /** Again and again: at once as long as there is more to do, else when the bell rings or it is time to look. */
  async function keepDoing(work: () => Promise<boolean>, bell: Bell, lookMs: number): Promise<void> {
    while (!stopping) {
      try {
        if (await work()) continue;
        await bell.wait(lookMs);
      } catch (error) {
        if (!(error instanceof Outage)) log.error({ err: error }, 'the delivery engine stumbled');
        await bell.wait(RECOVER_MS);
      }
    }
  }

  const heard: Record<string, (what: string) => void> = {
    porter_events: () => newEvents.ring(),
    // A worker has put new deliveries into the queues. Of its own it knows already.
    porter_queue: (worker) => worker === String(me) || dueDeliveries.ring(),
    // Somebody has made old ones due again.
    porter_deliveries: () => dispatch.wake(),
  };
  const presence = bePresent(db, me, Object.keys(heard), (channel, what) => heard[channel]?.(what), clock);

  async function takeOver(): Promise<void> {
    const freed = await freeLanesOfTheDead(db, me);
    if (freed === 0) return;
    metrics.leasesExpired.inc(freed);
    log.warn({ lanes: freed }, 'took over from a worker that is gone');
  }

  return {
    start() {
      const work = [
        keepDoing(fanOutOnce, newEvents, LOOK_MS),
        keepDoing(
          async () => {
            // Nobody may hold a lane without a sign of life.
            await presence.ensure();
            return dispatch.claimNext();
          },
          dueDeliveries,
          LOOK_MS,
        ),
        keepDoing(
          async () => {
            await takeOver();
            dispatch.wake();
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
      for (;;) {
        while (await fanOutOnce());
        const { count, more } = await dispatch.claim(true);
        await dispatch.idle();
        if (count === 0 && !more) return;
      }
    },
    clear,
    metrics: metrics.text,
    async stop() {
      stopping = true;
      dispatch.hurry();
      for (const bell of [newEvents, dueDeliveries, nextLook, nextSweep]) bell.ring();
      await Promise.all(running);
      await dispatch.stop();
      // Last of all: without a sign of life, others would send at once what is still under way here.
      presence.leave();
    },
  };
}
