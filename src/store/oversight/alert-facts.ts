import type { AlertKindName } from '../../contract/alerts.ts';
import {
  type AgreementFact,
  type AlertFacts,
  type AlertThresholds,
  EXPIRING_MS,
  FAILING_MS,
  type GroupFact,
  type KeyFact,
  type OpenAlert,
  type PartnerFact,
  type PendingFact,
  REFUSALS_DAYS,
  REFUSALS_FLOOR,
  type RefusalFact,
  type StopFact,
  serviceLateMs,
  UNUSED_MS,
  type WebhookFact,
} from '../../domain/oversight/alerts.ts';
import { worksAt } from '../access/agreements.ts';
import type { Transaction } from '../database.ts';
import { sqlFunction } from '../sql-functions.ts';
import { hasDeliverer } from './nodes.ts';

/** So many new ones of a kind are found in one look; the rest follow in the next. */
const FOUND_MAX = 5_000;
/** So many keys are looked at in one look for whether anybody uses them: a hundred thousand in less than an hour. */
const KEYS_MAX = 2_000;

const isNew = (kind: AlertKindName, id: string) =>
  `NOT EXISTS (SELECT FROM alerts WHERE kind = '${kind}' AND subject_id = ${id} AND ended_at IS NULL)`;

const before = (at: string, ms: number) => new Date(Date.parse(at) - ms).toISOString();

const lateLanesSql = sqlFunction('late_lanes', { at: 'timestamptz', created_before: 'timestamptz' });

interface LateLane {
  webhook_no: number;
  oldest: string;
  is_unclaimed: boolean;
}

/** Changes are accepted with their entries of the audit. */
const OLDEST_TO_FAN_OUT = `
  SELECT least((SELECT min(accepted_at) FROM new_events),
               (SELECT at FROM new_changes JOIN audit_entries ON seq = first_seq ORDER BY first_seq LIMIT 1)) AS oldest`;

/** What may be amiss, and how it stands with what open alerts are about. Costs what there is to tell. */
export async function readAlertFacts(
  tx: Transaction,
  { at, lastKey }: { at: string; lastKey: string },
  open: readonly OpenAlert[],
  thresholds: AlertThresholds,
): Promise<AlertFacts> {
  const about = (...kinds: AlertKindName[]) => [
    ...new Set(open.filter(({ kind }) => kinds.includes(kind)).map(({ subjectId }) => subjectId)),
  ];
  const isServed = await hasDeliverer(tx, at);
  const lateMs = Math.min(serviceLateMs({ isServed }), thresholds.lateMinutes * 60_000);
  const lanes = await lateLanesSql<LateLane>(tx, { at, created_before: before(at, lateMs) });
  const [webhooks, keys, refusals, partners, groups, pending, agreements, stops, waiting] = await Promise.all(
    [
      readWebhooks(tx, at, lanes, about('webhook_failing', 'webhook_disabled', 'deliveries_late')),
      readKeys(tx, at, lastKey, about('key_expiring', 'key_unused')),
      readRefusals(tx, at, about('refusals_rising')),
      readWaitingPartners(tx, about('partner_waiting')),
      readGroups(tx, before(at, thresholds.ehrDownMinutes * 60_000), about('ehr_down')),
      readPending(tx, before(at, thresholds.changesPendingMinutes * 60_000), about('changes_pending')),
      readAgreements(tx, at, about('agreement_ended')),
      readStops(tx, about('partner_stopped')),
      tx.first<{ oldest: string | null }>(OLDEST_TO_FAN_OUT),
    ],
  );
  const unclaimed = new Set(lanes.filter((lane) => lane.is_unclaimed).map((lane) => lane.webhook_no));
  const since = webhooks
    .filter(({ no, status, isDeleted, isWithheld, failingSince }) => {
      return unclaimed.has(no) && status === 'active' && !isDeleted && !isWithheld && failingSince === null;
    })
    .map(({ oldest }) => oldest);
  const oldest = [...since, waiting?.oldest ?? null].filter((one) => one !== null).sort();
  const unclaimedSince = oldest[0] ?? null;
  return { webhooks, keys, refusals, partners, groups, pending, agreements, stops, unclaimedSince, isServed };
}

async function readWebhooks(
  tx: Transaction,
  at: string,
  lanes: readonly LateLane[],
  open: readonly string[],
): Promise<(WebhookFact & { no: number })[]> {
  const rows = await tx.query<Omit<WebhookFact, 'host' | 'oldest'> & { no: number; url: string }>(
    `WITH concerned AS (
       (SELECT w.no FROM webhook_lanes l JOIN webhooks w ON w.no = l.webhook_no
         WHERE l.failing_since <= $1 AND w.status = 'active' AND w.deleted_at IS NULL AND w.withheld_since IS NULL
           AND ${isNew('webhook_failing', 'w.id')} LIMIT ${FOUND_MAX})
       UNION
       (SELECT w.no FROM webhooks w
         WHERE w.status = 'disabled' AND w.deleted_at IS NULL AND ${isNew('webhook_disabled', 'w.id')} LIMIT ${FOUND_MAX})
       UNION
       SELECT unnest($2::integer[])
       UNION
       SELECT w.no FROM webhooks w WHERE w.id = ANY ($3))
     SELECT w.no, w.id, w.url, w.partner_id AS "partnerId", coalesce(w.practice_group_id, t.practice_group_id) AS "practiceGroupId", w.status,
            w.status_reason AS "statusReason", w.updated_at AS "updatedAt", w.deleted_at IS NOT NULL AS "isDeleted",
            w.withheld_since IS NOT NULL AS "isWithheld", l.failures, l.failing_since AS "failingSince"
       FROM concerned JOIN webhooks w ON w.no = concerned.no JOIN webhook_lanes l ON l.webhook_no = w.no
       LEFT JOIN write_through t ON t.webhook_no = w.no`,
    [before(at, FAILING_MS), lanes.map((lane) => lane.webhook_no), open],
  );
  const oldest = new Map(lanes.map((lane) => [lane.webhook_no, lane.oldest]));
  return rows.map(({ url, ...webhook }) => ({
    ...webhook,
    host: URL.parse(url)?.host ?? '',
    // What waited while it was paused or disabled is late from when it was active again.
    oldest: latest(oldest.get(webhook.no), webhook.updatedAt),
  }));
}

const latest = (oldest: string | undefined, updatedAt: string): string | null => {
  if (oldest === undefined) return null;
  return oldest < updatedAt ? updatedAt : oldest;
};

async function readKeys(
  tx: Transaction,
  at: string,
  lastKey: string,
  open: readonly string[],
): Promise<KeyFact[]> {
  const walked = await tx.query<{ id: string; is_old: boolean }>(
    `SELECT id, revoked_at IS NULL AND replaced_by IS NULL AND created_at <= $2 AS is_old FROM api_keys WHERE id > $1 ORDER BY id
      LIMIT ${KEYS_MAX}`,
    [lastKey, before(at, UNUSED_MS)],
  );
  tx.defer('UPDATE alert_head SET last_key = $1', [
    walked.length < KEYS_MAX ? '' : (walked.at(-1)?.id ?? ''),
  ]);
  const old = walked.filter(({ is_old }) => is_old).map(({ id }) => id);
  return tx.query<KeyFact>(
    `WITH concerned AS (
       (SELECT k.id FROM api_keys k
         WHERE (k.revoked_at IS NOT NULL OR k.expires_at IS NOT NULL) AND least(k.revoked_at, k.expires_at) > $1
           AND least(k.revoked_at, k.expires_at) <= $2 AND k.revoked_at IS NULL AND k.replaced_by IS NULL
           AND ${isNew('key_expiring', 'k.id')} LIMIT ${FOUND_MAX})
       UNION
       SELECT unnest($3::text[])
       UNION
       SELECT unnest($4::text[]))
     SELECT k.id, coalesce(k.label, k.prefix || '…' || k.last_four) AS name, k.partner_id AS "partnerId",
            k.practice_group_id AS "practiceGroupId", p.status = 'verified' AS "isPartnerVerified", k.created_at AS "createdAt",
            k.expires_at AS "expiresAt", k.revoked_at IS NOT NULL AS "isRevoked", k.replaced_by IS NOT NULL AS "isReplaced",
            u.last_used_at AS "lastUsedAt"
       FROM concerned JOIN api_keys k ON k.id = concerned.id JOIN partners p ON p.id = k.partner_id
       LEFT JOIN key_uses u ON u.key_id = k.id`,
    [at, before(at, -EXPIRING_MS), old, open],
  );
}

const HOURS_KEPT = (REFUSALS_DAYS + 1) * 24 + 2;

async function readRefusals(tx: Transaction, at: string, open: readonly string[]): Promise<RefusalFact[]> {
  tx.defer(`DELETE FROM refusal_counts WHERE hour < $1::timestamptz - interval '${HOURS_KEPT} hours'`, [at]);
  const usual = (hour: string) =>
    `(SELECT coalesce(sum(c.refused), 0)::float8 / ${REFUSALS_DAYS} FROM generate_series(1, ${REFUSALS_DAYS}) AS day (no)
        JOIN refusal_counts c ON c.hour = ${hour} - day.no * interval '24 hours' AND c.partner_id = p.id)`;
  const count = (hour: string) =>
    `coalesce((SELECT c.refused FROM refusal_counts c WHERE c.hour = ${hour} AND c.partner_id = p.id), 0)`;
  const rows = await tx.query<{
    partnerId: string;
    name: string;
    now_count: number;
    now_usual: number;
    before_count: number;
    before_usual: number;
  }>(
    `WITH hours AS (SELECT date_trunc('hour', $1::timestamptz) AS this, date_trunc('hour', $1::timestamptz) - interval '1 hour' AS last),
     concerned AS (
       SELECT c.partner_id AS id FROM hours JOIN refusal_counts c ON c.hour IN (hours.this, hours.last) WHERE c.refused >= ${REFUSALS_FLOOR}
       UNION
       SELECT unnest($2::text[]))
     SELECT p.id AS "partnerId", p.name, ${count('hours.this')} AS now_count, ${usual('hours.this')} AS now_usual,
            ${count('hours.last')} AS before_count, ${usual('hours.last')} AS before_usual
       FROM concerned JOIN partners p ON p.id = concerned.id CROSS JOIN hours`,
    [at, open],
  );
  return rows.map(({ partnerId, name, ...row }) => ({
    partnerId,
    name,
    now: { count: row.now_count, usual: row.now_usual },
    before: { count: row.before_count, usual: row.before_usual },
  }));
}

async function readWaitingPartners(tx: Transaction, open: readonly string[]): Promise<PartnerFact[]> {
  return tx.query(
    `SELECT id, name, status, CASE WHEN status = 'applied' THEN created_at ELSE coalesce(agreement_signed_at, updated_at) END AS since
       FROM partners WHERE status IN ('applied', 'agreement_signed') OR id = ANY ($1)`,
    [open],
  );
}

async function readGroups(
  tx: Transaction,
  changedBefore: string,
  open: readonly string[],
): Promise<GroupFact[]> {
  return tx.query(
    `WITH concerned AS (
       (SELECT practice_group_id AS id FROM ehr_health
         WHERE status = 'unhealthy' AND changed_at <= $1 AND ${isNew('ehr_down', 'practice_group_id')} LIMIT ${FOUND_MAX})
       UNION
       SELECT unnest($2::text[]))
     SELECT g.id, g.name, h.status = 'unhealthy' AS "isUnhealthy", h.changed_at AS "changedAt"
       FROM concerned JOIN practice_groups g ON g.id = concerned.id JOIN ehr_health h ON h.practice_group_id = g.id`,
    [changedBefore, open],
  );
}

/**
 * Of each practice group what waits for its software, by an index that has no more than what is pending. None where no software has ever answered
 * any: nobody there goes by them.
 */
async function readPending(
  tx: Transaction,
  madeBefore: string,
  open: readonly string[],
): Promise<PendingFact[]> {
  return tx.query(
    `WITH waiting AS MATERIALIZED (
       SELECT practice_group_id AS id, min(at) AS since, count(*)::integer AS count FROM changes
        WHERE state = 'pending' AND at <= $1 AND EXISTS (SELECT FROM changes WHERE ended_at IS NOT NULL) GROUP BY practice_group_id),
     concerned AS (
       (SELECT id FROM waiting WHERE ${isNew('changes_pending', 'id')} LIMIT ${FOUND_MAX})
       UNION
       SELECT unnest($2::text[]))
     SELECT g.id, g.name, waiting.since, waiting.count
       FROM concerned JOIN practice_groups g ON g.id = concerned.id LEFT JOIN waiting ON waiting.id = g.id`,
    [madeBefore, open],
  );
}

async function readAgreements(
  tx: Transaction,
  at: string,
  open: readonly string[],
): Promise<AgreementFact[]> {
  return tx.query(
    `WITH concerned AS (
       (SELECT a.id FROM agreements a
         WHERE a.ends_at <= $2 AND ${isNew('agreement_ended', 'a.id')}
           AND EXISTS (SELECT FROM api_keys k WHERE k.agreement_id = a.id AND ${worksAt('$1')}) LIMIT ${FOUND_MAX})
       UNION
       SELECT unnest($3::text[]))
     SELECT a.id, coalesce(a.version, p.name) AS name, a.partner_id AS "partnerId", p.status = 'verified' AS "isPartnerVerified",
            a.ends_at AS "endsAt",
            (SELECT count(*) FROM api_keys k WHERE k.agreement_id = a.id AND ${worksAt('$1')})::integer AS keys
       FROM concerned JOIN agreements a ON a.id = concerned.id JOIN partners p ON p.id = a.partner_id`,
    [at, before(at, -EXPIRING_MS), open],
  );
}

async function readStops(tx: Transaction, open: readonly string[]): Promise<StopFact[]> {
  return tx.query(
    `WITH concerned AS (
       (SELECT s.id FROM stops s WHERE s.lifted_at IS NULL AND ${isNew('partner_stopped', 's.id')} LIMIT ${FOUND_MAX})
       UNION
       SELECT unnest($1::text[]))
     SELECT s.id, p.name, s.partner_id AS "partnerId", s.practice_group_id AS "practiceGroupId", s.stopped_at AS since,
            s.lifted_at IS NOT NULL AS "isLifted"
       FROM concerned JOIN stops s ON s.id = concerned.id JOIN partners p ON p.id = s.partner_id`,
    [open],
  );
}
