import { BACKLOG_PAUSE_MS } from '../domain/flow-control.ts';
import type { RandomBytes } from '../domain/ids.ts';
import {
  type ClaimedDelivery,
  isIdle,
  isVoid,
  isWell,
  type LaneCommand,
  type LaneEvent,
  openFromAfter,
  stepLane,
  WINDOW_START,
} from '../domain/lane.ts';
import type { Bell } from '../platform/bell.ts';
import { type Clock, databaseTime } from '../platform/clock.ts';
import { type Egress, type PostOutcome, wasReached } from '../platform/egress/egress.ts';
import type { Database } from '../store/database.ts';
import {
  claimDeliveries,
  freeLanes,
  type KnownLane,
  lookAtWebhooks,
  renewLanes,
  reviewEntitlement,
} from '../store/deliveries.ts';
import type { LaneLow, RecordedLane, Result } from '../store/deliveries-record.ts';
import { type Destinations, signedRequest } from './destinations.ts';
import { entitle, type KnownWebhook, KnownWebhooks, queuedGroups } from './known-webhooks.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { IN_FLIGHT_FEWER, IN_FLIGHT_MAX, placesOf, roomFor, YOUNG } from './places.ts';
import type { LaneHolder, Recorder } from './recorder.ts';
import { type Receiver, RestingHosts } from './resting-hosts.ts';
import { attemptResult, putBackResult } from './results.ts';

/** So long a worker that is stuck may delay its deliveries; of one that dies, others hear at once. */
const LEASE_MS = 20_000;
/** With less than this left, a lease is renewed; workers look at their lanes twice a second. */
const RENEW_MS = 12_000;
const CLAIM_MAX = 3_000;
const HELD_MAX = 10_000;
/** How long a webhook is left to others whose address or secrets cannot be had here. */
const LEAVE_MS = 30_000;

export interface DispatchOptions {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  /** This worker's number, which no other has. */
  me: number;
  post: Egress['post'];
  dial: Egress['dial'];
  operatorEgress: Pick<Egress, 'post' | 'dial'>;
  traces?: boolean | undefined;
  /** Whether this node's clock is right. While it is not, nothing is claimed. */
  isOnTime: () => boolean;
  destinations: Destinations;
  /** Makes the one that writes results down for this holder of lanes. */
  recorderFor: (holder: LaneHolder) => Recorder;
  metrics: Pick<DeliveryMetrics, 'attempted' | 'leasesExpired'>;
  /** Rung when there may be something to claim. */
  due: Bell;
}

/**
 * Claims deliveries from the queues of the webhooks and sends them, as many at a time as each can bear: it does what the lanes
 * say, and tells them what came of it. What it remembers for a while, it remembers by the monotonic clock: one that is set
 * back by a day must not keep a host at rest for a day.
 */
export class Dispatch implements LaneHolder {
  readonly #options: DispatchOptions;
  readonly #recorder: Recorder;
  readonly #resting: RestingHosts;
  readonly #webhooks = new KnownWebhooks();
  /**
   * Most claims ask for what is new alone, which costs least. From time to time, and when something else may be due, one
   * looks at everything.
   */
  #looksBack = true;
  #afterNo = 0;
  /** Whether a round through the webhooks, by one claim or several, has brought anything so far. */
  #keptInRound = false;
  #inFlight = 0;
  #queued = 0;
  #allAnswered: (() => void) | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#recorder = options.recorderFor(this);
    this.#resting = new RestingHosts(options);
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
  async claim(looksBack: boolean): Promise<{ count: number; more: boolean }> {
    const { db, clock, me, destinations, metrics, isOnTime } = this.#options;
    const moment = clock.monotonic();
    if (!isOnTime()) return this.#standAside();
    for (const { receiver } of this.#webhooks.values()) if (receiver) this.#resting.dial(receiver, moment);
    await this.#renew(moment);
    if (looksBack) await this.#dropChanged(moment);
    const budget = Math.min(CLAIM_MAX, HELD_MAX - this.#inFlight - this.#queued);
    // What could not be sent would be dropped, and claimed again at once.
    if (budget <= 0 || this.#inFlight >= IN_FLIGHT_MAX || this.#recorder.isBehind(moment))
      return { count: 0, more: false };
    const known = this.#known(moment, looksBack);
    const at = databaseTime(clock);
    const answer = await claimDeliveries(db, {
      at,
      leaseMs: LEASE_MS,
      me,
      afterNo: this.#afterNo,
      deliveriesMax: budget,
      usualRoom: WINDOW_START,
      lookBack: looksBack,
      known: [...known.values()].sort((a, b) => a.no - b.no),
      traces: this.#options.traces,
    });
    const claimed = answer.filter(({ entitledMs }) => entitledMs > 0);
    const count = claimed.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
    // Whoever was left out because the claim was full comes first the next time. A webhook without a delivery took a place too.
    const full = claimed.reduce((sum, { deliveries }) => sum + Math.max(1, deliveries.length), 0) >= budget;
    const before = this.#afterNo;
    this.#afterNo = full ? (claimed.at(-1)?.webhookNo ?? 0) : 0;

    await destinations.learn(claimed);
    let passed = false;
    const held = this.#inFlight + this.#queued;
    if (before === 0) this.#keptInRound = false;
    for (const { webhookNo, leaseExpired, entitledMs, isWide, deliveries } of claimed) {
      const webhook = this.#webhooks.meet(webhookNo);
      entitle(webhook, isWide, moment + entitledMs);
      if (leaseExpired) metrics.leasesExpired.inc();
      const destination = destinations.get(webhookNo);
      webhook.receiver = destination && { destination, host: destinations.hostOf(destination) };
      if (!webhook.lane.isLost && webhook.heldUntil - moment <= RENEW_MS)
        webhook.heldUntil = moment + LEASE_MS;
      const isAll = !full && deliveries.length < (known.get(webhookNo)?.room ?? WINDOW_START);
      const places = this.#places(webhook, clock.monotonic(), deliveries[0]);
      const commands = this.#step(webhook, { type: 'claimed', deliveries, isAll, places });
      if (!destination) this.#step(webhook, { type: 'dropped' });
      // Those that wait for another one took the room of those behind them, which need not.
      if (!isAll && commands.some(({ type }) => type === 'putBack')) passed = true;
    }
    this.#keptInRound ||= this.#inFlight + this.#queued > held;
    await this.#leave(claimed.flatMap(({ webhookNo }) => (destinations.get(webhookNo) ? [] : webhookNo)));
    const barred = answer.filter(({ entitledMs }) => entitledMs === 0).map(({ webhookNo }) => webhookNo);
    if (barred.length > 0) await reviewEntitlement(db, at, { nos: barred });
    // A round through all webhooks of which nothing was kept, because it is all under way, is not made again at once.
    return { count, more: full || passed || (before !== 0 && this.#keptInRound) };
  }

  prepare(results: readonly Result[]): { results: Result[]; lows: LaneLow[] } {
    // One after the other: that one may not be written may mean the same for those after it.
    const good = results.filter((result) => {
      if (!isVoid(this.#webhooks.meet(result.webhookNo).lane, result)) return true;
      this.unrecorded([result]);
      return false;
    });
    const byLane = Map.groupBy(good, ({ webhookNo }) => webhookNo);
    const lows = [...byLane].map(([no, those]) => ({
      no,
      low: openFromAfter(this.#webhooks.meet(no).lane, those),
    }));
    return { results: good, lows };
  }

  recorded(results: readonly Result[], lanes: readonly RecordedLane[]): void {
    this.#settle('recorded', results);
    for (const { webhook_no, held } of lanes) {
      const webhook = this.#webhooks.get(webhook_no);
      if (webhook && !held) this.#lose(webhook);
    }
    // Deliveries that were waiting for these may be due.
    if (lanes.some(({ woken }) => woken > 0)) this.wake();
  }

  unrecorded(results: readonly Result[]): void {
    this.#settle('unrecorded', results);
  }

  resume(results: readonly Result[]): void {
    const moment = this.#options.clock.monotonic();
    for (const no of new Set(results.map(({ webhookNo }) => webhookNo))) {
      const webhook = this.#webhooks.get(no);
      if (webhook) this.#step(webhook, { type: 'resumed', places: this.#places(webhook, moment) });
    }
  }

  /** When all that is in flight is answered, all results are written, and no host is being dialled. */
  async idle(): Promise<void> {
    while (this.#inFlight > 0)
      await new Promise<void>((resolve) => {
        this.#allAnswered = resolve;
      });
    await this.#recorder.idle();
    await this.#resting.idle();
  }

  /** From now on, results wait no longer for a database that is away. */
  hurry(): void {
    this.#recorder.giveUp();
  }

  /** Begins nothing more, and ends what is in flight. Others may have what was not begun, and then the lanes. */
  async stop(): Promise<void> {
    for (const webhook of this.#webhooks.values()) this.#step(webhook, { type: 'dropped' });
    await this.idle();
    await freeLanes(this.#options.db, this.#options.me).catch(() => {});
  }

  /** Tells a lane what has happened, and does what follows. */
  #step(webhook: KnownWebhook, event: LaneEvent): LaneCommand[] {
    const { queue } = webhook.lane;
    const before = queue.length;
    const commands = stepLane(webhook.lane, event);
    this.#queued += queue.length - before;
    for (const command of commands) {
      if (command.type === 'send' && webhook.receiver)
        this.#send(webhook, webhook.receiver, command.delivery);
      else if (command.type === 'putBack')
        this.#recorder.add(
          putBackResult(webhook.no, command.delivery, command.after, this.#options.clock.monotonic()),
        );
      else if (command.type === 'claimMore') this.#options.due.ring();
    }
    return commands;
  }

  #places(webhook: KnownWebhook, moment: number, claimed?: ClaimedDelivery): number {
    if (this.#recorder.isBehind(moment)) return 0;
    const waitedMs = this.#options.clock.now() - (webhook.lane.queue[0] ?? claimed ?? YOUNG).acceptedMs;
    const under = { inFlight: this.#inFlight, unrecorded: this.#recorder.size };
    const { places, isPaced } = placesOf(webhook, waitedMs, moment, under);
    if (isPaced) this.#comeAgain(webhook);
    return places;
  }

  /** For what is left of its backlog. */
  #comeAgain(webhook: KnownWebhook): void {
    if (webhook.isPaced) return;
    webhook.isPaced = true;
    const { clock, due } = this.#options;
    clock.timer(BACKLOG_PAUSE_MS, () => {
      webhook.isPaced = false;
      this.#step(webhook, { type: 'resumed', places: this.#places(webhook, clock.monotonic()) });
      // All that was claimed is sent, or may not be without asking again.
      if (!webhook.isPaced) due.ring();
    });
  }

  /** This node's clock is off. What was not begun is left to the others, and so are the lanes once nothing is under way in them. */
  async #standAside(): Promise<{ count: number; more: boolean }> {
    const idle: number[] = [];
    for (const webhook of this.#webhooks.values()) {
      this.#step(webhook, { type: 'dropped' });
      if (isIdle(webhook.lane) && webhook.heldUntil > 0) idle.push(webhook.no);
      if (isIdle(webhook.lane)) this.#webhooks.forget(webhook);
    }
    if (idle.length > 0) await freeLanes(this.#options.db, this.#options.me, idle);
    return { count: 0, more: false };
  }

  /**
   * The lanes that are in use, or must not be given anything. The others are forgotten, unless they are well and may go on at
   * once: every claim names all that are known, and among thousands of webhooks most have a delivery now and then.
   */
  #known(moment: number, looksBack: boolean): Map<number, KnownLane> {
    const known = new Map<number, KnownLane>();
    for (const webhook of this.#webhooks.values()) {
      const { no, lane } = webhook;
      const held = webhook.heldUntil - moment > RENEW_MS;
      const room = roomFor(webhook, moment);
      if (isIdle(lane) && room > 0 && !(held && isWell(lane))) this.#webhooks.forget(webhook);
      else
        for (const command of this.#step(webhook, { type: 'claiming', isHeld: held, looksBack }))
          if (command.type === 'claim')
            known.set(no, { no, room, held, from: command.from, underWay: command.except });
    }
    return known;
  }

  async #leave(nos: readonly number[]): Promise<void> {
    if (nos.length === 0) return;
    for (const no of nos) {
      const webhook = this.#webhooks.meet(no);
      webhook.heldUntil = 0;
      webhook.leftUntil = this.#options.clock.monotonic() + LEAVE_MS;
    }
    await freeLanes(this.#options.db, this.#options.me, nos);
  }

  /** Keeps the lanes that have deliveries under way. One that was lost to another worker gets no more from here. */
  async #renew(moment: number): Promise<void> {
    const { db, clock, me } = this.#options;
    const waning = [...this.#webhooks.values()].filter(
      ({ lane, heldUntil }) => !isIdle(lane) && heldUntil - moment <= RENEW_MS,
    );
    if (waning.length === 0) return;
    const nos = waning.map(({ no }) => no);
    const kept = await renewLanes(db, databaseTime(clock), me, LEASE_MS, nos);
    for (const webhook of waning) {
      if (kept.has(webhook.no)) webhook.heldUntil = moment + LEASE_MS;
      else this.#lose(webhook);
    }
  }

  #lose(webhook: KnownWebhook): void {
    webhook.heldUntil = 0;
    this.#step(webhook, { type: 'lost' });
  }

  #settle(type: 'recorded' | 'unrecorded', results: readonly Result[]): void {
    for (const result of results) {
      const webhook = this.#webhooks.get(result.webhookNo);
      if (webhook) this.#step(webhook, { type, result });
    }
  }

  /**
   * What waits here for a webhook that was paused, deleted or changed is not for the address that is known; what waits for one whose
   * partner has lost access, for nobody. For the others it may go on being sent.
   */
  async #dropChanged(moment: number): Promise<void> {
    const { db, clock } = this.#options;
    const queued = [...this.#webhooks.values()].filter(({ lane }) => lane.queue.length > 0);
    if (queued.length === 0) return;
    const found = await lookAtWebhooks(db, databaseTime(clock), queued.flatMap(queuedGroups));
    for (const webhook of queued) {
      const { version, entitledMs = 0 } = found.get(webhook.no) ?? {};
      webhook.entitledUntil = moment + entitledMs;
      if (entitledMs === 0 || version !== webhook.receiver?.destination.version)
        this.#step(webhook, { type: 'dropped' });
    }
  }

  #send(webhook: KnownWebhook, { destination, host }: Receiver, delivery: ClaimedDelivery): void {
    const { clock, operatorEgress, post } = this.#options;
    const startedAt = clock.now();
    host.begin(startedAt - delivery.acceptedMs, clock.monotonic());
    this.#inFlight++;
    const request = signedRequest(destination, delivery, startedAt);
    const isStale = () => webhook.heldUntil <= clock.monotonic();
    void (destination.isOfOperator ? operatorEgress.post : post)({ ...request, isStale }).then((outcome) => {
      this.#inFlight--;
      if (this.#inFlight === IN_FLIGHT_FEWER) this.#options.due.ring();
      const code = outcome.failure?.code;
      if (code === 'stale') this.#notSent(webhook, host, delivery);
      // Broken off because the service ends: nothing can be said about the receiver, and the delivery is due as before.
      else if (code !== 'stopped')
        this.#answered(webhook, { destination, host }, delivery, outcome, startedAt);
      if (this.#inFlight === 0) this.#allAnswered?.();
    });
  }

  /** The lease ran out first. Whoever has the lane sends it. */
  #notSent(webhook: KnownWebhook, host: Receiver['host'], delivery: ClaimedDelivery): void {
    host.cancel();
    this.#step(webhook, { type: 'notSent', delivery });
    this.#lose(webhook);
  }

  #answered(
    webhook: KnownWebhook,
    { destination, host }: Receiver,
    delivery: ClaimedDelivery,
    outcome: PostOutcome,
    startedAt: number,
  ): void {
    const { clock, random, metrics } = this.#options;
    const [now, moment] = [clock.now(), clock.monotonic()];
    const attempt = { url: destination.url, outcome, startedAt, now, moment };
    const result = attemptResult(webhook.no, delivery, attempt, random);
    this.#recorder.add(result);
    const { state, gone } = result;
    metrics.attempted(outcome, state === 'delivered', (now - delivery.acceptedMs) / 1000);
    host.end(wasReached(outcome), moment);
    if (gone !== undefined || !webhook.receiver) this.#step(webhook, { type: 'dropped' });
    const places = this.#places(webhook, moment);
    this.#step(webhook, { type: 'answered', delivery, state, places });
  }
}
