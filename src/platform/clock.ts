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
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};
