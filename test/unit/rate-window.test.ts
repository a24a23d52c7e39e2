import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, isIdle, newRateWindow, record } from '../../src/domain/access/rate-window.ts';
import { RateLimits } from '../../src/runtime/access/rate-limits.ts';
import { ManualClock } from '../support/manual-clock.ts';

const SPAN = 60_000;

/** The definition, word for word: how many of these moments lie in (t - 60 s, t]. */
const countIn = (times: readonly number[], t: number) =>
  times.filter((time) => time > t - SPAN && time <= t).length;

/** Milliseconds in 1024ths, which doubles hold exactly: the property is about counting, not about rounding. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.nat(300) },
  { weight: 3, arbitrary: fc.nat(5_000 * 1024).map((n) => n / 1024) },
  { weight: 1, arbitrary: fc.constantFrom(SPAN, SPAN - 1 / 1024, SPAN + 1 / 1024, SPAN - 1, 2 * SPAN) },
);
const limit = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 100_000 }));
/** Most steps keep the limit of the step before; some are told another one by support. */
const steps = fc.array(
  fc.record({
    gap,
    limit: fc.option(limit, { freq: 10, nil: undefined }),
    asks: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 80 },
);

describe('decide and record against the definition', () => {
  it('never asks for more patience than the window is long, however the moments round', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e7, noNaN: true }),
        fc.integer({ min: 1, max: 3 }),
        (now, limit) => {
          const window = newRateWindow();
          for (let ask = 0; ask <= limit; ask++) {
            expect(decide(window, limit, SPAN, now).roomInMs).toBeLessThanOrEqual(SPAN);
            if (ask < limit) record(window, SPAN, now);
          }
        },
      ),
      // 1,000,000.1 + 60,000 - 1,000,000.1 is a little more than 60,000.
      { examples: [[1_000_000.1, 1]] },
    );
  });

  it('lets through exactly while fewer than the limit lie in the 60 seconds before, also when the limit changes', () => {
    fc.assert(
      fc.property(steps, limit, (moves, firstLimit) => {
        const window = newRateWindow();
        const answered: number[] = [];
        let now = 1_000;
        let allowance = firstLimit;
        for (const move of moves) {
          now += move.gap;
          allowance = move.limit ?? allowance;
          for (let ask = 0; ask < move.asks; ask++) {
            const used = countIn(answered, now);
            const decision = decide(window, allowance, SPAN, now);
            expect(decision.allowed).toBe(used < allowance);
            expect(decision.remaining).toBe(Math.max(0, allowance - used - 1));
            expect(isIdle(window, SPAN, now)).toBe(used === 0);
            if (!decision.allowed) continue;
            record(window, SPAN, now);
            answered.push(now);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('only looks when it decides', () => {
    fc.assert(
      fc.property(steps, limit, (moves, allowance) => {
        const window = newRateWindow();
        let now = 0;
        for (const move of moves) {
          now += move.gap;
          const first = decide(window, allowance, SPAN, now);
          for (let ask = 0; ask < move.asks; ask++)
            expect(decide(window, allowance, SPAN, now)).toEqual(first);
          if (first.allowed) record(window, SPAN, now);
        }
      }),
    );
  });

  it('never answers a 301st request inside any 60 seconds, however the calls are timed', () => {
    const bursts = fc.array(
      fc.record({ gap: fc.oneof(gap, fc.nat(70_000)), asks: fc.integer({ min: 1, max: 400 }) }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(bursts, fc.nat(40), (moves, spreadMs) => {
        const window = newRateWindow();
        const answered: number[] = [];
        let now = 0;
        for (const move of moves) {
          now += move.gap;
          for (let ask = 0; ask < move.asks; ask++) {
            now += spreadMs;
            if (!decide(window, 300, SPAN, now).allowed) continue;
            record(window, SPAN, now);
            answered.push(now);
          }
        }
        // Some 60 seconds hold 301 of them exactly when one and the 300th after it are less than 60 seconds apart.
        for (let i = 300; i < answered.length; i++)
          expect((answered[i] as number) - (answered[i - 300] as number)).toBeGreaterThanOrEqual(SPAN);
      }),
      { numRuns: 200 },
    );
  });

  it('says when there is room again: true at that moment, and at none before it', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 12 }), (moves, firstLimit) => {
        const window = newRateWindow();
        let now = 5_000;
        let allowance = firstLimit;
        for (const move of moves) {
          now += move.gap;
          allowance = move.limit ?? allowance;
          for (let ask = 0; ask < move.asks; ask++) {
            const { allowed, roomInMs } = decide(window, allowance, SPAN, now);
            if (allowed) {
              record(window, SPAN, now);
              continue;
            }
            expect(roomInMs).toBeGreaterThan(0);
            expect(roomInMs).toBeLessThanOrEqual(SPAN);
            const allowedAfter = (ms: number) => decide(window, allowance, SPAN, now + ms).allowed;
            expect(allowedAfter(roomInMs)).toBe(true);
            expect(allowedAfter(roomInMs - 1 / 1024)).toBe(false);
            // As the header says it, in whole seconds: a call made then is answered, one a second earlier is not.
            const seconds = Math.ceil(roomInMs / 1000);
            expect(allowedAfter(seconds * 1000)).toBe(true);
            expect(allowedAfter((seconds - 1) * 1000)).toBe(false);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('RateLimits', () => {
  it('keeps one exact window for each caller, whatever it forgets of the idle ones', () => {
    const calls = fc.array(
      fc.record({ gap: fc.oneof(gap, fc.nat(90_000)), who: fc.constantFrom('a', 'b', 'c') }),
      {
        maxLength: 200,
      },
    );
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 6 }), (moves, allowance) => {
        const clock = new ManualClock();
        const limits = new RateLimits(clock);
        const answered: Record<string, number[]> = { a: [], b: [], c: [] };
        for (const { gap: by, who } of moves) {
          clock.advance(by);
          const times = answered[who] as number[];
          const used = countIn(times, clock.monotonic());
          const { allowed } = limits.take(who, allowance);
          expect(allowed).toBe(used < allowance);
          if (allowed) times.push(clock.monotonic());
        }
      }),
      { numRuns: 300 },
    );
  });
});
