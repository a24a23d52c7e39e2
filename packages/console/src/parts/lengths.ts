/** How long ago, how long yet and how long already, in words: by the largest unit that fits. */

const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });

type Unit = 'day' | 'hour' | 'minute' | 'second';
const STEPS: readonly [Unit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** What has passed is told in whole units. What is to come is told by the nearest: 4 days and 23 hours are 5 days. */
export function toRelative(at: number, now: number): string {
  const apart = at - now;
  if (apart <= 0) {
    const [count, unit] = inUnits(-apart, Math.floor);
    return relative.format(-count, unit);
  }
  return relative.format(...inUnits(apart, Math.round));
}

/** `14 minutes`: after "for". */
export function toLasting(since: number, now: number): string {
  const [count, unit] = inUnits(Math.max(0, now - since), Math.floor);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** An hour less a second is near an hour, not 60 minutes: each unit is looked at in the next smaller one. */
function inUnits(ms: number, toWhole: (count: number) => number): [number, Unit] {
  const step = STEPS.find(([, size], at) => {
    const finer = STEPS[at + 1]?.[1] ?? size;
    return toWhole(ms / finer) * finer >= size;
  });
  const [unit, size] = step ?? (['second', 1000] as const);
  return [toWhole(ms / size), unit];
}
