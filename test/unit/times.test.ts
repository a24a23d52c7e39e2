import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contractTime } from '../../src/store/type-parsers.ts';

/** As PostgreSQL writes a moment in UTC: without trailing zeros, and without a point if nothing follows. */
function asPostgres(moment: Date): string {
  const text = moment.toISOString().replace('T', ' ').replace('Z', '');
  return `${text.replace(/\.?0+$/, '')}+00`;
}

it('turns what PostgreSQL writes into RFC 3339 with milliseconds', () => {
  expect(contractTime('2026-11-14 08:00:00+00')).toBe('2026-11-14T08:00:00.000Z');
  expect(contractTime('2026-11-14 08:00:00.5+00')).toBe('2026-11-14T08:00:00.500Z');
  expect(contractTime('2026-11-14 08:00:00.123456+00')).toBe('2026-11-14T08:00:00.123Z');
});

it('agrees with Date on every moment of four-digit years', () => {
  const moments = fc.date({
    min: new Date('1000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(moments, (moment) => {
      expect(contractTime(asPostgres(moment))).toBe(moment.toISOString());
    }),
  );
});
