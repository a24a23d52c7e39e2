import { z } from 'zod';
import { partnerKindNames } from '../alerts.ts';
import { alertKindList, contact } from '../contacts.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';

const tag = 'Contacts';

export const listOwnContacts = defineEndpoint({
  operationId: 'listOwnContacts',
  method: 'GET',
  path: '/v1/contacts',
  tag,
  summary: 'List your contacts',
  description: 'Who of your company is told of alerts. Support adds, changes and removes them.',
  extension: true,
  access: { scope: 'webhooks:read' },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(contact) },
  problems: [],
});

export const updateOwnContact = defineEndpoint({
  operationId: 'updateOwnContact',
  method: 'PATCH',
  path: '/v1/contacts/{id}',
  tag,
  summary: 'Choose what a contact is told of',
  description:
    'The address itself is changed by support alone: whoever gets hold of a key must not be able to have the warnings sent elsewhere.',
  extension: true,
  access: { scope: 'webhooks:write' },
  params: z.strictObject({ id: recordId() }),
  body: z.strictObject({ alert_kinds: alertKindList(partnerKindNames) }),
  readOnly: ['id', 'partner_id', 'email', 'name', 'created_at', 'updated_at'],
  response: { status: 200, description: 'The contact as it is now.', body: contact },
  problems: ['not_found'],
});
