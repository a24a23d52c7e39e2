import { isDeepStrictEqual } from 'node:util';
import { alertKindNames } from '../../contract/alerts.ts';
import type { AuditVerb } from '../../contract/audit-actions.ts';
import type { Contact } from '../../contract/contacts.ts';
import * as operatorContract from '../../contract/operator/access/contacts.ts';
import type { PageQuery } from '../../contract/page.ts';
import {
  listOwnContacts as listOwnEndpoint,
  updateOwnContact as updateOwnEndpoint,
} from '../../contract/partner/contacts.ts';
import { Problem } from '../../contract/problems.ts';
import { CONTACTS_MAX, ruleBroken } from '../../contract/rules.ts';
import { type Principal, SYSTEM } from '../../domain/access/principal.ts';
import { newId } from '../../domain/ids.ts';
import {
  countContacts,
  deleteContactRow,
  FIRST_CONTACT,
  findContact,
  insertContact,
  isContact,
  listContactPage,
  lockContact,
  type StoredContact,
  updateContactRow,
} from '../../store/access/contacts.ts';
import { findPartner } from '../../store/access/partners.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { type Actor, type App, nowIso, operation } from '../app.ts';
import { withdrawInvitationsTo } from './invitations.ts';

// ---- Operators: the contacts of partners ----

export const createPartnerContact = operation(operatorContract.createPartnerContact, (app, call) => {
  return create(app, call, call.params.id, call.body);
});

export const listPartnerContacts = operation(
  operatorContract.listPartnerContacts,
  async (app, { principal, params, query }) => {
    const page = await transact(app.db, principal, async (tx) => {
      if (!(await findPartner(tx, params.id))) throw new Problem('not_found');
      return listContactPage(tx, params.id, query);
    });
    return { body: { ...page, data: page.data.map(presentContact) } };
  },
);

export const getPartnerContact = operation(operatorContract.getPartnerContact, (app, { params }) => {
  return get(app, params.id, params.contact_id);
});

export const updatePartnerContact = operation(operatorContract.updatePartnerContact, (app, call) => {
  return updateContactOf(app, call, call.params.id, call.params.contact_id, call.body);
});

export const deletePartnerContact = operation(operatorContract.deletePartnerContact, (app, call) => {
  return remove(app, call, call.params.id, call.params.contact_id);
});

// ---- Operators: their own ----

export const createContact = operation(operatorContract.createContact, (app, call) => {
  return create(app, call, null, call.body);
});

export const listContacts = operation(operatorContract.listContacts, async (app, { principal, query }) => {
  const page = await transact(app.db, principal, (tx) => listContactPage(tx, null, query));
  return { body: { ...page, data: page.data.map(presentContact) } };
});

export const getContact = operation(operatorContract.getContact, (app, { params }) => {
  return get(app, null, params.id);
});

export const updateContact = operation(operatorContract.updateContact, (app, call) => {
  return updateContactOf(app, call, null, call.params.id, call.body);
});

export const deleteContact = operation(operatorContract.deleteContact, (app, call) => {
  return remove(app, call, null, call.params.id);
});

// ---- Partners ----

export const listOwnContacts = operation(listOwnEndpoint, (app, { principal, query }) => {
  return listContactsOf(app, SYSTEM, principal.holder.partnerId, query);
});

/** As far as whoever reads them sees them. */
export async function listContactsOf(app: App, reader: Principal, partnerId: string, query: PageQuery) {
  const page = await transact(app.db, reader, (tx) => listContactPage(tx, partnerId, query));
  return { body: { ...page, data: page.data.map(presentContact) } };
}

export const updateOwnContact = operation(updateOwnEndpoint, (app, call) => {
  return updateContactOf(app, call, call.principal.holder.partnerId, call.params.id, call.body);
});

// ---- For all of them ----
// The first contact is in the row of the partner, which partners do not see: the service itself reads and writes for whoever calls, and
// each of these takes the partner whose contacts they are.

async function create(
  app: App,
  actor: Actor,
  partnerId: string | null,
  given: Pick<Contact, 'email'> & Given,
) {
  // Operators alone add one, and see all there is. On their behalf it is part of the transaction that keeps the answer for an Idempotency-Key.
  const contact = await transact(app.db, actor.principal, async (tx) => {
    if (partnerId !== null && !(await findPartner(tx, partnerId))) throw new Problem('not_found');
    if ((await countContacts(tx, partnerId)) >= CONTACTS_MAX) throw ruleBroken('contacts_max');
    const now = nowIso(app);
    const made: StoredContact = {
      id: newId('psn', app.clock.now(), app.random),
      partner_id: partnerId,
      email: given.email,
      name: given.name ?? null,
      alert_kinds: inOrder(given.alert_kinds ?? null),
      version: 1,
      created_at: now,
      updated_at: now,
    };
    insertContact(tx, made);
    audit(tx, actor, now, 'create', null, made);
    return made;
  });
  return { body: presentContact(contact) };
}

async function get(app: App, partnerId: string | null, id: string) {
  const found = await transact(app.db, SYSTEM, (tx) => findContact(tx, partnerId, id));
  if (!found) throw new Problem('not_found');
  return { body: presentContact(found) };
}

interface Given {
  email?: string | undefined;
  name?: string | null | undefined;
  alert_kinds?: Contact['alert_kinds'] | undefined;
}

export async function updateContactOf(
  app: App,
  actor: Actor,
  partnerId: string | null,
  id: string,
  patch: Given,
) {
  const { contact, settles } = await transact(app.db, SYSTEM, async (tx) => {
    const before = await lockContact(tx, partnerId, id);
    if (!before) throw new Problem('not_found');
    const merged = { ...before, ...(patch as Partial<StoredContact>) };
    merged.alert_kinds = inOrder(merged.alert_kinds);
    // Whoever says an address again may not have heard the answer when it sent somebody away.
    const isSaidAgain = partnerId !== null && patch.email === before.email;
    if (isDeepStrictEqual(merged, before)) return { contact: before, settles: isSaidAgain };
    const now = nowIso(app);
    const after = { ...merged, version: before.version + 1, updated_at: now };
    updateContactRow(tx, after);
    audit(tx, actor, now, 'update', before, after);
    const areSentAway = await sendAway(app, tx, actor, partnerId, before.email);
    return { contact: after, settles: areSentAway || isSaidAgain };
  });
  if (settles) await app.access.settle();
  return { body: presentContact(contact) };
}

async function remove(app: App, actor: Actor, partnerId: string | null, id: string) {
  const removed = await transact(app.db, SYSTEM, async (tx) => {
    const before = await lockContact(tx, partnerId, id);
    if (!before) return undefined;
    if (id === FIRST_CONTACT)
      throw new Problem('conflict', {
        message: 'The first contact of a partner stays. Change its address instead, or what it is told of.',
      });
    deleteContactRow(tx, id);
    audit(tx, actor, nowIso(app), 'delete', before, null);
    return { areSentAway: await sendAway(app, tx, actor, partnerId, before.email) };
  });
  // Also when it is not there: it may have gone by a call whose answer nobody heard.
  if (removed ? removed.areSentAway : partnerId !== null) await app.access.settle();
  if (!removed) throw new Problem('not_found');
  return { body: undefined };
}

/**
 * Whoever has this address and is a contact of the partner no more, since it was removed or changed: what was sent to them is withdrawn. Whether
 * there was any: then the answer waits for `settle`.
 */
export async function sendAway(
  app: App,
  tx: Transaction,
  actor: Actor,
  partnerId: string | null,
  email: string,
): Promise<boolean> {
  if (partnerId === null || (await isContact(tx, partnerId, email))) return false;
  return withdrawInvitationsTo(app, tx, actor, partnerId, email);
}

/** As the catalogue lists them, so that the same set is always the same list. */
function inOrder(kinds: Contact['alert_kinds']): Contact['alert_kinds'] {
  return kinds && alertKindNames.filter((name) => kinds.includes(name));
}

function presentContact({ version: _version, ...contact }: StoredContact): Contact {
  return contact;
}

function audit(
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  action: AuditVerb<'contact'>,
  before: StoredContact | null,
  after: StoredContact | null,
): void {
  const subject = after ?? before;
  if (!subject) return;
  tx.audit({
    at,
    principal,
    action: `contact.${action}`,
    // Each partner has a first one: the partner tells whose.
    subject: { type: 'contact', id: subject.id === FIRST_CONTACT ? (subject.partner_id ?? '') : subject.id },
    practiceGroupId: principal.kind === 'partner' ? principal.group.id : undefined,
    requestId,
    before: before && presentContact(before),
    after: after && presentContact(after),
  });
}
