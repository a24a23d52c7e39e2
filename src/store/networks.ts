import type { Network } from '../contract/operator/networks.ts';
import type { PageQuery } from '../contract/page.ts';
import type { Transaction } from './database.ts';
import { byId, readPage } from './page.ts';

const NETWORK = `
  n.id, n.name, n.created_at, n.updated_at,
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

export function insertNetwork(tx: Transaction, network: { id: string; name: string; now: string }): void {
  tx.defer('INSERT INTO networks (id, name, created_at, updated_at) VALUES ($1, $2, $3, $3)', [
    network.id,
    network.name,
    network.now,
  ]);
}

/** Puts those of the groups that exist into the network, and tells which do. */
export async function insertMembers(
  tx: Transaction,
  networkId: string,
  groupIds: readonly string[],
  now: string,
): Promise<string[]> {
  const rows = await tx.query<{ practice_group_id: string }>(
    `INSERT INTO network_members (network_id, practice_group_id)
     SELECT $1, id FROM practice_groups WHERE id = ANY ($2) ORDER BY id
     ON CONFLICT DO NOTHING RETURNING practice_group_id`,
    [networkId, groupIds],
  );
  // Who was in a network when is remembered: the access log tells through which one somebody was told something.
  tx.defer(
    `INSERT INTO network_memberships (practice_group_id, network_id, joined_at)
     SELECT id, $1, $3 FROM unnest($2::text[]) AS joined (id) ON CONFLICT DO NOTHING`,
    [networkId, rows.map((row) => row.practice_group_id), now],
  );
  return rows.map((row) => row.practice_group_id);
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
