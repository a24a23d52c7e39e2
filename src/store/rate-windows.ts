import { type Database, statement } from './database.ts';

/** Calls of one key that ask to be let through together. */
export interface RateQuestion {
  keyId: string;
  limit: number;
  calls: number;
}

/** What came of it; see `take_rates` in migrations/0006_shared_rate.sql. Null only where there is no such call. */
export interface RateAnswer {
  key_id: string;
  at_ms: number;
  used: number;
  granted: number;
  oldest_ms: number | null;
  blocking_ms: number | null;
}

export function takeRates(
  db: Database,
  nowMs: number,
  spanMs: number,
  questions: readonly RateQuestion[],
): Promise<RateAnswer[]> {
  return statement<RateAnswer>(db, 'SELECT * FROM take_rates($1, $2, $3, $4, $5)', [
    Math.floor(nowMs),
    spanMs,
    questions.map(({ keyId }) => keyId),
    questions.map(({ limit }) => limit),
    questions.map(({ calls }) => calls),
  ]);
}

export async function forgetRates(db: Database, beforeMs: number): Promise<void> {
  await statement(db, 'SELECT forget_rates($1)', [Math.floor(beforeMs)]);
}
