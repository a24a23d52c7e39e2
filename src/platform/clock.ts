/**
 * Time is an argument: everything that asks "what time is it" or "wake me later" is handed a Clock, so a test
 * decides how time passes and nothing ever sleeps in a test.
 */
export interface Clock {
  /**
   * Milliseconds since the epoch: for what people read and for expiry dates. In the service it is the database's time, as far as it
   * could be measured (`SharedClock`), whatever the clock of this machine says.
   */
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

/** As a statement is told the time (`shared_now` in src/sql): null leaves it to PostgreSQL. */
export function databaseTime(clock: Pick<Clock, 'databaseNow'>): string | null {
  const now = clock.databaseNow();
  return now === undefined ? null : new Date(now).toISOString();
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
