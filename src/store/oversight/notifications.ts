import { type AlertKindName, alertKindNames, kindOf } from '../../contract/alerts.ts';
import { type Message, SENDING_MS } from '../../domain/mail.ts';
import { type Notice, QUIET_MS } from '../../domain/oversight/notification.ts';
import type { Transaction } from '../database.ts';
import { ALERT, type AlertRow, alertOf } from './alerts.ts';

/**
 * The outbox of messages about alerts. What is to be told is written with the alert (`alert_notices`), becomes messages in another transaction
 * (`notifications`), and those are sent and then marked: whoever crashes in between leaves rows from which the next node goes on.
 */

const urgentKinds: AlertKindName[] = alertKindNames.filter((name) => kindOf(name).urgent);

/** Those to whom something is to be told now; null stands for the operator. Others heard something a short while ago, and wait. */
export async function findAudiences(tx: Transaction, at: string): Promise<(string | null)[]> {
  const rows = await tx.query<{ partner_id: string | null }>(
    `SELECT n.partner_id FROM alert_notices n JOIN alerts a ON a.id = n.alert_id GROUP BY n.partner_id
     HAVING bool_or(a.kind = ANY ($2))
         OR NOT EXISTS (SELECT FROM notifications x WHERE coalesce(x.partner_id, '') = coalesce(n.partner_id, '')
                           AND x.created_at > $1::timestamptz - ${QUIET_MS} * interval '1 ms')`,
    [at, urgentKinds],
  );
  return rows.map(({ partner_id }) => partner_id);
}

/** All that is to be told to somebody: whoever takes it tells it, or the transaction is undone. Two nodes never have the same. */
export async function takeNotices(tx: Transaction, partnerId: string | null): Promise<Notice[]> {
  const rows = await tx.query<AlertRow & { moment: Notice['moment'] }>(
    `DELETE FROM alert_notices n USING alerts a WHERE a.id = n.alert_id AND n.partner_id IS NOT DISTINCT FROM $1
     RETURNING n.moment, ${ALERT}`,
    [partnerId],
  );
  return rows
    .map(({ moment, ...row }) => ({ moment, alert: alertOf(row) }))
    .sort((one, other) => (one.alert.id < other.alert.id ? -1 : 1));
}

/** Nobody is mailed in this deployment. */
export async function dropNotices(tx: Transaction): Promise<void> {
  await tx.query('DELETE FROM alert_notices', []);
}

export interface NewNotification extends Message {
  id: string;
  partnerId: string | null;
  email: string;
  name: string | null;
}

export function insertNotification(tx: Transaction, at: string, one: NewNotification): void {
  tx.defer(
    `INSERT INTO notifications (id, partner_id, email, name, subject, body_text, body_html, created_at, try_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
    [one.id, one.partnerId, one.email, one.name, one.subject, one.text, one.html, at],
  );
}

export interface ClaimedNotification extends Message {
  id: string;
  email: string;
  name: string | null;
  /** When it was written. */
  date: string;
  tries: number;
}

/** Messages that are to be sent now, for this node alone for a while. */
export async function claimNotifications(
  tx: Transaction,
  at: string | null,
  max: number,
): Promise<ClaimedNotification[]> {
  return tx.query(
    `UPDATE notifications n SET try_at = due.at + ${SENDING_MS} * interval '1 ms', tries = n.tries + 1
       FROM (SELECT o.id, now.at FROM notifications o CROSS JOIN (SELECT coalesce($1::timestamptz, clock_timestamp()) AS at) AS now
              WHERE o.try_at <= now.at ORDER BY o.try_at LIMIT $2 FOR UPDATE OF o SKIP LOCKED) AS due
      WHERE n.id = due.id
     RETURNING n.id, n.email, n.name, n.subject, n.body_text AS text, n.body_html AS html, n.created_at AS date, n.tries`,
    [at, max],
  );
}

export async function markSent(tx: Transaction, id: string, at: string | null): Promise<void> {
  await tx.query(
    'UPDATE notifications SET sent_at = coalesce(sent_at, coalesce($2::timestamptz, clock_timestamp())), try_at = NULL, error = NULL WHERE id = $1',
    [id, at],
  );
}

/** To be tried again after `delayMs`; undefined: given up. Not if another node has taken it over meanwhile. */
export async function markFailed(
  tx: Transaction,
  { id, tries }: Pick<ClaimedNotification, 'id' | 'tries'>,
  { at, delayMs, error }: { at: string | null; delayMs: number | undefined; error: string },
): Promise<void> {
  await tx.query(
    `UPDATE notifications SET try_at = coalesce($3::timestamptz, clock_timestamp()) + $4::integer * interval '1 ms', error = $5
      WHERE id = $1 AND tries = $2 AND sent_at IS NULL`,
    [id, tries, at, delayMs ?? null, error],
  );
}

export async function countNotifications(tx: Transaction): Promise<{ waiting: number; failed: number }> {
  const counts = await tx.first<{ waiting: number; failed: number }>(
    `SELECT (SELECT count(*) FROM notifications WHERE try_at IS NOT NULL) AS waiting,
            (SELECT count(*) FROM notifications WHERE try_at IS NULL AND sent_at IS NULL) AS failed`,
  );
  return counts ?? { waiting: 0, failed: 0 };
}

/** What is to be told already is told once. */
export function noteAgain(tx: Transaction, alertId: string, partnerId: string): void {
  tx.defer(
    `INSERT INTO alert_notices (alert_id, moment, partner_id) VALUES ($1, 'began', $2) ON CONFLICT DO NOTHING`,
    [alertId, partnerId],
  );
}
