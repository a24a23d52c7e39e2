import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { eventPayload, eventType } from '../event-payloads.ts';
import { moment, text, timestamp } from '../fields.ts';
import { pageQuery } from '../page.ts';

export const feedEvent = z
  .object({
    id: z.string().meta({ description: 'The ID of the event.', examples: ['evt_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE'] }),
    created_at: timestamp().meta({ description: 'When the event was accepted.' }),
    data: eventPayload.meta({ description: 'The event, as webhooks receive it.' }),
  })
  .meta({ id: 'FeedEvent' });

/** Longer than all names together. */
const NAMES_LENGTH_MAX = 1024;

/** `event_types=a,b` is the list of both. */
const namesInQuery = text({ min: 1, max: NAMES_LENGTH_MAX })
  .transform((names) => names.split(','))
  .pipe(z.array(eventType))
  .optional()
  .meta({ description: 'Names of events, separated by commas; all of them unless given.' });

export const listEvents = defineEndpoint({
  operationId: 'listEvents',
  method: 'GET',
  path: '/v1/events',
  tag: 'Events',
  summary: 'List events',
  description:
    'Reads the event feed: the log that webhooks are sent from, in order. Use it to catch up on what a webhook missed, or instead of webhooks. Begin at a moment with `since`. Send `next_cursor` as `cursor` to go on. The last page has one too: keep it, and send it later to get what has happened since. Events are kept for 30 days unless configured otherwise; an older cursor leads to the oldest event that is left. Should the service ever be set back to a backup, a cursor from after that point is answered with 410 and with the one to go on from. With `event_types` a page may hold fewer events than asked for, even none, while `has_more` is true.',
  extension: true,
  access: { scope: 'events:read' },
  query: z
    .strictObject({
      ...pageQuery,
      since: moment()
        .optional()
        .meta({
          description:
            'Begin with the first event that was accepted at this moment or later. Send it without `cursor`; the following pages need only their cursor.',
          examples: ['2026-11-14T08:00:00Z'],
        }),
      event_types: namesInQuery,
    })
    .refine(({ cursor, since }) => cursor === undefined || since === undefined, {
      path: ['since'],
      error: 'Give either since or cursor, not both.',
      params: { code: 'invalid_value', expected: 'never' },
    }),
  response: {
    status: 200,
    description: 'One page.',
    verbatim: true,
    body: z
      .object({
        data: z.array(feedEvent).meta({ description: 'The events of this page, oldest first.' }),
        count: z.int().min(0).meta({ description: 'How many events this page holds.' }),
        next_cursor: z.string().meta({ description: 'Send it as `cursor` to go on from here.' }),
        has_more: z.boolean().meta({ description: 'Whether there is more to read at this moment.' }),
      })
      .meta({ id: 'EventFeedPage' }),
  },
  problems: ['cursor_gone'],
});

export const STREAMS_PER_KEY_MAX = 5;
export const HEARTBEAT_SECONDS = 15;

export const streamEvents = defineEndpoint({
  operationId: 'streamEvents',
  method: 'GET',
  path: '/v1/events/stream',
  tag: 'Events',
  summary: 'Stream events',
  description: `Sends the event feed as Server-Sent Events: one message for each event, with its name as \`event\` and its cursor in the feed as \`id\`. The stream begins now, or after \`cursor\`. After a lost connection, send the last \`id\` as \`Last-Event-ID\`: nothing is missed. A heartbeat comment is sent after ${HEARTBEAT_SECONDS} seconds without an event. A key may have ${STREAMS_PER_KEY_MAX} streams open on each node. The stream ends when the key may no longer read these events, and when the service stops.`,
  extension: true,
  access: { scope: 'events:read' },
  query: z.strictObject({ cursor: pageQuery.cursor, event_types: namesInQuery }),
  response: { status: 200, description: 'Events, as they happen.', stream: true, body: feedEvent },
  problems: ['conflict', 'cursor_gone'],
});

export const triggerTestEvent = defineEndpoint({
  operationId: 'triggerTestEvent',
  method: 'POST',
  path: '/v1/test-events',
  tag: 'Events',
  summary: 'Trigger a test event',
  description:
    'In staging only. Publishes an event with example values to you alone: it appears in your event feed and streams, and is delivered to each of your webhooks of the practice group that subscribes to it. The ID of its object begins with `test_`.',
  extension: true,
  portal: true,
  access: { scope: 'webhooks:write' },
  idempotency: 'own',
  body: z.strictObject({ event: eventType.meta({ description: 'The event to publish.' }) }),
  response: {
    status: 202,
    description: 'The event is accepted.',
    body: z
      .object({ event_id: z.string().meta({ description: 'The ID of the test event.' }) })
      .meta({ id: 'TestEvent' }),
  },
  problems: ['business_rule_violation', 'conflict'],
  rules: ['staging_only'],
});
