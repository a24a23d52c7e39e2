import type { RandomBytes } from '../ids.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after each failed attempt the next one is made; the first is made at once. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
export const ATTEMPTS_MAX = DELAYS_MS.length + 1;
/** Receivers that failed together should not all be asked again in the same second. */
const JITTER = 0.1;
const RETRY_AFTER_MAX_MS = 24 * HOUR;
/** Without one success for so long, a webhook is disabled. */
const FAILING_MAX_MS = 5 * 24 * HOUR;

const GONE = 410;
const SAY_WHEN = [429, 503];

/** What an attempt came to: the status of the answer, or undefined when there was none. */
interface Outcome {
  status: number | undefined;
  /** The Retry-After header as sent. */
  retryAfter: string | undefined;
  /** Whether the exchange broke off, whatever status it began with. */
  broken: boolean;
}

type Step =
  | { state: 'delivered' }
  | { state: 'failed'; gone: boolean }
  | { state: 'due'; delayMs: number; gone: boolean };

/**
 * What follows from an attempt. `attempt` counts from one. `now` is for a receiver that names a date. `mustArrive`: it is never given up, the
 * last delay repeats, and no answer says that the receiver is gone.
 */
export function nextStep(
  attempt: number,
  outcome: Outcome,
  now: number,
  random: RandomBytes,
  mustArrive = false,
): Step {
  if (isSuccess(outcome)) return { state: 'delivered' };
  const gone = !mustArrive && outcome.status === GONE;
  const delay = DELAYS_MS[attempt - 1] ?? (mustArrive ? DELAYS_MS.at(-1) : undefined);
  if (delay === undefined) return { state: 'failed', gone };
  const jittered = delay * (1 - JITTER + 2 * JITTER * fraction(random));
  return { state: 'due', delayMs: Math.round(Math.max(jittered, askedFor(outcome, now))), gone };
}

function isSuccess({ status, broken }: Outcome): boolean {
  return !broken && status !== undefined && status >= 200 && status < 300;
}

/** Waiting longer than asked is polite; shorter is not, and would use up the attempts. */
function askedFor({ status, retryAfter }: Outcome, now: number): number {
  if (retryAfter === undefined || status === undefined || !SAY_WHEN.includes(status)) return 0;
  const text = retryAfter.trim();
  // `Date.parse` makes a year of many a number, such as 3600.5; a date in HTTP begins with the day of the week.
  const isDate = /^[A-Z][a-z]+,? /.test(text);
  const ms = /^\d{1,10}$/.test(text) ? Number(text) * SECOND : isDate ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS);
}

function fraction(random: RandomBytes): number {
  const [a = 0, b = 0, c = 0] = random(3);
  return (a * 65_536 + b * 256 + c) / 16_777_216;
}

/** Whether a webhook that has failed at every attempt since then is to be left alone. */
export function isBeyondHope(failingSince: number, now: number): boolean {
  return now - failingSince >= FAILING_MAX_MS;
}
