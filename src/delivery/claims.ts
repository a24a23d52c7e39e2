import {
  type ClaimedDelivery,
  isIdle,
  isWell,
  type LaneCommand,
  type LaneEvent,
  LEASE_MS,
  WINDOW_START,
} from '../domain/events/lane.ts';
import type { Bell } from '../platform/bell.ts';
import { type Clock, databaseTime } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import { Semaphore } from '../platform/semaphore.ts';
import type { Database } from '../store/database.ts';
import { isOnlyLate, isUndoneByServer } from '../store/database-errors.ts';
import { freeLanes, lookAtWebhooks, renewLanes, reviewEntitlement } from '../store/events/deliveries.ts';
import {
  type ClaimedLane,
  claimDeliveries,
  claimedLanes,
  type KnownLane,
} from '../store/events/deliveries-claim.ts';
import type { OneEvent } from '../store/events/events.ts';
import { acceptAndHandOver, type HandedOver } from '../store/events/hand-over.ts';
import type { Destinations } from './destinations.ts';
import { entitle, type KnownWebhook, type KnownWebhooks, queuedGroups } from './known-webhooks.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { IN_FLIGHT_MAX, roomFor } from './places.ts';

/** With less than this left, a lease is renewed; workers look at their lanes twice a second. */
const RENEW_MS = 12_000;
const CLAIM_MAX = 3_000;
const HELD_MAX = 10_000;
/** How long a webhook is left to others whose address or secrets cannot be had here. */
const LEAVE_MS = 30_000;
/** More than these at once are a burst, which costs less the usual way, in large batches. */
export const HANDED_OVER_MAX = 16;
/** So long an event waits to be handed over: for a fan-out, for a turn to claim. Either may be waiting for a lane, and acceptance depends on none. */
export const HAND_OVER_WAIT_MS = 50;

export interface ClaimsOptions {
  db: Database;
  clock: Clock;
  /** This worker's number, which no other has. */
  me: number;
  traces?: boolean | undefined;
  /** Whether this node's clock is right. While it is not, nothing is claimed. */
  isOnTime: () => boolean;
  destinations: Destinations;
  metrics: Pick<DeliveryMetrics, 'leasesExpired' | 'handOversFailed'>;
  log: Logger;
  /** Rung when there may be something to claim. */
  due: Bell;
}

export interface Claimed {
  deliveries: readonly ClaimedDelivery[];
  /** There was no more. */
  isAll: boolean;
}

/** Whoever sends what is claimed, and knows the lanes. */
export interface Sending {
  readonly webhooks: KnownWebhooks;
  /** How many deliveries are in flight, and how many wait here to be. */
  readonly inFlight: number;
  readonly queued: number;
  /** Results wait for too long: nothing more is to be sent until they are written. */
  isBehind(moment: number): boolean;
  /** Tells a lane what has happened, and does what follows. */
  step(webhook: KnownWebhook, event: LaneEvent): LaneCommand[];
  /** How many may be sent to it now. `claimed`: this was just claimed, and is not queued yet. */
  places(webhook: KnownWebhook, moment: number, claimed?: Claimed): number;
  /** Another worker has its lane, or nobody. */
  lose(webhook: KnownWebhook): void;
  dialResting(moment: number): void;
}

/** What a claim asks for: what is new, also what was set aside and is due, or what comes of the events that it accepts. */
type Claimable = 'new' | 'everything' | 'handOver';

/** What there is to claim, as far as this worker is concerned, and how much of it. */
interface Wanted {
  moment: number;
  at: string | null;
  budget: number;
  known: Map<number, KnownLane>;
  passedOver: number[];
}

/**
 * Claims deliveries from the queues of the webhooks: leases their lanes, asks who is still entitled, and tells the lanes what there is to send.
 * One claim at a time, whichever way it comes: a lane is answered before it is asked again.
 */
export class Claims {
  readonly #options: ClaimsOptions;
  readonly #sending: Sending;
  readonly #turns = new Semaphore(1);
  #underWay = 0;
  /**
   * Most claims ask for what is new alone, which costs least. From time to time, and when something else may be due, one
   * looks at everything.
   */
  #looksBack = true;
  #afterNo = 0;
  /** Whether a round through the webhooks, by one claim or several, has brought anything so far. */
  #keptInRound = false;

  constructor(options: ClaimsOptions, sending: Sending) {
    this.#options = options;
    this.#sending = sending;
  }

  /** What was set aside may be due. */
  wake(): void {
    this.#looksBack = true;
    this.#options.due.ring();
  }

  /** Claims what may be due. Returns whether there may be more that could be claimed at once. */
  async claimNext(): Promise<boolean> {
    const looksBack = this.#looksBack;
    this.#looksBack = false;
    const { more } = await this.claim(looksBack);
    // A look back goes on until it has been through all webhooks.
    if (looksBack && more) this.#looksBack = true;
    return more;
  }

  /**
   * Claims what there is room for, and begins to send it. Returns how many deliveries that were, and whether there may be more
   * that could be claimed at once. `looksBack`: also what was set aside and is due.
   */
  claim(looksBack: boolean): Promise<{ count: number; more: boolean }> {
    return this.#inTurn(() => this.#claim(looksBack));
  }

  /**
   * Accepts events, claims what came of them, and begins to send it. Undefined, and nothing was done: not now. `eventsMax`: so many may be
   * fanned out.
   */
  async accept(
    acceptedAt: string,
    events: readonly OneEvent[],
    eventsMax: number,
  ): Promise<HandedOver | undefined> {
    // Whoever would have to wait for more than one claim is no longer at a calm pace.
    if (this.#underWay > 1) return undefined;
    return this.#soonInTurn(async () => {
      const { db, clock, isOnTime, traces, metrics } = this.#options;
      const wanted = isOnTime() ? this.#wanted(clock.monotonic(), 'handOver') : undefined;
      if (!wanted) return undefined;
      let handed: HandedOver;
      try {
        handed = await acceptAndHandOver(db, acceptedAt, events, eventsMax, this.#claimOf(wanted));
      } catch (error) {
        // PostgreSQL has undone it. Of a connection that broke nobody knows what it has done.
        if (error instanceof Outage && !isOnlyLate(error)) throw error;
        this.#noteFault(error);
        return undefined;
      }
      if (handed.hasFailed) metrics.handOversFailed.inc();
      // They are accepted, whatever comes now: what is not taken here is claimed the usual way.
      const taken = claimedLanes(db, handed.claimed, traces).then((lanes) => this.#take(lanes, wanted));
      const ours = handed.outcomes.filter(({ outcome }) => outcome === 'accepted').length;
      const isAll = await taken.then(
        ({ full, passed }) => !full && !passed && !handed.isRest && handed.taken <= ours,
        (error: unknown) => {
          this.#noteFault(error);
          return false;
        },
      );
      if (!isAll) this.#options.due.ring();
      return handed;
    });
  }

  /** Of a hand-over that failed: what passes by itself is not one. */
  #noteFault(error: unknown): void {
    if (error instanceof Outage || isUndoneByServer(error)) return;
    this.#options.metrics.handOversFailed.inc();
    this.#options.log.error({ err: error }, 'events could not be handed over');
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await this.#turns.run('', work);
    } finally {
      this.#underWay--;
    }
  }

  /** Undefined: its turn did not come in time, and nothing was done. */
  #soonInTurn<T>(work: () => Promise<T>): Promise<T | undefined> {
    const late = Promise.withResolvers<undefined>();
    let isLate = false;
    const cancel = this.#options.clock.timer(HAND_OVER_WAIT_MS, () => {
      isLate = true;
      late.resolve(undefined);
    });
    const done = this.#inTurn(async () => {
      cancel();
      return isLate ? undefined : work();
    });
    return Promise.race([done, late.promise]);
  }

  async #claim(looksBack: boolean): Promise<{ count: number; more: boolean }> {
    const { db, clock, isOnTime } = this.#options;
    const moment = clock.monotonic();
    if (!isOnTime()) return this.#standAside();
    this.#sending.dialResting(moment);
    await this.#renew(moment);
    if (looksBack) await this.#dropChanged(moment);
    const wanted = this.#wanted(moment, looksBack ? 'everything' : 'new');
    if (!wanted) return { count: 0, more: false };
    const answer = await claimDeliveries(db, {
      ...this.#claimOf(wanted),
      passedOver: wanted.passedOver,
      afterNo: this.#afterNo,
      lookBack: looksBack,
    });
    const { claimed, full, passed, kept } = await this.#take(answer, wanted);
    const before = this.#afterNo;
    // Whoever was left out because the claim was full comes first the next time.
    this.#afterNo = full ? (claimed.at(-1)?.webhookNo ?? 0) : 0;
    this.#keptInRound = kept || (before !== 0 && this.#keptInRound);
    const count = claimed.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
    // A round through all webhooks of which nothing was kept, because it is all under way, is not made again at once.
    return { count, more: full || passed || (before !== 0 && this.#keptInRound) };
  }

  /** Undefined: there is no room for any. */
  #wanted(moment: number, what: Claimable): Wanted | undefined {
    const { inFlight, queued } = this.#sending;
    const budget = Math.min(CLAIM_MAX, HELD_MAX - inFlight - queued);
    // What could not be sent would be dropped, and claimed again at once.
    if (budget <= 0 || inFlight >= IN_FLIGHT_MAX || this.#sending.isBehind(moment)) return undefined;
    return { moment, at: databaseTime(this.#options.clock), budget, ...this.#known(moment, what) };
  }

  #claimOf({ at, budget, known }: Wanted) {
    const { me, traces } = this.#options;
    return {
      at,
      leaseMs: LEASE_MS,
      me,
      deliveriesMax: budget,
      usualRoom: WINDOW_START,
      known: [...known.values()].sort((a, b) => a.no - b.no),
      traces,
    };
  }

  /**
   * Tells the lanes what was claimed of them. `full`: there was no room for more; `passed`: what has to wait took the room of others, which
   * need not; `kept`: there is more here than before.
   */
  async #take(answer: readonly ClaimedLane[], { moment, at, budget, known }: Wanted) {
    const { db, clock, destinations, metrics } = this.#options;
    const claimed = answer.filter(({ entitledMs }) => entitledMs > 0);
    // A webhook without a delivery took a place too.
    const full = claimed.reduce((sum, { deliveries }) => sum + Math.max(1, deliveries.length), 0) >= budget;
    await destinations.learn(claimed);
    let passed = false;
    const held = this.#sending.inFlight + this.#sending.queued;
    for (const { webhookNo, leaseExpired, entitledMs, isWide, deliveries } of claimed) {
      const webhook = this.#sending.webhooks.meet(webhookNo);
      entitle(webhook, isWide, moment + entitledMs);
      if (leaseExpired) metrics.leasesExpired.inc();
      const destination = destinations.get(webhookNo);
      // What was fetched ahead before it changed goes back, and is claimed anew: the look would not find the change any more.
      if (webhook.receiver && webhook.receiver.destination.version !== destination?.version) {
        this.#sending.step(webhook, { type: 'dropped' });
        this.#options.due.ring();
      }
      webhook.receiver = destination && { destination, host: destinations.hostOf(destination) };
      if (!webhook.lane.isLost && webhook.heldUntil - moment <= RENEW_MS)
        webhook.heldUntil = moment + LEASE_MS;
      const isAll = !full && deliveries.length < (known.get(webhookNo)?.room ?? WINDOW_START);
      const places = this.#sending.places(webhook, clock.monotonic(), { deliveries, isAll });
      const commands = this.#sending.step(webhook, { type: 'claimed', deliveries, isAll, places });
      if (!destination) this.#sending.step(webhook, { type: 'dropped' });
      if (!isAll && commands.some(({ type }) => type === 'putBack')) passed = true;
    }
    const kept = this.#sending.inFlight + this.#sending.queued > held;
    await this.#leave(claimed.flatMap(({ webhookNo }) => (destinations.get(webhookNo) ? [] : webhookNo)));
    const barred = answer.filter(({ entitledMs }) => entitledMs === 0).map(({ webhookNo }) => webhookNo);
    if (barred.length > 0) await reviewEntitlement(db, at, { nos: barred });
    return { claimed, full, passed, kept };
  }

  /** This node's clock is off. What was not begun is left to the others, and so are the lanes once nothing is under way in them. */
  async #standAside(): Promise<{ count: number; more: boolean }> {
    const idle: number[] = [];
    for (const webhook of this.#sending.webhooks.values()) {
      this.#sending.step(webhook, { type: 'dropped' });
      if (!isIdle(webhook.lane)) continue;
      idle.push(webhook.no);
      this.#sending.webhooks.forget(webhook);
    }
    if (idle.length > 0) await freeLanes(this.#options.db, this.#options.me, idle);
    return { count: 0, more: false };
  }

  /**
   * The lanes that are in use. The others are forgotten, unless they are well and may go on at once: every claim names all that are known, and
   * among thousands of webhooks most have a delivery now and then. One with a backlog has nothing under way between two parts of it, and
   * would begin with the smallest window each time. Those that must not be given anything are passed over by their numbers alone, for a host that is
   * away, or takes its backlog in turns, has thousands. A hand-over asks for few lanes, at every event, and says nothing of these.
   */
  #known(moment: number, what: Claimable): Pick<Wanted, 'known' | 'passedOver'> {
    const known = new Map<number, KnownLane>();
    const passedOver: number[] = [];
    const looksBack = what === 'everything';
    for (const webhook of this.#sending.webhooks.values()) {
      const { no, lane, receiver } = webhook;
      const held = webhook.heldUntil - moment > RENEW_MS;
      const room = roomFor(webhook, moment);
      if (isIdle(lane) && room === 0 && what !== 'handOver') passedOver.push(no);
      else if (isIdle(lane) && room === 0 && webhook.leftUntil <= moment) this.#letGo(webhook);
      else if (isIdle(lane) && !(held && isWell(lane)) && !receiver?.host.isPacing(moment))
        this.#sending.webhooks.forget(webhook);
      else
        for (const command of this.#sending.step(webhook, { type: 'claiming', isHeld: held, looksBack }))
          if (command.type === 'claim')
            known.set(no, { no, room, held, from: command.from, underWay: command.except });
    }
    return { known, passedOver };
  }

  /**
   * A claim that does not name a lane leases it as it would that of a stranger, whoever had it meanwhile. So what was known of its queue does not
   * count any more, and in its turn it is leased anew.
   */
  #letGo(webhook: KnownWebhook): void {
    if (webhook.heldUntil === 0) return;
    webhook.heldUntil = 0;
    this.#sending.step(webhook, { type: 'claiming', isHeld: false, looksBack: false });
  }

  async #leave(nos: readonly number[]): Promise<void> {
    if (nos.length === 0) return;
    for (const no of nos) {
      const webhook = this.#sending.webhooks.meet(no);
      webhook.heldUntil = 0;
      webhook.leftUntil = this.#options.clock.monotonic() + LEAVE_MS;
    }
    await freeLanes(this.#options.db, this.#options.me, nos);
  }

  /** Keeps the lanes that have deliveries under way. One that was lost to another worker gets no more from here. */
  async #renew(moment: number): Promise<void> {
    const { db, clock, me } = this.#options;
    const waning = [...this.#sending.webhooks.values()].filter(
      ({ lane, heldUntil }) => !isIdle(lane) && heldUntil - moment <= RENEW_MS,
    );
    if (waning.length === 0) return;
    const nos = waning.map(({ no }) => no);
    const kept = await renewLanes(db, databaseTime(clock), me, LEASE_MS, nos);
    for (const webhook of waning) {
      if (kept.has(webhook.no)) webhook.heldUntil = moment + LEASE_MS;
      else this.#sending.lose(webhook);
    }
  }

  /**
   * What waits here for a webhook that was paused, deleted or changed is not for the address that is known; what waits for one whose
   * partner has lost access, for nobody. For the others it may go on being sent.
   */
  async #dropChanged(moment: number): Promise<void> {
    const { db, clock } = this.#options;
    const queued = [...this.#sending.webhooks.values()].filter(({ lane }) => lane.queue.length > 0);
    if (queued.length === 0) return;
    const found = await lookAtWebhooks(db, databaseTime(clock), queued.flatMap(queuedGroups));
    for (const webhook of queued) {
      const { version, entitledMs } = found.get(webhook.no) ?? {};
      const isSame = version === webhook.receiver?.destination.version;
      webhook.entitledUntil = isSame ? moment + (entitledMs ?? 0) : 0;
      if (webhook.entitledUntil <= moment) this.#sending.step(webhook, { type: 'dropped' });
    }
  }
}
