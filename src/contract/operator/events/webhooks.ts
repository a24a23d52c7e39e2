import { z } from 'zod';
import { admins, readers, support } from '../../access.ts';
import { attempt } from '../../attempts.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { paragraphs, recordId, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { delivery, replay, replayRequest } from '../../partner/webhook-deliveries.ts';
import { STOPS_AFTERWARDS, webhook, webhookStatuses } from '../../partner/webhooks.ts';
import { REPLAY_EVENTS_MAX } from '../../rules.ts';
import { withCommas } from '../../wording.ts';

const partnerWebhook = webhook
  .extend({
    partner_id: z.string(),
    partner_name: z.string(),
    practice_group_name: z
      .string()
      .nullable()
      .meta({ description: 'null for a webhook for all practice groups.' }),
    oldest_queued_at: timestamp().nullable().meta({
      description:
        'When the oldest delivery that is not finished was first put into the queue; null when there is none.',
    }),
  })
  .meta({ id: 'PartnerWebhook' });

export type PartnerWebhook = z.infer<typeof partnerWebhook>;

const webhookTroubles = ['failing', 'withheld'] as const;
export type WebhookTrouble = (typeof webhookTroubles)[number];

const byId = z.strictObject({ id: recordId() });

const tag = 'Webhooks';
const REASON_MAX = 255;

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
    health: z.enum(webhookTroubles).optional().meta({
      description:
        'failing: its last attempts failed. withheld: its partner may not receive what is queued for it.',
    }),
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
  description: `While it is paused, its deliveries stay queued. Activating a disabled webhook resets its count of failures, and what is queued is sent. Its partner sees the status with the reason, and may change it, too. ${STOPS_AFTERWARDS}`,
  extension: true,
  access: { roles: admins },
  params: byId,
  body: z.strictObject({
    status: z.enum(['active', 'paused']),
    reason: paragraphs({ min: 1, max: REASON_MAX })
      .optional()
      .meta({
        description: 'For the partner, and for the audit: why it is paused or activated, as a sentence.',
        examples: ['Your receiver answers 500; we agreed on the phone to wait.'],
      }),
  }),
  conditional: true,
  response: { status: 200, description: 'The webhook as it is now.', body: partnerWebhook },
  problems: ['not_found', 'precondition_failed'],
});

export const deletePartnerWebhook = defineEndpoint({
  operationId: 'deletePartnerWebhook',
  method: 'DELETE',
  path: '/operator/v1/webhooks/{id}',
  tag,
  summary: 'Delete a webhook',
  description: `Deletes its deliveries, too: queued ones are not sent any more. Its partner can make another one, but not bring this one back: pause a webhook that is to go on later. For one whose partner has no key left, for example before its practice group is removed. ${STOPS_AFTERWARDS}`,
  extension: true,
  access: { roles: admins },
  params: byId,
  conditional: true,
  response: { status: 204, description: 'The webhook is deleted.' },
  problems: ['not_found', 'precondition_failed'],
});

export const retryFailedDeliveries = defineEndpoint({
  operationId: 'retryFailedDeliveries',
  method: 'POST',
  path: '/operator/v1/webhooks/{id}/retry-failed',
  tag,
  summary: 'Retry what a webhook did not receive',
  description: `Every delivery of the webhook that was given up is queued again, in its order and with the same \`webhook-id\`. One call takes at most ${withCommas(REPLAY_EVENTS_MAX)}; \`has_more\` tells that some are left for the next. Broken off, it is made again: what is queued is not given up any more. Deliveries of practice groups that the partner may not receive are left as they are. The answer is 409 when it may receive none, or when the webhook is disabled: activate it first.`,
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

/** A screen or two. */
export const ATTEMPTS_MAX = 100;

const webhookAttempt = attempt
  .extend({
    delivery_id: z.string(),
    event_id: delivery.shape.event_id,
    event: delivery.shape.event,
    object_id: delivery.shape.object_id,
    practice_group_id: z.string(),
    delivery_status: delivery.shape.status,
    next_attempt_at: delivery.shape.next_attempt_at,
  })
  .meta({ id: 'WebhookAttempt', description: 'An attempt, with the delivery that it belongs to.' });

export type WebhookAttempt = z.infer<typeof webhookAttempt>;

export const listWebhookAttempts = defineEndpoint({
  operationId: 'listWebhookAttempts',
  method: 'GET',
  path: '/operator/v1/webhooks/{id}/attempts',
  tag,
  summary: 'List the latest attempts',
  description: `What came of the last attempts to reach the webhook, newest first, whichever deliveries they were for: at most ${ATTEMPTS_MAX}. Of a long queue, the thousand deliveries that are due next are looked through, and the thousand before the first that was never tried.`,
  extension: true,
  access: { roles: readers },
  params: byId,
  response: {
    status: 200,
    description: 'The attempts.',
    body: z.object({ data: z.array(webhookAttempt), count: z.int().min(0) }).meta({ id: 'WebhookAttempts' }),
  },
  problems: ['not_found'],
});
