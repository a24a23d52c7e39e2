import type { Clock } from '../platform/clock.ts';
import { Outage } from '../platform/outage.ts';

interface Entry<T> {
  value: T;
  /** Monotonic milliseconds from which on it must not be used. */
  until: number;
}

/** How often a question is asked again when its answer took so long that it was stale on arrival. */
const TRIES_MAX = 3;

/**
 * Remembers answers for a moment that begins before the question is asked. Whoever asks while the same question is
 * under way shares its answer. "No" (undefined) is never remembered.
 */
export class BriefCache<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #entriesMax: number;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #underWay = new Map<string, Promise<T | undefined>>();
  /** Counts the clearings: an answer to a question asked before one is not kept. */
  #generation = 0;

  constructor(clock: Clock, lifetimeMs: number, entriesMax: number) {
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
    this.#entriesMax = entriesMax;
  }

  recall(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#clock.monotonic() < entry.until ? entry.value : undefined;
  }

  /** Answers at once, without a promise, when it remembers: the hot path stays synchronous. */
  get(key: string, load: () => Promise<T | undefined>): T | undefined | Promise<T | undefined> {
    const known = this.recall(key);
    if (known !== undefined) return known;
    const underWay = this.#underWay.get(key);
    if (!underWay) return this.#begin(key, load);
    // A "no" that others asked for may be older than what was granted since. What is asked after it was asked after all who
    // waited for it had come, so once is enough for them: each in turn, a thousand strangers with one key waited for a
    // thousand questions, and woke each other half a million times.
    return underWay.then(
      (value) => value ?? this.recall(key) ?? this.#underWay.get(key) ?? this.#begin(key, load),
    );
  }

  clear(): void {
    this.#generation++;
    this.#entries.clear();
    // Questions under way may have been asked before the change: nobody else shares their answers.
    this.#underWay.clear();
  }

  #begin(key: string, load: () => Promise<T | undefined>): Promise<T | undefined> {
    const asked = this.#ask(key, load);
    this.#underWay.set(key, asked);
    const done = () => {
      if (this.#underWay.get(key) === asked) this.#underWay.delete(key);
    };
    asked.then(done, done);
    return asked;
  }

  async #ask(key: string, load: () => Promise<T | undefined>): Promise<T | undefined> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const generation = this.#generation;
      const until = this.#clock.monotonic() + this.#lifetimeMs;
      const value = await load();
      if (value === undefined) return undefined;
      if (this.#clock.monotonic() >= until) continue;
      if (generation === this.#generation) this.#keep(key, { value, until });
      return value;
    }
    throw new Outage('the database answers too slowly to tell who may come in');
  }

  #keep(key: string, entry: Entry<T>): void {
    // Delete first, so that the map's order is the order of age and the first key is the oldest.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#entriesMax) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
  }
}
