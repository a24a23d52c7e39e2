import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CALL_MS, LONGER_MS } from '../../src/contract/sla.ts';
import { agreementStatus, newestInForce, slaInWords } from '../../src/domain/access/agreement.ts';
import { lowerOf, percentOf, quantiles, targetsMet, uptimeOf } from '../../src/domain/oversight/sla.ts';
import { bucketOf } from '../../src/domain/oversight/usage.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-11-01T00:00:00Z');

describe('quantiles', () => {
  const counted = (times: number[]) => {
    const counts = new Map<number, number>();
    for (const ms of times) {
      const bound = CALL_MS[bucketOf(CALL_MS, ms)] ?? LONGER_MS;
      counts.set(bound, (counts.get(bound) ?? 0) + 1);
    }
    return [...counts].map(([upToMs, count]) => ({ upToMs, count }));
  };

  it('are the true ones, rounded up to a bound', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 12_000, noNaN: true }), { minLength: 1 }), (times) => {
        const sorted = times.toSorted((one, other) => one - other);
        const told = quantiles(counted(times), 1);
        for (const [name, share] of [
          ['p50', 0.5],
          ['p95', 0.95],
          ['p99', 0.99],
        ] as const) {
          const real = sorted[Math.ceil(share * sorted.length) - 1] as number;
          expect(told?.[name]).toBe(CALL_MS[bucketOf(CALL_MS, real)] ?? null);
        }
      }),
    );
  });

  it('of nothing are none', () => {
    expect(quantiles([], 1)).toBeNull();
    expect(quantiles([{ upToMs: 5, count: 0 }], 1)).toBeNull();
  });
});

describe('uptime', () => {
  it('counts exactly the minutes between two moments that are noted', () => {
    const day = fc.array(fc.boolean(), { minLength: 1440, maxLength: 1440 });
    const minute = fc.nat({ max: 2 * 1440 });
    fc.assert(
      fc.property(day, day, minute, minute, (one, two, a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const text = (bits: boolean[]) => bits.map(Number).join('');
        const days = [
          { startsAt: START, minutes: text(one) },
          { startsAt: START + 1440 * MINUTE, minutes: text(two) },
        ];
        const up = [...one, ...two].slice(from, to).filter(Boolean).length;
        expect(uptimeOf(days, START + from * MINUTE, START + to * MINUTE)).toEqual({
          minutes: to - from,
          minutes_down: to - from - up,
          percent: percentOf(up, to - from),
        });
      }),
      { numRuns: 30 },
    );
  });

  it('is of no minute before its beginning', () => {
    expect(uptimeOf([], START + MINUTE, START)).toEqual({ minutes: 0, minutes_down: 0, percent: null });
  });
});

describe('targets', () => {
  const measured = {
    availability_percent: 99.9,
    latency_ms: { p50: 5, p95: 250, p99: null },
    deliveries: { delivered: 0, given_up: 0, retried: 0, success_percent: null },
    delivery_seconds: null,
  };
  const met = (targets: Parameters<typeof targetsMet>[0]) =>
    targetsMet(targets, measured).map((one) => one.met);

  it('are met at the very figure, missed beyond it, and neither where nothing was measured', () => {
    expect(met({ availability_percent: 99.9 })).toEqual([true]);
    expect(met({ availability_percent: 99.901 })).toEqual([false]);
    expect(met({ latency_ms: { p50: 5, p95: 249, p99: 60_000 } })).toEqual([true, false, false]);
    expect(met({ delivery_success_percent: 50, delivery_seconds: { p95: 1 } })).toEqual([null, null]);
    expect(met(null)).toEqual([]);
  });

  it('are not met by rounding', () => {
    expect(percentOf(99_999, 100_000)).toBe(99.999);
    expect(percentOf(9_999_999, 10_000_000)).toBe(99.999);
    expect(percentOf(1, 1)).toBe(100);
    expect(percentOf(0, 0)).toBeNull();
    expect([lowerOf(1, 2), lowerOf(null, 2), lowerOf(1, null), lowerOf(null, null)]).toEqual([1, 2, 1, null]);
  });
});

describe('agreements', () => {
  const signed = (id: string, signed_at: string, ends_at: string | null = null) => ({
    id,
    signed_at: `${signed_at}T00:00:00.000Z`,
    created_at: `${signed_at}T00:00:00.000Z`,
    ends_at: ends_at && `${ends_at}T00:00:00.000Z`,
  });

  it('end at the moment that they say', () => {
    const { ends_at } = signed('a', '2026-01-01', '2026-11-01');
    expect(agreementStatus({ ends_at }, START - 1)).toBe('in_force');
    expect(agreementStatus({ ends_at }, START)).toBe('ended');
    expect(agreementStatus({ ends_at: null }, START)).toBe('in_force');
  });

  it('give way to the one that was signed last, unless that has ended', () => {
    const first = signed('b', '2026-01-01');
    const second = signed('a', '2026-02-01', '2026-11-01');
    expect(newestInForce([first, second], START - 1)).toBe(second);
    expect(newestInForce([first, second], START)).toBe(first);
    expect(newestInForce([second], START)).toBeUndefined();
  });

  it('tell their targets in words', () => {
    expect(slaInWords('gold')).toBe('gold');
    expect(slaInWords(null)).toBeNull();
    expect(slaInWords({ delivery_success_percent: 99, latency_ms: { p50: 10, p99: 500 } })).toBe(
      '99 % delivered, half answered within 10 ms, 99 % answered within 500 ms',
    );
  });
});
