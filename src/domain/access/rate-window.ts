/**
 * An exact sliding window: inside any 60 seconds never more than `limit` requests are let through. The window keeps
 * the moment of each request that it let through; the newest `limit` of them are all it ever needs.
 *
 * `decide` only looks. `record` is called for a request that was let through. Moments never decrease.
 */
export interface RateWindow {
  /** A ring: `count` moments from `start` on, oldest first. */
  moments: Float64Array;
  start: number;
  count: number;
}

export interface RateDecision {
  allowed: boolean;
  /** How many more requests would be let through right after this one. */
  remaining: number;
  /** Milliseconds until the oldest counted request leaves the window, and so until there is room for one more. */
  roomInMs: number;
}

const FIRST_CAPACITY = 8;

export function newRateWindow(): RateWindow {
  return { moments: new Float64Array(FIRST_CAPACITY), start: 0, count: 0 };
}

export function decide(window: RateWindow, limit: number, spanMs: number, now: number): RateDecision {
  const used = countSince(window, now - spanMs);
  if (used >= limit) {
    // Room comes when enough of the oldest have left that only limit - 1 remain.
    const blocking = momentAt(window, window.count - limit);
    return { allowed: false, remaining: 0, roomInMs: Math.min(spanMs, blocking + spanMs - now) };
  }
  const oldest = used === 0 ? now : momentAt(window, window.count - used);
  return { allowed: true, remaining: limit - used - 1, roomInMs: Math.min(spanMs, oldest + spanMs - now) };
}

export function record(window: RateWindow, spanMs: number, now: number): void {
  const live = countSince(window, now - spanMs);
  window.start = (window.start + window.count - live) % window.moments.length;
  window.count = live;
  if (window.count === window.moments.length) grow(window);
  window.moments[(window.start + window.count) % window.moments.length] = now;
  window.count++;
}

/** True when nothing in the window counts any more, so that it can be forgotten. */
export function isIdle(window: RateWindow, spanMs: number, now: number): boolean {
  return countSince(window, now - spanMs) === 0;
}

/**
 * How many recorded moments lie after `since`: a moment exactly one span ago has left. Few have since the last time, so the
 * search goes from the oldest in steps that double, and halves the last one.
 */
function countSince(window: RateWindow, since: number): number {
  let low = 0;
  let high = 0;
  for (let step = 1; high < window.count && momentAt(window, high) <= since; step *= 2) {
    low = high + 1;
    high += step;
  }
  high = Math.min(high, window.count);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (momentAt(window, middle) > since) high = middle;
    else low = middle + 1;
  }
  return window.count - low;
}

function momentAt(window: RateWindow, index: number): number {
  return window.moments[(window.start + index) % window.moments.length] as number;
}

function grow(window: RateWindow): void {
  const larger = new Float64Array(window.moments.length * 2);
  for (let i = 0; i < window.count; i++) larger[i] = momentAt(window, i);
  window.moments = larger;
  window.start = 0;
}
