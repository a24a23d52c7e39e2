import type { OpeningHours } from '../../contract/operator/practices/practice-groups.ts';

/** What the clock on the wall of a practice says. Daylight saving is the time zone's business, never ours. */
export interface LocalTime {
  /** The calendar day, such as 2026-03-29. */
  day: string;
  weekday: keyof OpeningHours;
  /** Such as 08:05; compares as text. */
  time: string;
}

export const defaultOpeningHours: OpeningHours = Object.fromEntries(
  (['mon', 'tue', 'wed', 'thu', 'fri'] as const).map((weekday) => [weekday, [['08:00', '18:30']]]),
);

/** Building a formatter costs some 20 times as much as using one. There are some 600 zones, so this stays small. */
const formatters = new Map<string, Intl.DateTimeFormat>();
/** The last answer for each zone: it holds for a whole minute, since no zone changes within one. */
const latest = new Map<string, { minute: number; local: LocalTime }>();

export function localTime(now: number, timeZone: string): LocalTime {
  const minute = Math.floor(now / 60_000);
  const known = latest.get(timeZone);
  if (known?.minute === minute) return known.local;
  const local = readClock(now, timeZone);
  latest.set(timeZone, { minute, local });
  return local;
}

function readClock(now: number, timeZone: string): LocalTime {
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    formatters.set(timeZone, formatter);
  }
  const parts: Record<string, string> = {};
  for (const part of formatter.formatToParts(now)) parts[part.type] = part.value;
  return {
    day: `${parts.year}-${parts.month}-${parts.day}`,
    weekday: parts.weekday?.toLowerCase() as keyof OpeningHours,
    time: `${parts.hour}:${parts.minute}`,
  };
}

/** An opening time belongs to the opening, a closing time no longer. */
export function isOpen(hours: OpeningHours, local: LocalTime): boolean {
  return (hours[local.weekday] ?? []).some(([from, to]) => from <= local.time && local.time < to);
}
