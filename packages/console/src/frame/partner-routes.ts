import { lazyRouteComponent } from '@tanstack/react-router';
import type { Screen } from './screen.ts';

/** The portal: what people of a partner see who were invited. */

export const partnerScreens: readonly Screen[] = [
  ['/portal', lazyRouteComponent(() => import('../screens/portal/home.tsx'), 'Home')],
  ['/portal/practices', lazyRouteComponent(() => import('../screens/portal/practices.tsx'), 'Practices')],
  ['/portal/keys', lazyRouteComponent(() => import('../screens/portal/keys.tsx'), 'Keys')],
  ['/portal/keys/$id', lazyRouteComponent(() => import('../screens/portal/key.tsx'), 'Key')],
  ['/portal/webhooks', lazyRouteComponent(() => import('../screens/portal/webhooks.tsx'), 'Webhooks')],
  ['/portal/webhooks/$id', lazyRouteComponent(() => import('../screens/portal/webhook.tsx'), 'Webhook')],
  [
    '/portal/webhooks/$id/deliveries/$delivery',
    lazyRouteComponent(() => import('../screens/portal/delivery.tsx'), 'Delivery'),
  ],
  ['/portal/events', lazyRouteComponent(() => import('../screens/portal/events.tsx'), 'Events')],
  ['/portal/refused', lazyRouteComponent(() => import('../screens/portal/refused.tsx'), 'Refused')],
  ['/portal/alerts', lazyRouteComponent(() => import('../screens/portal/alerts.tsx'), 'Alerts')],
  ['/portal/verify', lazyRouteComponent(() => import('../screens/portal/verify.tsx'), 'Verify')],
  ['/portal/agreement', lazyRouteComponent(() => import('../screens/portal/agreement.tsx'), 'Agreement')],
  ['/portal/status', lazyRouteComponent(() => import('../screens/portal/status.tsx'), 'Status')],
];
