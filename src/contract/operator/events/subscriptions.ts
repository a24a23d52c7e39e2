import { z } from 'zod';
import { admins, readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { line, recordId, timestamp, webAddress } from '../../fields.ts';
import { pageOf, pageQuery, shortPages } from '../../page.ts';
import { delivery, deliveryStatuses, replay, replayRequest } from '../../partner/webhook-deliveries.ts';
import {
  LIVE_SECRETS_MAX,
  SECRET_OVERLAP_HOURS,
  STOPS_AFTERWARDS,
  secret,
  webhook,
  webhookStatuses,
} from '../../partner/webhooks.ts';
import { REPLAY_EVENTS_MAX, SUBSCRIPTIONS_MAX } from '../../rules.ts';
import { alert } from '../oversight/alerts.ts';
import { change } from '../practices/changes.ts';
import { subscriptionHealth } from '../subscription-health.ts';

/** What the operator's own systems may hear of, and the events that each topic stands for. Partners get none of them. */
export const topics = {
  changes: ['submission-type.changed'],
  alerts: ['alert.began', 'alert.ended'],
} as const;

export type Topic = keyof typeof topics;
/** What is sent on a topic, behind the name of the event. A change is new when it is sent, so nothing has become of it yet. */
export const topicPayloads = {
  changes: change.omit({ reason: true, ended_at: true }),
  alerts: alert,
};
export type TopicPayload<T extends Topic> = z.infer<(typeof topicPayloads)[T]>;
export const topicNames = Object.keys(topics) as [Topic, ...Topic[]];
/** Of no topic: goes to the practice software that was asked about the change (contract/operator/practices/write-through.ts). */
const WITHDRAWN = 'change.withdrawn';
export type OperatorEventName = (typeof topics)[Topic][number] | typeof WITHDRAWN;
const operatorEventNames: [OperatorEventName, ...OperatorEventName[]] = [
  WITHDRAWN,
  ...Object.values(topics).flat(),
];

const topicList = () =>
  z
    .array(z.enum(topicNames))
    .min(1)
    .max(topicNames.length)
    .refine((names) => new Set(names).size === names.length, {
      error: 'Name each topic once.',
      params: { code: 'invalid_value', expected: 'array' },
    })
    .meta({ uniqueItems: true });

const subscription = webhook
  .pick({
    url: true,
    description: true,
    status: true,
    status_reason: true,
    created_at: true,
    updated_at: true,
  })
  .extend({
    id: z.string().meta({ examples: ['wh_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE'] }),
    topics: z.array(z.enum(topicNames)).meta({
      description:
        'changes: what partners change, as in the feed of changes. alerts: what somebody should look after.',
    }),
    health: subscriptionHealth,
  })
  .meta({ id: 'Subscription', description: "A webhook of the operator's own." });

export type Subscription = z.infer<typeof subscription>;

const url = () =>
  webAddress().meta({
    description:
      'https, at a public address or within the networks of PORTER_OPERATOR_TARGETS. Redirects are not followed.',
    examples: ['https://practice-software.example/porter'],
  });
const description = () => line({ max: 255 }).nullable();
const readOnly = ['id', 'status_reason', 'health', 'created_at', 'updated_at'] as const;

const subscriptionDelivery = delivery
  .omit({ event: true, withheld_reason: true })
  .extend({ event: z.enum(operatorEventNames) })
  .meta({
    id: 'SubscriptionDelivery',
    description: "The delivery of one event to one of the operator's webhooks.",
  });

export type SubscriptionDelivery = z.infer<typeof subscriptionDelivery>;

const byId = z.strictObject({ id: recordId() });
const tag = 'Subscriptions';

export const createSubscription = defineEndpoint({
  operationId: 'createSubscription',
  method: 'POST',
  path: '/operator/v1/subscriptions',
  tag,
  summary: 'Create a subscription',
  description: `From now on, what belongs to the topics is posted to \`url\`, signed with \`secret\` (Standard Webhooks), with the guarantees of partners' webhooks: at least once, in order for each object, retried for days. There may be ${SUBSCRIPTIONS_MAX} of them.`,
  extension: true,
  access: { roles: admins },
  body: z.strictObject({ url: url(), topics: topicList(), description: description().optional() }),
  readOnly: [...readOnly, 'status'],
  response: {
    status: 201,
    description: 'The subscription with its secret, shown this once.',
    body: subscription.extend({ secret: secret() }).meta({ id: 'CreatedSubscription' }),
  },
  problems: ['business_rule_violation'],
  rules: ['webhook_target_refused', 'subscriptions_max'],
});

export const listSubscriptions = defineEndpoint({
  operationId: 'listSubscriptions',
  method: 'GET',
  path: '/operator/v1/subscriptions',
  tag,
  summary: 'List subscriptions',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({ ...pageQuery, status: z.enum(webhookStatuses).optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(subscription) },
  problems: [],
});

export const getSubscription = defineEndpoint({
  operationId: 'getSubscription',
  method: 'GET',
  path: '/operator/v1/subscriptions/{id}',
  tag,
  summary: 'Get a subscription',
  description: 'Shows its health, too.',
  extension: true,
  access: { roles: readers },
  params: byId,
  conditional: true,
  response: { status: 200, description: 'The subscription.', body: subscription },
  problems: ['not_found'],
});

export const updateSubscription = defineEndpoint({
  operationId: 'updateSubscription',
  method: 'PATCH',
  path: '/operator/v1/subscriptions/{id}',
  tag,
  summary: 'Update a subscription',
  description: `Changes, pauses or activates a subscription. While it is paused, its deliveries stay queued. After a change of \`url\`, queued deliveries are sent to the new address. ${STOPS_AFTERWARDS}`,
  extension: true,
  access: { roles: admins },
  params: byId,
  body: z
    .strictObject({
      url: url().optional(),
      topics: topicList().optional(),
      description: description().optional(),
      status: z
        .enum(['active', 'paused'])
        .optional()
        .meta({ description: 'Activating a disabled subscription resets its count of failures.' }),
    })
    .meta({ id: 'SubscriptionPatch' }),
  readOnly,
  conditional: true,
  response: { status: 200, description: 'The subscription as it is now.', body: subscription },
  problems: ['not_found', 'precondition_failed', 'business_rule_violation'],
  rules: ['webhook_target_refused'],
});

export const deleteSubscription = defineEndpoint({
  operationId: 'deleteSubscription',
  method: 'DELETE',
  path: '/operator/v1/subscriptions/{id}',
  tag,
  summary: 'Delete a subscription',
  description: `Deletes its deliveries, too: queued ones are not sent any more. ${STOPS_AFTERWARDS}`,
  extension: true,
  access: { roles: admins },
  params: byId,
  conditional: true,
  response: { status: 204, description: 'The subscription is deleted.' },
  problems: ['not_found', 'precondition_failed'],
});

export const rotateSubscriptionSecret = defineEndpoint({
  operationId: 'rotateSubscriptionSecret',
  method: 'POST',
  path: '/operator/v1/subscriptions/{id}/rotate-secret',
  tag,
  summary: 'Rotate the secret of a subscription',
  description: `Signs deliveries with the new secret from now on, and with the old one as well for ${SECRET_OVERLAP_HOURS} hours. At most ${LIVE_SECRETS_MAX} secrets sign at a time.`,
  extension: true,
  access: { roles: admins },
  params: byId,
  response: {
    status: 200,
    description: 'The new secret, shown this once.',
    body: z
      .object({
        id: z.string().meta({ description: 'The subscription.' }),
        secret: secret(),
        previous_secret_expires_at: timestamp(),
      })
      .meta({ id: 'RotatedSubscriptionSecret' }),
  },
  problems: ['not_found', 'conflict'],
});

export const testSubscription = defineEndpoint({
  operationId: 'testSubscription',
  method: 'POST',
  path: '/operator/v1/subscriptions/{id}/test',
  tag,
  summary: 'Send a test event to a subscription',
  description:
    'Delivers an event with example values to this subscription alone, whatever its topics, signed and retried like any other. The ID in it begins with `test_`.',
  extension: true,
  access: { roles: admins },
  params: byId,
  body: z.strictObject({ topic: z.enum(topicNames) }),
  response: {
    status: 202,
    description: 'The test event will be sent.',
    body: z.object({ event_id: z.string(), delivery_id: z.string() }).meta({ id: 'SubscriptionTest' }),
  },
  problems: ['not_found', 'conflict'],
});

export const listSubscriptionDeliveries = defineEndpoint({
  operationId: 'listSubscriptionDeliveries',
  method: 'GET',
  path: '/operator/v1/subscriptions/{id}/deliveries',
  tag,
  summary: 'List the deliveries of a subscription',
  description: `What was sent, with every attempt, newest first. ${shortPages}`,
  extension: true,
  access: { roles: readers },
  params: byId,
  query: z.strictObject({ ...pageQuery, status: z.enum(deliveryStatuses).optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(subscriptionDelivery) },
  problems: ['not_found'],
});

export const getSubscriptionDelivery = defineEndpoint({
  operationId: 'getSubscriptionDelivery',
  method: 'GET',
  path: '/operator/v1/subscriptions/{id}/deliveries/{delivery_id}',
  tag,
  summary: 'Get a delivery of a subscription',
  extension: true,
  access: { roles: readers },
  params: byId.extend({ delivery_id: recordId() }),
  response: { status: 200, description: 'The delivery.', body: subscriptionDelivery },
  problems: ['not_found'],
});

export const replaySubscription = defineEndpoint({
  operationId: 'replaySubscription',
  method: 'POST',
  path: '/operator/v1/subscriptions/{id}/replay',
  tag,
  summary: 'Replay to a subscription',
  idempotency: 'afterwards',
  description: `Sends events again, under the same \`webhook-id\`: all since a moment, up to another if one is given, or those named, as far as they belong to its topics. Changes from before there was any subscription to them are in the feed of changes alone. One call takes at most ${REPLAY_EVENTS_MAX} events.`,
  extension: true,
  access: { roles: admins },
  params: byId,
  body: replayRequest,
  response: { status: 202, description: 'The deliveries will be sent.', body: replay },
  problems: ['not_found', 'business_rule_violation'],
  rules: ['event_unknown', 'replay_too_large'],
});
