import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTEMPTS_MAX, isBeyondHope, nextStep } from '../../src/domain/events/retry.ts';

const NOW = Date.parse('2026-11-16T10:00:00.000Z');
const HOURS_24 = 24 * 3_600_000;
const MINUTES = [5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440];

const outcome = (status: number | undefined, retryAfter?: string, broken = false) => ({
  status,
  retryAfter,
  broken,
});
const lowest = (count: number) => new Uint8Array(count);
const highest = (count: number) => new Uint8Array(count).fill(255);
const dueIn = (attempt: number, random = lowest, status: number | undefined = 500, retryAfter?: string) => {
  const step = nextStep(attempt, outcome(status, retryAfter), NOW, random);
  return step.state === 'due' ? step.delayMs : undefined;
};

describe('what follows from an attempt', () => {
  it('is nothing more after any 2xx', () => {
    for (const status of [200, 201, 202, 204, 299])
      expect(nextStep(1, outcome(status), NOW, randomBytes)).toEqual({ state: 'delivered' });
  });

  it('is another one after everything else, a 2xx that broke off included', () => {
    for (const status of [undefined, 100, 199, 300, 301, 302, 304, 400, 401, 404, 429, 500, 503, 599])
      expect(nextStep(1, outcome(status), NOW, randomBytes).state).toBe('due');
    expect(nextStep(1, outcome(200, undefined, true), NOW, randomBytes).state).toBe('due');
  });

  it('comes after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, give or take a tenth', () => {
    MINUTES.forEach((minutes, index) => {
      expect(dueIn(index + 1, lowest)).toBe(Math.round(minutes * 60_000 * 0.9));
      expect(dueIn(index + 1, highest)).toBeGreaterThan(minutes * 60_000 * 1.0999);
      expect(dueIn(index + 1, highest)).toBeLessThanOrEqual(minutes * 60_000 * 1.1);
    });
  });

  it('is giving up after the tenth', () => {
    expect(ATTEMPTS_MAX).toBe(10);
    expect(nextStep(10, outcome(500), NOW, randomBytes)).toEqual({ state: 'failed', gone: false });
    expect(nextStep(10, outcome(200), NOW, randomBytes)).toEqual({ state: 'delivered' });
  });

  it('is the last delay again and again, of what must arrive', () => {
    for (const attempt of [10, 11, 1_000])
      expect(nextStep(attempt, outcome(500), NOW, lowest, true)).toEqual({
        state: 'due',
        delayMs: HOURS_24 * 0.9,
        gone: false,
      });
    expect(nextStep(1, outcome(500), NOW, lowest, true)).toEqual(nextStep(1, outcome(500), NOW, lowest));
    expect(nextStep(11, outcome(200), NOW, lowest, true)).toEqual({ state: 'delivered' });
  });

  it('of a 410 says that the receiver is gone', () => {
    expect(nextStep(1, outcome(410), NOW, randomBytes)).toMatchObject({ state: 'due', gone: true });
    expect(nextStep(1, outcome(404), NOW, randomBytes)).toMatchObject({ gone: false });
    expect(nextStep(1, outcome(410), NOW, randomBytes, true)).toMatchObject({ state: 'due', gone: false });
  });

  it('waits as long as a 429 or a 503 asks, never shorter than the schedule, never longer than a day', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(429, 503),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 400_000 }),
        fc.boolean(),
        (status, attempt, seconds, asDate) => {
          const asked = asDate ? new Date(NOW + seconds * 1000).toUTCString() : String(seconds);
          const scheduled = dueIn(attempt, lowest) ?? 0;
          const expected = Math.max(scheduled, Math.min(seconds * 1000, HOURS_24));
          expect(dueIn(attempt, lowest, status, asked)).toBe(expected);
        },
      ),
    );
  });

  it('does not listen to Retry-After with other statuses, or when it makes no sense', () => {
    const scheduled = dueIn(1);
    for (const status of [500, 502, 400, 301]) expect(dueIn(1, lowest, status, '3600')).toBe(scheduled);
    for (const odd of [
      '',
      'soon',
      '-5',
      '1e3',
      '99999999999',
      '3600.5',
      '+3600',
      '3600;',
      '2999-01-01T00:00:00Z',
      'Thu, 01 Jan 1970 00:00:00 GMT',
    ])
      expect(dueIn(1, lowest, 503, odd)).toBe(scheduled);
  });
});

it('a webhook is beyond hope after five days of failures', () => {
  expect(isBeyondHope(NOW - 5 * HOURS_24 + 1, NOW)).toBe(false);
  expect(isBeyondHope(NOW - 5 * HOURS_24, NOW)).toBe(true);
});
