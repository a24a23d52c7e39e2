import type { AlertDetails, AlertKindName, Ending, SubjectType } from '../contract/alerts.ts';
import type { Page, PageQuery } from '../contract/page.ts';
import {
  type AlertFacts,
  type AlertThresholds,
  EXPIRING_MS,
  FAILING_MS,
  type GroupFact,
  isEndTold,
  type KeyFact,
  messageOf,
  type NewAlert,
  type OpenAlert,
  type PartnerFact,
  REFUSALS_DAYS,
  REFUSALS_FLOOR,
  type RefusalFact,
  SERVICE_LATE_MS,
  toldTo,
  UNUSED_MS,
  type WebhookFact,
} from '../domain/alerts.ts';
import type { Transaction } from './database.ts';
import { announce } from './operator-events.ts';
import { byId, readPage } from './page.ts';
import { sqlFunction } from './sql-functions.ts';
import { where } from './where.ts';

/** An alert as it is stored. */
export interface StoredAlert {
  id: string;
  kind: AlertKindName;
  subject: { type: SubjectType; id: string; name: string };
  partner_id: string | null;
  practice_group_id: string | null;
  details: AlertDetails;
  began_at: string;
  ended_at: string | null;
  ended_because: Ending | null;
}

type Row = Omit<StoredAlert, 'subject' | 'details'> & {
  subject_type: SubjectType;
  subject_id: string;
  details: AlertDetails & { name: string };
};

export const ALERT = `a.id, a.kind, a.subject_type, a.subject_id, a.partner_id, a.practice_group_id, a.details, a.began_at, a.ended_at,
  a.ended_because`;

export function alertOf({
  subject_type,
  subject_id,
  details: { name, ...details },
  ...alert
}: Row): StoredAlert {
  return { ...alert, subject: { type: subject_type, id: subject_id, name }, details };
}

export type AlertRow = Row;

// ---- Reading ----

export interface AlertFilter extends PageQuery {
  open?: 'true' | 'false' | undefined;
  kind?: AlertKindName | undefined;
  partner_id?: string | undefined;
}

/** Newest first. `kinds`: those that whoever asks is told of. */
export async function listAlertPage(
  tx: Transaction,
  filter: AlertFilter,
  kinds: readonly AlertKindName[],
): Promise<Page<StoredAlert>> {
  return readPage(filter, byId, async ([before], limit) => {
    const { text, values } = where(
      ['a.id < ?', before],
      ['a.kind = ?', filter.kind],
      ['a.partner_id = ?', filter.partner_id],
      ['(a.ended_at IS NULL) = ?', filter.open && filter.open === 'true'],
      ['a.kind = ANY (?)', kinds],
    );
    const rows = await tx.query<Row>(
      `SELECT ${ALERT} FROM alerts a ${text} ORDER BY a.id DESC LIMIT $${values.length + 1}`,
      [...values, limit],
    );
    return rows.map(alertOf);
  });
}

export async function findAlert(tx: Transaction, id: string): Promise<StoredAlert | undefined> {
  const row = await tx.first<Row>(`SELECT ${ALERT} FROM alerts a WHERE a.id = $1`, [id]);
  return row && alertOf(row);
}

export async function countOpenAlerts(tx: Transaction): Promise<{ kind: string; count: number }[]> {
  return tx.query('SELECT kind, count(*) AS count FROM alerts WHERE ended_at IS NULL GROUP BY kind', []);
}

// ---- Looking ----

/** Any number, as long as it is always the same: it names the lock. */
const LOOK_LOCK = 7_205_759_403_795;
const LOOK_EVERY = "interval '60 seconds'";

/**
 * Lets one node look, once a minute by the clock of the database, and tells it the time; undefined: it is another one's turn, or too early. A
 * clock that was put back does not keep anybody waiting.
 */
export async function beginLook(
  tx: Transaction,
  at: string | null,
): Promise<{ at: string; lastKey: string } | undefined> {
  return tx.first(
    `UPDATE alert_head SET looked_at = due.at
       FROM (SELECT coalesce($1::timestamptz, clock_timestamp()) AS at WHERE pg_try_advisory_xact_lock(${LOOK_LOCK})) AS due
      WHERE looked_at <= due.at - ${LOOK_EVERY} OR looked_at > due.at
     RETURNING looked_at AS at, last_key AS "lastKey"`,
    [at],
  );
}

export async function findOpenAlerts(tx: Transaction): Promise<OpenAlert[]> {
  return tx.query(`SELECT id, kind, subject_id AS "subjectId" FROM alerts WHERE ended_at IS NULL`, []);
}

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
  const lateMs = Math.min(SERVICE_LATE_MS, thresholds.lateMinutes * 60_000);
  const lanes = await lateLanesSql<LateLane>(tx, { at, created_before: before(at, lateMs) });
  const [webhooks, keys, refusals, partners, groups, waiting] = await Promise.all([
    readWebhooks(tx, at, lanes, about('webhook_failing', 'webhook_disabled', 'deliveries_late')),
    readKeys(tx, at, lastKey, about('key_expiring', 'key_unused')),
    readRefusals(tx, at, about('refusals_rising')),
    readWaitingPartners(tx, about('partner_waiting')),
    readGroups(tx, before(at, thresholds.ehrDownMinutes * 60_000), about('ehr_down')),
    tx.first<{ oldest: string | null }>('SELECT min(accepted_at) AS oldest FROM new_events'),
  ]);
  const unclaimed = new Set(lanes.filter((lane) => lane.is_unclaimed).map((lane) => lane.webhook_no));
  const since = webhooks
    .filter(({ no, status, isDeleted, isWithheld, failingSince }) => {
      return unclaimed.has(no) && status === 'active' && !isDeleted && !isWithheld && failingSince === null;
    })
    .map(({ oldest }) => oldest);
  const oldest = [...since, waiting?.oldest ?? null].filter((one) => one !== null).sort();
  return { webhooks, keys, refusals, partners, groups, unclaimedSince: oldest[0] ?? null };
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
     SELECT w.no, w.id, w.url, w.partner_id AS "partnerId", w.practice_group_id AS "practiceGroupId", w.status,
            w.status_reason AS "statusReason", w.updated_at AS "updatedAt", w.deleted_at IS NOT NULL AS "isDeleted",
            w.withheld_since IS NOT NULL AS "isWithheld", l.failures, l.failing_since AS "failingSince"
       FROM concerned JOIN webhooks w ON w.no = concerned.no JOIN webhook_lanes l ON l.webhook_no = w.no`,
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

// ---- Writing ----

/** With what is to be told, in the same transaction. One that is open already is not begun again. Returns those that were begun. */
export async function beginAlerts(
  tx: Transaction,
  at: string,
  alerts: readonly (NewAlert & { id: string; ended?: Ending })[],
): Promise<StoredAlert[]> {
  if (alerts.length === 0) return [];
  const rows = await tx.query<Row>(
    `INSERT INTO alerts AS a (id, kind, subject_type, subject_id, partner_id, practice_group_id, details, began_at, ended_at, ended_because)
     SELECT id, kind, subject_type, subject_id, partner_id, practice_group_id, details, $2, CASE WHEN ended IS NOT NULL THEN $2::timestamptz END, ended
       FROM jsonb_to_recordset($1::jsonb) AS new (id text, kind text, subject_type text, subject_id text, partner_id text,
                                                  practice_group_id text, details jsonb, ended text)
         ON CONFLICT (kind, subject_id) WHERE ended_at IS NULL DO NOTHING
     RETURNING ${ALERT}`,
    [
      JSON.stringify(
        alerts.map(({ id, kind, subject, partnerId, practiceGroupId, details, ended }) => ({
          id,
          kind,
          subject_type: subject.type,
          subject_id: subject.id,
          partner_id: partnerId,
          practice_group_id: practiceGroupId,
          details: { ...details, name: subject.name },
          ended,
        })),
      ),
      at,
    ],
  );
  const begun = rows.map(alertOf);
  announceAll(tx, 'alert.began', at, begun);
  await noteToTell(tx, 'began', begun);
  return begun;
}

/** Returns those that were ended. */
export async function endAlerts(
  tx: Transaction,
  at: string,
  ends: readonly { id: string; because: Ending }[],
): Promise<StoredAlert[]> {
  if (ends.length === 0) return [];
  const rows = await tx.query<Row>(
    `UPDATE alerts a SET ended_at = $3, ended_because = over.because FROM unnest($1::text[], $2::text[]) AS over (id, because)
      WHERE a.id = over.id AND a.ended_at IS NULL RETURNING ${ALERT}`,
    [ends.map(({ id }) => id), ends.map(({ because }) => because), at],
  );
  const ended = rows.map(alertOf);
  announceAll(tx, 'alert.ended', at, ended);
  const told = ended.filter(({ ended_because }) => ended_because === null || isEndTold(ended_because));
  await noteToTell(tx, 'ended', told);
  return ended;
}

/** The operator's own systems hear of all of them, as `GET /operator/v1/alerts` has them but for the remedy. */
function announceAll(
  tx: Transaction,
  event: 'alert.began' | 'alert.ended',
  at: string,
  alerts: readonly StoredAlert[],
): void {
  for (const alert of alerts)
    announce(tx, {
      id: `${alert.id.replace(/^alt_/, 'evt_')}_${event.slice('alert.'.length)}`,
      event,
      object: 'Alert',
      objectId: alert.id,
      payload: { ...alert, message: messageOf(alert) },
      sourceId: 'alerts',
      at,
    });
}

async function noteToTell(
  tx: Transaction,
  moment: 'began' | 'ended',
  alerts: readonly StoredAlert[],
): Promise<void> {
  const notices = alerts.flatMap(({ id, kind, partner_id }) =>
    toldTo({ kind, partnerId: partner_id }).map((whom) => ({ id, whom })),
  );
  if (notices.length === 0) return;
  await tx.query(
    `INSERT INTO alert_notices (alert_id, moment, partner_id) SELECT id, $2, whom FROM unnest($1::text[], $3::text[]) AS told (id, whom)`,
    [notices.map(({ id }) => id), moment, notices.map(({ whom }) => whom)],
  );
}
