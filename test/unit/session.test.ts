import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endOf,
  firstTimes,
  IDLE_MINUTES_MIN,
  idleAfterUse,
  isRotationDue,
  OVERLAP_MS,
  ROTATED_AFTER_MS,
  type SessionLimits,
  type SessionTimes,
  USE_NOTED_MS,
} from '../../src/domain/access/session.ts';

/** A session, used after each of these pauses, as the door would: each use is judged, and written down where it is due. */

const MINUTE = 60_000;
const limitsOf = fc.record({
  idleMs: fc.integer({ min: IDLE_MINUTES_MIN, max: 24 * 60 }).map((minutes) => minutes * MINUTE),
  absoluteMs: fc.integer({ min: 1, max: 7 * 24 }).map((hours) => hours * 60 * MINUTE),
});
const start = fc.integer({ min: 0, max: Date.parse('9000-01-01') });
const pauses = fc.array(fc.integer({ min: 0, max: 90 * MINUTE }), { maxLength: 60 });

function begin(now: number, limits: SessionLimits): SessionTimes {
  return {
    ...firstTimes(now, limits),
    lastUsedAt: now,
    rotatedAt: now,
    isPrevious: false,
    previousUntil: undefined,
  };
}

function use(times: SessionTimes, now: number, limits: SessionLimits): SessionTimes | undefined {
  if (now >= endOf(times)) return undefined;
  const idleExpiresAt = idleAfterUse(times, now, limits);
  return idleExpiresAt === undefined ? times : { ...times, idleExpiresAt, lastUsedAt: now };
}

describe('a session', () => {
  it('lasts while it is used, never beyond its end, and ends when it is left alone, at most a minute early', () => {
    fc.assert(
      fc.property(limitsOf, start, pauses, (limits, began, waits) => {
        let now = began;
        let used = began;
        let times: SessionTimes = begin(now, limits);
        for (const wait of waits) {
          now += wait;
          const after = use(times, now, limits);
          const idleFor = now - used;
          if (now - began >= limits.absoluteMs || idleFor >= limits.idleMs) expect(after).toBeUndefined();
          else if (idleFor <= limits.idleMs - USE_NOTED_MS) expect(after).toBeDefined();
          if (!after) return;
          expect(endOf(after)).toBeLessThanOrEqual(began + limits.absoluteMs);
          expect(endOf(after)).toBeLessThanOrEqual(now + limits.idleMs);
          expect(endOf(after)).toBeGreaterThanOrEqual(endOf(times));
          times = after;
          used = now;
        }
      }),
    );
  });

  it('is over at the instant of its end, and not a millisecond before', () => {
    fc.assert(
      fc.property(limitsOf, start, (limits, now) => {
        const times = begin(now, limits);
        expect(use(times, endOf(times) - 1, limits)).toBeDefined();
        expect(use(times, endOf(times), limits)).toBeUndefined();
        expect(idleAfterUse(times, endOf(times), limits)).toBeUndefined();
        expect(isRotationDue(times, endOf(times))).toBe(false);
      }),
    );
  });

  it('is lengthened by no setting that was changed since beyond its end', () => {
    fc.assert(
      fc.property(limitsOf, limitsOf, start, fc.nat(), (before, after, now, wait) => {
        const times = begin(now, before);
        const later = use(times, now + wait, after);
        if (later) expect(endOf(later)).toBeLessThanOrEqual(now + before.absoluteMs);
      }),
    );
  });
});

describe('its token', () => {
  const limits = { idleMs: 30 * MINUTE, absoluteMs: 720 * MINUTE };

  it('is changed a quarter of an hour after the last change, once', () => {
    const times = begin(0, limits);
    expect(isRotationDue(times, ROTATED_AFTER_MS - 1)).toBe(false);
    expect(isRotationDue(times, ROTATED_AFTER_MS)).toBe(true);
    const former = { ...times, rotatedAt: ROTATED_AFTER_MS, isPrevious: true };
    expect(isRotationDue(former, ROTATED_AFTER_MS + MINUTE - 1)).toBe(false);
    expect(isRotationDue(former, ROTATED_AFTER_MS + MINUTE)).toBe(true);
  });

  it('before the last one works until the new one has come, and a moment longer', () => {
    const former = { ...begin(0, limits), isPrevious: true };
    expect(endOf(former)).toBe(30 * MINUTE);
    const taken = { ...former, previousUntil: MINUTE + OVERLAP_MS };
    expect(endOf(taken)).toBe(2 * MINUTE);
    expect(isRotationDue(taken, 2 * MINUTE - 1)).toBe(false);
    expect(endOf({ ...taken, previousUntil: 720 * MINUTE })).toBe(30 * MINUTE);
  });
});
