import { type Database, statement } from './database.ts';

/** Calls of one key that ask to be let through together. */
export interface RateQuestion {
  keyId: string;
  limit: number;
  calls: number;
}

/** What came of it; see `take_rates` in migrations/0006_shared_rate.sql. Null only where there is no such call. */
export interface RateAnswer {
  /** Which question: the first is 1. */
  place: number;
  used: number;
  granted: number;
  oldest_us: number | null;
  blocking_us: number | null;
}

const inMicroseconds = (milliseconds: number) => Math.round(milliseconds * 1000);

/** `nowMs` undefined: by the clock of the server, which is the same for every node. */
export function takeRates(
  db: Database,
  nowMs: number | undefined,
  spanMs: number,
  questions: readonly RateQuestion[],
): Promise<RateAnswer[]> {
  return statement<RateAnswer>(db, 'SELECT * FROM take_rates($1, $2, $3, $4, $5)', [
    nowMs && inMicroseconds(nowMs),
    inMicroseconds(spanMs),
    questions.map(({ keyId }) => keyId),
    questions.map(({ limit }) => limit),
    questions.map(({ calls }) => calls),
  ]);
}

export async function forgetRates(db: Database, nowMs: number | undefined, ageMs: number): Promise<void> {
  await statement(db, 'SELECT forget_rates($1, $2)', [nowMs && inMicroseconds(nowMs), inMicroseconds(ageMs)]);
}
