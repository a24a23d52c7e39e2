import { z } from 'zod';
import { alertFields, alertQuery, partnerKindNames } from '../alerts.ts';
import { defineEndpoint } from '../endpoint.ts';
import { pageOf, pageQuery } from '../page.ts';

export const alert = z
  .object({ ...alertFields, kind: z.enum(partnerKindNames).meta({ description: 'The kind of alert.' }) })
  .meta({ id: 'Alert', description: 'Something of yours that needs looking after.' });

export const listAlerts = defineEndpoint({
  operationId: 'listAlerts',
  method: 'GET',
  path: '/v1/alerts',
  tag: 'Alerts',
  summary: 'List alerts',
  description:
    'What needs looking after of all that is yours (webhooks that fail, keys that expire, calls that are refused), and what did, newest first; whichever practice group the call acts for. Your contacts are told of each by e-mail.',
  extension: true,
  access: { anyKey: true },
  query: z.strictObject({
    ...pageQuery,
    ...alertQuery,
    kind: z.enum(partnerKindNames).optional().meta({ description: 'Only alerts of this kind.' }),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(alert) },
  problems: [],
});
