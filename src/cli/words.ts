/** A time span as a person would say it: the largest unit, and the next one if it adds something. */
export function spoken(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const units = [
    ['day', Math.floor(whole / 86_400)],
    ['hour', Math.floor(whole / 3_600) % 24],
    ['minute', Math.floor(whole / 60) % 60],
    ['second', whole % 60],
  ] as const;
  const first = units.findIndex(([, count]) => count > 0);
  if (first === -1) return '0 seconds';
  return units
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${unit}${count === 1 ? '' : 's'}`)
    .join(' ');
}
