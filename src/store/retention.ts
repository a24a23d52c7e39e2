import { APPROVAL_HOURS } from '../contract/approval.ts';
import { FIGURES_DAYS } from '../contract/operator/figures.ts';
import { FINE_DAYS } from '../domain/figures.ts';
import { alone, type Database } from './database.ts';
import { sqlFunction } from './sql-functions.ts';

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

/**
 * Each call is nine short transactions. `at` is of `databaseTime`. Returns how many rows went; as long as it is not zero there may be
 * more.
 */
export async function clearStep(db: Database, at: string | null, retention: Retention): Promise<number> {
  const [old] = await clearOldSql<{ clear_old: number }>(alone(db), {
    given: at,
    kept_days: retention.events,
    open_kept_days: retention.events + OPEN_KEPT_DAYS,
    rows_max: ROWS_MAX,
    received_days: retention.accessLog,
  });
  const [records] = await clearRecordsSql<{ clear_records: number }>(alone(db), {
    given: at,
    form_submission_days: retention.formSubmissions,
    job_days: retention.writeToRecordJobs,
    key_days: retention.endedKeys,
    access_log_days: retention.accessLog,
    rows_max: ROWS_MAX,
  });
  const [alerts] = await clearAlertsSql<{ clear_alerts: number }>(alone(db), {
    given: at,
    alert_days: retention.alerts,
    notification_days: retention.events,
    rows_max: ROWS_MAX,
  });
  const [changes] = await clearChangesSql<{ clear_changes: number }>(alone(db), {
    given: at,
    kept_days: retention.endedChanges,
    rows_max: ROWS_MAX,
  });
  const [usage] = await clearUsageSql<{ clear_usage: number }>(alone(db), {
    given: at,
    usage_days: retention.usage,
    rows_max: ROWS_MAX,
  });
  const [sessions] = await clearSessionsSql<{ clear_sessions: number }>(alone(db), {
    given: at,
    kept_days: retention.events,
    rows_max: ROWS_MAX,
  });
  // After sessions: an invitation stays as long as one of its own.
  const [invitations] = await clearInvitationsSql<{ clear_invitations: number }>(alone(db), {
    given: at,
    kept_days: retention.events,
    rows_max: ROWS_MAX,
  });
  const [approvals] = await clearApprovalsSql<{ clear_approvals: number }>(alone(db), {
    given: at,
    kept_days: retention.events,
    answer_hours: APPROVAL_HOURS,
    rows_max: ROWS_MAX,
  });
  const [figures] = await clearFiguresSql<{ clear_figures: number }>(alone(db), {
    given: at,
    fine_days: FINE_DAYS,
    kept_days: FIGURES_DAYS,
    rows_max: ROWS_MAX,
  });
  return (
    (approvals?.clear_approvals ?? 0) +
    (sessions?.clear_sessions ?? 0) +
    (invitations?.clear_invitations ?? 0) +
    (old?.clear_old ?? 0) +
    (records?.clear_records ?? 0) +
    (usage?.clear_usage ?? 0) +
    (figures?.clear_figures ?? 0) +
    (alerts?.clear_alerts ?? 0) +
    (changes?.clear_changes ?? 0)
  );
}
