import type { Delivery } from '../../contract/partner/webhook-deliveries.ts';
import type { Webhook } from '../../contract/partner/webhooks.ts';

const id = 'wh_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE';

const webhook: Webhook = {
  id,
  url: 'https://partner.example/porter',
  description: 'Bookings',
  event_types: ['appointment.confirmed', 'appointment.cancelled'],
  status: 'active',
  status_reason: null,
  signature: 'hmac',
  header_names: [],
  practice_group_id: 'riverside-surgery',
  practice_groups: null,
  practice_group_ids: null,
  health: {
    failures: 0,
    failing_since: null,
    last_success_at: '2026-11-14T08:00:00.000Z',
    queued: 0,
    withheld_since: null,
    withheld_reason: null,
    withheld_practice_groups: [],
  },
  created_at: '2026-09-21T15:40:02.008Z',
  updated_at: '2026-09-21T15:40:02.008Z',
};

const delivery: Delivery = {
  id: 'dlv_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE_42_0VkQ3zAcD',
  event_id: 'evt_0VkQ3zAcDe2d9As5Io7Mq3XtF',
  event: 'appointment.confirmed',
  object_id: 'apt_1042',
  sequence: 42,
  status: 'pending',
  withheld_reason: null,
  attempts: [
    {
      at: '2026-11-14T08:00:00.000Z',
      outcome: 'failed',
      status: 503,
      phase: null,
      code: null,
      diagnosis: 'Answered 503: the receiver is not available.',
      duration_ms: 42,
      answer: 'Down for maintenance',
    },
  ],
  next_attempt_at: '2026-11-14T08:00:05.000Z',
  created_at: '2026-11-14T08:00:00.000Z',
  finished_at: null,
};

export const feedEvent = {
  id: delivery.event_id,
  created_at: '2026-11-14T08:00:00.000Z',
  data: {
    object: 'Appointment',
    id: 'apt_1042',
    practice_group_id: 'riverside-surgery',
    event: 'appointment.confirmed',
  },
};

const page = (data: unknown[]) => ({ data, count: data.length, next_cursor: null });
/** Not a secret of anybody: the bytes 0 to 31. */
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

export const webhookRequests = {
  createWebhook: {
    all: { summary: 'Every event', value: { url: 'https://partner.example/porter' } },
    some: {
      summary: 'Bookings only',
      value: {
        url: 'https://partner.example/porter',
        event_types: ['appointment.confirmed', 'appointment.cancelled'],
        description: 'Bookings',
      },
    },
  },
  updateWebhook: {
    pause: { summary: 'Let events queue up for now', value: { status: 'paused' } },
    move: {
      summary: 'A new address, and active again',
      value: { url: 'https://partner.example/porter/v2', status: 'active' },
    },
  },
  triggerTestEvent: {
    confirmed: { summary: 'A confirmed appointment', value: { event: 'appointment.confirmed' } },
  },
  testWebhook: {
    confirmed: { summary: 'A confirmed appointment', value: { event: 'appointment.confirmed' } },
  },
  replayWebhook: {
    since: { summary: 'All since this morning', value: { since: '2026-11-14T06:00:00.000Z' } },
  },
};

export const webhookResponses = {
  createWebhook: {
    created: {
      summary: 'With the secret, this once',
      value: { ...webhook, health: { ...webhook.health, last_success_at: null }, secret },
    },
  },
  listWebhooks: { page: { summary: 'The only page', value: page([webhook]) } },
  getWebhook: {
    healthy: { summary: 'One that is well', value: webhook },
    disabled: {
      summary: 'One that failed for five days',
      value: {
        ...webhook,
        status: 'disabled',
        status_reason:
          'No delivery succeeded for 5 days. The last one failed: Connected, but no answer in 15 s.',
        health: {
          ...webhook.health,
          failures: 214,
          failing_since: '2026-11-09T08:00:00.000Z',
          last_success_at: '2026-11-09T07:58:11.402Z',
          queued: 87,
        },
      },
    },
  },
  updateWebhook: { updated: { summary: 'As it is after the update', value: webhook } },
  rotateWebhookSecret: {
    rotated: {
      summary: 'Both secrets sign for a day',
      value: { id, secret, previous_secret_expires_at: '2026-11-15T08:00:00.000Z' },
    },
  },
  testWebhook: {
    queued: { summary: 'On its way', value: { event_id: delivery.event_id, delivery_id: delivery.id } },
  },
  listWebhookDeliveries: { page: { summary: 'The only page', value: page([delivery]) } },
  getWebhookDelivery: { pending: { summary: 'To be tried again', value: delivery } },
  replayWebhook: { queued: { summary: 'On their way', value: { count: 128 } } },
  listEvents: {
    page: {
      summary: 'The newest event',
      value: {
        data: [feedEvent],
        count: 1,
        next_cursor: 'WzQyLCIwLTE5YjJjM2Q0ZTVmLTlmODZkMDgxODg0YzdkNjUiXQ',
        has_more: false,
      },
    },
  },
  streamEvents: {
    stream: {
      summary: 'The beginning, and an event',
      value: `retry: 2000\nid: WzQxLCIwLTE5YjJjM2Q0ZTVmLTlmODZkMDgxODg0YzdkNjUiXQ\n\nid: WzQyLCIwLTE5YjJjM2Q0ZTVmLTlmODZkMDgxODg0YzdkNjUiXQ\nevent: appointment.confirmed\ndata: ${JSON.stringify(feedEvent)}\n\n`,
    },
  },
  triggerTestEvent: { accepted: { summary: 'Accepted', value: { event_id: delivery.event_id } } },
};
