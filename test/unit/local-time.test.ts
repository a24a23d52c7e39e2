import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OpeningHours } from '../../src/contract/operator/practices/practice-groups.ts';
import { marksOf, remainingToday } from '../../src/domain/practices/form-submission.ts';
import {
  defaultOpeningHours,
  isOpen,
  type LocalTime,
  localTime,
} from '../../src/domain/practices/local-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const zones = Intl.supportedValuesOf('timeZone');
const from = Date.UTC(2020, 0, 1);
const until = Date.UTC(2036, 0, 1);

/** How far a zone's clocks are from UTC: Intl's other answer, which knows nothing of days and weekdays. */
function offsetMs(zone: string, now: number): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(
    now,
  );
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE);
}

/** The clock on the wall by arithmetic: UTC moved by the offset. */
function byArithmetic(zone: string, now: number): LocalTime {
  const wall = new Date(now + offsetMs(zone, now));
  return {
    day: wall.toISOString().slice(0, 10),
    weekday: WEEKDAYS[wall.getUTCDay()] as keyof OpeningHours,
    time: wall.toISOString().slice(11, 16),
  };
}

/** Where the offset changes in one year, to the minute, by bisection between days that differ. */
function transitions(zone: string, year: number): number[] {
  const found: number[] = [];
  for (let day = Date.UTC(year, 0, 1); day < Date.UTC(year + 1, 0, 1); day += DAY) {
    if (offsetMs(zone, day) === offsetMs(zone, day + DAY)) continue;
    let [low, high] = [day, day + DAY];
    while (high - low > MINUTE) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
      if (offsetMs(zone, middle) === offsetMs(zone, day)) low = middle;
      else high = middle;
    }
    found.push(high);
  }
  return found;
}

describe('localTime', () => {
  it('agrees with arithmetic on the offset, in every zone at any moment', () => {
    const moment = fc.integer({ min: from, max: until });
    fc.assert(
      fc.property(fc.constantFrom(...zones), moment, (zone, now) => {
        expect(localTime(now, zone)).toEqual(byArithmetic(zone, now));
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees in the minutes around the daylight-saving changes of many zones', () => {
    const changing = [
      'Europe/London',
      'Europe/Dublin',
      'Europe/Lisbon',
      'America/New_York',
      'America/St_Johns',
      'America/Santiago',
      'Africa/Cairo',
      'Africa/Casablanca',
      'Asia/Beirut',
      'Australia/Lord_Howe',
      'Pacific/Chatham',
      'Antarctica/Troll',
    ];
    for (const zone of changing) {
      const changes = transitions(zone, 2026);
      expect(changes.length, zone).toBeGreaterThanOrEqual(2);
      for (const change of changes) {
        for (const minutes of [-181, -121, -61, -60, -31, -30, -1, 0, 1, 29, 30, 59, 60, 61, 121, 181]) {
          for (const ms of [0, MINUTE - 1]) {
            const now = change + minutes * MINUTE + ms;
            expect(localTime(now, zone), `${zone} ${minutes}`).toEqual(byArithmetic(zone, now));
          }
        }
      }
    }
  });

  it('follows the rule of British summer time, written out by hand', () => {
    const lastSunday = (year: number, month: number) => {
      const last = new Date(Date.UTC(year, month + 1, 0));
      return Date.UTC(year, month, last.getUTCDate() - last.getUTCDay(), 1);
    };
    fc.assert(
      fc.property(fc.integer({ min: from, max: until }), (now) => {
        const year = new Date(now).getUTCFullYear();
        const summer = now >= lastSunday(year, 2) && now < lastSunday(year, 9);
        const wall = new Date(now + (summer ? HOUR : 0)).toISOString();
        const local = localTime(now, 'Europe/London');
        expect(`${local.day}T${local.time}`).toBe(wall.slice(0, 16));
      }),
      { numRuns: 1_000 },
    );
  });

  it('has days of 23, 24 and 25 hours', () => {
    const hoursOf = (day: string) => {
      const noon = Date.parse(`${day}T12:00:00Z`);
      let hours = 0;
      for (let now = noon - 36 * HOUR; now < noon + 36 * HOUR; now += HOUR)
        if (localTime(now, 'Europe/London').day === day) hours++;
      return hours;
    };
    expect(hoursOf('2026-03-29')).toBe(23);
    expect(hoursOf('2026-06-01')).toBe(24);
    expect(hoursOf('2026-10-25')).toBe(25);
  });
});

describe('isOpen', () => {
  const minuteOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const timeOf = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  const interval = fc
    .tuple(fc.integer({ min: 0, max: 1_439 }), fc.integer({ min: 1, max: 1_440 }))
    .filter(([opens, closes]) => opens < closes)
    .map(([opens, closes]): [string, string] => [timeOf(opens), timeOf(closes)]);
  const day = fc.array(interval, { maxLength: 4 });
  const hours = fc.record(
    { mon: day, tue: day, wed: day, thu: day, fri: day, sat: day, sun: day },
    { requiredKeys: [] },
  );

  it('is what counting minutes says: the opening minute counts, the closing minute does not', () => {
    fc.assert(
      fc.property(
        hours,
        fc.constantFrom(...WEEKDAYS),
        fc.integer({ min: 0, max: 1_439 }),
        (opening, weekday, minute) => {
          const intervals = opening[weekday] ?? [];
          const expected = intervals.some(([opens, closes]) => {
            for (let m = minuteOf(opens); m < minuteOf(closes); m++) if (m === minute) return true;
            return false;
          });
          expect(isOpen(opening, { day: '2026-11-16', weekday, time: timeOf(minute) })).toBe(expected);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is 08:00 to 18:30 on weekdays unless said otherwise, by the clock on the wall', () => {
    const open = (moment: string) =>
      isOpen(defaultOpeningHours, localTime(Date.parse(moment), 'Europe/London'));
    expect(open('2026-11-16T08:00:00Z')).toBe(true);
    expect(open('2026-11-16T07:59:59.999Z')).toBe(false);
    expect(open('2026-11-16T18:29:59.999Z')).toBe(true);
    expect(open('2026-11-16T18:30:00Z')).toBe(false);
    expect(open('2026-07-13T07:00:00Z')).toBe(true); // 08:00 in summer
    expect(open('2026-11-14T12:00:00Z')).toBe(false); // Saturday
  });
});

describe('marksOf', () => {
  it('tells everything that speaks against a form, each for itself', () => {
    const type = fc.record({
      suspended: fc.boolean(),
      in_hours: fc.boolean(),
      out_of_hours: fc.boolean(),
      daily_limit: fc.option(fc.nat(3), { nil: null }),
    });
    const time = fc.constantFrom('07:59', '08:00', '12:00', '18:29', '18:30', '23:59');
    fc.assert(
      fc.property(type, fc.nat(4), fc.constantFrom(...WEEKDAYS), time, (state, count, weekday, clock) => {
        const working = !['sat', 'sun'].includes(weekday);
        const open = working && ['08:00', '12:00', '18:29'].includes(clock);
        const local = { day: '2026-11-16', weekday, time: clock };
        const marks = marksOf(state, count, defaultOpeningHours, local);
        expect(marks).toEqual({
          suspended: state.suspended,
          outside_hours: (open && !state.in_hours) || (!open && !state.out_of_hours),
          over_limit: state.daily_limit !== null && count >= state.daily_limit,
        });
        // Room for more is what "not over the limit" means.
        expect(remainingToday(state, count) === 0).toBe(marks.over_limit);
      }),
      { numRuns: 1_000 },
    );
  });
});
