import { timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../contract/operator/keys.ts';
import type { PageQuery } from '../contract/page.ts';
import type { KeyRecord } from '../domain/access.ts';
import type { Transaction } from './database.ts';
import { byId, readPage } from './page.ts';

/** What it is worth at a moment, its status, is not stored. */
export type StoredKey = Omit<ApiKey, 'status'>;

const KEY = `id, partner_id, practice_group_id, scopes, prefix, last_four, rate_limit_per_minute, expires_at,
  revoked_at, replaced_by, created_at`;

/** These keys with their partners, in the order of their hashes, whether they still work or not. */
export async function findKeysByHash(
  tx: Transaction,
  hashes: readonly Buffer[],
): Promise<(KeyRecord | undefined)[]> {
  const rows = await tx.query<KeyRecord & { key_hash: Buffer }>(
    `SELECT k.id, k.partner_id, k.practice_group_id, k.key_hash, k.scopes, k.rate_limit_per_minute, k.expires_at, k.revoked_at,
            p.status AS partner_status, p.rate_limit_per_minute AS partner_rate_limit_per_minute
       FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.key_hash = ANY ($1)`,
    [hashes],
  );
  return hashes.map((hash) => rows.find(({ key_hash }) => timingSafeEqual(key_hash, hash)));
}

export function insertKey(tx: Transaction, key: StoredKey, hash: Buffer): void {
  tx.defer(
    `INSERT INTO api_keys (id, partner_id, practice_group_id, key_hash, prefix, last_four, scopes,
                           rate_limit_per_minute, expires_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      key.id,
      key.partner_id,
      key.practice_group_id,
      hash,
      key.prefix,
      key.last_four,
      key.scopes,
      key.rate_limit_per_minute,
      key.expires_at,
      key.created_at,
    ],
  );
}

export function updateKey(tx: Transaction, key: StoredKey): void {
  tx.defer('UPDATE api_keys SET expires_at = $2, revoked_at = $3, replaced_by = $4 WHERE id = $1', [
    key.id,
    key.expires_at,
    key.revoked_at,
    key.replaced_by,
  ]);
}

export function listKeyPage(
  tx: Transaction,
  query: PageQuery & { partner_id?: string | undefined; practice_group_id?: string | undefined },
) {
  return readPage(query, byId, ([after], limit) => {
    return tx.query<StoredKey>(
      `SELECT ${KEY} FROM api_keys
        WHERE ($1::text IS NULL OR id > $1) AND ($2::text IS NULL OR partner_id = $2)
          AND ($3::text IS NULL OR practice_group_id = $3)
        ORDER BY id LIMIT $4`,
      [after, query.partner_id, query.practice_group_id, limit],
    );
  });
}

export async function findKey(tx: Transaction, id: string): Promise<StoredKey | undefined> {
  return tx.first<StoredKey>(`SELECT ${KEY} FROM api_keys WHERE id = $1`, [id]);
}

export async function lockKey(tx: Transaction, id: string): Promise<StoredKey | undefined> {
  return tx.first<StoredKey>(`SELECT ${KEY} FROM api_keys WHERE id = $1 FOR UPDATE`, [id]);
}
