import { expect, test } from 'vitest';
import { toLasting, toRelative } from '../../packages/console/src/parts/lengths.ts';

/** How the console tells how long ago something was, how long it takes yet, and how long it lasts already. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [0, 'now'],
  [-999, 'now'],
  [-59 * SECOND, '59 seconds ago'],
  [-(2 * MINUTE - 1), '1 minute ago'],
  [-23 * HOUR, '23 hours ago'],
  [-(2 * DAY - 1), 'yesterday'],
  [-(5 * DAY - 1), '4 days ago'],
])('what was %i ms from now was %s: whole units have passed', (apart, words) => {
  expect(toRelative(apart, 0)).toBe(words);
});

test.each([
  [400, 'now'],
  [4 * MINUTE + 40 * SECOND, 'in 5 minutes'],
  [HOUR - SECOND, 'in 1 hour'],
  [13 * HOUR, 'in 13 hours'],
  [DAY - MINUTE, 'tomorrow'],
  [4 * DAY + 23 * HOUR, 'in 5 days'],
  [4 * DAY + 11 * HOUR, 'in 4 days'],
])('what is in %i ms is %s: by the nearest', (apart, words) => {
  expect(toRelative(apart, 0)).toBe(words);
});

test.each([
  [-50, '0 seconds'],
  [1500, '1 second'],
  [14 * MINUTE + 59 * SECOND, '14 minutes'],
  [DAY, '1 day'],
])('what began %i ms ago has lasted %s', (ms, words) => {
  expect(toLasting(0, ms)).toBe(words);
});
