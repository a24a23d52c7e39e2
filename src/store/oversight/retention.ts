import { APPROVAL_HOURS } from '../../contract/approval.ts';
import { FIGURES_DAYS } from '../../contract/operator/oversight/figures.ts';
import { FINE_DAYS } from '../../domain/oversight/figures.ts';
import { alone, type Database } from '../database.ts';
import { type Sender, sqlFunction } from '../sql-functions.ts';

/** How long things are kept, in days; the audit and the erasures are kept for good. */
export interface Retention {
  /** Events, their deliveries and places in the feed, refused calls, idempotency keys, sessions that are over, invitations
   * that were used, withdrawn or not taken up, approvals that were decided. */
  events: number;
  formSubmissions: number;
  /** From when they succeeded or failed for good. */
  writeToRecordJobs: number;
  /** From when they were revoked or expired. */
  endedKeys: number;
  /** With it, who was in which network. */
  accessLog: number;
  /** From when they ended; the messages about them are kept as long as events. */
  alerts: number;
  /** Changes, from when they were applied or rejected; those that are pending stay. */
  endedChanges: number;
  /** Figures by day, and when the service ran. */
  usage: number;
}

export const clearOldSql = sqlFunction('clear_old', {
  given: 'timestamptz',
  kept_days: 'integer',
  open_kept_days: 'integer',
  rows_max: 'integer',
  received_days: 'integer',
});
const clearRecordsSql = sqlFunction('clear_records', {
  given: 'timestamptz',
  form_submission_days: 'integer',
  job_days: 'integer',
  key_days: 'integer',
  access_log_days: 'integer',
  rows_max: 'integer',
});

const clearAlertsSql = sqlFunction('clear_alerts', {
  given: 'timestamptz',
  alert_days: 'integer',
  notification_days: 'integer',
  rows_max: 'integer',
});
const clearChangesSql = sqlFunction('clear_changes', {
  given: 'timestamptz',
  kept_days: 'integer',
  rows_max: 'integer',
});
const clearApprovalsSql = sqlFunction('clear_approvals', {
  given: 'timestamptz',
  kept_days: 'integer',
  answer_hours: 'integer',
  rows_max: 'integer',
});
const clearSessionsSql = sqlFunction('clear_sessions', {
  given: 'timestamptz',
  kept_days: 'integer',
  rows_max: 'integer',
});
const clearInvitationsSql = sqlFunction('clear_invitations', {
  given: 'timestamptz',
  kept_days: 'integer',
  rows_max: 'integer',
});
const clearUsageSql = sqlFunction('clear_usage', {
  given: 'timestamptz',
  usage_days: 'integer',
  rows_max: 'integer',
});

const clearFiguresSql = sqlFunction('clear_figures', {
  given: 'timestamptz',
  fine_days: 'integer',
  kept_days: 'integer',
  rows_max: 'integer',
});

/** While they go, nothing else is done for their webhooks: a few hundredths of a second. */
const ROWS_MAX = 500;
/** Ten attempts take three days, and ten if a receiver asks each time to wait for as long as it may. */
const OPEN_KEPT_DAYS = 14;

type Counts = Record<string, number>;

const CLEARINGS = {
  clear_old: (sender, given, { events, accessLog }) =>
    clearOldSql<Counts>(sender, {
      given,
      kept_days: events,
      open_kept_days: events + OPEN_KEPT_DAYS,
      rows_max: ROWS_MAX,
      received_days: accessLog,
    }),
  clear_records: (sender, given, { formSubmissions, writeToRecordJobs, endedKeys, accessLog }) =>
    clearRecordsSql<Counts>(sender, {
      given,
      form_submission_days: formSubmissions,
      job_days: writeToRecordJobs,
      key_days: endedKeys,
      access_log_days: accessLog,
      rows_max: ROWS_MAX,
    }),
  clear_alerts: (sender, given, { alerts, events }) =>
    clearAlertsSql<Counts>(sender, {
      given,
      alert_days: alerts,
      notification_days: events,
      rows_max: ROWS_MAX,
    }),
  clear_changes: (sender, given, { endedChanges }) =>
    clearChangesSql<Counts>(sender, { given, kept_days: endedChanges, rows_max: ROWS_MAX }),
  clear_usage: (sender, given, { usage }) =>
    clearUsageSql<Counts>(sender, { given, usage_days: usage, rows_max: ROWS_MAX }),
  clear_sessions: (sender, given, { events }) =>
    clearSessionsSql<Counts>(sender, { given, kept_days: events, rows_max: ROWS_MAX }),
  // After sessions: an invitation stays as long as one of its own.
  clear_invitations: (sender, given, { events }) =>
    clearInvitationsSql<Counts>(sender, { given, kept_days: events, rows_max: ROWS_MAX }),
  clear_approvals: (sender, given, { events }) =>
    clearApprovalsSql<Counts>(sender, {
      given,
      kept_days: events,
      answer_hours: APPROVAL_HOURS,
      rows_max: ROWS_MAX,
    }),
  clear_figures: (sender, given) =>
    clearFiguresSql<Counts>(sender, {
      given,
      fine_days: FINE_DAYS,
      kept_days: FIGURES_DAYS,
      rows_max: ROWS_MAX,
    }),
} satisfies Record<string, (sender: Sender, given: string | null, retention: Retention) => Promise<Counts[]>>;

/** What can be cleared, each by a short transaction of its own: by the names of the functions. */
export const clearings = Object.keys(CLEARINGS) as (keyof typeof CLEARINGS)[];

/** `at` is of `databaseTime`. Returns how many rows went; as long as it is not zero there may be more. */
export async function clearSome(
  db: Database,
  name: (typeof clearings)[number],
  at: string | null,
  retention: Retention,
): Promise<number> {
  const [row] = await CLEARINGS[name](alone(db), at, retention);
  return row?.[name] ?? 0;
}
