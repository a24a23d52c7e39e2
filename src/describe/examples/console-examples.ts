import type { operatorEndpoints } from '../../contract/operator/index.ts';
import type { Examples } from './examples.ts';
import * as trace from './operator-traces.ts';
import { peopleResponses } from './people-examples.ts';

const one = (summary: string, value: unknown): Examples => ({ usual: { summary, value } });

const at = '2026-11-14T09:40:00.000Z';
const brightwater = { id: 'prt_brightwater', name: 'Brightwater Software' };
const larkhill = { id: 'pg_larkhill', name: 'Larkhill Medical Centre' };
const hub = { id: 'pg_plain_hub', name: 'Plain Evening Hub' };
const key = { id: 'key_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE', name: 'Booking service' };
const webhook = { id: 'wh_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE', name: 'hooks.brightwater.example' };

const attempt = {
  at: '2026-11-14T09:40:12.000Z',
  outcome: 'failed',
  status: null,
  phase: 'answer',
  code: 'answer_timeout',
  diagnosis: 'Connected, but no answer within 15 s.',
  duration_ms: 15_000,
  answer: null,
};

const noCalls = { ok: 0, refused: 0, rate_limited: 0, failed: 0 };

/** What a success looks like of what the console asks. */
export const consoleResponses = {
  ...peopleResponses,
  listLatestChanges: one('The newest change', {
    data: [trace.change],
    count: 1,
    next_cursor: null,
  }),
  listWebhookAttempts: one('A receiver that does not answer', {
    data: [
      {
        ...attempt,
        delivery_id: 'dlv_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE_42_0VkQ3zAcD',
        event_id: 'evt_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
        event: 'appointment.confirmed',
        object_id: 'apt_1042',
        practice_group_id: 'riverside-surgery',
        delivery_status: 'pending',
        next_attempt_at: '2026-11-14T09:45:12.000Z',
      },
    ],
    count: 1,
  }),
  remindOfAlert: one('Its contacts will be told', trace.alert),
  search: one('The beginning of a name', {
    data: [
      {
        kind: 'partner',
        id: brightwater.id,
        title: brightwater.name,
        subtitle: 'verified',
        matched: 'name',
        exact: false,
        open: { kind: 'partner', id: brightwater.id },
        partner_id: brightwater.id,
        practice_group_id: null,
      },
      {
        kind: 'webhook',
        id: webhook.id,
        title: 'https://hooks.brightwater.example/porter',
        subtitle: 'Brightwater Software · active',
        matched: 'url',
        exact: false,
        open: { kind: 'webhook', id: webhook.id },
        partner_id: brightwater.id,
        practice_group_id: larkhill.id,
      },
    ],
    count: 2,
    more: [],
  }),
  getAttention: one('A receiver that does not answer, and a key that is about to expire', {
    data: [
      {
        kind: 'webhook_failing',
        cause: 'answer_timeout',
        title: 'A webhook is failing',
        remedy: 'The partner is told after an hour. If many fail at once, look at your own way out first.',
        severity: 'critical',
        count: 1,
        since: '2026-11-14T08:02:00.000Z',
        items: [
          {
            subject: { type: 'webhook', ...webhook },
            alert_id: 'alt_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
            partner: brightwater,
            practice_group: larkhill,
            since: '2026-11-14T08:02:00.000Z',
            until: null,
            count: 37,
            usual: null,
            queued: 214,
            oldest_at: '2026-11-14T08:02:00.000Z',
            message:
              'No delivery to the webhook wh_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE (hooks.brightwater.example) for pg_larkhill has succeeded since 2026-11-14T08:02:00.000Z; 37 attempts have failed.',
            action: 'pause',
          },
        ],
      },
      {
        kind: 'key_expiring',
        cause: null,
        title: 'A key is about to expire',
        remedy: 'Rotate the key with an overlap, or set a later expires_at.',
        severity: 'warning',
        count: 1,
        since: null,
        items: [
          {
            subject: { type: 'key', ...key },
            alert_id: 'alt_0VkQ3zAcDm1c8Zr4Hn6Lp2WsE',
            partner: brightwater,
            practice_group: larkhill,
            since: null,
            until: '2026-11-21T00:00:00.000Z',
            count: null,
            usual: null,
            queued: null,
            oldest_at: null,
            message:
              'The key key_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE (Booking service) for pg_larkhill expires at 2026-11-21T00:00:00.000Z.',
            action: 'remind',
          },
        ],
      },
    ],
    count: 2,
    at,
  }),
  retryFailedDeliveries: one('All that were given up', { count: 214, has_more: false }),
  getFigures: one('Two points of five minutes', {
    since: '2026-11-14T09:30:00.000Z',
    until: '2026-11-14T09:40:00.000Z',
    step: '5m',
    data: [
      {
        at: '2026-11-14T09:30:00.000Z',
        calls: { ok: 1204, refused: 12, rate_limited: 0, failed: 0 },
        deliveries: { delivered: 310, retried: 4, given_up: 0 },
        delay_ms: { p50: 100, p95: 500 },
        oldest_undelivered_seconds: 2.5,
      },
      {
        at: '2026-11-14T09:35:00.000Z',
        calls: noCalls,
        deliveries: { delivered: 0, retried: 0, given_up: 0 },
        delay_ms: { p50: null, p95: null },
        oldest_undelivered_seconds: 0,
      },
    ],
  }),
  getWebhookHealth: one('It failed for five minutes', {
    since: '2026-11-14T09:30:00.000Z',
    until: '2026-11-14T09:40:00.000Z',
    step: '5m',
    data: [
      { at: '2026-11-14T09:30:00.000Z', delivered: 41, retried: 0, given_up: 0, causes: [] },
      {
        at: '2026-11-14T09:35:00.000Z',
        delivered: 0,
        retried: 12,
        given_up: 1,
        causes: [
          { cause: 'answer', count: 9 },
          { cause: '5xx', count: 4 },
        ],
      },
    ],
  }),
  getEventLife: one('One webhook is tried again, another does not want it', {
    id: 'evt_00VQ3mJ1kd7Lw0aXoPq3ZtUe6',
    payload: {
      object: 'Appointment',
      id: 'apt_1042',
      practice_group_id: 'pg_larkhill',
      event: 'appointment.confirmed',
    },
    source_id: 'opr_booking',
    accepted_at: '2026-11-14T09:39:57.000Z',
    test: false,
    practice_group: larkhill,
    cause: {
      kind: 'published',
      source: { type: 'operator', id: 'opr_booking', name: 'Booking system' },
    },
    feed_position: 48_211,
    erased_by: null,
    targets: [
      {
        webhook_id: webhook.id,
        url: 'https://hooks.brightwater.example/porter',
        partner: brightwater,
        webhook_status: 'active',
        outcome: 'pending',
        not_sent_reason: null,
        withheld_reason: null,
        explanation: 'Connected, but no answer within 15 s.',
        delivery_id: 'dlv_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE_42_0VkQ3zAcD',
        queued_at: '2026-11-14T09:39:57.100Z',
        attempts: [attempt],
        next_attempt_at: '2026-11-14T09:45:12.000Z',
        finished_at: null,
      },
      {
        webhook_id: 'wh_0VkQ3zAcDm1c8Zr4Hn6Lp2WsE',
        url: 'https://millbrook.example/events',
        partner: { id: 'prt_millbrook', name: 'Millbrook Health' },
        webhook_status: 'active',
        outcome: 'not_sent',
        not_sent_reason: 'event_type',
        withheld_reason: null,
        explanation: 'The webhook does not subscribe to this event.',
        delivery_id: null,
        queued_at: null,
        attempts: [],
        next_attempt_at: null,
        finished_at: null,
      },
    ],
    target_count: 2,
  }),
  previewNetwork: one('A key of the practice that joins reaches two more', {
    gains: {
      keys: [
        {
          ...key,
          partner: brightwater,
          home: { id: 'pg_riverside', name: 'Riverside Surgery' },
          practice_groups: [
            { ...larkhill, scopes: ['practice-groups:read', 'events:read'] },
            { ...hub, scopes: ['practice-groups:read', 'events:read'] },
          ],
          practice_group_count: 2,
        },
      ],
      key_count: 1,
      webhooks: [],
      webhook_count: 0,
    },
    losses: { keys: [], key_count: 0, webhooks: [], webhook_count: 0 },
  }),
  explainRequest: one('The key lacks a scope', {
    request: {
      request_id: 'req_0VkQ3yXbTm1c8Zr4',
      at,
      method: 'PATCH',
      path: '/v1/care-nav/submission-types/st_sick_note',
      operation: 'updateSubmissionType',
      status: 403,
      error: 'insufficient_permissions',
      reason: null,
      answer: {
        error: 'insufficient_permissions',
        statusCode: 403,
        message: 'The key lacks the scope that this operation needs. Ask support for a key that has it.',
        request_id: 'req_0VkQ3yXbTm1c8Zr4',
        doc_url: 'https://api.porter.example/docs/errors/insufficient_permissions',
        required_scopes: ['submission-types:write'],
      },
      explanation: 'The key lacks a scope. Ask support for a key that has it.',
      partner_id: brightwater.id,
      key_id: key.id,
      practice_group_id: larkhill.id,
      address: '203.0.113.7',
    },
    partner: brightwater,
    key,
    practice_group: larkhill,
    checks: [
      { check: 'transport', outcome: 'passed', found: 'The call came over HTTPS.', needed: null },
      { check: 'size', outcome: 'passed', found: 'The body was within its limit.', needed: null },
      { check: 'key', outcome: 'passed', found: 'The key was known and valid.', needed: null },
      { check: 'rate', outcome: 'passed', found: 'The key was within its limit.', needed: null },
      {
        check: 'scope',
        outcome: 'refused',
        found: 'The key has the scopes practice-groups:read and submission-types:read.',
        needed: 'A key with the scope submission-types:write.',
      },
      { check: 'network', outcome: 'not_reached', found: null, needed: null },
      { check: 'validation', outcome: 'not_reached', found: null, needed: null },
      { check: 'operation', outcome: 'not_reached', found: null, needed: null },
    ],
  }),
  listSettings: one('Two of them', {
    environment: 'staging',
    version: '0.1.0',
    data: [
      {
        name: 'PORTER_ENVIRONMENT',
        value: 'staging',
        source: 'default',
        secret: false,
        description: 'Which of the two deployments this is.',
      },
      {
        name: 'PORTER_MASTER_KEY',
        value: null,
        source: 'made',
        secret: true,
        description: 'Seals the secrets of webhooks.',
      },
    ],
  }),
  listNodes: one('One node', {
    data: [
      {
        id: 'nde_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
        name: 'porter-7c9f:1204',
        version: '0.1.0',
        role: 'all',
        started_at: '2026-11-14T06:00:00.000Z',
        seen_at: at,
        clock_skew_ms: -12,
        calls_per_minute: 241,
        deliveries_per_minute: 62,
        share_percent: 100,
        answering: true,
      },
    ],
    count: 1,
  }),
  streamLive: {
    stream: {
      summary: 'The beginning, and an alert',
      value: `retry: 2000\n\nevent: changed\ndata: {"kinds":["alerts","webhooks"],"at":"${at}"}\n\n`,
    },
  },
} satisfies Partial<Record<keyof typeof operatorEndpoints, Examples>>;
