import { QUEUED_COUNT_MAX } from '../../contract/partner/webhooks.ts';
import type { Transaction } from '../database.ts';
import { ALERT, type AlertRow, alertOf, type StoredAlert } from './alerts.ts';

/** Of a kind so many are looked at, those that have been so for longest; the rest is counted. */
const ALERTS_MAX = 500;

/** `of_kind`: how many of this kind are open. */
export type CountedAlert = StoredAlert & { of_kind: number };

export async function listOpenAlerts(tx: Transaction): Promise<CountedAlert[]> {
  const rows = await tx.query<AlertRow & Pick<CountedAlert, 'of_kind'>>(
    `SELECT ${ALERT}, a.of_kind
       FROM (SELECT *, count(*) OVER (PARTITION BY kind) AS of_kind, row_number() OVER (PARTITION BY kind ORDER BY began_at, id) AS place
               FROM alerts WHERE ended_at IS NULL) AS a
      WHERE a.place <= ${ALERTS_MAX}`,
  );
  return rows.map(({ of_kind, ...row }) => ({ ...alertOf(row), of_kind }));
}

/** What the last attempt of a webhook came to: of what is to be tried again first, else of what was queued last. */
export interface LastAttempt {
  id: string;
  attempt: { code?: string | null; status?: number | null } | null;
}

export function readLastAttempts(tx: Transaction, webhookIds: readonly string[]): Promise<LastAttempt[]> {
  return tx.query(
    `SELECT w.id, coalesce(
              (SELECT d.attempts -> -1 FROM deliveries d WHERE greatest(d.webhook_no, 0) = w.no AND d.retry_at IS NOT NULL
                ORDER BY greatest(d.webhook_no, 0), d.retry_at, d.sequence LIMIT 1),
              (SELECT d.attempts -> -1 FROM deliveries d WHERE d.webhook_no = w.no ORDER BY d.sequence DESC LIMIT 1)) AS attempt
       FROM webhooks w WHERE w.id = ANY ($1)`,
    [webhookIds],
  );
}

export interface WebhookQueue {
  id: string;
  failures: number;
  queued: number;
  oldest_at: string | null;
}

export function readQueues(tx: Transaction, webhookIds: readonly string[]): Promise<WebhookQueue[]> {
  const aside = 'FROM deliveries d WHERE greatest(d.webhook_no, 0) = w.no AND d.retry_at IS NOT NULL';
  const fresh = `FROM deliveries d WHERE d.webhook_no = w.no AND d.sequence >= l.open_from AND d.state = 'due' AND d.retry_at IS NULL`;
  return tx.query(
    `SELECT w.id, l.failures,
            (SELECT count(*) FROM ((SELECT ${aside} LIMIT ${QUEUED_COUNT_MAX}) UNION ALL (SELECT ${fresh} LIMIT ${QUEUED_COUNT_MAX})
                                   LIMIT ${QUEUED_COUNT_MAX}) AS open) AS queued,
            least((SELECT d.created_at FROM deliveries d WHERE least(d.webhook_no, 2147483647) = w.no AND d.retry_at IS NOT NULL
                    ORDER BY least(d.webhook_no, 2147483647), d.sequence LIMIT 1),
                  (SELECT d.created_at ${fresh} ORDER BY d.sequence LIMIT 1)) AS oldest_at
       FROM webhooks w JOIN webhook_lanes l ON l.webhook_no = w.no WHERE w.id = ANY ($1)`,
    [webhookIds],
  );
}

export interface Failing {
  id: string;
  url: string;
  partner_id: string | null;
  partner_name: string | null;
  practice_group_id: string | null;
  group_name: string | null;
  failures: number;
  since: string;
}

/** Webhooks that fail since before this moment, and that no alert tells of yet: alerts begin after an hour, and an operator is asked sooner. */
export function readFailing(tx: Transaction, beforeIso: string): Promise<Failing[]> {
  return tx.query(
    `SELECT w.id, w.url, w.partner_id, p.name AS partner_name, 
            coalesce(w.practice_group_id, t.practice_group_id) AS practice_group_id, g.name AS group_name, l.failures, l.failing_since AS since
       FROM webhook_lanes l
       JOIN webhooks w ON w.no = l.webhook_no AND w.status = 'active' AND w.deleted_at IS NULL AND w.withheld_since IS NULL
       LEFT JOIN partners p ON p.id = w.partner_id LEFT JOIN write_through t ON t.webhook_no = w.no
       LEFT JOIN practice_groups g ON g.id = coalesce(w.practice_group_id, t.practice_group_id)
      WHERE l.failing_since <= $1
        AND NOT EXISTS (SELECT FROM alerts a WHERE a.kind = 'webhook_failing' AND a.subject_id = w.id AND a.ended_at IS NULL)
      ORDER BY l.failing_since LIMIT ${ALERTS_MAX}`,
    [beforeIso],
  );
}

export interface GivenUp {
  id: string;
  url: string;
  partner_id: string;
  partner_name: string;
  practice_group_id: string | null;
  group_name: string | null;
  count: number;
  since: string;
}

/** So many webhooks are looked at, and so many of the newest deliveries of each: there is no index of what was given up. */
const GIVEN_UP_WEBHOOKS = 20;
const GIVEN_UP_STRETCH = 5_000;

/** Webhooks that are active and not failing, and have deliveries that were given up within a day and not been sent again. */
export function readGivenUp(tx: Transaction, sinceIso: string): Promise<GivenUp[]> {
  return tx.query(
    `SELECT w.id, w.url, w.partner_id, p.name AS partner_name, w.practice_group_id, g.name AS group_name, failed.count, failed.since
       FROM (SELECT webhook_id FROM figures
              WHERE grain = 60 AND at >= $1 AND kind = 'delivery' AND webhook_id <> '' AND counts[3] > 0
              GROUP BY webhook_id ORDER BY sum(counts[3]) DESC LIMIT ${GIVEN_UP_WEBHOOKS}) AS given_up
       JOIN webhooks w ON w.id = given_up.webhook_id AND w.status = 'active' AND w.deleted_at IS NULL
       JOIN webhook_lanes l ON l.webhook_no = w.no AND l.failing_since IS NULL
       JOIN partners p ON p.id = w.partner_id LEFT JOIN practice_groups g ON g.id = w.practice_group_id
      CROSS JOIN LATERAL (SELECT count(*) AS count, min(finished_at) AS since
                            FROM (SELECT d.state, d.finished_at FROM deliveries d WHERE d.webhook_no = w.no
                                   ORDER BY d.sequence DESC LIMIT ${GIVEN_UP_STRETCH}) AS newest
                           WHERE state = 'failed' AND finished_at >= $1) AS failed
      WHERE failed.count > 0`,
    [sinceIso],
  );
}

export interface PendingApproval {
  id: string;
  operation: string;
  requested_name: string;
  requested_at: string;
  expires_at: string;
}

/** What waits for a second person. */
export function readPendingApprovals(tx: Transaction, now: string): Promise<PendingApproval[]> {
  return tx.query(
    `SELECT id, operation, requested_name, requested_at, expires_at FROM approvals
      WHERE coalesce(decided_at, expires_at) > $1 AND decision IS NULL ORDER BY requested_at LIMIT ${ALERTS_MAX}`,
    [now],
  );
}
