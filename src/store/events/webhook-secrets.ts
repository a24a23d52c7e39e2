import type { Sealed } from '../../platform/sealing.ts';
import type { Transaction } from '../database.ts';

/** Secrets as they lie in the database: sealed for their webhook, each with the ID of the key that sealed it. */

/** What the secrets of a webhook are bound to as they are sealed. */
export function secretOwner(webhookId: string): string {
  return `webhook_secrets ${webhookId}`;
}

/** And its own headers, apart from these. */
export function headersOwner(webhookId: string): string {
  return `webhook_headers ${webhookId}`;
}

/** Null: it has none any more. */
export function putHeaders(
  tx: Transaction,
  webhookNo: number,
  headers: { names: readonly string[]; sealed: Sealed } | null,
): void {
  tx.defer('UPDATE webhooks SET header_names = $2, headers_sealed = $3, headers_key_id = $4 WHERE no = $1', [
    webhookNo,
    headers?.names ?? [],
    headers?.sealed.sealed,
    headers?.sealed.keyId,
  ]);
}

export async function countLiveSecrets(tx: Transaction, webhookNo: number, now: string): Promise<number> {
  const row = await tx.first<{ count: number }>(
    'SELECT count(*) FROM webhook_secrets WHERE webhook_no = $1 AND (expires_at IS NULL OR expires_at > $2)',
    [webhookNo, now],
  );
  return row?.count ?? 0;
}

export function insertSecret(
  tx: Transaction,
  webhookNo: number,
  { sealed, keyId }: Sealed,
  now: string,
): void {
  tx.defer(
    'INSERT INTO webhook_secrets (webhook_no, sealed, key_id, is_bound, created_at) VALUES ($1, $2, $3, true, $4)',
    [webhookNo, sealed, keyId, now],
  );
}

/** The newest secret signs until then; those whose time is over go. */
export function expireSecrets(tx: Transaction, webhookNo: number, now: string, until: string): void {
  tx.defer('DELETE FROM webhook_secrets WHERE webhook_no = $1 AND expires_at <= $2', [webhookNo, now]);
  tx.defer('UPDATE webhook_secrets SET expires_at = $2 WHERE webhook_no = $1 AND expires_at IS NULL', [
    webhookNo,
    until,
  ]);
}

// ---- A change of the master key ----

export function deleteExpiredSecrets(tx: Transaction, now: string): void {
  tx.defer('DELETE FROM webhook_secrets WHERE expires_at <= $1', [now]);
}

/** The IDs of the keys that some secret is sealed under. */
export async function listSealingKeys(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ key_id: string }>(
    `SELECT key_id FROM webhook_secrets UNION SELECT headers_key_id FROM webhooks WHERE headers_key_id IS NOT NULL ORDER BY key_id`,
  );
  return rows.map(({ key_id }) => key_id);
}

export interface SealedRow extends Sealed {
  webhookNo: number;
  webhookId: string;
  no: number;
}

/** Some that are not sealed under the key, or not for their webhook; locked, so that nobody else seals them anew at the same time. */
export async function lockSecretsToReseal(
  tx: Transaction,
  keyId: string,
  limit: number,
): Promise<SealedRow[]> {
  return tx.query<SealedRow>(
    `SELECT s.webhook_no AS "webhookNo", w.id AS "webhookId", s.no, s.sealed, s.key_id AS "keyId"
       FROM webhook_secrets s JOIN webhooks w ON w.no = s.webhook_no
      WHERE s.key_id <> $1 OR NOT s.is_bound ORDER BY s.webhook_no, s.no LIMIT $2 FOR UPDATE OF s`,
    [keyId, limit],
  );
}

export function replaceSealed(tx: Transaction, rows: readonly SealedRow[]): void {
  tx.defer(
    `UPDATE webhook_secrets s SET sealed = new.sealed, key_id = new.key_id, is_bound = true
       FROM unnest($1::integer[], $2::integer[], $3::bytea[], $4::text[]) AS new (webhook_no, no, sealed, key_id)
      WHERE s.webhook_no = new.webhook_no AND s.no = new.no`,
    [
      rows.map(({ webhookNo }) => webhookNo),
      rows.map(({ no }) => no),
      rows.map(({ sealed }) => sealed),
      rows.map(({ keyId }) => keyId),
    ],
  );
}

/** The same for headers: some that are not sealed under the key. */
export function lockHeadersToReseal(
  tx: Transaction,
  keyId: string,
  limit: number,
): Promise<(Sealed & { webhookNo: number; webhookId: string })[]> {
  return tx.query(
    `SELECT no AS "webhookNo", id AS "webhookId", headers_sealed AS sealed, headers_key_id AS "keyId" FROM webhooks
      WHERE headers_key_id <> $1 ORDER BY no LIMIT $2 FOR NO KEY UPDATE`,
    [keyId, limit],
  );
}

export function replaceSealedHeaders(tx: Transaction, webhookNo: number, { sealed, keyId }: Sealed): void {
  tx.defer('UPDATE webhooks SET headers_sealed = $2, headers_key_id = $3 WHERE no = $1', [
    webhookNo,
    sealed,
    keyId,
  ]);
}
