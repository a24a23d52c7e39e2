/**
 * Time is an argument: everything that asks "what time is it" or "wake me later" is handed a Clock, so a test
 * decides how time passes and nothing ever sleeps in a test.
 */
export interface Clock {
  /** Wall-clock milliseconds since the epoch: for what people read and for expiry dates. */
  now(): number;
  /** Milliseconds that only ever grow: for windows, cache lifetimes and durations. */
  monotonic(): number;
  sleep(milliseconds: number): Promise<void>;
  /** Fires once, after so long, unless it is cancelled first by calling what is returned. */
  timer(milliseconds: number, fire: () => void): () => void;
  /**
   * The time that statements go by: for what nodes decide together, since their own clocks differ. Undefined leaves it to
   * PostgreSQL, whose clock is the same for all of them; a test says a time of its own.
   */
  databaseNow(): number | undefined;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  timer(milliseconds, fire) {
    const timer = setTimeout(fire, milliseconds);
    return () => clearTimeout(timer);
  },
  databaseNow: () => undefined,
};
