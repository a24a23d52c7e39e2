import { timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../../contract/operator/access/keys.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { KeyRecord } from '../../domain/access/access.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

/** What it is worth at a moment, its status, is not stored. */
export type StoredKey = Omit<ApiKey, 'status'> & { version: number };

const OWN = [
  'id',
  'partner_id',
  'practice_group_id',
  'label',
  'scopes',
  'prefix',
  'last_four',
  'rate_limit_per_minute',
  'agreement_id',
  'allowed_addresses',
  'proof',
  'certificate_fingerprints',
  'jwks',
  'expires_at',
  'revoked_at',
  'leak',
  'replaced_by',
  'version',
  'created_at',
] as const;

const KEY = `SELECT ${OWN.map((name) => `k.${name}`).join(', ')}, u.last_used_at, u.last_used_from
  FROM api_keys k LEFT JOIN key_uses u ON u.key_id = k.id`;

const RECORD = `SELECT k.id, k.partner_id, k.practice_group_id, k.key_hash, k.scopes, k.rate_limit_per_minute, k.expires_at, k.revoked_at,
            k.leak IS NOT NULL AS is_leaked, k.allowed_addresses, k.proof, k.certificate_fingerprints, k.jwks,
            p.status AS partner_status,
            CASE WHEN k.agreement_id IS NULL THEN p.rate_limit_per_minute ELSE a.rate_limit_per_minute END AS agreed_rate_limit_per_minute
       FROM api_keys k JOIN partners p ON p.id = k.partner_id LEFT JOIN agreements a ON a.id = k.agreement_id`;

/** These keys with their partners, in the order of their hashes, whether they still work or not. */
export async function findKeysByHash(
  tx: Transaction,
  hashes: readonly Buffer[],
): Promise<(KeyRecord | undefined)[]> {
  const rows = await tx.query<KeyRecord & { key_hash: Buffer }>(`${RECORD} WHERE k.key_hash = ANY ($1)`, [
    hashes,
  ]);
  return hashes.map((hash) => rows.find(({ key_hash }) => timingSafeEqual(key_hash, hash)));
}

/** The same by their IDs. */
export async function findKeysById(
  tx: Transaction,
  ids: readonly string[],
): Promise<(KeyRecord | undefined)[]> {
  const rows = await tx.query<KeyRecord>(`${RECORD} WHERE k.id = ANY ($1)`, [ids]);
  return ids.map((id) => rows.find((one) => one.id === id));
}

/** The same as operators see them, for a change. Locked in one order, whatever order they are asked for in. */
export async function lockKeysByHash(
  tx: Transaction,
  hashes: readonly Buffer[],
): Promise<(StoredKey | undefined)[]> {
  const rows = await tx.query<{ id: string; key_hash: Buffer }>(
    'SELECT id, key_hash FROM api_keys WHERE key_hash = ANY ($1) ORDER BY id FOR UPDATE',
    [hashes],
  );
  const keys = await tx.query<StoredKey>(`${KEY} WHERE k.id = ANY ($1)`, [rows.map(({ id }) => id)]);
  return hashes.map((hash) => {
    const found = rows.find(({ key_hash }) => timingSafeEqual(key_hash, hash));
    return found && keys.find(({ id }) => id === found.id);
  });
}

/** One statement, however many they are. Not jsonb: what is kept as JSON comes back as it was sent. */
export function insertKeys(tx: Transaction, keys: readonly { stored: StoredKey; hash: Buffer }[]): void {
  const columns = [...OWN, 'key_hash'].join(', ');
  const rows = keys.map(({ stored, hash }) => ({ ...stored, key_hash: `\\x${hash.toString('hex')}` }));
  tx.defer(
    `INSERT INTO api_keys (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::api_keys, $1)`,
    [JSON.stringify(rows)],
  );
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value));

/** Those of its columns that may change. */
export function updateKeyRow(tx: Transaction, key: StoredKey): void {
  tx.defer(
    `UPDATE api_keys SET label = $2, scopes = $3, rate_limit_per_minute = $4, allowed_addresses = $5, proof = $6,
            certificate_fingerprints = $7, jwks = $8, expires_at = $9, revoked_at = $10, leak = $11, replaced_by = $12, version = $13,
            agreement_id = $14
      WHERE id = $1`,
    [
      key.id,
      key.label,
      key.scopes,
      key.rate_limit_per_minute,
      key.allowed_addresses,
      key.proof,
      key.certificate_fingerprints,
      json(key.jwks),
      key.expires_at,
      key.revoked_at,
      json(key.leak),
      key.replaced_by,
      key.version,
      key.agreement_id,
    ],
  );
}

export function listKeyPage(
  tx: Transaction,
  query: PageQuery & {
    partner_id?: string | undefined;
    practice_group_id?: string | undefined;
    status?: ApiKey['status'] | undefined;
  },
  /** What `status` goes by. */
  now: string | null = null,
) {
  return readPage(query, byId, ([after], limit) => {
    return tx.query<StoredKey>(
      `${KEY} WHERE ($1::text IS NULL OR k.id > $1) AND ($2::text IS NULL OR k.partner_id = $2)
          AND ($3::text IS NULL OR k.practice_group_id = $3)
          AND ($5::text IS NULL OR $5 = CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= $6 THEN 'expired' ELSE 'active' END)
        ORDER BY k.id LIMIT $4`,
      [after, query.partner_id, query.practice_group_id, limit, query.status, now],
    );
  });
}

export async function findKey(tx: Transaction, id: string): Promise<StoredKey | undefined> {
  return tx.first<StoredKey>(`${KEY} WHERE k.id = $1`, [id]);
}

export async function lockKey(tx: Transaction, id: string): Promise<StoredKey | undefined> {
  return tx.first<StoredKey>(`${KEY} WHERE k.id = $1 FOR UPDATE OF k`, [id]);
}

/** When and where from keys were used last. */
export interface KeyUse {
  keyId: string;
  at: string;
  from: string;
}

/** Of several nodes that tell of one key, the latest holds. In one order, so that two of them never wait for each other. */
export async function recordKeyUses(tx: Transaction, uses: readonly KeyUse[]): Promise<void> {
  await tx.query(
    `INSERT INTO key_uses (key_id, last_used_at, last_used_from)
     SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[]) AS u (key_id, at, address) ORDER BY key_id
     ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at, last_used_from = excluded.last_used_from
      WHERE key_uses.last_used_at < excluded.last_used_at`,
    [uses.map(({ keyId }) => keyId), uses.map(({ at }) => at), uses.map(({ from }) => from)],
  );
}
