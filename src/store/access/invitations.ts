import type { PageQuery } from '../../contract/page.ts';
import type { StoredInvitation } from '../../domain/access/invitation.ts';
import { SENDING_MS } from '../../domain/mail.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

const INVITATION = `i.id, i.partner_id, i.practice_group_id, i.email, i.name, i.invited_by, i.invited_by_name, i.created_at, i.try_at, i.sent_at,
  i.error, i.expires_at, i.entered_at, i.revoked_at`;

export function insertInvitation(tx: Transaction, one: StoredInvitation): void {
  tx.defer(
    `INSERT INTO invitations (id, partner_id, practice_group_id, email, name, invited_by, invited_by_name, created_at, try_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
    [
      one.id,
      one.partner_id,
      one.practice_group_id,
      one.email,
      one.name,
      one.invited_by,
      one.invited_by_name,
      one.created_at,
    ],
  );
}

/** Newest first. */
export function listInvitationPage(
  tx: Transaction,
  {
    partner_id = null,
    practice_group_id = null,
    ...query
  }: PageQuery & { partner_id?: string | null | undefined; practice_group_id?: string | null | undefined },
) {
  return readPage(query, byId, ([before], limit) =>
    tx.query<StoredInvitation>(
      `SELECT ${INVITATION} FROM invitations i
        WHERE ($1::text IS NULL OR i.partner_id = $1) AND ($2::text IS NULL OR i.practice_group_id = $2)
          AND ($3::text IS NULL OR i.id < $3) ORDER BY i.id DESC LIMIT $4`,
      [partner_id, practice_group_id, before, limit],
    ),
  );
}

export function lockInvitation(tx: Transaction, id: string): Promise<StoredInvitation | undefined> {
  return tx.first<StoredInvitation>(
    `SELECT ${INVITATION} FROM invitations i WHERE i.id = $1 FOR NO KEY UPDATE`,
    [id],
  );
}

/** Those of a partner to one address that are not withdrawn. Before addresses were composed as they are read, either may have been stored as it came. */
export function lockInvitationsTo(
  tx: Transaction,
  partnerId: string,
  email: string,
): Promise<StoredInvitation[]> {
  return tx.query<StoredInvitation>(
    `SELECT ${INVITATION} FROM invitations i
      WHERE i.partner_id = $1 AND lower(normalize(i.email)) = lower(normalize($2)) AND i.revoked_at IS NULL ORDER BY i.id FOR NO KEY UPDATE`,
    [partnerId, email],
  );
}

/** Those of an operator that nobody has used, and that are not withdrawn. */
export function lockUnusedInvitationsBy(tx: Transaction, operatorId: string): Promise<StoredInvitation[]> {
  return tx.query<StoredInvitation>(
    `SELECT ${INVITATION} FROM invitations i
      WHERE i.invited_by = $1 AND i.entered_at IS NULL AND i.revoked_at IS NULL ORDER BY i.id FOR NO KEY UPDATE`,
    [operatorId],
  );
}

export function markWithdrawn(tx: Transaction, id: string, now: string): void {
  tx.defer('UPDATE invitations SET revoked_at = $2, try_at = NULL WHERE id = $1', [id, now]);
}

/** For each hash: whether it belongs to a link that was neither used nor withdrawn. */
export async function findUnusedLinks(tx: Transaction, hashes: readonly Buffer[]): Promise<boolean[]> {
  const rows = await tx.query<{ token_hash: Buffer }>(
    'SELECT token_hash FROM invitations WHERE token_hash = ANY ($1) AND entered_at IS NULL AND revoked_at IS NULL',
    [hashes],
  );
  return hashes.map((hash) => rows.some(({ token_hash }) => token_hash.equals(hash)));
}

/**
 * Uses the link, if it can be used: whoever is first has it, and nobody after. While there is nobody to come in for, the partner being suspended or
 * the practice removed, it is not used up. An operator who is revoked has invited nobody, not even by a call that was under way.
 */
export function takeInvitation(
  tx: Transaction,
  tokenHash: Buffer,
  now: string,
): Promise<StoredInvitation | undefined> {
  return tx.first<StoredInvitation>(
    `UPDATE invitations i SET entered_at = $2
      WHERE i.token_hash = $1 AND i.entered_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > $2
        AND (EXISTS (SELECT FROM partners p WHERE p.id = i.partner_id AND p.status <> 'suspended')
          OR EXISTS (SELECT FROM practice_groups g WHERE g.id = i.practice_group_id))
        AND NOT EXISTS (SELECT FROM operators o WHERE o.id = i.invited_by AND o.revoked_at IS NOT NULL)
     RETURNING ${INVITATION}`,
    [tokenHash, now],
  );
}

// ---- Sending ----

export interface ClaimedInvitation {
  id: string;
  email: string;
  name: string;
  invited_by_name: string;
  /** The name of the partner or of the practice. */
  to_whom: string;
  created_at: string;
  tries: number;
}

/** Those that are to be sent now, for this node alone for a while. */
export function claimInvitations(
  tx: Transaction,
  at: string | null,
  max: number,
): Promise<ClaimedInvitation[]> {
  return tx.query<ClaimedInvitation>(
    `UPDATE invitations i SET try_at = due.at + ${SENDING_MS} * interval '1 ms', tries = i.tries + 1
       FROM (SELECT o.id, now.at FROM invitations o CROSS JOIN (SELECT coalesce($1::timestamptz, clock_timestamp()) AS at) AS now
              WHERE o.try_at <= now.at ORDER BY o.try_at LIMIT $2 FOR UPDATE OF o SKIP LOCKED) AS due
      WHERE i.id = due.id
     RETURNING i.id, i.email, i.name, i.invited_by_name, i.created_at, i.tries,
       coalesce((SELECT p.name FROM partners p WHERE p.id = i.partner_id),
                (SELECT g.name FROM practice_groups g WHERE g.id = i.practice_group_id), i.practice_group_id) AS to_whom`,
    [at, max],
  );
}

/** The link that goes out works from now on, and one that went out before no more. False: another node has taken it over, or it was withdrawn. */
export async function setInvitationToken(
  tx: Transaction,
  { id, tries }: ClaimedInvitation,
  tokenHash: Buffer,
  expiresAt: string,
): Promise<boolean> {
  const row = await tx.first(
    `UPDATE invitations SET token_hash = $3, expires_at = $4
      WHERE id = $1 AND tries = $2 AND revoked_at IS NULL AND entered_at IS NULL RETURNING id`,
    [id, tries, tokenHash, expiresAt],
  );
  return row !== undefined;
}

/** Only if the link that was sent is the current one: another node may have made a new link since. */
export function markInvitationSent(tx: Transaction, { id, tries }: ClaimedInvitation, at: string): void {
  tx.defer('UPDATE invitations SET sent_at = $3, try_at = NULL, error = NULL WHERE id = $1 AND tries = $2', [
    id,
    tries,
    at,
  ]);
}

/** To be tried again then; null: given up. */
export function markInvitationFailed(
  tx: Transaction,
  { id, tries }: ClaimedInvitation,
  tryAt: string | null,
  error: string,
): void {
  tx.defer(
    'UPDATE invitations SET try_at = $3, error = $4, expires_at = NULL WHERE id = $1 AND tries = $2 AND sent_at IS NULL AND revoked_at IS NULL',
    [id, tries, tryAt, error],
  );
}
