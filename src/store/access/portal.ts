import { partnerKindNames } from '../../contract/alerts.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { DayOfCalls, PortalWay } from '../../contract/portal/account.ts';
import { isReached, type KeyRecord } from '../../domain/access/access.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';
import { findReachableGroups } from '../practices/practice-groups.ts';

/** What people of a partner see across its keys. Everything here is asked for one partner, and by its ID. */

const WORKING = `k.partner_id = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)`;
/** Practices that a working key may be thought to reach; whether it does is for the door's own question to say. */
const NEAR = `
  SELECT k.id AS key_id, k.practice_group_id AS group_id, NULL::text AS network_id FROM api_keys k WHERE ${WORKING}
  UNION ALL
  SELECT k.id, target.practice_group_id, n.id FROM api_keys k
    JOIN network_members home ON home.practice_group_id = k.practice_group_id
    JOIN network_members target ON target.network_id = home.network_id AND target.practice_group_id <> k.practice_group_id
    JOIN networks n ON n.id = home.network_id AND (n.partner_ids IS NULL OR $1 = ANY (n.partner_ids))
   WHERE ${WORKING}`;

interface NearPractice {
  id: string;
  name: string;
  ods_code: string | null;
}

export function listNearPractices(tx: Transaction, partnerId: string, now: string, query: PageQuery) {
  return readPage(query, byId, ([after], limit) =>
    tx.query<NearPractice>(
      `WITH homes AS (SELECT DISTINCT practice_group_id AS id FROM api_keys k WHERE ${WORKING}),
            near AS (SELECT id FROM homes UNION
                     SELECT practice_group_id FROM network_members WHERE network_id IN
                       (SELECT n.id FROM networks n JOIN network_members m ON m.network_id = n.id JOIN homes ON homes.id = m.practice_group_id
                         WHERE n.partner_ids IS NULL OR $1 = ANY (n.partner_ids)))
       SELECT g.id, g.name, g.ods_code FROM practice_groups g
        WHERE g.id IN (SELECT id FROM near) AND ($3::text IS NULL OR g.id > $3) ORDER BY g.id LIMIT $4`,
      [partnerId, now, after, limit],
    ),
  );
}

/** So many keys are looked at for each practice. */
const KEYS_LOOKED_AT = 10;

/**
 * With which keys these practices are acted for at this moment, and with which scopes: what comes near is narrowed by the question that the door
 * asks, so that the portal never offers what the door would refuse. Null stands for webhooks for all practices: any key will do, for its own practice.
 */
export async function findWays(
  tx: Transaction,
  partnerId: string,
  now: string,
  groupIds: readonly string[] | null,
): Promise<PortalWay[]> {
  const near = await tx.query<
    Pick<KeyRecord, 'scopes' | 'proof' | 'allowed_addresses'> &
      Pick<PortalWay, 'key_id' | 'label' | 'last_four' | 'through'> & { home: string; group_id: string }
  >(
    `SELECT * FROM (
       SELECT k.id AS key_id, k.label, k.last_four, k.scopes, k.proof, k.allowed_addresses, k.practice_group_id AS home, near.group_id,
              (SELECT json_build_object('id', n.id, 'name', n.name) FROM networks n WHERE n.id = near.network_id) AS through,
              row_number() OVER (PARTITION BY CASE WHEN $3::text[] IS NULL THEN '' ELSE near.group_id END
                                 ORDER BY k.proof <> 'none', near.network_id IS NOT NULL, cardinality(k.scopes) DESC, k.id) AS place
         FROM (${NEAR}) AS near JOIN api_keys k ON k.id = near.key_id JOIN partners p ON p.id = k.partner_id AND p.status = 'verified'
        WHERE CASE WHEN $3::text[] IS NULL THEN near.network_id IS NULL ELSE near.group_id = ANY ($3) END) AS placed
      WHERE place <= ${KEYS_LOOKED_AT} ORDER BY group_id, place`,
    [partnerId, now, groupIds],
  );
  const asked = near.flatMap((way) => way.scopes.map((scope) => ({ way, scope })));
  const reached = await findReachableGroups(
    tx,
    asked.map(({ way, scope }) => ({ homeGroupId: way.home, groupId: way.group_id, partnerId, scope })),
  );
  return near.flatMap((way) => {
    const scopes = asked.flatMap((one, at) => (one.way === way && isReached(reached[at]) ? one.scope : []));
    if (scopes.length === 0) return [];
    const { key_id, label, last_four, through, group_id, proof, allowed_addresses } = way;
    const demands = proof !== 'none' ? 'proof' : allowed_addresses === null ? 'nothing' : 'address';
    return { key_id, label, last_four, practice_group_id: group_id, scopes, through, demands };
  });
}

/** Calls by day, of all keys of the partner or of these. A day without any is left out. */
export async function readDaysOfCalls(
  tx: Transaction,
  partnerId: string,
  from: string,
  keyIds: readonly string[] | null = null,
): Promise<(DayOfCalls & { key_id: string })[]> {
  const of = (outcome: string) =>
    `coalesce(sum(count) FILTER (WHERE outcome = '${outcome}'), 0)::bigint AS ${outcome}`;
  return tx.query(
    `SELECT to_char(day, 'YYYY-MM-DD') AS day, CASE WHEN $3::text[] IS NULL THEN '' ELSE subject_id END AS key_id,
            ${['ok', 'refused', 'rate_limited', 'failed'].map(of).join(', ')}
       FROM usage WHERE partner_id = $1 AND kind = 'call' AND day >= $2::date AND ($3::text[] IS NULL OR subject_id = ANY ($3))
      GROUP BY 1, 2 ORDER BY 1`,
    [partnerId, from, keyIds],
  );
}

export async function countForHome(tx: Transaction, partnerId: string, now: string, soon: string) {
  const row = await tx.first<Record<string, number>>(
    `SELECT (SELECT count(*) FROM api_keys k WHERE ${WORKING}) AS keys_active,
            (SELECT count(*) FROM api_keys k WHERE ${WORKING} AND k.expires_at <= $3) AS keys_ending,
            count(*) FILTER (WHERE w.status = 'active') AS webhooks_active,
            count(*) FILTER (WHERE w.status = 'active' AND l.failing_since IS NOT NULL) AS webhooks_failing,
            count(*) FILTER (WHERE w.status = 'paused') AS webhooks_paused,
            count(*) FILTER (WHERE w.status = 'disabled') AS webhooks_disabled,
            count(*) FILTER (WHERE w.withheld_since IS NOT NULL
                               OR EXISTS (SELECT FROM withheld_groups g WHERE g.webhook_no = w.no)) AS webhooks_withheld,
            (SELECT count(*) FROM alerts a WHERE a.partner_id = $1 AND a.ended_at IS NULL AND a.kind = ANY ($4)) AS alerts_open
       FROM webhooks w JOIN webhook_lanes l ON l.webhook_no = w.no
      WHERE w.partner_id = $1 AND w.deleted_at IS NULL AND w.audience <> 'operator'`,
    [partnerId, now, soon, partnerKindNames],
  );
  return (name: string) => row?.[name] ?? 0;
}

export async function findGroupNames(tx: Transaction, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; name: string }>(
    'SELECT id, name FROM practice_groups WHERE id = ANY ($1)',
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Whether the service as a whole is late with deliveries: an alert of its own says so. */
export async function areDeliveriesLate(tx: Transaction): Promise<boolean> {
  const row = await tx.first(
    `SELECT id FROM alerts WHERE kind = 'deliveries_late' AND subject_type = 'service' AND ended_at IS NULL LIMIT 1`,
  );
  return row !== undefined;
}
