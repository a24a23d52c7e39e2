import pg from 'pg';

/** How values leave the database. */

/**
 * Timestamps leave the database as the contract writes them: RFC 3339, UTC, milliseconds. PostgreSQL sends
 * `2026-11-14 08:00:00.5+00`, since every connection asks for UTC; the text is cut and filled, without a Date between.
 */
export function contractTime(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`;
}

const TIMESTAMPTZ = 1184;
/** Counters and sequences: all of them stay far below 2^53, where a number stops being exact. */
const INT8 = 20;

export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (oid === TIMESTAMPTZ) return contractTime;
    return oid === INT8 ? Number : pg.types.getTypeParser(oid, format);
  },
};
