import type { Scope } from '../../contract/access.ts';
import type { NetworkShape, WorkingKey } from '../../domain/access/network-preview.ts';
import type { Transaction } from '../database.ts';

export type NamedKey = WorkingKey & { name: string };

/** The keys of these groups that work now. */
export function listWorkingKeys(
  tx: Transaction,
  groupIds: readonly string[],
  at: string,
): Promise<NamedKey[]> {
  return tx.query(
    `SELECT k.id, k.partner_id AS "partnerId", k.practice_group_id AS "homeId", k.scopes,
            coalesce(k.label, k.prefix || '…' || k.last_four) AS name
       FROM api_keys k JOIN partners p ON p.id = k.partner_id
      WHERE k.practice_group_id = ANY ($1) AND p.status = 'verified' AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)
      ORDER BY k.id`,
    [groupIds, at],
  );
}

/** The networks that hold any of these groups, but for one, each with those of its members that are among them. */
export async function listOtherNetworks(
  tx: Transaction,
  groupIds: readonly string[],
  except: string | undefined,
): Promise<NetworkShape[]> {
  const rows = await tx.query<{ members: string[]; scopes: Scope[] | null; partnerIds: string[] | null }>(
    `SELECT array_agg(m.practice_group_id) AS members, n.scopes, n.partner_ids AS "partnerIds"
       FROM network_members m JOIN networks n ON n.id = m.network_id
      WHERE m.practice_group_id = ANY ($1) AND ($2::text IS NULL OR n.id <> $2)
      GROUP BY n.id`,
    [groupIds, except ?? null],
  );
  return rows.map(({ members, ...caps }) => ({ ...caps, groupIds: new Set(members) }));
}

/** Which partners the practices of these groups have stopped: no network lets them through to these. */
export function listStoppedPairs(tx: Transaction, groupIds: readonly string[]): Promise<PartnerGroup[]> {
  return tx.query(
    `SELECT partner_id AS "partnerId", practice_group_id AS "groupId" FROM stops WHERE practice_group_id = ANY ($1) AND lifted_at IS NULL`,
    [groupIds],
  );
}

export interface PartnerGroup {
  partnerId: string;
  groupId: string;
}

/** Those of the pairs in which the partner receives the events of the group whatever becomes of a network. */
export async function findReceivedOtherwise(
  tx: Transaction,
  pairs: readonly PartnerGroup[],
  except: string | undefined,
  at: string,
): Promise<PartnerGroup[]> {
  const alive = `k.partner_id = pair.partner_id AND 'events:read' = ANY (k.scopes) AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > $4)`;
  return tx.query(
    `SELECT pair.partner_id AS "partnerId", pair.group_id AS "groupId" FROM unnest($1::text[], $2::text[]) AS pair (partner_id, group_id)
      WHERE EXISTS (SELECT FROM api_keys k WHERE k.practice_group_id = pair.group_id AND ${alive})
         OR EXISTS (SELECT FROM network_members mine JOIN networks n ON n.id = mine.network_id
                      JOIN network_members theirs ON theirs.network_id = mine.network_id
                      JOIN api_keys k ON k.practice_group_id = theirs.practice_group_id AND ${alive}
                     WHERE mine.practice_group_id = pair.group_id AND ($3::text IS NULL OR n.id <> $3)
                       AND (n.partner_ids IS NULL OR pair.partner_id = ANY (n.partner_ids))
                       AND (n.scopes IS NULL OR 'events:read' = ANY (n.scopes)))`,
    [pairs.map(({ partnerId }) => partnerId), pairs.map(({ groupId }) => groupId), except ?? null, at],
  );
}

export interface ConcernedWebhook {
  id: string;
  url: string;
  partnerId: string;
  /** null: for all practice groups. */
  homeId: string | null;
  onlyGroupIds: string[] | null;
}

/** The webhooks of these partners that are for one of these groups, or for all. */
export function listConcernedWebhooks(
  tx: Transaction,
  partnerIds: readonly string[],
  groupIds: readonly string[],
): Promise<ConcernedWebhook[]> {
  return tx.query(
    `SELECT w.id, w.url, w.partner_id AS "partnerId", w.practice_group_id AS "homeId", w.only_group_ids AS "onlyGroupIds"
       FROM webhooks w
      WHERE w.deleted_at IS NULL AND w.partner_id = ANY ($1) AND (w.practice_group_id = ANY ($2) OR w.audience = 'partner') ORDER BY w.id`,
    [partnerIds, groupIds],
  );
}

export async function readNames(
  tx: Transaction,
  table: 'partners' | 'practice_groups',
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; name: string }>(
    `SELECT id, name FROM ${table} WHERE id = ANY ($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
