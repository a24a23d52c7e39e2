import { alone, type Database } from '../database.ts';
import { sqlFunction } from '../sql-functions.ts';

/** Calls of one key that ask to be let through together. */
export interface RateQuestion {
  keyId: string;
  limit: number;
  calls: number;
}

/** What came of it; see src/sql/access/take_rates.sql. Null only where there is no such call. */
export interface RateAnswer {
  /** Which question: the first is 1. */
  place: number;
  used: number;
  granted: number;
  oldest_us: number | null;
  blocking_us: number | null;
}

const takeRatesSql = sqlFunction('take_rates', {
  given_us: 'bigint',
  span_us: 'bigint',
  keys: 'text[]',
  limits: 'integer[]',
  wanted: 'integer[]',
});
const forgetRatesSql = sqlFunction('forget_rates', { given_us: 'bigint', age_us: 'bigint' });

const inMicroseconds = (milliseconds: number) => Math.round(milliseconds * 1000);

/** `nowMs` undefined: by the clock of the server, which is the same for every node. */
export function takeRates(
  db: Database,
  nowMs: number | undefined,
  spanMs: number,
  questions: readonly RateQuestion[],
): Promise<RateAnswer[]> {
  return takeRatesSql<RateAnswer>(alone(db), {
    given_us: nowMs && inMicroseconds(nowMs),
    span_us: inMicroseconds(spanMs),
    keys: questions.map(({ keyId }) => keyId),
    limits: questions.map(({ limit }) => limit),
    wanted: questions.map(({ calls }) => calls),
  });
}

export async function forgetRates(db: Database, nowMs: number | undefined, ageMs: number): Promise<void> {
  await forgetRatesSql(alone(db), {
    given_us: nowMs && inMicroseconds(nowMs),
    age_us: inMicroseconds(ageMs),
  });
}
