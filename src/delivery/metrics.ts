import { Counter, Registry } from 'prom-client';
import type { PostOutcome } from '../platform/egress/egress.ts';
import { Histogram } from '../platform/histogram.ts';

/** Latencies from the acceptance of an event to the receiver's answer: from a local receiver to the last retry. */
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3_600, 36_000, 360_000];

export type DeliveryMetrics = ReturnType<typeof createMetrics>;

/** Counts the deliveries of this worker. The queue, which all workers share, is in runtime/events/queue-metrics.ts. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

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
  const text = async () => (await registry.metrics()) + latencies.text();

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
