import { defineEndpoint } from '../endpoint.ts';
import { liveNews, liveText } from '../live.ts';

export const portalLiveKinds = ['traffic', 'webhooks', 'keys', 'alerts'] as const;

export const streamPortalLive = defineEndpoint({
  operationId: 'streamPortalLive',
  method: 'GET',
  path: '/portal/v1/live',
  tag: 'Portal',
  summary: 'Stream what has changed',
  description: liveText('of the partner, and of no other,'),
  extension: true,
  access: { guests: 'partner' },
  response: {
    status: 200,
    description: 'What has changed, as it changes.',
    stream: true,
    body: liveNews(
      'PortalNews',
      portalLiveKinds,
      'traffic: calls were made with its keys, or something was sent to its webhooks. webhooks: one was changed, or began to fail or succeed. keys: one was issued, changed or ended. alerts: one began or ended.',
    ),
  },
  problems: ['conflict'],
});
