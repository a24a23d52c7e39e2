import type { EventName } from '../../contract/events.ts';
import { LIFE_WEBHOOKS_MAX } from '../../contract/operator/events/event-life.ts';
import type { Webhook, WithheldReason } from '../../contract/partner/webhooks.ts';
import type { Transaction } from '../database.ts';
import type { StoredDelivery } from './deliveries-read.ts';
import { WITHHELD_REASON } from './deliveries-read.ts';

export interface LivingEvent {
  no: number;
  id: string;
  payload: string;
  source_id: string;
  accepted_at: string;
  test: boolean;
  event: EventName;
  practice_group_id: string;
  group_name: string | null;
  only_webhook_no: number | null;
  only_partner_id: string | null;
  feed_position: number | null;
  erased_by: string | null;
  operator_name: string | null;
  is_of_form: boolean;
  is_of_job: boolean;
}

export function findLivingEvent(tx: Transaction, id: string): Promise<LivingEvent | undefined> {
  return tx.first(
    `SELECT e.no, e.id, e.payload, e.source AS source_id, e.accepted_at, num_nonnulls(e.only_webhook_no, e.only_partner_id) > 0 AS test,
            e.event, e.practice_group_id, (SELECT name FROM practice_groups g WHERE g.id = e.practice_group_id) AS group_name,
            e.only_webhook_no, e.only_partner_id, (SELECT position FROM feed WHERE event_no = e.no) AS feed_position, e.erased_by,
            (SELECT name FROM operators o WHERE o.id = e.source) AS operator_name,
            EXISTS (SELECT FROM form_submissions f WHERE f.practice_group_id = e.practice_group_id AND f.id = e.object_id) AS is_of_form,
            EXISTS (SELECT FROM write_to_record_jobs j WHERE j.practice_group_id = e.practice_group_id AND j.id = e.object_id) AS is_of_job
       FROM events e WHERE e.id = $1 AND e.practice_group_id <> ''`,
    [id],
  );
}

type Target = {
  no: number;
  webhook_id: string;
  url: string;
  partner_id: string;
  partner_name: string;
  webhook_status: Webhook['status'];
};

export type SentTarget = Target &
  Pick<
    StoredDelivery,
    'sequence' | 'state' | 'withheld_reason' | 'attempts' | 'retry_at' | 'created_at' | 'finished_at'
  >;

const TARGET = `w.no, w.id AS webhook_id, w.url, w.partner_id, p.name AS partner_name, w.status AS webhook_status`;

/** Those that have a delivery of it. */
export function listSentTargets(tx: Transaction, eventNo: number): Promise<SentTarget[]> {
  return tx.query(
    `SELECT ${TARGET}, d.sequence, d.state, ${WITHHELD_REASON}, d.attempts, nullif(d.retry_at, 'infinity') AS retry_at, d.created_at, d.finished_at
       FROM deliveries d JOIN events e ON e.no = d.event_no JOIN webhooks w ON w.no = d.webhook_no JOIN partners p ON p.id = w.partner_id
      WHERE d.event_no = $1 AND w.deleted_at IS NULL ORDER BY w.no LIMIT ${LIFE_WEBHOOKS_MAX}`,
    [eventNo],
  );
}

export type UnsentTarget = Target & {
  created_at: string;
  wants_event: boolean;
  wants_group: boolean;
  /** Why its partner may not receive events of the practice group now; null: it may. */
  withheld: WithheldReason | null;
};

/**
 * Those that have none, of every partner that has, or had, a key for the practice group or for one that shares a network with it, and of every other
 * that has a webhook for the group. `total`: how many there are.
 */
export async function listUnsentTargets(
  tx: Transaction,
  { no, event, practice_group_id: groupId }: LivingEvent,
  at: string,
  limit: number,
): Promise<{ targets: UnsentTarget[]; total: number }> {
  const rows = await tx.query<UnsentTarget & { total: number }>(
    `WITH near AS MATERIALIZED (
       SELECT partner_id FROM api_keys WHERE practice_group_id = $2
       UNION
       SELECT k.partner_id FROM network_members mine JOIN network_members theirs USING (network_id)
         JOIN api_keys k ON k.practice_group_id = theirs.practice_group_id
        WHERE mine.practice_group_id = $2
     ), candidate AS MATERIALIZED (
       SELECT no FROM webhooks WHERE practice_group_id = $2 AND deleted_at IS NULL
       UNION
       SELECT w.no FROM near JOIN webhooks w ON w.partner_id = near.partner_id AND w.audience = 'partner' AND w.deleted_at IS NULL
     ), unsent AS (
       SELECT no FROM candidate WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_no = $1 AND d.webhook_no = candidate.no)
     )
     SELECT ${TARGET}, w.created_at, $3 = ANY (w.event_types) AS wants_event,
            w.only_group_ids IS NULL OR $2 = ANY (w.only_group_ids) AS wants_group,
            CASE WHEN receives_until(w.partner_id, $2, $4) IS NULL THEN why_withheld(w.partner_id, $2, $4) END AS withheld,
            (SELECT count(*) FROM unsent) AS total
       FROM (SELECT no FROM unsent ORDER BY no LIMIT $5) AS one JOIN webhooks w ON w.no = one.no JOIN partners p ON p.id = w.partner_id
      ORDER BY w.no`,
    [no, groupId, event, at, limit],
  );
  return { targets: rows.map(({ total: _total, ...target }) => target), total: rows[0]?.total ?? 0 };
}
