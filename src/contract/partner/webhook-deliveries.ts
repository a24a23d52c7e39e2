import { z } from 'zod';
import { attempt } from '../attempts.ts';
import { defineEndpoint } from '../endpoint.ts';
import { eventType } from '../event-payloads.ts';
import { moment, text, timestamp } from '../fields.ts';
import { pageOf, pageQuery, shortPages } from '../page.ts';
import { REPLAY_EVENTS_MAX } from '../rules.ts';
import { tag, webhookById, withheldReason } from './webhooks.ts';

const REPLAY_IDS_MAX = 1_000;

export const deliveryStatuses = ['waiting', 'pending', 'withheld', 'delivered', 'failed'] as const;

export const delivery = z
  .object({
    id: z.string().meta({
      description: 'Sent as `webhook-id`.',
      examples: ['dlv_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE_42_0VkQ3zAcD'],
    }),
    event_id: z.string().meta({ description: 'The ID of the event.' }),
    event: eventType.meta({ description: 'The name of the event.' }),
    object_id: z.string().meta({ description: 'What the event is about: the `id` in its payload.' }),
    sequence: z
      .int()
      .meta({ description: 'Sent as `webhook-sequence`: counts the deliveries of the webhook.' }),
    status: z.enum(deliveryStatuses).meta({
      description:
        'waiting: an earlier event about the same object comes first. pending: to be sent, or sent again. withheld: not sent, because the partner may not receive events of the practice group at present; it goes on by itself when the partner may again, for as long as events are kept. failed: given up.',
    }),
    withheld_reason: withheldReason(),
    attempts: z.array(attempt).meta({ description: 'Oldest first; at most the last 50.' }),
    next_attempt_at: timestamp().nullable().meta({
      description:
        'When a pending delivery is sent next, provided that its webhook is active then; null for every other status.',
    }),
    created_at: timestamp().meta({ description: 'When the delivery was created.' }),
    finished_at: timestamp()
      .nullable()
      .meta({ description: 'When it was delivered or given up; null: it is not finished.' }),
  })
  .meta({ id: 'Delivery', description: 'The delivery of one event to one webhook.' });

export type Delivery = z.infer<typeof delivery>;

export const listWebhookDeliveries = defineEndpoint({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  tag,
  summary: 'List deliveries',
  description: `What was sent to the webhook, with every attempt, newest first. ${shortPages}`,
  extension: true,
  portal: true,
  access: { scope: 'webhooks:read' },
  params: webhookById,
  query: z.strictObject({
    ...pageQuery,
    status: z.enum(deliveryStatuses).optional().meta({ description: 'Only deliveries with this status.' }),
    event: eventType.optional().meta({ description: 'Only deliveries of this event.' }),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(delivery) },
  problems: ['not_found'],
});

export const getWebhookDelivery = defineEndpoint({
  operationId: 'getWebhookDelivery',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}',
  tag,
  summary: 'Get a delivery',
  extension: true,
  portal: true,
  access: { scope: 'webhooks:read' },
  params: webhookById.extend({ delivery_id: text({ min: 1, max: 255 }) }),
  response: { status: 200, description: 'The delivery.', body: delivery },
  problems: ['not_found'],
});

export const replayRequest = z
  .strictObject({
    since: moment().optional().meta({ description: 'Not in the future.' }),
    until: moment().optional().meta({
      description: 'With `since`, and after it: only what was accepted before this moment.',
    }),
    event_ids: z
      .array(text({ min: 1, max: 255 }))
      .min(1)
      .max(REPLAY_IDS_MAX)
      .optional()
      .meta({ description: 'The IDs of the events to send again.' }),
  })
  .refine(({ since, event_ids }) => (since === undefined) !== (event_ids === undefined), {
    error: 'Send either since or event_ids.',
    params: { code: 'invalid_value', expected: 'object' },
  })
  .refine(({ since, until }) => until === undefined || since !== undefined, {
    error: 'Send until together with since.',
    path: ['until'],
    params: { code: 'invalid_value', expected: 'string' },
  })
  // What is no moment is no number here, and refused as what it is.
  .refine(({ since = '', until = '' }) => !(Date.parse(since) >= Date.parse(until)), {
    error: 'Must lie before until.',
    path: ['since'],
    params: { code: 'invalid_value', expected: 'string' },
  })
  .meta({
    id: 'ReplayRequest',
    minProperties: 1,
    maxProperties: 2,
    dependentRequired: { until: ['since'] },
  });

export const replay = z
  .object({
    count: z.int().meta({
      description: 'How many deliveries will be sent, including those that were pending anyway.',
    }),
  })
  .meta({ id: 'Replay' });

export const replayWebhook = defineEndpoint({
  operationId: 'replayWebhook',
  method: 'POST',
  path: '/v1/webhooks/{id}/replay',
  tag,
  summary: 'Replay events',
  description: `Sends events again: all that were accepted since a moment, up to another if one is given, or those named, as far as the webhook subscribes to them. A delivery that was delivered or given up is sent again with the same \`webhook-id\`. One that waits for a retry is sent now. An event that the webhook never got is sent for the first time. One call takes at most ${REPLAY_EVENTS_MAX} events.`,
  extension: true,
  portal: true,
  access: { scope: 'webhooks:write', and: 'events:read' },
  idempotency: 'afterwards',
  params: webhookById,
  body: replayRequest,
  response: { status: 202, description: 'The deliveries will be sent.', body: replay },
  problems: ['not_found', 'business_rule_violation'],
  rules: ['event_unknown', 'replay_too_large'],
});
