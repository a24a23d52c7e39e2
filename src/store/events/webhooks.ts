import type { PartnerWebhook, WebhookTrouble } from '../../contract/operator/events/webhooks.ts';
import type { PageQuery } from '../../contract/page.ts';
import { QUEUED_COUNT_MAX, type Webhook, WITHHELD_GROUPS_MAX } from '../../contract/partner/webhooks.ts';
import type { PartnerPrincipal } from '../../domain/access/principal.ts';
import type { StoredWebhook } from '../../domain/events/webhook.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

/**
 * Webhooks are reached through their partner and practice group, never by their ID alone; one for all practice groups through any that its
 * partner acts for. Operators see all of them.
 */

type Row = Omit<StoredWebhook, 'health'> & Webhook['health'];

/** `greatest` picks the index of what was set aside; migrations/0001_baseline.sql, Deliveries, says why. */
const webhooksWith = (more: string) => `
  SELECT ${more} w.no, w.id, w.partner_id, w.practice_group_id, CASE WHEN w.audience = 'partner' THEN 'all' END AS practice_groups,
         w.only_group_ids AS practice_group_ids, w.signature, w.header_names, w.url, w.description, w.event_types, w.status, w.status_reason,
         w.version, w.created_at, w.updated_at, l.failures, l.failing_since, l.last_success_at,
         w.withheld_since, w.withheld_reason,
         (SELECT coalesce(json_agg(json_build_object('practice_group_id', g.practice_group_id, 'reason', g.reason,
                                                     'since', to_char(g.since, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))), '[]')
            FROM (SELECT * FROM withheld_groups WHERE webhook_no = w.no
                   ORDER BY practice_group_id LIMIT ${WITHHELD_GROUPS_MAX}) AS g) AS withheld_practice_groups,
         (SELECT count(*) FROM ((SELECT FROM deliveries d
                                  WHERE greatest(d.webhook_no, 0) = w.no AND d.retry_at IS NOT NULL LIMIT ${QUEUED_COUNT_MAX})
                                UNION ALL
                                (SELECT FROM deliveries d
                                  WHERE d.webhook_no = w.no AND d.sequence >= l.open_from AND d.state = 'due'
                                    AND d.retry_at IS NULL LIMIT ${QUEUED_COUNT_MAX})
                                LIMIT ${QUEUED_COUNT_MAX}) AS open) AS queued
    FROM webhooks w JOIN webhook_lanes l ON l.webhook_no = w.no
   WHERE w.deleted_at IS NULL AND w.audience <> 'operator'`;

const WEBHOOKS = webhooksWith('');
/** As operators see them: with names, and how long the oldest has waited; `least` picks the index of what was set aside, in order. */
const NAMED_WEBHOOKS = webhooksWith(`
  (SELECT name FROM partners WHERE partners.id = w.partner_id) AS partner_name,
  (SELECT name FROM practice_groups WHERE practice_groups.id = w.practice_group_id) AS practice_group_name,
  least((SELECT d.created_at FROM deliveries d WHERE least(d.webhook_no, 2147483647) = w.no AND d.retry_at IS NOT NULL
          ORDER BY d.sequence LIMIT 1),
        (SELECT d.created_at FROM deliveries d
          WHERE d.webhook_no = w.no AND d.sequence >= l.open_from AND d.state = 'due' AND d.retry_at IS NULL
          ORDER BY d.sequence LIMIT 1)) AS oldest_queued_at,`);

/** Of the partner $2 that acts for the practice group $1. */
const OWN = `partner_id = $2 AND (practice_group_id = $1 OR audience = 'partner')`;

function webhookOf(row: Row): StoredWebhook {
  const { failures, failing_since, last_success_at, queued, ...others } = row;
  const { withheld_since, withheld_reason, withheld_practice_groups, ...webhook } = others;
  const withheld = { withheld_since, withheld_reason, withheld_practice_groups };
  return { ...webhook, health: { failures, failing_since, last_success_at, queued, ...withheld } };
}

const ownedBy = ({ group, holder }: PartnerPrincipal) => [group.id, holder.partnerId];

export async function findWebhook(
  tx: Transaction,
  owner: PartnerPrincipal,
  id: string,
): Promise<StoredWebhook | undefined> {
  const row = await tx.first<Row>(`${WEBHOOKS} AND ${OWN} AND w.id = $3`, [...ownedBy(owner), id]);
  return row && webhookOf(row);
}

/**
 * The same, and nobody else changes it until the transaction ends. Locks first and reads then: a statement that waited for a lock
 * still sees the webhook's health from before its wait.
 */
export function lockWebhook(
  tx: Transaction,
  owner: PartnerPrincipal,
  id: string,
): Promise<StoredWebhook | undefined> {
  tx.defer(`SELECT FROM webhooks WHERE ${OWN} AND id = $3 AND deleted_at IS NULL FOR NO KEY UPDATE`, [
    ...ownedBy(owner),
    id,
  ]);
  return findWebhook(tx, owner, id);
}

export function listWebhookPage(tx: Transaction, owner: PartnerPrincipal, query: PageQuery) {
  return readPage(query, byId, async ([after], limit) => {
    const rows = await tx.query<Row>(
      `${WEBHOOKS} AND ${OWN} AND ($3::text IS NULL OR w.id > $3)
       ORDER BY w.id LIMIT $4`,
      [...ownedBy(owner), after, limit],
    );
    return rows.map(webhookOf);
  });
}

/** How many there are. Whoever asks is the only one to add one until the transaction ends. */
export async function countWebhooks(
  tx: Transaction,
  owner: PartnerPrincipal,
  isForAll: boolean,
): Promise<number> {
  if (isForAll) {
    tx.defer(`SELECT pg_advisory_xact_lock(hashtextextended('webhooks for all of ' || $1, 0))`, [
      owner.holder.partnerId,
    ]);
    const row = await tx.first<{ count: number }>(
      `SELECT count(*) FROM webhooks WHERE partner_id = $1 AND audience = 'partner' AND deleted_at IS NULL`,
      [owner.holder.partnerId],
    );
    return row?.count ?? 0;
  }
  tx.defer('SELECT FROM practice_groups WHERE id = $1 FOR NO KEY UPDATE', [owner.group.id]);
  const row = await tx.first<{ count: number }>(
    `SELECT count(*) FROM webhooks WHERE practice_group_id = $1 AND partner_id = $2 AND deleted_at IS NULL`,
    ownedBy(owner),
  );
  return row?.count ?? 0;
}

/** Gives it its number, and a queue. */
export async function insertWebhook(
  tx: Transaction,
  webhook: Omit<StoredWebhook, 'no' | 'health'>,
): Promise<number> {
  const row = await tx.first<{ no: number }>(
    `INSERT INTO webhooks (id, partner_id, practice_group_id, url, description, event_types, status, version,
                           created_at, updated_at, audience, only_group_ids, signature)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING no`,
    [
      webhook.id,
      webhook.partner_id,
      webhook.practice_group_id,
      webhook.url,
      webhook.description,
      webhook.event_types,
      webhook.status,
      webhook.version,
      webhook.created_at,
      webhook.updated_at,
      webhook.practice_groups === 'all' ? 'partner' : 'practice_group',
      webhook.practice_group_ids,
      webhook.signature,
    ],
  );
  if (!row) throw new Error('a webhook was inserted without a number');
  tx.defer('INSERT INTO webhook_lanes (webhook_no) VALUES ($1)', [row.no]);
  return row.no;
}

export function updateWebhookRow(tx: Transaction, webhook: StoredWebhook): void {
  tx.defer(
    `UPDATE webhooks SET url = $2, description = $3, event_types = $4, status = $5, status_reason = $6, version = $7,
                         updated_at = $8, only_group_ids = $9, signature = $10 WHERE no = $1`,
    [
      webhook.no,
      webhook.url,
      webhook.description,
      webhook.event_types,
      webhook.status,
      webhook.status_reason,
      webhook.version,
      webhook.updated_at,
      webhook.practice_group_ids,
      webhook.signature,
    ],
  );
}

export function forgetFailures(tx: Transaction, no: number): void {
  tx.defer('UPDATE webhook_lanes SET failures = 0, failing_since = NULL WHERE webhook_no = $1', [no]);
}

/** Its deliveries are cleared away later, little by little; what could sign in its name goes at once. */
export function markWebhookDeleted(
  tx: Transaction,
  { no, version }: Pick<StoredWebhook, 'no' | 'version'>,
  now: string,
): void {
  tx.defer('UPDATE webhooks SET deleted_at = $2, updated_at = $2, version = $3 WHERE no = $1', [
    no,
    now,
    version + 1,
  ]);
  tx.defer('DELETE FROM webhook_secrets WHERE webhook_no = $1', [no]);
}

// ---- Operators ----

type ForOperators = Pick<PartnerWebhook, 'partner_name' | 'practice_group_name' | 'oldest_queued_at'>;
export type NamedWebhook = StoredWebhook & ForOperators;
type NamedRow = Row & ForOperators;

const namedWebhookOf = (row: NamedRow): NamedWebhook => {
  const { partner_name, practice_group_name, oldest_queued_at, ...others } = row;
  return { ...webhookOf(others), partner_name, practice_group_name, oldest_queued_at };
};

export interface WebhookFilter extends PageQuery {
  partner_id?: string | undefined;
  practice_group_id?: string | undefined;
  status?: string | undefined;
  health?: WebhookTrouble | undefined;
}

export function listAllWebhookPage(tx: Transaction, filter: WebhookFilter) {
  return readPage(filter, byId, async ([after], limit) => {
    const rows = await tx.query<NamedRow>(
      `${NAMED_WEBHOOKS} AND w.audience <> 'operator' AND ($1::text IS NULL OR w.id > $1) AND ($2::text IS NULL OR w.partner_id = $2)
         AND ($3::text IS NULL OR w.practice_group_id = $3) AND ($4::text IS NULL OR w.status = $4)
         AND CASE $5 WHEN 'failing' THEN l.failing_since IS NOT NULL
                     WHEN 'withheld' THEN w.withheld_since IS NOT NULL OR EXISTS (SELECT FROM withheld_groups g WHERE g.webhook_no = w.no)
                     ELSE true END
       ORDER BY w.id LIMIT $6`,
      [after, filter.partner_id, filter.practice_group_id, filter.status, filter.health, limit],
    );
    return rows.map(namedWebhookOf);
  });
}

export async function findAnyWebhook(tx: Transaction, id: string): Promise<NamedWebhook | undefined> {
  const row = await tx.first<NamedRow>(`${NAMED_WEBHOOKS} AND w.audience <> 'operator' AND w.id = $1`, [id]);
  return row && namedWebhookOf(row);
}

/** The same, and nobody else changes it until the transaction ends; see `lockWebhook`. */
export function lockAnyWebhook(tx: Transaction, id: string): Promise<NamedWebhook | undefined> {
  tx.defer('SELECT FROM webhooks WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE', [id]);
  return findAnyWebhook(tx, id);
}
