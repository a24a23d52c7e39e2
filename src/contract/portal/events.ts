import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { eventType } from '../event-payloads.ts';
import { pageOf, pageQuery, shortPages } from '../page.ts';
import { feedEvent } from '../partner/events.ts';

const tag = 'Portal';

/** Newest first, for people. Programs read the feed in the order of acceptance. */
export const listPortalEvents = defineEndpoint({
  operationId: 'listPortalEvents',
  method: 'GET',
  path: '/portal/v1/events',
  tag,
  summary: 'List the latest events of a practice',
  description: `What the event feed of the practice holds, newest first, with the key that \`x-porter-key\` names. ${shortPages}`,
  extension: true,
  portal: 'only',
  access: { scope: 'events:read' },
  query: z.strictObject({ ...pageQuery, event: eventType.optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(feedEvent), verbatim: true },
  problems: [],
});
