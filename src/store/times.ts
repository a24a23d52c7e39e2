/** Timestamps leave the store as the contract writes them: RFC 3339, UTC, milliseconds. */
export const iso = (moment: Date): string => moment.toISOString();
export const isoOrNull = (moment: Date | null): string | null => moment?.toISOString() ?? null;
