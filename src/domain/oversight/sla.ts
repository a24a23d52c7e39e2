import type { SlaReport } from '../../contract/operator/oversight/sla.ts';
import { LONGER_MS, type SlaTargets } from '../../contract/sla.ts';
import { type Quantile, quantilesOf } from '../access/agreement.ts';

/** What a month of a partner comes to. All of it is arithmetic on figures that were counted. */

/** How many took up to a bound, and longer than the one below it. */
export interface Counted {
  upToMs: number;
  count: number;
}

const SHARE: Record<Quantile, number> = { p50: 0.5, p95: 0.95, p99: 0.99 };

/** The bound below which that share of them lies. Null: they lie above the last. */
function quantile(counted: readonly Counted[], share: number): number | null {
  const sorted = counted.toSorted((one, other) => one.upToMs - other.upToMs);
  const total = sorted.reduce((sum, { count }) => sum + count, 0);
  let below = 0;
  for (const { upToMs, count } of sorted) {
    below += count;
    if (below >= share * total) return upToMs === LONGER_MS ? null : upToMs;
  }
  return null;
}

export function quantiles(counted: readonly Counted[], unitMs: number): SlaReport['latency_ms'] {
  if (counted.every(({ count }) => count === 0)) return null;
  const of = (name: Quantile) => {
    const bound = quantile(counted, SHARE[name]);
    return bound === null ? null : bound / unitMs;
  };
  return { p50: of('p50'), p95: of('p95'), p99: of('p99') };
}

/** Rounded down, so that what is not all is not told as 100. Null: of nothing. */
export function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part / whole) * 100_000) / 1000;
}

export const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A day, in milliseconds since 1970, and a digit for each of its minutes: 1 if the service ran. */
export interface DayOfUptime {
  startsAt: number;
  minutes: string;
}

/** Between two moments that are whole minutes. */
export function uptimeOf(days: readonly DayOfUptime[], from: number, to: number): SlaReport['uptime'] {
  const minutes = Math.max(0, (to - from) / MINUTE_MS);
  let up = 0;
  for (const day of days) {
    const first = Math.max(0, (from - day.startsAt) / MINUTE_MS);
    const last = Math.min(DAY_MS, to - day.startsAt) / MINUTE_MS;
    for (let minute = first; minute < last; minute++) if (day.minutes[minute] === '1') up++;
  }
  return { minutes, minutes_down: minutes - up, percent: percentOf(up, minutes) };
}

export function lowerOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

type Measured = Pick<SlaReport, 'availability_percent' | 'latency_ms' | 'deliveries' | 'delivery_seconds'>;

export function targetsMet(targets: SlaTargets | null, measured: Measured): SlaReport['targets'] {
  if (!targets) return [];
  const shares = [
    ['availability_percent', targets.availability_percent, measured.availability_percent],
    ['delivery_success_percent', targets.delivery_success_percent, measured.deliveries.success_percent],
  ] as const;
  const times = ['latency_ms', 'delivery_seconds'] as const;
  return [
    ...shares.flatMap(([measure, target, actual]) =>
      target === undefined ? [] : { measure, target, actual, met: actual === null ? null : actual >= target },
    ),
    ...times.flatMap((measure) =>
      quantilesOf(targets[measure]).map(([share, target]) => {
        const actual = measured[measure]?.[share] ?? null;
        const isMet = actual !== null && actual <= target;
        return {
          measure: `${measure}.${share}`,
          target,
          actual,
          met: measured[measure] === null ? null : isMet,
        };
      }),
    ),
  ];
}
