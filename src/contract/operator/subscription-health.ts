import { webhookHealth } from '../partner/webhooks.ts';

/** Shared by subscriptions and by the webhook that asks the practice software. */
export const subscriptionHealth = webhookHealth
  .pick({ failures: true, failing_since: true, last_success_at: true, queued: true })
  .meta({ id: 'SubscriptionHealth' });
