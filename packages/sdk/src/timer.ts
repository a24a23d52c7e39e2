/** What a timer can hold; with more, it would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export type Timer = ReturnType<typeof setTimeout> | undefined;

/** Starts no timer for a time without end. */
export function startTimer(run: () => void, milliseconds: number): Timer {
  return milliseconds === Number.POSITIVE_INFINITY
    ? undefined
    : setTimeout(run, Math.min(milliseconds, TIMER_MAX_MS));
}

export function checkLimit(name: string, milliseconds: number): number {
  if (milliseconds > 0) return milliseconds;
  throw new TypeError(`${name}: give a number of milliseconds above 0, or Infinity for no limit.`);
}
