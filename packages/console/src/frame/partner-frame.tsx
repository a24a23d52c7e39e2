import { GuestFrame } from './guest-frame.tsx';
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

export const PartnerFrame = () => <GuestFrame places={places} />;
