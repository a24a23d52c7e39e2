import type { Clock } from '../platform/clock.ts';
import { Outage } from '../platform/outage.ts';

interface Entry<T> {
  value: T;
  /** Monotonic milliseconds from which on it is asked for again by whoever uses it. */
  renewFrom: number;
  /** From here on it must not be used. */
  until: number;
}

/** `wasKnown`: an answer is there that is too old to be used. */
type Load<T> = (wasKnown: boolean) => Promise<T | undefined> | undefined;

/** How often a question is asked again when its answer took so long that it was stale on arrival. */
const TRIES_MAX = 3;
const RENEW_FROM = 0.75;

/**
 * A cache whose answers live for a moment that begins before the question is asked. Whoever asks while the same question is
 * under way shares its answer (single flight). "No" (undefined, or what `isYes` says is none) is never remembered. What is in use is asked for again while it may still
 * be used, so that nobody waits for it.
 */
export class BriefCache<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #entriesMax: number;
  readonly #isYes: (value: T) => boolean;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #underWay = new Map<string, Promise<T | undefined>>();
  /** Counts the clearings: an answer to a question asked before one is not kept. */
  #generation = 0;

  constructor(
    clock: Clock,
    lifetimeMs: number,
    entriesMax: number,
    isYes: (value: T) => boolean = () => true,
  ) {
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
    this.#entriesMax = entriesMax;
    this.#isYes = isYes;
  }

  /** Answers at once, without a promise, when it remembers: the hot path stays synchronous. */
  get(key: string, load: Load<T>): T | undefined | Promise<T | undefined> {
    const entry = this.#entries.get(key);
    const now = entry ? this.#clock.monotonic() : 0;
    if (entry && now < entry.until) {
      if (now >= entry.renewFrom) this.#renew(key, load);
      return entry.value;
    }
    const underWay = this.#underWay.get(key);
    if (!underWay) return this.#begin(key, load);
    // A "no" that others asked for may be older than what was granted since, so who waited for it asks once more. All of them share that
    // second question, which begins after the last of them came: each in turn, a thousand strangers with one key waited for a
    // thousand questions, and woke each other half a million times.
    return underWay.then(
      (value) => this.#yes(value) ?? this.#recall(key) ?? this.#underWay.get(key) ?? this.#begin(key, load),
    );
  }

  /** No answer is used any more. That there was one is still told to `load`. */
  clear(): void {
    this.#generation++;
    for (const entry of this.#entries.values()) entry.until = Number.NEGATIVE_INFINITY;
    // Questions under way may have been asked before the change: nobody else shares their answers.
    this.#underWay.clear();
  }

  #yes(value: T | undefined): T | undefined {
    return value !== undefined && this.#isYes(value) ? value : undefined;
  }

  #recall(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#clock.monotonic() < entry.until ? entry.value : undefined;
  }

  /** Should it fail, whoever comes when the entry is over asks again, and is told. */
  #renew(key: string, load: Load<T>): void {
    if (!this.#underWay.has(key)) this.#begin(key, load).catch(() => {});
  }

  #begin(key: string, load: Load<T>): Promise<T | undefined> {
    const asked = this.#ask(key, load);
    this.#underWay.set(key, asked);
    const done = () => {
      if (this.#underWay.get(key) === asked) this.#underWay.delete(key);
    };
    asked.then(done, done);
    return asked;
  }

  async #ask(key: string, load: Load<T>): Promise<T | undefined> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const generation = this.#generation;
      const asked = this.#clock.monotonic();
      const until = asked + this.#lifetimeMs;
      const value = await load(this.#entries.has(key));
      if (value === undefined || !this.#isYes(value)) {
        if (generation === this.#generation) this.#entries.delete(key);
        return value;
      }
      if (this.#clock.monotonic() >= until) continue;
      if (generation === this.#generation)
        this.#keep(key, { value, renewFrom: asked + RENEW_FROM * this.#lifetimeMs, until });
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
