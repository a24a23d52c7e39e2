import type { Partner, PartnerStatus } from '../../contract/operator/access/partners.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

/** `version` counts the changes: the ETag, and what optimistic locking compares. */
export type StoredPartner = Partner & { version: number };

const PARTNER =
  'id, name, contact_email, status, rate_limit_per_minute, sla, version, created_at, updated_at';

export function listPartnerPage(tx: Transaction, query: PageQuery & { status?: PartnerStatus | undefined }) {
  return readPage(query, byId, ([after], limit) => {
    return tx.query<StoredPartner>(
      `SELECT ${PARTNER} FROM partners
        WHERE ($1::text IS NULL OR id > $1) AND ($2::text IS NULL OR status = $2) ORDER BY id LIMIT $3`,
      [after, query.status, limit],
    );
  });
}

export async function findPartner(tx: Transaction, id: string): Promise<StoredPartner | undefined> {
  return tx.first<StoredPartner>(`SELECT ${PARTNER} FROM partners WHERE id = $1`, [id]);
}

/** The same, and it takes no step until the transaction ends; others may rely on that at the same time. */
export async function holdPartner(tx: Transaction, id: string): Promise<StoredPartner | undefined> {
  return tx.first<StoredPartner>(`SELECT ${PARTNER} FROM partners WHERE id = $1 FOR SHARE`, [id]);
}

export async function lockPartner(
  tx: Transaction,
  id: string,
): Promise<(StoredPartner & { agreementSigned: boolean }) | undefined> {
  const row = await tx.first<StoredPartner & { agreement_signed_at: string | null }>(
    `SELECT ${PARTNER}, agreement_signed_at FROM partners WHERE id = $1 FOR UPDATE`,
    [id],
  );
  if (!row) return undefined;
  const { agreement_signed_at, ...partner } = row;
  return { ...partner, agreementSigned: agreement_signed_at !== null };
}

/** Which of these partners do not exist. */
export async function findUnknownPartners(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    'SELECT id FROM unnest($1::text[]) AS named (id) WHERE NOT EXISTS (SELECT FROM partners p WHERE p.id = named.id)',
    [ids],
  );
  return rows.map(({ id }) => id);
}

export function insertPartner(tx: Transaction, partner: Partner): void {
  tx.defer(
    `INSERT INTO partners (id, name, contact_email, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)`,
    [partner.id, partner.name, partner.contact_email, partner.status, partner.created_at],
  );
}

/** `isSigned`: there is an agreement from now on, if there was none before. */
export function updatePartnerRow(tx: Transaction, partner: StoredPartner, isSigned: boolean): void {
  tx.defer(
    `UPDATE partners SET name = $2, contact_email = $3, status = $4, rate_limit_per_minute = $5, sla = $6, version = $7,
            updated_at = $8, agreement_signed_at = CASE WHEN $9 THEN coalesce(agreement_signed_at, $8) ELSE agreement_signed_at END
      WHERE id = $1`,
    [
      partner.id,
      partner.name,
      partner.contact_email,
      partner.status,
      partner.rate_limit_per_minute,
      partner.sla,
      partner.version,
      partner.updated_at,
      isSigned,
    ],
  );
}
