import type {
  FigurePoint,
  FigureStep,
  WebhookHealthPoint,
} from '../../contract/operator/oversight/figures.ts';
import { figureSteps } from '../../contract/operator/oversight/figures.ts';
import type { CallOutcome, DeliveryOutcome } from '../../contract/partner/usage.ts';
import { DELIVERY_SECONDS, LONGER_MS } from '../../contract/sla.ts';
import { quantiles } from './sla.ts';

/**
 * Figures over time: which place of a row's counts stands for what, and what a stretch of time comes to. Places are only ever added at the end: rows
 * of the version before stay as they are.
 */

const callPlaces: readonly CallOutcome[] = ['ok', 'refused', 'rate_limited', 'failed'];
const deliveryPlaces: readonly DeliveryOutcome[] = ['delivered', 'retried', 'given_up'];
/** Why an attempt failed: where it broke off, or what kind of status was answered. */
const causePlaces = [
  'address',
  'dns',
  'connect',
  'tls',
  'send',
  'answer',
  '1xx',
  '3xx',
  '4xx',
  '5xx',
] as const;
const DELAY_MS = DELIVERY_SECONDS.map((seconds) => seconds * 1000);
const CAUSES_FROM = deliveryPlaces.length;
const DELAYS_FROM = CAUSES_FROM + causePlaces.length;

export const CALL_PLACES = callPlaces.length;
export const DELIVERY_PLACES = DELAYS_FROM + DELAY_MS.length + 1;

export const placeOfCall = (outcome: CallOutcome): number => callPlaces.indexOf(outcome);

/** The places in which an attempt counts: its outcome, and how long it took or why it failed. */
export function placesOfDelivery(outcome: DeliveryOutcome, delayMs: number, cause: string): number[] {
  const own = deliveryPlaces.indexOf(outcome);
  if (outcome === 'delivered') {
    const bound = DELAY_MS.findIndex((ms) => delayMs <= ms);
    return [own, DELAYS_FROM + (bound < 0 ? DELAY_MS.length : bound)];
  }
  const why = (causePlaces as readonly string[]).indexOf(cause);
  return why < 0 ? [own] : [own, CAUSES_FROM + why];
}

type Counts = readonly number[];

const at = (counts: Counts, place: number): number => counts[place] ?? 0;

export function callsOf(counts: Counts): FigurePoint['calls'] {
  const [ok, refused, rate_limited, failed] = callPlaces.map((_, place) => at(counts, place));
  return { ok: ok ?? 0, refused: refused ?? 0, rate_limited: rate_limited ?? 0, failed: failed ?? 0 };
}

export function deliveriesOf(counts: Counts): FigurePoint['deliveries'] {
  const [delivered, retried, given_up] = deliveryPlaces.map((_, place) => at(counts, place));
  return { delivered: delivered ?? 0, retried: retried ?? 0, given_up: given_up ?? 0 };
}

export function delaysOf(counts: Counts): FigurePoint['delay_ms'] {
  const counted = [...DELAY_MS, LONGER_MS].map((upToMs, bound) => ({
    upToMs,
    count: at(counts, DELAYS_FROM + bound),
  }));
  const { p50, p95 } = quantiles(counted, 1) ?? { p50: null, p95: null };
  return { p50, p95 };
}

export function causesOf(counts: Counts): WebhookHealthPoint['causes'] {
  return causePlaces
    .map((cause, place) => ({ cause, count: at(counts, CAUSES_FROM + place) }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count);
}

// ---- Time ----

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Figures of one partner or webhook: rows of five minutes, and of an hour. */
export const SUBJECT_GRAINS = [5, 60] as const;
/** Of the whole service. */
export const TOTAL_GRAINS = [1, 60] as const;
/** Rows that stand for less than an hour, of one partner or webhook, are kept for so long. */
export const FINE_DAYS = 7;
const POINTS_WANTED = 200;

export interface Series {
  /** Of the points. */
  step: FigureStep;
  stepMs: number;
  /** Of the rows that are read. */
  grain: number;
  since: number;
  until: number;
}

/** `since` and `until` are widened to whole points. A step that is finer than what is kept is made as fine as that is. */
export function seriesOf(
  asked: { since: number; until: number; step: FigureStep | undefined; now: number },
  isOfSubject: boolean,
): Series {
  const grains = isOfSubject ? SUBJECT_GRAINS : TOTAL_GRAINS;
  const isOld = isOfSubject && asked.now - asked.since > FINE_DAYS * DAY_MS;
  const finest = isOld ? 60 : grains[0];
  const steps = Object.entries(figureSteps) as [FigureStep, number][];
  const span = asked.until - asked.since;
  const wanted = asked.step
    ? figureSteps[asked.step]
    : (steps.find(([, minutes]) => span / (minutes * MINUTE_MS) <= POINTS_WANTED)?.[1] ?? figureSteps['1d']);
  const [step, minutes] = steps.find(([, one]) => one >= Math.max(wanted, finest)) ?? [
    '1d',
    figureSteps['1d'],
  ];
  const stepMs = minutes * MINUTE_MS;
  return {
    step,
    stepMs,
    grain: minutes % 60 === 0 ? 60 : grains[0],
    since: Math.floor(asked.since / stepMs) * stepMs,
    until: Math.ceil(asked.until / stepMs) * stepMs,
  };
}

export const startOf = (ms: number, grainMinutes: number): number =>
  Math.floor(ms / (grainMinutes * MINUTE_MS)) * grainMinutes * MINUTE_MS;
