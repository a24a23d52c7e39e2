import { Counter, Gauge, Registry } from 'prom-client';
import type { PostOutcome } from '../platform/egress/egress.ts';
import { Histogram } from '../platform/histogram.ts';
import type { QueueNumbers } from '../store/queue-numbers.ts';

/** Latencies from the acceptance of an event to the receiver's answer: from a local receiver to the last retry. */
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3_600, 36_000, 360_000];
/** A scrape asks the database no more often than this: counting a long queue is not free. */
const NUMBERS_KEPT_MS = 10_000;

export type DeliveryMetrics = ReturnType<typeof createMetrics>;

/** What a person on call needs to know about deliveries. */
export function createMetrics(readNumbers: () => Promise<QueueNumbers>, now: () => number) {
  const registry = new Registry();
  const registers = [registry];
  let numbers: QueueNumbers | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  const secondsSince = (moment: string | null) =>
    moment === null ? 0 : Math.max(0, (now() - Date.parse(moment)) / 1000);

  /** By what came of them. Counted here and told when asked: the library sorts and joins the labels every time. */
  const attempts = new Map<string, number>();
  new Counter({
    name: 'porter_delivery_attempts_total',
    help: 'Attempts to deliver, by what came of them: 2xx, 3xx, 4xx, 5xx, or the phase that failed.',
    labelNames: ['outcome'] as const,
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of attempts) this.inc({ outcome }, count);
    },
  });
  const latencies = new Histogram(
    'porter_delivery_seconds',
    'From the acceptance of an event to its receipt, delivered ones only.',
    SECONDS,
  );
  const leasesExpired = new Counter({
    name: 'porter_delivery_leases_expired_total',
    help: 'Webhooks that were taken over from a worker that died or let its lease run out.',
    registers,
  });
  const handOversFailed = new Counter({
    name: 'porter_hand_overs_failed_total',
    help: 'Times that accepted events could not be handed over at once because of a fault, and went the longer way.',
    registers,
  });
  const fannedOut = new Counter({
    name: 'porter_events_fanned_out_total',
    help: 'Events that were put into the queues of their webhooks.',
    registers,
  });
  new Gauge({
    name: 'porter_delivery_queue',
    help: 'Events not yet fanned out, and deliveries that are due (those to be retried later included) or wait for an earlier one; held: those of webhooks that are paused, disabled or withheld. Of what failed before, or waits, 100,000 are counted.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      if (!numbers) return;
      this.set({ state: 'new' }, numbers.events_new);
      this.set({ state: 'due' }, numbers.due);
      this.set({ state: 'waiting' }, numbers.waiting);
      this.set({ state: 'held' }, numbers.held);
    },
  });
  new Gauge({
    name: 'porter_delivery_oldest_seconds',
    help: 'Age of the oldest event that an active webhook has not received yet, withheld ones aside; 0 when there is none.',
    registers,
    collect() {
      if (numbers) this.set(secondsSince(numbers.oldest));
    },
  });
  new Gauge({
    name: 'porter_delivery_withheld_webhooks',
    help: 'Webhooks to which nothing is sent because their partner may not receive events of the practice group.',
    registers,
    collect() {
      if (numbers) this.set(numbers.withheld);
    },
  });
  new Gauge({
    name: 'porter_changes_pending',
    help: 'Changes of partners that the practice software has neither applied nor rejected; 100,000 are counted.',
    registers,
    collect() {
      if (numbers) this.set(numbers.changes_pending);
    },
  });
  new Gauge({
    name: 'porter_changes_pending_oldest_seconds',
    help: 'Age of the oldest change that the practice software has neither applied nor rejected; 0 when there is none.',
    registers,
    collect() {
      if (numbers) this.set(secondsSince(numbers.oldest_change));
    },
  });
  new Gauge({
    name: 'porter_webhook_failing_attempts',
    help: 'Failed attempts since the last success, for the 100 webhooks that have failed most often.',
    labelNames: ['webhook_id'] as const,
    registers,
    collect() {
      this.reset();
      for (const { id, failures } of numbers?.failing ?? []) this.set({ webhook_id: id }, failures);
    },
  });

  async function text(): Promise<string> {
    if (now() - readAt >= NUMBERS_KEPT_MS) {
      readAt = now();
      // While the database is away the last numbers stand; that it is away, other metrics tell.
      numbers = await readNumbers().catch(() => numbers);
    }
    return (await registry.metrics()) + latencies.text();
  }

  const latency = latencies.series();
  return {
    /** `seconds`: since the event was accepted. */
    attempted(outcome: PostOutcome, succeeded: boolean, seconds: number): void {
      const kind = classOf(outcome);
      attempts.set(kind, (attempts.get(kind) ?? 0) + 1);
      if (succeeded) latency.observe(Math.max(0, seconds));
    },
    leasesExpired,
    handOversFailed,
    fannedOut,
    text,
  };
}

const CLASSES = Array.from({ length: 10 }, (_, hundreds) => `${hundreds}xx`);

/** `2xx` to `5xx`, or the phase in which it failed. */
export function classOf({ status, failure }: PostOutcome): string {
  return failure?.phase ?? (CLASSES[Math.floor((status ?? 0) / 100)] as string);
}
