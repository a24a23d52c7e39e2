import { z } from 'zod';
import { readers } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';
import { webhook, webhookStatuses } from '../partner/webhooks.ts';

const partnerWebhook = webhook.extend({ partner_id: z.string() }).meta({ id: 'PartnerWebhook' });

const tag = 'Webhooks';

export const listAllWebhooks = defineEndpoint({
  operationId: 'listAllWebhooks',
  method: 'GET',
  path: '/operator/v1/webhooks',
  tag,
  summary: 'List webhooks',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    partner_id: recordId().optional(),
    practice_group_id: recordId().optional(),
    status: z.enum(webhookStatuses).optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(partnerWebhook) },
  problems: [],
});

export const getPartnerWebhook = defineEndpoint({
  operationId: 'getPartnerWebhook',
  method: 'GET',
  path: '/operator/v1/webhooks/{id}',
  tag,
  summary: 'Get a webhook',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId() }),
  response: { status: 200, description: 'The webhook.', body: partnerWebhook },
  problems: ['not_found'],
});
