import type { Operation } from '../api/client.ts';
import { GuestFrame } from './guest-frame.tsx';
import type { Concerned } from './live.ts';
import type { Place } from './places.ts';

/** Around the portal. */

const places: readonly Place[] = [
  { title: 'Home', to: '/portal', key: 'h' },
  { title: 'Practices', to: '/portal/practices', key: 'p' },
  { title: 'Keys', to: '/portal/keys', key: 'k' },
  { title: 'Webhooks', to: '/portal/webhooks', key: 'w' },
  { title: 'Event feed', to: '/portal/events', key: 'e' },
  { title: 'Refused calls', to: '/portal/refused', key: 'r' },
  { title: 'Alerts', to: '/portal/alerts', key: 'l' },
  { title: 'Verify signatures', to: '/portal/verify', key: 'v' },
  { title: 'Agreement', to: '/portal/agreement', key: 'a' },
  { title: 'Service status', to: '/portal/status', key: 's' },
];

const webhooks = ['getPortalHome', 'listPortalWebhooks', 'getPortalWebhook'] as const;

const concerned: Concerned = {
  traffic: [
    ...webhooks,
    'listPortalKeys',
    'getPortalKey',
    'listPortalRefusals',
    'listWebhookDeliveries',
    'getWebhookDelivery',
  ],
  webhooks: [...webhooks, 'listWebhookDeliveries'],
  keys: ['listPortalKeys', 'getPortalKey', 'listPortalPractices', ...webhooks],
  alerts: ['getPortalHome', 'listPortalAlerts'],
};

/** What happens in practices, and who may reach them, is not the partner's own: nobody is woken by it. */
const untold: readonly Operation[] = ['listPortalEvents', 'listPortalPractices', 'getPortalStatus'];

export const PartnerFrame = () => (
  <GuestFrame places={places} stream="streamPortalLive" concerned={concerned} untold={untold} />
);
