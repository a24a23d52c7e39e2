import type { Scope } from '../../contract/access.ts';
import type { PageQuery } from '../../contract/page.ts';
import { type ReachingPartner, WAITING_COUNT_MAX } from '../../contract/practice/partners.ts';
import type { Transaction } from '../database.ts';
import { type Keyset, readPage } from '../page.ts';

/** The partners of one practice group, as far as they concern it: nothing here is of another. */

const WORKS = `k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)`;

/** Those with a key for the group, whether it still works or not, with one that reaches it through a network, and those that it has stopped. */
const NEAR = `
  SELECT k.partner_id AS id FROM api_keys k WHERE k.practice_group_id = $1
  UNION
  SELECT s.partner_id FROM stops s WHERE s.practice_group_id = $1
  UNION
  SELECT k.partner_id FROM network_members mine JOIN networks n ON n.id = mine.network_id
    JOIN network_members theirs ON theirs.network_id = mine.network_id AND theirs.practice_group_id <> $1
    JOIN api_keys k ON k.practice_group_id = theirs.practice_group_id
   WHERE mine.practice_group_id = $1 AND ${WORKS} AND (n.partner_ids IS NULL OR k.partner_id = ANY (n.partner_ids))
     AND (n.scopes IS NULL OR n.scopes && k.scopes)`;

export interface KnownPartner {
  id: string;
  name: string;
  isVerified: boolean;
}

const byName: Keyset<KnownPartner> = { types: ['string', 'string'], keyOf: ({ name, id }) => [name, id] };

export function listPartnersOf(tx: Transaction, groupId: string, at: string, query: PageQuery) {
  return readPage(query, byName, ([name, id], limit) =>
    tx.query<KnownPartner>(
      `SELECT p.id, p.name, p.status = 'verified' AS "isVerified" FROM (${NEAR}) AS near JOIN partners p ON p.id = near.id
        WHERE $3::text IS NULL OR (p.name, p.id) > ($3, $4) ORDER BY p.name, p.id LIMIT $5`,
      [groupId, at, name, id, limit],
    ),
  );
}

export function findPartnerOf(
  tx: Transaction,
  groupId: string,
  partnerId: string,
  at: string,
): Promise<KnownPartner | undefined> {
  return tx.first<KnownPartner>(
    `SELECT p.id, p.name, p.status = 'verified' AS "isVerified" FROM (${NEAR}) AS near JOIN partners p ON p.id = near.id WHERE p.id = $3`,
    [groupId, at, partnerId],
  );
}

/** With which it may have read something, whether they still work or not. */
export async function listKeyIdsOf(tx: Transaction, partnerId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>('SELECT id FROM api_keys WHERE partner_id = $1', [partnerId]);
  return rows.map(({ id }) => id);
}

/** By which ways these partners reach the group at this moment, stops aside: by a key of its own first, then by the names of networks. */
export async function listWaysTo(
  tx: Transaction,
  groupId: string,
  partnerIds: readonly string[],
  at: string,
): Promise<Map<string, ReachingPartner['ways']>> {
  const rows = await tx.query<{
    partner_id: string;
    network: { id: string; name: string } | null;
    scopes: Scope[];
    since: string;
  }>(
    `WITH way AS MATERIALIZED (
       SELECT k.partner_id, NULL::text AS network_id, k.scopes, k.created_at AS since FROM api_keys k
        WHERE k.practice_group_id = $1 AND ${WORKS} AND k.partner_id = ANY ($3)
       UNION ALL
       SELECT k.partner_id, n.id, ARRAY(SELECT scope FROM unnest(k.scopes) AS scope WHERE n.scopes IS NULL OR scope = ANY (n.scopes)),
              greatest(k.created_at, joined.at, came.at)
         FROM network_members mine JOIN networks n ON n.id = mine.network_id
         JOIN network_members theirs ON theirs.network_id = mine.network_id AND theirs.practice_group_id <> $1
         JOIN api_keys k ON k.practice_group_id = theirs.practice_group_id AND ${WORKS} AND k.partner_id = ANY ($3)
        CROSS JOIN LATERAL (SELECT max(joined_at) AS at FROM network_memberships m
                             WHERE m.network_id = n.id AND m.practice_group_id = $1 AND m.left_at IS NULL) AS joined
        CROSS JOIN LATERAL (SELECT max(joined_at) AS at FROM network_memberships m
                             WHERE m.network_id = n.id AND m.practice_group_id = theirs.practice_group_id AND m.left_at IS NULL) AS came
        WHERE mine.practice_group_id = $1 AND (n.partner_ids IS NULL OR k.partner_id = ANY (n.partner_ids))
     ), granted AS (
       SELECT partner_id, network_id, array_agg(DISTINCT scope ORDER BY scope) AS scopes, min(since) AS since
         FROM way CROSS JOIN LATERAL unnest(way.scopes) AS scope GROUP BY partner_id, network_id
     )
     SELECT g.partner_id, CASE WHEN n.id IS NOT NULL THEN json_build_object('id', n.id, 'name', n.name) END AS network, g.scopes, g.since
       FROM granted g LEFT JOIN networks n ON n.id = g.network_id ORDER BY n.name NULLS FIRST, n.id`,
    [groupId, at, partnerIds],
  );
  const ways = new Map<string, ReachingPartner['ways']>();
  for (const { partner_id, ...way } of rows) ways.set(partner_id, [...(ways.get(partner_id) ?? []), way]);
  return ways;
}

/** So many of the latest reads and changes are looked through. */
const LATEST = 5_000;

export interface Calls {
  lastAt: string;
  /** Since the given moment. */
  count: number;
}

/** What these partners have called for, of the latest calls for the group. */
export async function readCallsTo(
  tx: Transaction,
  groupId: string,
  partnerIds: readonly string[],
  since: string,
): Promise<Map<string, Calls>> {
  const rows = await tx.query<Calls & { partner_id: string }>(
    `WITH called AS (
       SELECT k.partner_id, l.last_at AS at, (l.body::json ->> 'count')::integer AS count
         FROM (SELECT actor_id, last_at, body FROM access_log WHERE practice_group_id = $1 ORDER BY no DESC LIMIT ${LATEST}) AS l
         JOIN api_keys k ON k.id = l.actor_id WHERE k.partner_id = ANY ($2)
       UNION ALL
       SELECT c.partner_id, c.at, 1
         FROM (SELECT partner_id, at FROM changes WHERE practice_group_id = $1 ORDER BY position DESC LIMIT ${LATEST}) AS c
        WHERE c.partner_id = ANY ($2)
     )
     SELECT partner_id, max(at) AS "lastAt", coalesce(sum(count) FILTER (WHERE at >= $3), 0)::integer AS count FROM called GROUP BY partner_id`,
    [groupId, partnerIds, since],
  );
  return new Map(rows.map(({ partner_id, ...calls }) => [partner_id, calls]));
}

/** Of what is open for a webhook, which may be for many practices. */
const LOOKED_THROUGH = 10_000;

/** The webhooks by which a partner hears of the group, and what of the group is on its way to them. */
export async function readReceivers(
  tx: Transaction,
  groupId: string,
  partnerId: string,
): Promise<{ receivers: number; waiting: number }> {
  const open = `SELECT d.event_no FROM deliveries d WHERE greatest(d.webhook_no, 0) = w.no AND d.retry_at IS NOT NULL
    UNION ALL
    SELECT d.event_no FROM deliveries d WHERE d.webhook_no = w.no AND d.sequence >= l.open_from AND d.state = 'due' AND d.retry_at IS NULL`;
  const row = await tx.first<{ receivers: number; waiting: number }>(
    `WITH hook AS MATERIALIZED (
       SELECT w.no FROM webhooks w
        WHERE w.partner_id = $2 AND w.deleted_at IS NULL
          AND (w.practice_group_id = $1 OR (w.audience = 'partner' AND (w.only_group_ids IS NULL OR $1 = ANY (w.only_group_ids))))
     )
     SELECT (SELECT count(*) FROM hook)::integer AS receivers,
            (SELECT count(*) FROM (
               SELECT FROM hook w JOIN webhook_lanes l ON l.webhook_no = w.no
                CROSS JOIN LATERAL (SELECT * FROM (${open}) AS one LIMIT ${LOOKED_THROUGH}) AS waiting
                CROSS JOIN LATERAL (SELECT FROM events e WHERE e.no = waiting.event_no AND e.practice_group_id = $1 OFFSET 0) AS ours
                LIMIT ${WAITING_COUNT_MAX}) AS counted)::integer AS waiting`,
    [groupId, partnerId],
  );
  return row ?? { receivers: 0, waiting: 0 };
}
