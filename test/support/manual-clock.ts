import { type Clock, systemClock } from '../../src/platform/clock.ts';

/** A clock that stands still until a test moves it. Whoever sleeps moves it, so nothing ever waits. */
export class ManualClock implements Clock {
  #now: number;
  #monotonic = 1_000_000;
  #advancedAt = Number.NEGATIVE_INFINITY;

  constructor(start = '2026-11-16T10:00:00.000Z') {
    this.#now = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  async sleep(milliseconds: number): Promise<void> {
    this.advance(milliseconds);
  }

  /** Takes real time, however the clock is moved: what looks again and again goes on looking. */
  timer(milliseconds: number, fire: () => void): () => void {
    return systemClock.timer(milliseconds, fire);
  }

  /** The database's clock is this one as well. */
  databaseNow(): number | undefined {
    return this.now();
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    this.#monotonic += milliseconds;
  }

  /**
   * For whoever looks again and again: moves it at some of these times only, a quarter of a second after the last. Moved each time, it would
   * outrun what a slow machine has under way, whose leases would be over each time before it is done.
   */
  advanceNowAndThen(milliseconds: number): void {
    const now = performance.now();
    if (now - this.#advancedAt < 250) return;
    this.#advancedAt = now;
    this.advance(milliseconds);
  }

  /** Moves the wall clock to a date. Windows and caches see the same time pass, or none if it goes back. */
  set(moment: string): void {
    const by = Date.parse(moment) - this.#now;
    this.#now += by;
    this.#monotonic += Math.max(0, by);
  }
}

/** One by which the service neither looks for alerts nor sends messages by itself, which it does every 20 s: only when the test says so. */
export class StillClock extends ManualClock {
  override timer(milliseconds: number, fire: () => void): () => void {
    return milliseconds < 20_000 ? super.timer(milliseconds, fire) : () => {};
  }
}

/**
 * One whose timers are over soon, for tests in which what callers are made to wait for, or what is looked at from time to time, happens often.
 * Timers of ten seconds and more wait until they are fired.
 */
export class HastyClock extends ManualClock {
  readonly #long = new Set<() => void>();

  override timer(milliseconds: number, fire: () => void): () => void {
    if (milliseconds < 10_000) return super.timer(milliseconds / 50, fire);
    this.#long.add(fire);
    return () => void this.#long.delete(fire);
  }

  fireLong(): void {
    const due = [...this.#long];
    this.#long.clear();
    for (const fire of due) fire();
  }
}
