import type { AlertKindName } from '../../contract/alerts.ts';
import type { Page, PageQuery } from '../../contract/page.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

/** People who are told of alerts, of a partner or (`partner_id` null) of the operator. */
export interface StoredContact {
  id: string;
  partner_id: string | null;
  email: string;
  name: string | null;
  alert_kinds: AlertKindName[] | null;
  version: number;
  created_at: string;
  updated_at: string;
}

/** The first contact of a partner is its `contact_email`, and has this ID: it sorts before all others (`psn_…`). */
export const FIRST_CONTACT = 'first';

const CONTACT = 'id, partner_id, email, name, alert_kinds, version, created_at, updated_at';

/** In one list: the partner's own row has the first, so whoever writes `contact_email`, of the version before too, changes it. */
const CONTACTS = `(
  SELECT '${FIRST_CONTACT}' AS id, id AS partner_id, contact_email AS email, contact_name AS name, contact_alert_kinds AS alert_kinds, version,
         created_at, updated_at
    FROM partners WHERE id = $1
  UNION ALL
  SELECT ${CONTACT} FROM contacts WHERE coalesce(partner_id, '') = coalesce($1, '')) AS contact`;

export async function findContacts(tx: Transaction, partnerId: string | null): Promise<StoredContact[]> {
  return tx.query(`SELECT ${CONTACT} FROM ${CONTACTS} ORDER BY id COLLATE "C"`, [partnerId]);
}

export function listContactPage(
  tx: Transaction,
  partnerId: string | null,
  query: PageQuery,
): Promise<Page<StoredContact>> {
  return readPage(query, byId, ([after], limit) =>
    tx.query<StoredContact>(
      `SELECT ${CONTACT} FROM ${CONTACTS} WHERE $2::text IS NULL OR id COLLATE "C" > $2 ORDER BY id COLLATE "C" LIMIT $3`,
      [partnerId, after, limit],
    ),
  );
}

export async function findContact(
  tx: Transaction,
  partnerId: string | null,
  id: string,
): Promise<StoredContact | undefined> {
  return tx.first(`SELECT ${CONTACT} FROM ${CONTACTS} WHERE id = $2`, [partnerId, id]);
}

/** Whether the partner has a contact with this address. */
export async function isContact(tx: Transaction, partnerId: string, email: string): Promise<boolean> {
  const found = await tx.first(
    `SELECT FROM ${CONTACTS} WHERE lower(normalize(email)) = lower(normalize($2))`,
    [partnerId, email],
  );
  return found !== undefined;
}

/** One of them, and nobody else changes it, or adds one, until the transaction ends. */
export async function lockContact(
  tx: Transaction,
  partnerId: string | null,
  id: string,
): Promise<StoredContact | undefined> {
  lockContacts(tx, partnerId);
  return findContact(tx, partnerId, id);
}

/** Any number, as long as it is always the same: it names the lock on the contacts of the operator, who has no row. */
const OPERATOR_CONTACTS_LOCK = 7_205_759_403_796;

function lockContacts(tx: Transaction, partnerId: string | null): void {
  if (partnerId === null) tx.defer(`SELECT pg_advisory_xact_lock(${OPERATOR_CONTACTS_LOCK})`);
  else tx.defer('SELECT FROM partners WHERE id = $1 FOR NO KEY UPDATE', [partnerId]);
}

/** How many there are. Whoever asks is the only one to add one until the transaction ends. */
export async function countContacts(tx: Transaction, partnerId: string | null): Promise<number> {
  lockContacts(tx, partnerId);
  const row = await tx.first<{ count: number }>(`SELECT count(*) AS count FROM ${CONTACTS}`, [partnerId]);
  return row?.count ?? 0;
}

export function insertContact(tx: Transaction, contact: StoredContact): void {
  tx.defer(`INSERT INTO contacts (${CONTACT}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [
    contact.id,
    contact.partner_id,
    contact.email,
    contact.name,
    contact.alert_kinds,
    contact.version,
    contact.created_at,
    contact.updated_at,
  ]);
}

export function updateContactRow(tx: Transaction, contact: StoredContact): void {
  const values = [contact.email, contact.name, contact.alert_kinds, contact.version, contact.updated_at];
  if (contact.id === FIRST_CONTACT)
    tx.defer(
      `UPDATE partners SET contact_email = $2, contact_name = $3, contact_alert_kinds = $4, version = $5, updated_at = $6 WHERE id = $1`,
      [contact.partner_id, ...values],
    );
  else
    tx.defer(
      'UPDATE contacts SET email = $2, name = $3, alert_kinds = $4, version = $5, updated_at = $6 WHERE id = $1',
      [contact.id, ...values],
    );
}

export function deleteContactRow(tx: Transaction, id: string): void {
  tx.defer('DELETE FROM contacts WHERE id = $1', [id]);
}
