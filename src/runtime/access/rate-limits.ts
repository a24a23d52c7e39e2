import { RATE_WINDOW_SECONDS } from '../../contract/access.ts';
import {
  decide,
  isIdle,
  newRateWindow,
  type RateDecision,
  type RateWindow,
  record,
} from '../../domain/access/rate-window.ts';
import type { Clock } from '../../platform/clock.ts';
import { forgetRates, type RateAnswer, takeRates } from '../../store/access/rate-windows.ts';
import type { Database } from '../../store/database.ts';
import { Batcher } from '../batcher.ts';

const SPAN_MS = RATE_WINDOW_SECONDS * 1000;

/** Who counts calls, and lets them through or not. */
export interface Limits {
  /** Counts the call if there is room for it; one that is refused does not count. */
  take(who: string, limit: number): RateDecision | Promise<RateDecision>;
}

/** The windows of this node, one for each key or address, kept in memory and forgotten when idle. */
export class RateLimits implements Limits {
  readonly #clock: Clock;
  readonly #windowsMax: number;
  readonly #windows = new Map<string, RateWindow>();
  #sweptAt = 0;

  /** Of more than `windowsMax`, those used longest ago are forgotten: for callers whose number nobody knows. */
  constructor(clock: Clock, windowsMax = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#windowsMax = windowsMax;
  }

  get size(): number {
    return this.#windows.size;
  }

  take(who: string, limit: number): RateDecision {
    const now = this.#clock.monotonic();
    if (now - this.#sweptAt >= SPAN_MS) this.#sweep(now);
    const window = this.#windowOf(who);
    const decision = decide(window, limit, SPAN_MS, now);
    if (decision.allowed) record(window, SPAN_MS, now);
    return decision;
  }

  /** Whether a call would be refused. */
  isFull(who: string, limit: number): boolean {
    const window = this.#windows.get(who);
    return window !== undefined && !decide(window, limit, SPAN_MS, this.#clock.monotonic()).allowed;
  }

  #windowOf(who: string): RateWindow {
    const known = this.#windows.get(who);
    if (known && this.#windowsMax === Number.POSITIVE_INFINITY) return known;
    const window = known ?? newRateWindow();
    // The map's order is that of their last use.
    this.#windows.delete(who);
    this.#windows.set(who, window);
    if (this.#windows.size > this.#windowsMax) {
      const oldest = this.#windows.keys().next();
      if (!oldest.done) this.#windows.delete(oldest.value);
    }
    return window;
  }

  /** Once a minute: what nobody used for a minute goes, so memory follows the callers of the last two minutes. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [who, window] of this.#windows) {
      if (isIdle(window, SPAN_MS, now)) this.#windows.delete(who);
    }
  }
}

const CALLS_MAX = 500;

interface Call {
  keyId: string;
  limit: number;
}

/**
 * The windows of all nodes together, in PostgreSQL: a call is let through by one statement that counts those of every node.
 * Calls of the same moment ask together. The time is the database's, so that the clocks of the nodes do not matter.
 */
export class SharedRateLimits implements Limits {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #calls: Batcher<Call, RateDecision>;
  #sweptAt: number;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    this.#calls = new Batcher(CALLS_MAX, (calls) => this.#decide(calls));
    this.#sweptAt = clock.monotonic();
  }

  take(keyId: string, limit: number): Promise<RateDecision> {
    return this.#calls.submit({ keyId, limit });
  }

  async #decide(calls: readonly Call[]): Promise<RateDecision[]> {
    this.#sweep();
    // The limit too: for a second after it was changed, calls of one key may come with either.
    const questions = [...Map.groupBy(calls, ({ keyId, limit }) => `${keyId} ${limit}`).values()];
    const answers = await takeRates(
      this.#db,
      this.#clock.databaseNow(),
      SPAN_MS,
      questions.map((alike) => ({ ...(alike[0] as Call), calls: alike.length })),
    );
    const decisions = new Map<Call, RateDecision>();
    for (const answer of answers)
      questions[answer.place - 1]?.forEach((call, place) => {
        decisions.set(call, decisionOf(answer, call.limit, place));
      });
    return calls.map((call) => decisions.get(call) as RateDecision);
  }

  /** Once a minute, beside the calls: none of them waits for it, and if it fails there is a next time. */
  #sweep(): void {
    const now = this.#clock.monotonic();
    if (now - this.#sweptAt < SPAN_MS) return;
    this.#sweptAt = now;
    forgetRates(this.#db, this.#clock.databaseNow(), 2 * SPAN_MS).catch(() => {});
  }
}

/** `place`: of the call among those of its key that asked together. */
function decisionOf(answer: RateAnswer, limit: number, place: number): RateDecision {
  const { used, granted, oldest_us, blocking_us } = answer;
  const allowed = place < granted;
  return {
    allowed,
    remaining: allowed ? limit - used - place - 1 : 0,
    roomInMs: SPAN_MS - ((allowed ? oldest_us : blocking_us) ?? 0) / 1000,
  };
}
