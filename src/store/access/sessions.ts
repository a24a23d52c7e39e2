import type { Role } from '../../contract/access.ts';
import type { PageQuery } from '../../contract/page.ts';
import { instantOf } from '../../domain/access/access.ts';
import type { GuestPrincipal, OperatorPrincipal } from '../../domain/access/principal.ts';
import { endOf, type SessionTimes } from '../../domain/access/session.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

/** As operators are shown it. */
export interface StoredSession {
  id: string;
  /** Of an operator; otherwise of whoever was invited. */
  operator_id: string | null;
  invitation_id: string | null;
  operator_name: string;
  address: string;
  user_agent: string | null;
  created_at: string;
  last_used_at: string;
  idle_expires_at: string;
  expires_at: string;
}

/** Somebody who is signed in, and the token that was shown. */
export interface SessionHolder {
  principal: (OperatorPrincipal & { sessionId: string }) | GuestPrincipal;
  times: SessionTimes;
  tokenHash: Buffer;
  /** The first time that it comes: the one before it has an end from now on. */
  isFirstUse: boolean;
}

interface SessionRow {
  id: string;
  operator_id: string | null;
  invitation_id: string | null;
  name: string;
  role: Role;
  email: string;
  partner: { id: string; name: string } | null;
  practice_group: { id: string; name: string } | null;
  previous_until: string | null;
  rotated_at: string;
  last_used_at: string;
  idle_expires_at: string;
  expires_at: string;
  operator_expires_at: string | null;
}

const HOLDER = `s.id, s.operator_id, s.invitation_id, coalesce(o.name, i.name) AS name, o.role, i.email,
  CASE WHEN p.id IS NOT NULL THEN json_build_object('id', p.id, 'name', p.name) END AS partner,
  CASE WHEN g.id IS NOT NULL THEN json_build_object('id', g.id, 'name', g.name) END AS practice_group, s.previous_until, s.rotated_at, s.last_used_at, s.idle_expires_at, s.expires_at,
  o.expires_at AS operator_expires_at`;
const WHOSE = `sessions s LEFT JOIN operators o ON o.id = s.operator_id LEFT JOIN invitations i ON i.id = s.invitation_id
  LEFT JOIN partners p ON p.id = i.partner_id LEFT JOIN practice_groups g ON g.id = i.practice_group_id`;
/** Nobody has taken it away. Time may have. */
const WORKING = `s.revoked_at IS NULL AND CASE WHEN o.id IS NOT NULL THEN o.revoked_at IS NULL
  ELSE i.revoked_at IS NULL AND (p.status <> 'suspended' OR g.id IS NOT NULL) END`;

/**
 * Who holds these tokens, in the order of their hashes: nobody (undefined) where there is no such session, it was ended, or its operator was
 * revoked. Time ends it too: ask `hasExpired` of the principal at each use.
 */
export async function findSessionHolders(
  tx: Transaction,
  hashes: readonly Buffer[],
): Promise<(SessionHolder | undefined)[]> {
  const rows = await tx.query<SessionRow & { token_hash: Buffer; previous_hash: Buffer | null }>(
    `SELECT ${HOLDER}, s.token_hash, s.previous_hash FROM ${WHOSE}
      WHERE (s.token_hash = ANY ($1) OR s.previous_hash = ANY ($1)) AND ${WORKING}`,
    [hashes],
  );
  return hashes.map((hash) => {
    const current = rows.find(({ token_hash }) => token_hash.equals(hash));
    const row = current ?? rows.find(({ previous_hash }) => previous_hash?.equals(hash));
    if (!row) return undefined;
    const isFirstUse = current !== undefined && row.previous_hash !== null && row.previous_until === null;
    return { ...holderOf(row, current === undefined), tokenHash: hash, isFirstUse };
  });
}

/** The same by their IDs: for what was let in and goes on, whatever token it came with. */
export async function findSessionsById(
  tx: Transaction,
  ids: readonly string[],
): Promise<(SessionHolder['principal'] | undefined)[]> {
  const rows = await tx.query<SessionRow>(
    `SELECT ${HOLDER} FROM ${WHOSE} WHERE s.id = ANY ($1) AND ${WORKING}`,
    [ids],
  );
  return ids.map((id) => {
    const row = rows.find((one) => one.id === id);
    return row && holderOf(row, false).principal;
  });
}

function holderOf(row: SessionRow, isPrevious: boolean): Pick<SessionHolder, 'principal' | 'times'> {
  const times: SessionTimes = {
    lastUsedAt: Date.parse(row.last_used_at),
    idleExpiresAt: Date.parse(row.idle_expires_at),
    expiresAt: Date.parse(row.expires_at),
    rotatedAt: Date.parse(row.rotated_at),
    isPrevious,
    previousUntil: row.previous_until === null ? undefined : Date.parse(row.previous_until),
  };
  const expiresAt = Math.min(instantOf(row.operator_expires_at), endOf(times));
  const { operator_id, invitation_id, name, id: sessionId } = row;
  if (operator_id !== null)
    return {
      principal: { kind: 'operator', operatorId: operator_id, name, role: row.role, expiresAt, sessionId },
      times,
    };
  const guest = { name, email: row.email, partner: row.partner, practiceGroup: row.practice_group };
  return {
    principal: { kind: 'guest', invitationId: invitation_id ?? '', ...guest, expiresAt, sessionId },
    times,
  };
}

/** That sessions were used. One that is over by then stays over. */
export function markSessionsUsed(
  tx: Transaction,
  used: readonly { id: string; idleExpiresAt: string }[],
  now: string,
): void {
  tx.defer(
    `UPDATE sessions s SET last_used_at = greatest(s.last_used_at, $3), idle_expires_at = greatest(s.idle_expires_at, u.idle_expires_at)
       FROM unnest($1::text[], $2::timestamptz[]) AS u (id, idle_expires_at)
      WHERE s.id = u.id AND s.revoked_at IS NULL AND s.idle_expires_at > $3 AND s.expires_at > $3`,
    [used.map(({ id }) => id), used.map(({ idleExpiresAt }) => idleExpiresAt), now],
  );
}

/** That new tokens have come: those before them work until then. */
export function markTokensTaken(tx: Transaction, hashes: readonly Buffer[], until: string): void {
  tx.defer(
    `UPDATE sessions SET previous_until = $2
      WHERE token_hash = ANY ($1) AND previous_hash IS NOT NULL AND previous_until IS NULL`,
    [hashes, until],
  );
}

/** Gives it another token, unless somebody did since it was read. The one that was shown works until the new one has come. */
export async function rotateSessionToken(
  tx: Transaction,
  { principal, times, tokenHash }: SessionHolder,
  newHash: Buffer,
  now: string,
): Promise<boolean> {
  const row = await tx.first(
    `UPDATE sessions SET previous_hash = $2, previous_until = NULL, token_hash = $3, rotated_at = $4
      WHERE id = $1 AND $2 IN (token_hash, previous_hash) AND rotated_at = $5 AND revoked_at IS NULL RETURNING id`,
    [principal.sessionId, tokenHash, newHash, now, new Date(times.rotatedAt).toISOString()],
  );
  return row !== undefined;
}

export function insertSession(
  tx: Transaction,
  session: Omit<StoredSession, 'operator_name'>,
  tokenHash: Buffer,
): void {
  tx.defer(
    `INSERT INTO sessions (id, operator_id, token_hash, address, user_agent, created_at, rotated_at, last_used_at, idle_expires_at, expires_at,
       invitation_id) VALUES ($1, $2, $3, $4, $5, $6, $6, $6, $7, $8, $9)`,
    [
      session.id,
      session.operator_id,
      tokenHash,
      session.address,
      session.user_agent,
      session.created_at,
      session.idle_expires_at,
      session.expires_at,
      session.invitation_id,
    ],
  );
}

const SESSION = `s.id, s.operator_id, s.invitation_id, coalesce(o.name, i.name) AS operator_name, s.address, s.user_agent, s.created_at, s.last_used_at, s.idle_expires_at,
  s.expires_at`;
const LIVE = `${WORKING} AND s.idle_expires_at > $2 AND s.expires_at > $2 AND (o.expires_at IS NULL OR o.expires_at > $2)`;

/** Those that can be used at this moment, of one operator or (null) of all operators. */
export function listSessionPage(tx: Transaction, operatorId: string | null, now: string, query: PageQuery) {
  return readPage(query, byId, ([after], limit) =>
    tx.query<StoredSession>(
      `SELECT ${SESSION} FROM ${WHOSE}
        WHERE s.operator_id IS NOT NULL AND ($1::text IS NULL OR s.operator_id = $1) AND ${LIVE} AND ($3::text IS NULL OR s.id > $3) ORDER BY s.id LIMIT $4`,
      [operatorId, now, after, limit],
    ),
  );
}

export function findSession(tx: Transaction, id: string, now: string): Promise<StoredSession | undefined> {
  return tx.first<StoredSession>(`SELECT ${SESSION} FROM ${WHOSE} WHERE s.id = $1 AND ${LIVE}`, [id, now]);
}

/** Nobody else changes it until the transaction ends. */
export function lockSession(
  tx: Transaction,
  id: string,
  operatorId: string | null,
  now: string,
): Promise<StoredSession | undefined> {
  return tx.first<StoredSession>(
    `SELECT ${SESSION} FROM ${WHOSE} WHERE ($1::text IS NULL OR s.operator_id = $1) AND ${LIVE} AND s.id = $3 FOR NO KEY UPDATE OF s`,
    [operatorId, now, id],
  );
}

/** All of an operator that can be used at this moment. */
export function lockSessionsOf(tx: Transaction, operatorId: string, now: string): Promise<StoredSession[]> {
  return tx.query<StoredSession>(
    `SELECT ${SESSION} FROM ${WHOSE} WHERE s.operator_id = $1 AND ${LIVE} ORDER BY s.id FOR NO KEY UPDATE OF s`,
    [operatorId, now],
  );
}

export function markSessionRevoked(tx: Transaction, id: string, now: string): void {
  tx.defer('UPDATE sessions SET revoked_at = $2 WHERE id = $1', [id, now]);
}
