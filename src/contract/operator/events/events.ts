import { z } from 'zod';
import { readers, sources } from '../../access.ts';
import { defineEndpoint, LINE_BYTES_MAX } from '../../endpoint.ts';
import { eventPayload, eventType } from '../../event-payloads.ts';
import { recordId, reference, timestamp } from '../../fields.ts';
import { pageOf, pageQuery, shortPages, spanQuery } from '../../page.ts';
import { deliveryStatuses } from '../../partner/webhook-deliveries.ts';
import type { ItemProblem } from '../item-problem.ts';

const EVENTS_MAX = 1_000;
const EVENTS_BYTES_MAX = 2 * 1024 * 1024;

const batch = z.strictObject({ events: z.array(eventPayload).min(1).max(EVENTS_MAX) }).meta({
  id: 'EventBatch',
  description:
    'Several events of practice groups that one database serves: all of them are accepted, or none.',
});

const oneOrSeveral = z.union([eventPayload, batch]);
// What is meant is plain from the field `events`. A union would try both, and report what is wrong with neither.
oneOrSeveral._zod.run = (payload, context) =>
  (isOne(payload.value) ? eventPayload : batch)._zod.run(payload, context);

function isOne(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.hasOwn(value, 'events')
  );
}

export const acceptedEvent = z
  .object({
    id: z.string().meta({ examples: ['evt_00VQ3mJ1kd7Lw0aXoPq3ZtUe6'] }),
    payload: eventPayload,
    source_id: z.string().meta({ description: 'The operator that published it.' }),
    accepted_at: timestamp(),
    test: z.boolean().meta({
      description: 'True for a test event: a partner asked for it to try a webhook, and nothing happened.',
    }),
  })
  .meta({ id: 'AcceptedEvent' });

const eventWithDeliveries = acceptedEvent
  .extend({
    deliveries: z.array(
      z.object({
        id: z.string(),
        webhook_id: z.string(),
        status: z.enum(deliveryStatuses).meta({
          description:
            'waiting: an earlier event about the same object comes first. pending: to be sent, or sent again. failed: given up.',
        }),
      }),
    ),
  })
  .meta({
    id: 'EventWithDeliveries',
    description: 'An event, and the status of its delivery to each webhook.',
  });

/** The outcome of one line of NDJSON. */
export interface EventOutcome {
  index: number;
  outcome: 'accepted' | 'refused';
  event_id?: string;
  problem?: ItemProblem;
}

export type AcceptedEvent = z.infer<typeof acceptedEvent>;
export type EventWithDeliveries = z.infer<typeof eventWithDeliveries>;

const tag = 'Events';

export const publishEvents = defineEndpoint({
  operationId: 'publishEvents',
  method: 'POST',
  path: '/operator/v1/events',
  tag,
  summary: 'Publish events',
  description: `Takes one event, or up to ${EVENTS_MAX} as \`{"events": […]}\`. All of them are accepted, or none; in a deployment of several databases, they are of practice groups that one of them serves. Once the call is answered, the events are stored and will be delivered to every webhook that may have them, as they were given. The EHR status of the practice group follows an event about it, also for \`GET /v1/practice-groups\`. An event that a write-to-record job has succeeded or failed finishes the open job with that \`id\`. No second event is made. An event about a form names no submission type, so it counts for none: report a form that counts with \`POST /operator/v1/practice-groups/{id}/form-submissions\`.

Takes \`application/x-ndjson\` as well: one event on each line, any number of lines of at most ${LINE_BYTES_MAX / 1024} KiB. The response has one line for each line, in order: \`{"index": 0, "outcome": "accepted", "event_id": "evt_…"}\`, or \`{"index": 1, "outcome": "refused", "problem": {…}}\` with a problem as in \`ImportOutcome\`. \`index\` is the place of the line, from 0 on; a blank line counts and has no outcome. A refused line does not affect other lines. Events are accepted in the order of their lines. Read the outcomes while you send: the service reads no further than you do. A last line with a \`problem\` and no \`index\` says why the service stopped.

With an \`Idempotency-Key\`, each line of NDJSON has a key of its own, made of that key and its index. Send the same body with the same key again after a broken connection: each line is accepted once, and its outcome has the ID of the first time. A line that differs from the accepted line with its index is refused with \`conflict\`. A refused line uses up no key: correct it in its place, and send the body again. Without a key, a line that had no outcome may have been accepted.`,
  extension: true,
  access: { roles: sources },
  idempotency: 'own',
  body: oneOrSeveral,
  bodyBytesMax: EVENTS_BYTES_MAX,
  lines: 'also',
  response: {
    status: 202,
    description: 'Accepted. The IDs are in the order of the events.',
    body: z.object({ event_ids: z.array(z.string()) }).meta({ id: 'PublishedEvents' }),
  },
  problems: ['conflict', 'business_rule_violation'],
  rules: ['practice_group_unknown'],
});

export const listPublishedEvents = defineEndpoint({
  operationId: 'listPublishedEvents',
  method: 'GET',
  path: '/operator/v1/events',
  tag,
  summary: 'List published events',
  description: `Newest first. With \`practice_group_id\`, the order is that of the feed, and test events for one webhook are left out. ${shortPages}`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    ...spanQuery,
    practice_group_id: reference().optional(),
    event: eventType.optional(),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(acceptedEvent), verbatim: true },
  problems: [],
});

export const getPublishedEvent = defineEndpoint({
  operationId: 'getPublishedEvent',
  method: 'GET',
  path: '/operator/v1/events/{id}',
  tag,
  summary: 'Get a published event',
  description: 'Shows its delivery to each webhook, too.',
  extension: true,
  access: { roles: readers },
  params: z.strictObject({ id: recordId() }),
  response: { status: 200, description: 'The event.', body: eventWithDeliveries, verbatim: true },
  problems: ['not_found'],
});
