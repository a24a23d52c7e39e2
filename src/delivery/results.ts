import { keptAttempt } from '../domain/events/diagnosis.ts';
import type { ClaimedDelivery } from '../domain/events/lane.ts';
import { nextStep } from '../domain/events/retry.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { PostOutcome } from '../platform/egress/egress.ts';
import type { Result } from '../store/events/deliveries-record.ts';
import type { OpenDestination } from './destinations.ts';
import { classOf } from './metrics.ts';

/** What is written down about a delivery. `moment`: now, by the monotonic clock. */

/** It was not sent, because the one before it about the same object (0: one that was set aside) is not finished. */
export function putBackResult(
  webhookNo: number,
  { sequence, objectHash, tries }: ClaimedDelivery,
  after: number,
  moment: number,
): Result {
  return {
    webhookNo,
    sequence,
    objectHash,
    triesBefore: tries,
    state: 'waiting',
    retryDelayMs: undefined,
    answeredAt: moment,
    delayMs: 0,
    cause: '',
    after,
    attempt: '',
    gone: undefined,
  };
}

interface Attempt {
  destination: Pick<OpenDestination, 'url' | 'mustArrive'>;
  outcome: PostOutcome;
  /** By the clock that receivers and people read. */
  startedAt: number;
  now: number;
  moment: number;
}

/** It was sent, and this is what came of it. */
export function attemptResult(
  webhookNo: number,
  { sequence, objectHash, tries, acceptedMs }: ClaimedDelivery,
  { destination: { url, mustArrive }, outcome, startedAt, now, moment }: Attempt,
  random: RandomBytes,
): Result & { state: 'delivered' | 'failed' | 'due' } {
  const { status, retryAfter, failure } = outcome;
  const broken = failure !== undefined;
  const step = nextStep(tries + 1, { status, retryAfter, broken }, now, random, mustArrive);
  return {
    webhookNo,
    sequence,
    objectHash,
    triesBefore: tries,
    state: step.state,
    retryDelayMs: step.state === 'due' ? step.delayMs : undefined,
    answeredAt: moment,
    delayMs: now - acceptedMs,
    cause: classOf(outcome),
    after: 0,
    attempt: `[${keptAttempt(outcome, startedAt)}]`,
    gone: step.state !== 'delivered' && step.gone ? url : undefined,
  };
}
