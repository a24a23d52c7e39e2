/** How far back a list or a chart goes, as a word of a sentence. */

const HOURS_MS = 3_600_000;

export const ages = [
  { value: '1', title: 'in the last hour' },
  { value: '24', title: 'in the last 24 hours' },
  { value: '168', title: 'in the last 7 days' },
];

/** So that the same hour is asked for until the next one begins. */
export function sinceHours(hours: string | undefined): string | undefined {
  const count = Number(hours);
  if (!hours || !Number.isFinite(count)) return undefined;
  return new Date((Math.floor(Date.now() / HOURS_MS) - count) * HOURS_MS).toISOString();
}
