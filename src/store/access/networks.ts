import type { Network } from '../../contract/operator/access/networks.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

const NETWORK = `
  n.id, n.name, n.scopes, n.partner_ids, n.created_at, n.updated_at,
  ARRAY(SELECT practice_group_id FROM network_members m WHERE m.network_id = n.id ORDER BY 1) AS practice_group_ids`;

export function listNetworkPage(tx: Transaction, query: PageQuery) {
  return readPage(query, byId, ([after], limit) => {
    return tx.query<Network>(
      `SELECT ${NETWORK} FROM networks n WHERE $1::text IS NULL OR n.id > $1 ORDER BY n.id LIMIT $2`,
      [after, limit],
    );
  });
}

export async function findNetwork(tx: Transaction, id: string): Promise<Network | undefined> {
  return tx.first<Network>(`SELECT ${NETWORK} FROM networks n WHERE n.id = $1`, [id]);
}

/** Locks first and reads then: a statement that waited for a lock still sees the members from before its wait. */
export function lockNetwork(tx: Transaction, id: string): Promise<Network | undefined> {
  tx.defer('SELECT FROM networks WHERE id = $1 FOR UPDATE', [id]);
  return findNetwork(tx, id);
}

export function insertNetwork(tx: Transaction, network: Network): void {
  tx.defer(
    'INSERT INTO networks (id, name, scopes, partner_ids, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6)',
    [network.id, network.name, network.scopes, network.partner_ids, network.created_at, network.updated_at],
  );
}

export function updateNetworkRow(tx: Transaction, network: Network): void {
  const { id, name, scopes, partner_ids, updated_at } = network;
  tx.defer('UPDATE networks SET name = $2, scopes = $3, partner_ids = $4, updated_at = $5 WHERE id = $1', [
    id,
    name,
    scopes,
    partner_ids,
    updated_at,
  ]);
  tx.defer(
    `UPDATE network_memberships SET left_at = $4 WHERE network_id = $1 AND left_at IS NULL
        AND (scopes IS DISTINCT FROM $2::text[] OR partner_ids IS DISTINCT FROM $3::text[])`,
    [id, scopes, partner_ids, updated_at],
  );
  rememberMembers(tx, network, network.practice_group_ids, updated_at);
}

/** Puts those of the groups that exist into the network, and tells which do. */
export async function insertMembers(
  tx: Transaction,
  network: Network,
  groupIds: readonly string[],
  now: string,
): Promise<string[]> {
  const rows = await tx.query<{ practice_group_id: string }>(
    `INSERT INTO network_members (network_id, practice_group_id)
     SELECT $1, id FROM practice_groups WHERE id = ANY ($2) ORDER BY id
     ON CONFLICT DO NOTHING RETURNING practice_group_id`,
    [network.id, groupIds],
  );
  const inserted = rows.map((row) => row.practice_group_id);
  rememberMembers(tx, network, inserted, now);
  return inserted;
}

/**
 * Who was in a network when, and what it granted then: the access log tells through which one somebody was told something. Those of
 * whom it is known already are left as they are.
 */
function rememberMembers(
  tx: Transaction,
  { id, scopes, partner_ids }: Network,
  groupIds: readonly string[],
  now: string,
): void {
  tx.defer(
    `INSERT INTO network_memberships (practice_group_id, network_id, joined_at, scopes, partner_ids)
     SELECT joined.id, $1, $3, $4, $5 FROM unnest($2::text[]) AS joined (id)
      WHERE NOT EXISTS (SELECT FROM network_memberships known
                         WHERE known.practice_group_id = joined.id AND known.network_id = $1 AND known.left_at IS NULL)
     ON CONFLICT (practice_group_id, network_id, joined_at)
        DO UPDATE SET left_at = NULL, scopes = EXCLUDED.scopes, partner_ids = EXCLUDED.partner_ids`,
    [id, groupIds, now, scopes, partner_ids],
  );
}

export async function deleteMember(
  tx: Transaction,
  networkId: string,
  groupId: string,
  now: string,
): Promise<boolean> {
  tx.defer(
    `UPDATE network_memberships SET left_at = $3
      WHERE network_id = $1 AND practice_group_id = $2 AND left_at IS NULL`,
    [networkId, groupId, now],
  );
  const row = await tx.first(
    'DELETE FROM network_members WHERE network_id = $1 AND practice_group_id = $2 RETURNING network_id',
    [networkId, groupId],
  );
  return row !== undefined;
}

export function touchNetwork(tx: Transaction, id: string, now: string): void {
  tx.defer('UPDATE networks SET updated_at = $2 WHERE id = $1', [id, now]);
}

export function deleteNetworkRow(tx: Transaction, id: string, now: string): void {
  tx.defer('UPDATE network_memberships SET left_at = $2 WHERE network_id = $1 AND left_at IS NULL', [
    id,
    now,
  ]);
  tx.defer('DELETE FROM networks WHERE id = $1', [id]);
}
