import { BACKLOG_PART } from '../domain/events/flow-control.ts';
import {
  type ClaimedDelivery,
  isVoid,
  type LaneCommand,
  type LaneEvent,
  openFromAfter,
  stepLane,
} from '../domain/events/lane.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { type Egress, type PostOutcome, wasReached } from '../platform/egress/egress.ts';
import { freeLanes } from '../store/events/deliveries.ts';
import type { LaneLow, RecordedLane, Result } from '../store/events/deliveries-record.ts';
import { type Claimed, Claims, type ClaimsOptions, type Sending } from './claims.ts';
import { signedRequest } from './destinations.ts';
import { type KnownWebhook, KnownWebhooks, staleness } from './known-webhooks.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { EMPTY_QUEUE, IN_FLIGHT_FEWER, placesOf } from './places.ts';
import type { LaneHolder, Recorder } from './recorder.ts';
import { type Receiver, RestingHosts } from './resting-hosts.ts';
import { attemptResult, putBackResult } from './results.ts';

export interface DispatchOptions extends ClaimsOptions {
  random: RandomBytes;
  post: Egress['post'];
  dial: Egress['dial'];
  operatorEgress: Pick<Egress, 'post' | 'dial'>;
  /** Makes the one that writes results down for this holder of lanes. */
  recorderFor: (holder: LaneHolder) => Recorder;
  metrics: ClaimsOptions['metrics'] & Pick<DeliveryMetrics, 'attempted'>;
}

/** So much of its backlog may then go to a webhook. */
interface Turn {
  webhook: KnownWebhook;
  size: number;
}

/**
 * Sends what is claimed of the queues of the webhooks, as many at a time as each can bear: it does what the lanes
 * say, and tells them what came of it. What it remembers for a while, it remembers by the monotonic clock: one that is set
 * back by a day must not keep a host at rest for a day.
 */
export class Dispatch implements LaneHolder, Sending {
  readonly #options: DispatchOptions;
  readonly #recorder: Recorder;
  readonly #resting: RestingHosts;
  readonly claims: Claims;
  readonly webhooks = new KnownWebhooks();
  /** The turns of backlogs by the moment at which they come: those of one moment are claimed together. */
  readonly #turns = new Map<number, { those: Turn[]; cancel: () => void }>();
  inFlight = 0;
  queued = 0;
  #allAnswered: (() => void) | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#recorder = options.recorderFor(this);
    this.#resting = new RestingHosts(options);
    this.claims = new Claims(options, this);
  }

  prepare(results: readonly Result[]): { results: Result[]; lows: LaneLow[] } {
    // One after the other: that one may not be written may mean the same for those after it.
    const good = results.filter((result) => {
      if (!isVoid(this.webhooks.meet(result.webhookNo).lane, result)) return true;
      this.unrecorded([result]);
      return false;
    });
    const byLane = Map.groupBy(good, ({ webhookNo }) => webhookNo);
    const lows = [...byLane].map(([no, those]) => ({
      no,
      low: openFromAfter(this.webhooks.meet(no).lane, those),
    }));
    return { results: good, lows };
  }

  recorded(results: readonly Result[], lanes: readonly RecordedLane[]): void {
    this.#settle('recorded', results);
    for (const { webhook_no, held } of lanes) {
      const webhook = this.webhooks.get(webhook_no);
      if (webhook && !held) this.lose(webhook);
    }
    // Deliveries that were waiting for these may be due.
    if (lanes.some(({ woken }) => woken > 0)) this.claims.wake();
  }

  unrecorded(results: readonly Result[]): void {
    this.#settle('unrecorded', results);
  }

  resume(results: readonly Result[]): void {
    const moment = this.#options.clock.monotonic();
    for (const no of new Set(results.map(({ webhookNo }) => webhookNo))) {
      const webhook = this.webhooks.get(no);
      if (webhook) this.step(webhook, { type: 'resumed', places: this.places(webhook, moment) });
    }
  }

  isBehind(moment: number): boolean {
    return this.#recorder.isBehind(moment);
  }

  dialResting(moment: number): void {
    for (const { receiver } of this.webhooks.values()) if (receiver) this.#resting.dial(receiver, moment);
  }

  /** When all that is in flight is answered, all results are written, and no host is being dialled. */
  async idle(): Promise<void> {
    while (this.inFlight > 0)
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
    for (const { cancel } of this.#turns.values()) cancel();
    for (const webhook of this.webhooks.values()) this.step(webhook, { type: 'dropped' });
    await this.idle();
    await freeLanes(this.#options.db, this.#options.me).catch(() => {});
  }

  /** Tells a lane what has happened, and does what follows. */
  step(webhook: KnownWebhook, event: LaneEvent): LaneCommand[] {
    const { queue } = webhook.lane;
    const before = queue.length;
    const commands = stepLane(webhook.lane, event);
    this.queued += queue.length - before;
    for (const command of commands) {
      if (command.type === 'send' && webhook.receiver)
        this.#send(webhook, webhook.receiver, command.delivery);
      else if (command.type === 'putBack')
        this.#recorder.add(
          putBackResult(webhook.no, command.delivery, command.after, this.#options.clock.monotonic()),
        );
      else if (command.type === 'claimMore') this.#wantMore(webhook, event);
    }
    return commands;
  }

  places(webhook: KnownWebhook, moment: number, claimed?: Claimed): number {
    if (this.isBehind(moment)) return 0;
    const { queue } = webhook.lane;
    const next = queue[0] ?? claimed?.deliveries[0] ?? EMPTY_QUEUE;
    const waitedMs = this.#options.clock.now() - next.acceptedMs;
    const under = { inFlight: this.inFlight, unrecorded: this.#recorder.size };
    const { places, isPaced } = placesOf(webhook, waitedMs, moment, under);
    const left = claimed?.isAll ? queue.length + claimed.deliveries.length : Number.POSITIVE_INFINITY;
    if (isPaced) this.#awaitTurn(webhook, Math.min(BACKLOG_PART, left));
    return places;
  }

  #wantMore(webhook: KnownWebhook, event: LaneEvent): void {
    // What follows on a backlog most likely belongs to it.
    if (event.type === 'answered' && webhook.part === 0 && this.#isBacklog(webhook, event.delivery))
      this.#awaitTurn(webhook, BACKLOG_PART);
    else this.#options.due.ring();
  }

  #isBacklog({ receiver }: KnownWebhook, { acceptedMs }: ClaimedDelivery): boolean {
    const { clock } = this.#options;
    return receiver?.host.isBacklog(clock.now() - acceptedMs, clock.monotonic()) ?? false;
  }

  /** Nothing is claimed for it until the next part of its backlog may go. */
  #awaitTurn(webhook: KnownWebhook, size: number): void {
    const host = webhook.receiver?.host;
    if (!host || webhook.awaitsTurn) return;
    webhook.awaitsTurn = true;
    const at = host.reservePart(size, this.#options.clock.monotonic());
    const others = this.#turns.get(at);
    if (others) others.those.push({ webhook, size });
    else this.#waitFor(at, [{ webhook, size }]);
  }

  #waitFor(at: number, those: Turn[]): void {
    const { clock, due } = this.#options;
    const cancel = clock.timer(Math.max(0, at - clock.monotonic()), () => {
      const moment = clock.monotonic();
      if (moment < at) return this.#waitFor(at, those);
      this.#turns.delete(at);
      for (const { webhook, size } of those) {
        webhook.awaitsTurn = false;
        webhook.part = size;
        this.step(webhook, { type: 'resumed', places: this.places(webhook, moment) });
      }
      due.ring();
    });
    this.#turns.set(at, { those, cancel });
  }

  lose(webhook: KnownWebhook): void {
    webhook.heldUntil = 0;
    this.step(webhook, { type: 'lost' });
  }

  #settle(type: 'recorded' | 'unrecorded', results: readonly Result[]): void {
    for (const result of results) {
      const webhook = this.webhooks.get(result.webhookNo);
      if (webhook) this.step(webhook, { type, result });
    }
  }

  #send(webhook: KnownWebhook, { destination, host }: Receiver, delivery: ClaimedDelivery): void {
    const { clock, operatorEgress, post } = this.#options;
    const startedAt = clock.now();
    if (webhook.part > 0 && this.#isBacklog(webhook, delivery)) webhook.part--;
    host.begin();
    this.inFlight++;
    const request = signedRequest(destination, delivery, startedAt);
    const isStale = staleness(webhook, destination, () => clock.monotonic());
    void (destination.isOfOperator ? operatorEgress.post : post)({ ...request, isStale }).then((outcome) => {
      this.inFlight--;
      if (this.inFlight === IN_FLIGHT_FEWER) this.#options.due.ring();
      const code = outcome.failure?.code;
      if (code === 'stale') this.#notSent(webhook, host, delivery);
      // Broken off because the service ends: nothing can be said about the receiver, and the delivery is due as before.
      else if (code !== 'stopped')
        this.#answered(webhook, { destination, host }, delivery, outcome, startedAt);
      if (this.inFlight === 0) this.#allAnswered?.();
    });
  }

  /** No byte of the delivery has left. If the lease has expired, its next holder sends the delivery. Otherwise the next claim decides about it. */
  #notSent(webhook: KnownWebhook, host: Receiver['host'], delivery: ClaimedDelivery): void {
    host.cancel();
    this.step(webhook, { type: 'notSent', delivery });
    if (webhook.heldUntil <= this.#options.clock.monotonic()) this.lose(webhook);
    else this.claims.wake();
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
    const attempt = { destination, outcome, startedAt, now, moment };
    const result = attemptResult(webhook.no, delivery, attempt, random);
    this.#recorder.add(result);
    const { state, gone } = result;
    metrics.attempted(outcome, state === 'delivered', (now - delivery.acceptedMs) / 1000);
    host.end(wasReached(outcome), moment);
    if (gone !== undefined || !webhook.receiver) this.step(webhook, { type: 'dropped' });
    const places = this.places(webhook, moment);
    this.step(webhook, { type: 'answered', delivery, state, places });
  }
}
