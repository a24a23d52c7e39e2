import type { DayOfCalls } from '../../api/generated-portal.ts';
import { DayBars, type DayPart } from '../../parts/day-bars.tsx';

const parts: readonly DayPart[] = [
  { title: 'answered', tone: 'brand' },
  { title: 'refused', tone: 'amber' },
  { title: 'over the limit', tone: 'soft-bar' },
  { title: 'failed', tone: 'red' },
];

/** Calls by day, and what became of them. */
export function Calls({ of: days }: { of: readonly DayOfCalls[] }) {
  return (
    <DayBars
      label="Calls by day"
      unit={['call', 'calls']}
      parts={parts}
      days={days.map(({ day, ok, refused, rate_limited, failed }) => ({
        day,
        counts: [ok, refused, rate_limited, failed],
      }))}
    />
  );
}
