import type { RandomBytes } from '../domain/ids.ts';
import { SYSTEM } from '../domain/principal.ts';
import { isBeyondHope } from '../domain/retry.ts';
import { Bell } from '../platform/bell.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress, PostOutcome } from '../platform/egress/egress.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import { type Database, transact } from '../store/database.ts';
import { clearOld, disableWebhook, fanOut } from '../store/deliveries.ts';
import type { LaneState, Result } from '../store/deliveries-record.ts';
import { bePresent, freeLanesOfTheDead } from '../store/presence.ts';
import { readQueueNumbers } from '../store/queue-numbers.ts';
import { cautiousNow } from '../store/server-clock.ts';
import { Destinations, type Open } from './destinations.ts';
import { Dispatch } from './dispatch.ts';
import { createMetrics } from './metrics.ts';
import { Recorder } from './recorder.ts';

/**
 * The engine that carries the post. Read this before anything else in this room.
 *
 * An event is accepted when its row commits, in one transaction with whatever caused it. From that moment on it must
 * reach every webhook that wants it and may have it, at least once, whatever process dies at whatever instruction. The
 * queue is tables in PostgreSQL, so that "accepted" and "queued" cannot come apart, and every step below is one
 * transaction that moves rows from one state to the next. A crash between two steps leaves rows in a state from which
 * the next worker, on this node or another, goes on. Nothing lives in memory alone that could not be lost.
 *
 *   1. FAN OUT  (`fan_out`) New events are taken by one node at a time: the oldest of each practice group, then the next
 *      of each, so a burst of one does not keep another waiting. For each webhook that wants an event, and whose partner
 *      may act for the practice at this moment, a delivery is inserted with the next number of that webhook's sequence;
 *      the events get their place in the feed. All in one transaction: a crash undoes all of it, and the events are still
 *      new. What is new is listed (`new_events`), not told by a position in a log, so an event that commits late is not
 *      overlooked.
 *   2. CLAIM  (`claim_deliveries`) A worker leases the lanes of webhooks that have something new, or set aside and due, and
 *      reads as much from each as it has room for, one webhook after the other, so a queue of a million letters to one does
 *      not keep another waiting. A lane has one holder at a time, who knows what it has under way (`Lane`); the lease is
 *      kept up as long as there is something, and runs out by itself when it is not.
 *   3. SEND  (`Dispatch`) Signed and posted, with no transaction open and no lock held. A webhook that fails gets a
 *      smaller and smaller window, a host that cannot be reached gets a rest; nobody else notices either.
 *   4. RECORD  (`Recorder`, `record_results`) What became of them is written in batches: delivered, set aside until a later
 *      time, or given up. Only the holder of the lane may write a failure; a success counts from anybody, for the letter
 *      has arrived. Writing the same result twice changes nothing.
 *
 * If the process dies between 3 and 4, the letter is still due. The lease runs out and another worker sends it again, under
 * the same `webhook-id`: a receiver sees it twice, never not at all. If it dies before 3, likewise. There is no other way for a row to leave the
 * queue than step 4 (and, after the retention time, housekeeping).
 *
 * NEW AND SET ASIDE. A letter that was never attempted is new. It is found by its place: none before `open_from` of its lane
 * is new, and the holder of the lane, which knows what it has under way, moves that on with the results that it writes.
 * Whoever takes over begins there. Everything else that is open was set aside, until a time or until another one is
 * finished, and only that is in the indexes of what is due: most letters never are.
 *
 * ORDER. A new letter is not sent while an earlier one to the same webhook about the same object is under way or set aside:
 * it is put back to wait for that one, and step 4 wakes the next when it finishes one. Both happen under the lock on the
 * webhook's lane, so neither can miss what the other is doing. Events about different objects never wait for each other.
 *
 * SEQUENCE. Numbers are given in step 1 under the same lock and commit with their deliveries, so they have no gaps; a
 * sequence of PostgreSQL would leave one with every transaction that is undone.
 *
 * TAKING OVER. A worker that dies frees its lanes at once: it holds an advisory lock on a connection of its own, which
 * PostgreSQL lets go with the connection, and the others look for lanes whose holder shows no such sign of life. A worker
 * that is stuck, but connected, keeps its lanes until the leases run out. Whoever takes over too early sends twice. Whoever
 * finds out, when it writes results, that a lane is no longer its own forgets all that it had of it.
 *
 * CHANGES. What a worker knows of a webhook is of one version. Whoever has letters of it waiting looks twice a second whether
 * it was changed, paused or deleted since; then these go back, and are claimed anew for the address that it has.
 *
 * CLEARING. Events go with their deliveries when they are too old, under the lock of the lanes; what is still on its way to a
 * webhook that is active goes later, so that no letter is gone before its last attempt. An event that a replay is just
 * putting into a queue is left for the next time, so that no delivery is without its event.
 *
 * WAKING UP. NOTIFY and the bells are hints that save time. Whoever misses one looks by itself twice a second.
 */

/** Events that are taken at a time: few at first, so that the letters of the first are under way while the rest of a burst follows. */
const EVENTS_MIN = 100;
const EVENTS_MAX = 1_000;
const LOOK_MS = 500;
/** After the database was out of reach. */
const RECOVER_MS = 250;
const HOUSEKEEPING_MS = 60_000;
/** While they go, nothing else is done for their webhooks: a few hundredths of a second. */
const ROWS_CLEARED_MAX = 500;
const DAY_MS = 24 * 3_600_000;
/** Ten attempts take three days, and ten if a receiver asks each time to wait for as long as it may. */
const OPEN_KEPT_DAYS = 14;

export interface EngineOptions {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  log: Logger;
  post: Egress['post'];
  /** Opens the webhooks' secrets. */
  open: Open;
  retentionDays: number;
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
  const { db, clock, random, log, post, open, retentionDays } = options;
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
  const recorder = new Recorder({
    db,
    clock,
    log,
    me,
    lowsAfter: (results) => dispatch.lowsAfter(results),
    isVoid: (result) => dispatch.isVoid(result),
    written(results, lanes) {
      dispatch.settled(results, true);
      dispatch.lost(lanes.flatMap(({ webhook_no, held }) => (held ? [] : webhook_no)));
      // Deliveries that were waiting for these may be due.
      if (lanes.some(({ woken }) => woken > 0)) wake();
    },
    afterwards,
    unwritten: (result) => dispatch.settled([result], false),
  });
  const dispatch = new Dispatch({
    db,
    clock,
    random,
    me,
    post,
    destinations: new Destinations(db, open, log),
    recorder,
    hungry: () => dueDeliveries.ring(),
    sent(letter, outcome, succeeded, now) {
      const kind = classOf(outcome);
      metrics.attempts.set(kind, (metrics.attempts.get(kind) ?? 0) + 1);
      if (succeeded) metrics.latency.observe(Math.max(0, (now - letter.acceptedMs) / 1000));
    },
    leaseExpired: () => metrics.leasesExpired.inc(),
  });

  /** Once results are written, a webhook may be past hope. */
  async function afterwards(results: readonly Result[], lanes: readonly LaneState[]): Promise<void> {
    // Of the address that it has now, not of one that a letter was still under way to.
    const gone = new Map<number, string>();
    // One that only had letters put back to wait may be well again by now.
    const failed = new Set<number>();
    for (const one of results) {
      if (one.gone) gone.set(one.webhookNo, one.gone);
      if (one.state === 'due' || one.state === 'failed') failed.add(one.webhookNo);
    }
    for (const [webhookNo, url] of gone) await disable(webhookNo, 'Your address answered 410 Gone.', { url });
    for (const { webhook_no, failing_since } of lanes) {
      if (!failing_since || !failed.has(webhook_no)) continue;
      const since = Date.parse(failing_since);
      // Another worker may have written when that was. By our own clock first: that costs nothing.
      if (isBeyondHope(since, clock.now()) && isBeyondHope(since, await cautiousNow(db, clock)))
        await disable(webhook_no, `No delivery has succeeded for 5 days, since ${failing_since}.`, {
          failingSince: failing_since,
        });
    }
  }

  async function disable(
    webhookNo: number,
    reason: string,
    still: { url: string } | { failingSince: string },
  ): Promise<void> {
    const now = new Date(clock.now()).toISOString();
    if (await disableWebhook(db, webhookNo, `${reason} Activate the webhook to resume.`, now, still))
      log.warn({ webhook_no: webhookNo, reason }, 'webhook disabled');
  }

  /**
   * Most claims ask for what is new alone, which costs least. From time to time, and when something else may be due, one
   * looks at everything.
   */
  let lookBack = true;
  function wake(): void {
    lookBack = true;
    dueDeliveries.ring();
  }

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
    const daysAgo = (days: number) => new Date(now - days * DAY_MS).toISOString();
    const before = daysAgo(retentionDays);
    const openBefore = daysAgo(retentionDays + OPEN_KEPT_DAYS);
    let cleared = 0;
    for (;;) {
      // Each call is a short transaction, so nobody ever waits for long.
      const rows = await clearOld(db, before, openBefore, ROWS_CLEARED_MAX);
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
    porter_deliveries: wake,
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
            const back = lookBack;
            lookBack = false;
            const { more } = await dispatch.claim(back);
            // A look back goes on until it has been through all webhooks.
            if (back && more) lookBack = true;
            return more;
          },
          dueDeliveries,
          LOOK_MS,
        ),
        keepDoing(
          async () => {
            await takeOver();
            wake();
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
        await recorder.idle();
        if (count === 0 && !more) return;
      }
    },
    clear,
    metrics: metrics.text,
    async stop() {
      stopping = true;
      recorder.giveUp();
      for (const bell of [newEvents, dueDeliveries, nextLook, nextSweep]) bell.ring();
      await Promise.all(running);
      dispatch.abandonQueues();
      await dispatch.idle();
      await recorder.idle();
      await dispatch.freeLanes().catch(() => {});
      // Last of all: without a sign of life, others would send at once what is still under way here.
      presence.leave();
    },
  };
}

const CLASSES = Array.from({ length: 10 }, (_, hundreds) => `${hundreds}xx`);

/** `2xx` to `5xx`, or the phase in which it failed. */
function classOf({ status, failure }: PostOutcome): string {
  return failure?.phase ?? (CLASSES[Math.floor((status ?? 0) / 100)] as string);
}
