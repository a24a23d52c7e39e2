import { z } from 'zod';
import { readers } from '../../access.ts';
import { attempt } from '../../attempts.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId, timestamp } from '../../fields.ts';
import { deliveryStatuses } from '../../partner/webhook-deliveries.ts';
import { webhookStatuses, withheldReason } from '../../partner/webhooks.ts';
import { named } from '../named.ts';
import { acceptedEvent } from './events.ts';

/** Why a webhook has no delivery of an event, with a sentence for each. */
export const notSentReasons = {
  not_fanned_out: 'The event was accepted and has not been put into the queues yet.',
  event_type: 'The webhook does not subscribe to this event.',
  registered_later: 'The webhook was created after the event was accepted. Replay sends it the event.',
  not_in_practice_groups: 'The webhook is for all practice groups, narrowed to others than this one.',
  test_for_another: 'It is a test event for another webhook or partner.',
  partner_not_verified: 'The partner is not verified, or is suspended.',
  stopped_by_practice: 'The practice has stopped the partner.',
  key_revoked: 'Every key of the partner that reaches the practice group is revoked.',
  key_expired: 'Every key of the partner that reaches the practice group has expired.',
  scope_missing: 'No key of the partner, or no network, grants events:read for the practice group.',
  out_of_reach:
    'No key of the partner is tied to the practice group, or to one that shares a network with it.',
  erased: 'The object of the event was erased: it is sent to nobody.',
  not_entitled_then:
    'The partner may receive events of the practice group now, and could not when this one was put into the queues. Replay sends it the event.',
} as const;

export type NotSentReason = keyof typeof notSentReasons;
const notSentNames = Object.keys(notSentReasons) as [NotSentReason, ...NotSentReason[]];

/** Of an event; the rest is counted. */
export const LIFE_WEBHOOKS_MAX = 200;

const target = z
  .object({
    webhook_id: z.string(),
    url: z.string(),
    partner: named,
    webhook_status: z.enum(webhookStatuses),
    outcome: z.enum([...deliveryStatuses, 'not_sent']).meta({
      description:
        'waiting: an earlier event about the same object comes first. pending: to be sent, or sent again. failed: given up. not_sent: it has no delivery; `not_sent_reason` says why.',
    }),
    not_sent_reason: z.enum(notSentNames).nullable(),
    withheld_reason: withheldReason(),
    explanation: z.string().nullable().meta({
      description: 'Why it has not arrived, as a sentence; null where it has.',
    }),
    delivery_id: z.string().nullable(),
    queued_at: timestamp().nullable(),
    attempts: z.array(attempt).meta({ description: 'Oldest first; at most the last 50.' }),
    next_attempt_at: timestamp().nullable(),
    finished_at: timestamp().nullable(),
  })
  .meta({ id: 'EventTarget', description: 'What became of an event for one webhook.' });

export type EventTarget = z.infer<typeof target>;

const life = acceptedEvent
  .extend({
    practice_group: named,
    cause: z
      .object({
        kind: z.enum(['published', 'ehr_health', 'form_submission', 'write_to_record', 'test']).meta({
          description:
            'published: an operator said so (`POST /events`). test: a partner asked for a test event. Otherwise what Porter itself made of what it was told.',
        }),
        source: z
          .object({ type: z.enum(['operator', 'key']), id: z.string(), name: z.string().nullable() })
          .meta({ id: 'EventSource', description: 'Who said so.' }),
      })
      .meta({ id: 'EventCause' }),
    feed_position: z
      .int()
      .nullable()
      .meta({ description: 'Its place in the feed; null: not fanned out yet, or a test for one webhook.' }),
    erased_by: z.string().nullable().meta({ description: 'The erasure of its object, if it was erased.' }),
    targets: z.array(target).meta({
      description: `One for each webhook that could have received it: of every partner that has, or had, a key that reaches the practice group, and every one that has a delivery. Those without a delivery come last; at most ${LIFE_WEBHOOKS_MAX}.`,
    }),
    target_count: z.int().meta({ description: 'How many there are, those beyond `targets` included.' }),
  })
  .meta({ id: 'EventLife', description: 'What caused an event, and what became of it.' });

export const getEventLife = defineEndpoint({
  operationId: 'getEventLife',
  method: 'GET',
  path: '/operator/v1/events/{id}/life',
  tag: 'Events',
  summary: 'Get the life of an event',
  description:
    'From its cause to every webhook that got it, and to those that did not, each with the reason. Why a webhook has no delivery is judged by how things stand now.',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId() }),
  response: { status: 200, description: 'Its life so far.', body: life, verbatim: true },
  problems: ['not_found'],
});
