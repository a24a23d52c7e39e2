import { z } from 'zod';
import { admins, readers, support } from '../../access.ts';
import { alertKindNames, partnerKindNames } from '../../alerts.ts';
import { alertKindList, contact } from '../../contacts.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { emailAddress, line, recordId } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { CONTACTS_MAX } from '../../rules.ts';

const given = (kinds: Parameters<typeof alertKindList>[0]) => ({
  email: emailAddress(),
  name: line({ min: 1, max: 255 }).nullable().optional(),
  alert_kinds: alertKindList(kinds).optional(),
});

const ofPartner = given(partnerKindNames);
const ofOperator = given(alertKindNames);
const partnerId = z.strictObject({ id: recordId() });
const partnerContact = z.strictObject({ id: recordId(), contact_id: recordId() });
const readOnly = ['id', 'partner_id', 'created_at', 'updated_at'] as const;
const answer = { status: 200, description: 'The contact.', body: contact } as const;
const changed = { ...answer, description: 'The contact as it is now.' } as const;
const made = { ...answer, status: 201 } as const;
const removed = { status: 204, description: 'The contact is removed.' } as const;
const page = { status: 200, description: 'One page.', body: pageOf(contact) } as const;
const tag = 'Contacts';

export const createPartnerContact = defineEndpoint({
  operationId: 'createPartnerContact',
  method: 'POST',
  path: '/operator/v1/partners/{id}/contacts',
  tag,
  summary: 'Add a contact of a partner',
  description: `The first contact is there already: the \`contact_email\` of the partner. A partner has up to ${CONTACTS_MAX}.`,
  extension: true,
  access: { roles: support },
  params: partnerId,
  body: z.strictObject(ofPartner),
  response: made,
  problems: ['not_found', 'business_rule_violation'],
  rules: ['contacts_max'],
});

export const listPartnerContacts = defineEndpoint({
  operationId: 'listPartnerContacts',
  method: 'GET',
  path: '/operator/v1/partners/{id}/contacts',
  tag,
  summary: 'List the contacts of a partner',
  extension: true,
  access: { roles: readers },
  params: partnerId,
  query: z.strictObject(pageQuery),
  response: page,
  problems: ['not_found'],
});

export const getPartnerContact = defineEndpoint({
  operationId: 'getPartnerContact',
  method: 'GET',
  path: '/operator/v1/partners/{id}/contacts/{contact_id}',
  tag,
  summary: 'Get a contact of a partner',
  extension: true,
  access: { roles: readers },
  params: partnerContact,
  response: answer,
  problems: ['not_found'],
});

export const updatePartnerContact = defineEndpoint({
  operationId: 'updatePartnerContact',
  method: 'PATCH',
  path: '/operator/v1/partners/{id}/contacts/{contact_id}',
  tag,
  summary: 'Update a contact of a partner',
  description:
    'A merge patch. The contact `first` is the `contact_email` of the partner: changing one changes the other. With another address, invitations to the one before are withdrawn as when a contact is removed.',
  extension: true,
  access: { roles: support },
  params: partnerContact,
  body: z.strictObject(ofPartner).partial(),
  readOnly,
  response: changed,
  problems: ['not_found'],
});

export const deletePartnerContact = defineEndpoint({
  operationId: 'deletePartnerContact',
  method: 'DELETE',
  path: '/operator/v1/partners/{id}/contacts/{contact_id}',
  tag,
  summary: 'Remove a contact of a partner',
  description:
    'What was sent to their address by `createPartnerInvitation` is withdrawn, and the sessions that it began have ended on every node with the answer. The first contact stays: somebody has to be told of leaked keys. Change its address instead.',
  extension: true,
  access: { roles: support },
  params: partnerContact,
  response: removed,
  problems: ['not_found', 'conflict'],
});

export const createContact = defineEndpoint({
  operationId: 'createContact',
  method: 'POST',
  path: '/operator/v1/contacts',
  tag,
  summary: 'Add a contact of the operator',
  description: `Those who are told of every alert, whoever it concerns. There are up to ${CONTACTS_MAX}.`,
  extension: true,
  access: { roles: admins },
  body: z.strictObject(ofOperator),
  response: made,
  problems: ['business_rule_violation'],
  rules: ['contacts_max'],
});

export const listContacts = defineEndpoint({
  operationId: 'listContacts',
  method: 'GET',
  path: '/operator/v1/contacts',
  tag,
  summary: 'List the contacts of the operator',
  extension: true,
  access: { roles: readers },
  query: z.strictObject(pageQuery),
  response: page,
  problems: [],
});

export const getContact = defineEndpoint({
  operationId: 'getContact',
  method: 'GET',
  path: '/operator/v1/contacts/{id}',
  tag,
  summary: 'Get a contact of the operator',
  extension: true,
  access: { roles: readers },
  params: partnerId,
  response: answer,
  problems: ['not_found'],
});

export const updateContact = defineEndpoint({
  operationId: 'updateContact',
  method: 'PATCH',
  path: '/operator/v1/contacts/{id}',
  tag,
  summary: 'Update a contact of the operator',
  description: 'A merge patch.',
  extension: true,
  access: { roles: admins },
  params: partnerId,
  body: z.strictObject(ofOperator).partial(),
  readOnly,
  response: changed,
  problems: ['not_found'],
});

export const deleteContact = defineEndpoint({
  operationId: 'deleteContact',
  method: 'DELETE',
  path: '/operator/v1/contacts/{id}',
  tag,
  summary: 'Remove a contact of the operator',
  extension: true,
  access: { roles: admins },
  params: partnerId,
  response: removed,
  problems: ['not_found'],
});
