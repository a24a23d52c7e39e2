import { RATE_WINDOW_SECONDS } from '../contract/access.ts';
import {
  decide,
  isIdle,
  newRateWindow,
  type RateDecision,
  type RateWindow,
  record,
} from '../domain/rate-window.ts';
import type { Clock } from '../platform/clock.ts';

const SPAN_MS = RATE_WINDOW_SECONDS * 1000;

/** Who counts calls, and lets them through or not. */
export interface Limits {
  /** Counts the call if there is room for it; one that is refused does not count. */
  take(who: string, limit: number): RateDecision | Promise<RateDecision>;
}

/** The windows of this node, one for each key or address, kept in memory and forgotten when idle. */
export class RateLimits implements Limits {
  readonly #clock: Clock;
  readonly #windows = new Map<string, RateWindow>();
  #sweptAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(who: string, limit: number): RateDecision {
    const now = this.#clock.monotonic();
    if (now - this.#sweptAt >= SPAN_MS) this.#sweep(now);
    let window = this.#windows.get(who);
    if (!window) {
      window = newRateWindow();
      this.#windows.set(who, window);
    }
    const decision = decide(window, limit, SPAN_MS, now);
    if (decision.allowed) record(window, SPAN_MS, now);
    return decision;
  }

  /** Once a minute: what nobody used for a minute goes, so memory follows the callers of the last two minutes. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [who, window] of this.#windows) {
      if (isIdle(window, SPAN_MS, now)) this.#windows.delete(who);
    }
  }
}
