import { timingSafeEqual } from 'node:crypto';
import type { Role } from '../contract/access.ts';
import type { Operator } from '../contract/operator/operators.ts';
import type { PageQuery } from '../contract/page.ts';
import type { OperatorPrincipal } from '../domain/principal.ts';
import type { Transaction } from './database.ts';
import { byId, readPage } from './page.ts';

export type StoredOperator = Omit<Operator, 'status'>;

const OPERATOR = 'id, name, role, created_at, revoked_at';

/** Who holds these tokens, in the order of their hashes: nobody (undefined) where there is no such token, or it was revoked. */
export async function findTokenHolders(
  tx: Transaction,
  hashes: readonly Buffer[],
): Promise<(OperatorPrincipal | undefined)[]> {
  const rows = await tx.query<{ id: string; name: string; role: Role; token_hash: Buffer }>(
    'SELECT id, name, role, token_hash FROM operators WHERE token_hash = ANY ($1) AND revoked_at IS NULL',
    [hashes],
  );
  return hashes.map((hash) => {
    const row = rows.find(({ token_hash }) => timingSafeEqual(token_hash, hash));
    return row && { kind: 'operator', operatorId: row.id, name: row.name, role: row.role };
  });
}

export function listOperatorPage(tx: Transaction, query: PageQuery) {
  return readPage(query, byId, ([after], limit) =>
    tx.query<StoredOperator>(
      `SELECT ${OPERATOR} FROM operators WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2`,
      [after, limit],
    ),
  );
}

export function findOperator(tx: Transaction, id: string): Promise<StoredOperator | undefined> {
  return tx.first<StoredOperator>(`SELECT ${OPERATOR} FROM operators WHERE id = $1`, [id]);
}

/** Every admin who can still come in, locked: two admins must not revoke each other at the same moment. */
export async function lockActiveAdmins(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    "SELECT id FROM operators WHERE role = 'admin' AND revoked_at IS NULL ORDER BY id FOR UPDATE",
  );
  return rows.map((row) => row.id);
}

export async function countOperators(tx: Transaction): Promise<number> {
  const row = await tx.first<{ count: number }>('SELECT count(*)::int AS count FROM operators');
  return row?.count ?? 0;
}

export function insertOperator(tx: Transaction, operator: StoredOperator, tokenHash: Buffer): void {
  tx.defer('INSERT INTO operators (id, name, role, token_hash, created_at) VALUES ($1, $2, $3, $4, $5)', [
    operator.id,
    operator.name,
    operator.role,
    tokenHash,
    operator.created_at,
  ]);
}

/** Makes this the operator's token, and one that works. Tells whether that changed anything. */
export async function setOperatorToken(tx: Transaction, id: string, tokenHash: Buffer): Promise<boolean> {
  const row = await tx.first(
    `UPDATE operators SET token_hash = $2, revoked_at = NULL
      WHERE id = $1 AND (token_hash <> $2 OR revoked_at IS NOT NULL) RETURNING id`,
    [id, tokenHash],
  );
  return row !== undefined;
}

export function markOperatorRevoked(tx: Transaction, id: string, now: string): void {
  tx.defer('UPDATE operators SET revoked_at = $2 WHERE id = $1', [id, now]);
}
