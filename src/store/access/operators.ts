import { timingSafeEqual } from 'node:crypto';
import type { Role } from '../../contract/access.ts';
import type { Operator } from '../../contract/operator/access/operators.ts';
import type { PageQuery } from '../../contract/page.ts';
import { instantOf } from '../../domain/access/access.ts';
import type { OperatorPrincipal } from '../../domain/access/principal.ts';
import type { Sealed } from '../../platform/sealing.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

export type StoredOperator = Omit<Operator, 'status'>;

const OPERATOR =
  'id, name, kind, role, label, issuer, subject, is_emergency AS emergency, expires_at, last_used_at, created_at, revoked_at';

interface TokenRow {
  id: string;
  name: string;
  role: Role;
  token_hash: Buffer;
  expires_at: string | null;
  last_used_at: string | null;
  is_emergency: boolean;
}

export interface TokenHolder {
  principal: OperatorPrincipal;
  lastUsedAt: number;
}

/**
 * Who holds these tokens, in the order of their hashes: nobody (undefined) where there is no such token, or it was revoked. Time takes one
 * away too: ask `hasExpired` at each use.
 */
export async function findTokenHolders(
  tx: Transaction,
  hashes: readonly Buffer[],
): Promise<(TokenHolder | undefined)[]> {
  const rows = await tx.query<TokenRow>(
    `SELECT id, name, role, token_hash, expires_at, last_used_at, is_emergency FROM operators
      WHERE token_hash = ANY ($1) AND revoked_at IS NULL`,
    [hashes],
  );
  return hashes.map((hash) => {
    const row = rows.find(({ token_hash }) => timingSafeEqual(token_hash, hash));
    return row && holderOf(row);
  });
}

function holderOf({ id, name, role, expires_at, last_used_at, is_emergency }: TokenRow): TokenHolder {
  return {
    principal: {
      kind: 'operator',
      operatorId: id,
      name,
      role,
      expiresAt: instantOf(expires_at),
      ...(is_emergency && { isEmergency: true as const }),
    },
    lastUsedAt: last_used_at === null ? Number.NEGATIVE_INFINITY : Date.parse(last_used_at),
  };
}

/** A token that was used needs to be shown no more. A row that somebody is just changing is left for the next time. */
export function markTokensUsed(tx: Transaction, ids: readonly string[], now: string): void {
  tx.defer(
    `UPDATE operators SET last_used_at = $2, unused_token = NULL, unused_token_key_id = NULL
      WHERE id = ANY (ARRAY(SELECT id FROM operators WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED))`,
    [ids, now],
  );
}

export function listOperatorPage(tx: Transaction, query: PageQuery) {
  return readPage(query, byId, ([after], limit) =>
    tx.query<StoredOperator>(
      `SELECT ${OPERATOR} FROM operators WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2`,
      [after, limit],
    ),
  );
}

/** The same, and nobody else changes it meanwhile. */
export function lockOperator(tx: Transaction, id: string): Promise<StoredOperator | undefined> {
  return tx.first<StoredOperator>(`SELECT ${OPERATOR} FROM operators WHERE id = $1 FOR NO KEY UPDATE`, [id]);
}

export function findOperator(tx: Transaction, id: string): Promise<StoredOperator | undefined> {
  return tx.first<StoredOperator>(`SELECT ${OPERATOR} FROM operators WHERE id = $1`, [id]);
}

/** Every admin who can still come in, locked: two admins must not revoke each other at the same moment. */
export function lockActiveAdmins(
  tx: Transaction,
  now: string,
): Promise<Pick<StoredOperator, 'id' | 'expires_at'>[]> {
  return tx.query(
    `SELECT id, expires_at FROM operators WHERE role = 'admin' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)
      ORDER BY id FOR UPDATE`,
    [now],
  );
}

export async function countOperators(tx: Transaction): Promise<number> {
  const row = await tx.first<{ count: number }>('SELECT count(*)::int AS count FROM operators');
  return row?.count ?? 0;
}

/** Returns whether the first operator created the second, directly or through operators that it had created. */
export async function hasCreated(tx: Transaction, id: string, other: string): Promise<boolean> {
  const row = await tx.first(
    `WITH RECURSIVE creators AS (
       SELECT created_by FROM operators WHERE id = $2
       UNION SELECT o.created_by FROM creators c JOIN operators o ON o.id = c.created_by
     ) SELECT FROM creators WHERE created_by = $1`,
    [id, other],
  );
  return row !== undefined;
}

export function insertOperator(
  tx: Transaction,
  operator: StoredOperator,
  tokenHash: Buffer,
  createdBy: string | null,
): void {
  tx.defer(
    `INSERT INTO operators (id, name, role, label, expires_at, token_hash, created_at, is_emergency, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      operator.id,
      operator.name,
      operator.role,
      operator.label,
      operator.expires_at,
      tokenHash,
      operator.created_at,
      operator.emergency,
      createdBy,
    ],
  );
}

/** Makes this the operator's token, and one that works. Tells whether that changed anything. */
export async function setOperatorToken(
  tx: Transaction,
  id: string,
  tokenHash: Buffer,
  now: string,
): Promise<boolean> {
  const row = await tx.first(
    `UPDATE operators SET token_hash = $2, revoked_at = NULL, expires_at = CASE WHEN expires_at > $3 THEN expires_at END,
            unused_token = NULL, unused_token_key_id = NULL
      WHERE id = $1 AND (token_hash <> $2 OR revoked_at IS NOT NULL OR expires_at <= $3) RETURNING id`,
    [id, tokenHash, now],
  );
  return row !== undefined;
}

// ---- A token that was made by the service, as long as nobody has used it ----

/** What it is bound to as it is sealed. */
export function unusedTokenOwner(id: string): string {
  return `operators ${id}`;
}

export function keepUnusedToken(tx: Transaction, id: string, { sealed, keyId }: Sealed): void {
  tx.defer('UPDATE operators SET unused_token = $2, unused_token_key_id = $3 WHERE id = $1', [
    id,
    sealed,
    keyId,
  ]);
}

export function findUnusedToken(tx: Transaction, id: string): Promise<Sealed | undefined> {
  return tx.first<Sealed>(
    `SELECT unused_token AS sealed, unused_token_key_id AS "keyId" FROM operators
      WHERE id = $1 AND unused_token IS NOT NULL AND revoked_at IS NULL`,
    [id],
  );
}

// ---- People whom a provider of OpenID Connect knows ----

/** Tells whether there was none. */
export async function insertPerson(
  tx: Transaction,
  person: { id: string; issuer: string; subject: string; name: string; role: Role },
  now: string,
): Promise<boolean> {
  const row = await tx.first(
    `INSERT INTO operators (id, kind, issuer, subject, name, role, created_at) VALUES ($1, 'person', $2, $3, $4, $5, $6)
     ON CONFLICT (issuer, subject) WHERE kind = 'person' DO NOTHING RETURNING id`,
    [person.id, person.issuer, person.subject, person.name, person.role, now],
  );
  return row !== undefined;
}

export function lockPerson(
  tx: Transaction,
  issuer: string,
  subject: string,
): Promise<StoredOperator | undefined> {
  return tx.first<StoredOperator>(
    `SELECT ${OPERATOR} FROM operators WHERE kind = 'person' AND issuer = $1 AND subject = $2 FOR NO KEY UPDATE`,
    [issuer, subject],
  );
}

export function updatePersonRow(
  tx: Transaction,
  { id, name, role, last_used_at }: Pick<StoredOperator, 'id' | 'name' | 'role' | 'last_used_at'>,
): void {
  tx.defer('UPDATE operators SET name = $2, role = $3, last_used_at = $4 WHERE id = $1', [
    id,
    name,
    role,
    last_used_at,
  ]);
}

export function updateOperatorRow(
  tx: Transaction,
  { id, label, expires_at }: Pick<StoredOperator, 'id' | 'label' | 'expires_at'>,
): void {
  tx.defer('UPDATE operators SET label = $2, expires_at = $3 WHERE id = $1', [id, label, expires_at]);
}

export function markOperatorRevoked(tx: Transaction, id: string, now: string): void {
  tx.defer('UPDATE operators SET revoked_at = $2 WHERE id = $1', [id, now]);
}
