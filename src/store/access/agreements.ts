import type { Agreement } from '../../contract/operator/access/agreements.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { Sla } from '../../contract/sla.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

/** What it is worth at a moment, its status, is not stored; nor which of its keys work. `revision` counts the changes. */
export type StoredAgreement = Omit<Agreement, 'status' | 'active_keys' | 'sla' | 'sla_targets'> & {
  sla: Sla | null;
  revision: number;
};
export type CountedAgreement = StoredAgreement & Pick<Agreement, 'active_keys'>;

const OWN = [
  'id',
  'partner_id',
  'version',
  'document_url',
  'signatory',
  'signed_at',
  'ends_at',
  'rate_limit_per_minute',
  'sla',
  'revision',
  'created_at',
  'updated_at',
] as const;
const AGREEMENT = OWN.join(', ');
/** Of keys `k`: those that are not revoked, and have not expired by then. */
export const worksAt = (at: string) =>
  `k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${at})`;
const COUNTED = (at: string) => `SELECT ${AGREEMENT}, (
    SELECT count(*) FROM api_keys k
     WHERE k.agreement_id = agreements.id AND ${worksAt(at)}) AS active_keys
  FROM agreements`;

export function listAgreementPage(tx: Transaction, partnerId: string, at: string, query: PageQuery) {
  return readPage(query, byId, ([after], limit) =>
    tx.query<CountedAgreement>(
      `${COUNTED('$1')} WHERE partner_id = $2 AND ($3::text IS NULL OR id > $3) ORDER BY id LIMIT $4`,
      [at, partnerId, after, limit],
    ),
  );
}

export function findAgreement(
  tx: Transaction,
  partnerId: string,
  id: string,
  at: string,
): Promise<CountedAgreement | undefined> {
  return tx.first<CountedAgreement>(`${COUNTED('$1')} WHERE partner_id = $2 AND id = $3`, [
    at,
    partnerId,
    id,
  ]);
}

/** All of a partner. They stay as they are for as long as the partner's row is held or locked: whoever changes one locks that first. */
export function agreementsOf(tx: Transaction, partnerId: string): Promise<StoredAgreement[]> {
  return tx.query<StoredAgreement>(`SELECT ${AGREEMENT} FROM agreements WHERE partner_id = $1`, [partnerId]);
}

export function insertAgreement(tx: Transaction, agreement: StoredAgreement): void {
  tx.defer(
    `INSERT INTO agreements (${AGREEMENT}) VALUES (${OWN.map((_, index) => `$${index + 1}`).join(', ')})`,
    OWN.map((name) => (name === 'sla' ? json(agreement.sla) : agreement[name])),
  );
}

/** Those of its columns that may change. */
export function updateAgreementRow(tx: Transaction, agreement: StoredAgreement): void {
  tx.defer(
    `UPDATE agreements SET version = $2, document_url = $3, signatory = $4, ends_at = $5, rate_limit_per_minute = $6, sla = $7,
            revision = $8, updated_at = $9 WHERE id = $1`,
    [
      agreement.id,
      agreement.version,
      agreement.document_url,
      agreement.signatory,
      agreement.ends_at,
      agreement.rate_limit_per_minute,
      json(agreement.sla),
      agreement.revision,
      agreement.updated_at,
    ],
  );
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
