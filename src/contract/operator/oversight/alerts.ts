import { z } from 'zod';
import { readers, support } from '../../access.ts';
import { alertFields, alertQuery } from '../../alerts.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';

export const alert = z
  .object({
    ...alertFields,
    partner_id: z
      .string()
      .nullable()
      .meta({ description: 'Whose it is; null: it concerns the operator alone.' }),
  })
  .meta({ id: 'OperatorAlert', description: 'Something that needs looking after.' });

export type OperatorAlert = z.infer<typeof alert>;

const tag = 'Alerts';

export const listAllAlerts = defineEndpoint({
  operationId: 'listAllAlerts',
  method: 'GET',
  path: '/operator/v1/alerts',
  tag,
  summary: 'List alerts',
  description: 'What needs looking after, and what did, newest first. Contacts are told of each by e-mail.',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({ ...pageQuery, ...alertQuery, partner_id: recordId().optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(alert) },
  problems: [],
});

export const getAlert = defineEndpoint({
  operationId: 'getAlert',
  method: 'GET',
  path: '/operator/v1/alerts/{id}',
  tag,
  summary: 'Get an alert',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId() }),
  response: { status: 200, description: 'The alert.', body: alert },
  problems: ['not_found'],
});

export const remindOfAlert = defineEndpoint({
  operationId: 'remindOfAlert',
  method: 'POST',
  path: '/operator/v1/alerts/{id}/remind',
  tag,
  summary: 'Remind a partner of an alert',
  description:
    'The contacts of its partner are mailed about the alert once more, where the service mails at all. The answer is 409 when the alert has ended, or concerns the operator alone.',
  extension: true,
  access: { roles: support },
  params: z.strictObject({ id: recordId() }),
  response: { status: 202, description: 'The contacts will be told.', body: alert },
  problems: ['not_found', 'conflict'],
});
