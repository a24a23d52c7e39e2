import { z } from 'zod';
import { admins, readers, support } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';
import { replay, replayRequest } from '../partner/webhook-deliveries.ts';
import { webhook, webhookStatuses } from '../partner/webhooks.ts';
import { REPLAY_EVENTS_MAX } from '../rules.ts';

const partnerWebhook = webhook
  .extend({ partner_id: z.string(), partner_name: z.string() })
  .meta({ id: 'PartnerWebhook' });

export type PartnerWebhook = z.infer<typeof partnerWebhook>;

const byId = z.strictObject({ id: recordId() });

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
  params: byId,
  conditional: true,
  response: { status: 200, description: 'The webhook.', body: partnerWebhook },
  problems: ['not_found'],
});

export const updatePartnerWebhook = defineEndpoint({
  operationId: 'updatePartnerWebhook',
  method: 'PATCH',
  path: '/operator/v1/webhooks/{id}',
  tag,
  summary: 'Pause or activate a webhook',
  description:
    'While it is paused, its deliveries stay queued. Activating a disabled webhook resets its count of failures, and what is queued is sent. Its partner sees the status and may change it, too.',
  extension: true,
  access: { roles: admins },
  params: byId,
  body: z.strictObject({ status: z.enum(['active', 'paused']) }),
  conditional: true,
  response: { status: 200, description: 'The webhook as it is now.', body: partnerWebhook },
  problems: ['not_found', 'precondition_failed'],
});

export const retryFailedDeliveries = defineEndpoint({
  operationId: 'retryFailedDeliveries',
  method: 'POST',
  path: '/operator/v1/webhooks/{id}/retry-failed',
  tag,
  summary: 'Retry what a webhook did not receive',
  description: `Every delivery of the webhook that was given up is queued again, in its order and with the same \`webhook-id\`. One call takes at most ${REPLAY_EVENTS_MAX.toLocaleString('en')}; \`has_more\` tells that some are left for the next. Broken off, it is made again: what is queued is not given up any more. Deliveries of practice groups that the partner may not receive are left as they are. The answer is 409 when it may receive none, or when the webhook is disabled: activate it first.`,
  extension: true,
  access: { roles: support },
  idempotency: 'afterwards',
  params: byId,
  response: {
    status: 202,
    description: 'The deliveries will be sent.',
    body: z
      .object({
        count: z.int().meta({ description: 'How many deliveries will be sent.' }),
        has_more: z.boolean().meta({ description: 'Whether some are left that were given up.' }),
      })
      .meta({ id: 'RetriedDeliveries' }),
  },
  problems: ['not_found', 'conflict'],
});

export const replayPartnerWebhook = defineEndpoint({
  operationId: 'replayPartnerWebhook',
  method: 'POST',
  path: '/operator/v1/webhooks/{id}/replay',
  tag,
  summary: 'Replay events to a webhook',
  description:
    'As its partner may do it. Of a webhook for all practice groups, the events of every group that the partner may receive at this moment. The answer is 409 when it may receive none.',
  extension: true,
  access: { roles: support },
  idempotency: 'afterwards',
  params: byId,
  body: replayRequest,
  response: { status: 202, description: 'The deliveries will be sent.', body: replay },
  problems: ['not_found', 'conflict', 'business_rule_violation'],
  rules: ['event_unknown', 'replay_too_large'],
});
