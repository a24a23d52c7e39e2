import { CountsTable } from './counts-table.tsx';

/** How much happened on each day, as bars with what each part is, and as a table for whoever does not see them. */

export interface DayPart {
  title: string;
  tone: 'brand' | 'amber' | 'red' | 'soft-bar';
}

export interface Day {
  /** Such as 2026-11-14. */
  day: string;
  counts: readonly number[];
}

const count = new Intl.NumberFormat('en-GB');
const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const HEIGHT = 120;
const SLOT = 20;

export function DayBars({
  label,
  unit,
  parts,
  days,
}: {
  label: string;
  /** What is counted, one and several: `call`, `calls`. */
  unit: readonly [string, string];
  parts: readonly DayPart[];
  days: readonly Day[];
}) {
  const totals = days.map(({ counts }) => counts.reduce((sum, one) => sum + one, 0));
  const highest = Math.max(1, ...totals);
  const all = totals.reduce((sum, one) => sum + one, 0);
  return (
    <figure className="day-bars">
      <figcaption>
        <strong>{count.format(all)}</strong> {unit[all === 1 ? 0 : 1]} in {days.length} days
        <span className="legend">
          {parts.map(({ title, tone }, part) => (
            <span key={title}>
              <span className={`swatch ${tone}`} aria-hidden="true" />
              {title} {count.format(days.reduce((sum, { counts }) => sum + (counts[part] ?? 0), 0))}
            </span>
          ))}
        </span>
      </figcaption>
      <div className="plot" aria-hidden="true">
        <span className="soft small top">{count.format(highest)}</span>
        <svg viewBox={`0 0 ${days.length * SLOT} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {days.map(({ day, counts }, at) => {
            let top = HEIGHT;
            return (
              <g key={day}>
                <title>
                  {short.format(new Date(day))}:{' '}
                  {parts.map(({ title }, part) => `${title} ${count.format(counts[part] ?? 0)}`).join(', ')}
                </title>
                <rect className="day" x={at * SLOT} y={0} width={SLOT} height={HEIGHT} />
                {parts.map(({ title, tone }, part) => {
                  const height = ((counts[part] ?? 0) / highest) * HEIGHT;
                  top -= height;
                  return (
                    <rect
                      key={title}
                      className={tone}
                      x={at * SLOT + 2}
                      y={top}
                      width={SLOT - 4}
                      height={height}
                    />
                  );
                })}
              </g>
            );
          })}
        </svg>
        <span className="axis soft small">
          <span>{days[0] && short.format(new Date(days[0].day))}</span>
          <span>{days.length > 0 && short.format(new Date((days.at(-1) as Day).day))}</span>
        </span>
      </div>
      <CountsTable
        label={label}
        first="Day"
        titles={parts.map(({ title }) => title)}
        rows={days.map(({ day, counts }) => ({ title: short.format(new Date(day)), counts }))}
      />
    </figure>
  );
}

const DAY_MS = 86_400_000;

/** The last so many days of UTC, today included, as usage counts them. */
export function lastDays(count: number, now: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    new Date(now - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}
