import type { Sealed } from '../../platform/sealing.ts';
import type { Transaction } from '../database.ts';

/** The key pairs that sign deliveries for everybody (Ed25519). The private part is sealed. */
export interface StoredSigningKey extends Sealed {
  id: string;
  /** In base64. */
  publicKey: string;
  createdAt: string;
  expiresAt: string | null;
}

/** What the private part is bound to as it is sealed. */
export function signingKeyOwner(id: string): string {
  return `signing_keys ${id}`;
}

/** Those that sign at this moment, the newest first. */
export function listLiveSigningKeys(tx: Transaction, now: string): Promise<StoredSigningKey[]> {
  return tx.query<StoredSigningKey>(
    `SELECT id, public_key AS "publicKey", sealed, sealed_key_id AS "keyId", created_at AS "createdAt", expires_at AS "expiresAt"
       FROM signing_keys WHERE expires_at IS NULL OR expires_at > $1 ORDER BY expires_at DESC NULLS FIRST, id DESC`,
    [now],
  );
}

export function insertSigningKey(tx: Transaction, key: StoredSigningKey): void {
  tx.defer(
    'INSERT INTO signing_keys (id, public_key, sealed, sealed_key_id, created_at) VALUES ($1, $2, $3, $4, $5)',
    [key.id, key.publicKey, key.sealed, key.keyId, key.createdAt],
  );
}

/** The newest signs until then; those whose time is over go. Whoever remembers a webhook that they sign for looks again. */
export function expireSigningKeys(tx: Transaction, now: string, until: string): void {
  tx.defer('DELETE FROM signing_keys WHERE expires_at <= $1', [now]);
  tx.defer('UPDATE signing_keys SET expires_at = $1 WHERE expires_at IS NULL', [until]);
  tx.defer("UPDATE webhooks SET version = version + 1 WHERE signature <> 'hmac' AND deleted_at IS NULL");
}

/** All rotations wait for each other. */
export function lockSigningKeys(tx: Transaction): void {
  tx.defer('LOCK TABLE signing_keys IN SHARE ROW EXCLUSIVE MODE');
}

export function replaceSealedSigningKey(tx: Transaction, id: string, { sealed, keyId }: Sealed): void {
  tx.defer('UPDATE signing_keys SET sealed = $2, sealed_key_id = $3 WHERE id = $1', [id, sealed, keyId]);
}

export function deleteSigningKey(tx: Transaction, id: string): void {
  tx.defer('DELETE FROM signing_keys WHERE id = $1', [id]);
}

export async function anySignedWebhook(tx: Transaction): Promise<boolean> {
  const found = await tx.first(
    "SELECT no FROM webhooks WHERE signature <> 'hmac' AND deleted_at IS NULL LIMIT 1",
  );
  return found !== undefined;
}
