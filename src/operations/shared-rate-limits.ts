import { RATE_WINDOW_SECONDS } from '../contract/access.ts';
import type { RateDecision } from '../domain/rate-window.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import { forgetRates, type RateAnswer, takeRates } from '../store/rate-windows.ts';
import { Gatherer } from './gather.ts';
import type { Limits } from './rate-limits.ts';

const SPAN_MS = RATE_WINDOW_SECONDS * 1000;
const CALLS_MAX = 500;

interface Call {
  keyId: string;
  limit: number;
}

/**
 * The windows of all nodes together, in PostgreSQL: a call is let through by one statement that counts those of every node.
 * Calls of the same moment ask together.
 */
export class SharedRateLimits implements Limits {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #calls: Gatherer<Call, RateDecision>;
  #sweptAt: number;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    this.#calls = new Gatherer(CALLS_MAX, (calls) => this.#decide(calls));
    this.#sweptAt = clock.monotonic();
  }

  take(keyId: string, limit: number): Promise<RateDecision> {
    return this.#calls.submit({ keyId, limit });
  }

  async #decide(calls: readonly Call[]): Promise<RateDecision[]> {
    await this.#sweep();
    // Two limits of one key meet for a second after it was changed: then each asks for itself.
    const limits = new Set(calls.map(({ limit }) => limit));
    const decisions = new Map<Call, RateDecision>();
    for (const limit of limits) {
      const byKey = Map.groupBy(
        calls.filter((call) => call.limit === limit),
        ({ keyId }) => keyId,
      );
      const questions = [...byKey].map(([keyId, { length }]) => ({ keyId, limit, calls: length }));
      const answers = await takeRates(this.#db, this.#clock.now(), SPAN_MS, questions);
      for (const answer of answers)
        byKey.get(answer.key_id)?.forEach((call, place) => {
          decisions.set(call, decisionOf(answer, limit, place));
        });
    }
    return calls.map((call) => decisions.get(call) as RateDecision);
  }

  /** Once a minute. */
  async #sweep(): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - this.#sweptAt < SPAN_MS) return;
    this.#sweptAt = now;
    // With room for clocks that differ.
    await forgetRates(this.#db, this.#clock.now() - 2 * SPAN_MS);
  }
}

/** `place`: of the call among those of its key that asked together. */
function decisionOf(answer: RateAnswer, limit: number, place: number): RateDecision {
  const { at_ms: at, used, granted } = answer;
  const allowed = place < granted;
  const leaves = (allowed ? answer.oldest_ms : answer.blocking_ms) ?? at;
  return {
    allowed,
    remaining: allowed ? limit - used - place - 1 : 0,
    roomInMs: leaves + SPAN_MS - at,
  };
}
