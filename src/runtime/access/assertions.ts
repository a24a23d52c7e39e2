import { RATE_WINDOW_SECONDS } from '../../contract/access.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Assertion, useAssertions } from '../../store/access/assertions.ts';
import type { Database } from '../../store/database.ts';
import { Batcher } from '../batcher.ts';

const BATCH_MAX = 100;
/** Assertions that are known to have been used, of 128 characters at most: 2 MB. */
const REPLAYED_MAX = 10_000;
const MINUTE_MS = RATE_WINDOW_SECONDS * 1000;

/** Assertions, each good for one call. Those of concurrent calls are used up together, in one statement for all nodes to see. */
export class Assertions {
  readonly #clock: Clock;
  readonly #batcher: Batcher<Assertion, boolean>;
  /** By key and `jti`, those that came once more: whoever holds a used one costs one question, and the key nothing. */
  readonly #replayed = new Set<string>();
  readonly #minute = { began: 0, counts: new Map<string, number>() };

  constructor(db: Database, clock: Clock) {
    this.#clock = clock;
    this.#batcher = new Batcher(BATCH_MAX, (assertions) => {
      const now = clock.databaseNow();
      return useAssertions(db, now === undefined ? undefined : new Date(now).toISOString(), assertions);
    });
  }

  /** Whether this is its first use. One that was used before is at the expense of whoever sends it, and not of the key. */
  async use(assertion: Assertion): Promise<boolean> {
    const { keyId, jti } = assertion;
    const name = `${keyId} ${jti}`;
    if (this.#replayed.has(name)) return false;
    // Counted before the answer: of many at once, none would be counted yet when the last one comes.
    this.#count(keyId, 1);
    const isFirst = await this.#batcher.submit(assertion);
    if (!isFirst) {
      this.#count(keyId, -1);
      this.#remember(name);
    }
    return isFirst;
  }

  #count(keyId: string, more: 1 | -1): void {
    const { counts } = this.#thisMinute();
    // A minute may have begun meanwhile.
    counts.set(keyId, Math.max(0, (counts.get(keyId) ?? 0) + more));
  }

  #remember(name: string): void {
    const [oldest] = this.#replayed;
    if (oldest !== undefined && this.#replayed.size >= REPLAYED_MAX) this.#replayed.delete(oldest);
    this.#replayed.add(name);
  }

  /**
   * How long a key has to wait before it may use another one. Each is a row, and whoever hammers on after a 429 signs one after the
   * other: past twice its rate, none is used up for the rest of the minute.
   */
  waitMs(keyId: string, limit: number): number {
    const { began, counts } = this.#thisMinute();
    return (counts.get(keyId) ?? 0) < 2 * limit ? 0 : began + MINUTE_MS - this.#clock.monotonic();
  }

  #thisMinute() {
    const now = this.#clock.monotonic();
    if (now - this.#minute.began >= MINUTE_MS) {
      this.#minute.began = now;
      this.#minute.counts.clear();
    }
    return this.#minute;
  }
}
