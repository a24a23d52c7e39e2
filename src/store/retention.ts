import { alone, type Database } from './database.ts';
import { sqlFunction } from './sql-functions.ts';

/** How long things are kept, in days; the audit and the erasures are kept for good. */
export interface Retention {
  /** Events, their deliveries and places in the feed, refused calls, idempotency keys. */
  events: number;
  formSubmissions: number;
  /** From when they succeeded or failed for good. */
  writeToRecordJobs: number;
  /** From when they were revoked or expired. */
  endedKeys: number;
  /** With it, who was in which network. */
  accessLog: number;
}

const clearOldSql = sqlFunction('clear_old', {
  before: 'timestamptz',
  open_before: 'timestamptz',
  rows_max: 'integer',
  at: 'timestamptz',
  received_since: 'timestamptz',
});
const clearRecordsSql = sqlFunction('clear_records', {
  form_submissions_before: 'timestamptz',
  jobs_before: 'timestamptz',
  keys_before: 'timestamptz',
  access_log_before: 'timestamptz',
  rows_max: 'integer',
});

const DAY_MS = 24 * 3_600_000;
/** While they go, nothing else is done for their webhooks: a few hundredths of a second. */
const ROWS_MAX = 500;
/** Ten attempts take three days, and ten if a receiver asks each time to wait for as long as it may. */
const OPEN_KEPT_DAYS = 14;

/** Each call is two short transactions. Returns how many rows went; as long as it is not zero there may be more. */
export async function clearStep(db: Database, nowMs: number, retention: Retention): Promise<number> {
  const daysAgo = (days: number) => new Date(nowMs - days * DAY_MS).toISOString();
  const [old] = await clearOldSql<{ clear_old: number }>(alone(db), {
    before: daysAgo(retention.events),
    open_before: daysAgo(retention.events + OPEN_KEPT_DAYS),
    rows_max: ROWS_MAX,
    at: daysAgo(0),
    received_since: daysAgo(retention.accessLog),
  });
  const [records] = await clearRecordsSql<{ clear_records: number }>(alone(db), {
    form_submissions_before: daysAgo(retention.formSubmissions),
    jobs_before: daysAgo(retention.writeToRecordJobs),
    keys_before: daysAgo(retention.endedKeys),
    access_log_before: daysAgo(retention.accessLog),
    rows_max: ROWS_MAX,
  });
  return (old?.clear_old ?? 0) + (records?.clear_records ?? 0);
}
