import type { namedKeyEndpoints, portalEndpoints } from '../../contract/portal/index.ts';
import { accountResponses } from './account-examples.ts';
import type { Answers, Examples, TakesBody } from './examples.ts';
import * as record from './operator-records.ts';
import { sla } from './operator-traces.ts';
import { feedEvent } from './webhook-examples.ts';

const one = (summary: string, value: unknown): Examples => ({ usual: { summary, value } });
const page = (summary: string, value: unknown) =>
  one(summary, { data: [value], count: 1, next_cursor: null });

const today = { day: '2026-11-16', ok: 128, refused: 2, rate_limited: 0, failed: 0 };

const key = {
  id: record.key.id,
  label: 'Booking service',
  prefix: 'ptr_test_',
  last_four: 'ONCE',
  status: 'active',
  practice_group: { id: 'riverside-surgery', name: 'Riverside Surgery' },
  scopes: ['webhooks:read', 'webhooks:write', 'events:read'],
  rate_limit_per_minute: 300,
  allowed_addresses: null,
  proof: 'none',
  last_used_at: '2026-11-16T09:58:00.000Z',
  last_used_from: '192.0.2.10',
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
  created_at: '2026-11-14T08:00:00.000Z',
  today,
};

const way = {
  key_id: key.id,
  label: key.label,
  last_four: key.last_four,
  practice_group_id: 'riverside-surgery',
  scopes: key.scopes,
  through: null,
  demands: 'nothing',
};

const { partner_id: _partnerId, partner_name: _partnerName, ...hook } = record.webhook;
const webhook = { ...hook, way };

/** What people of partners send in the console. */
export const portalRequests: Record<TakesBody<typeof portalEndpoints>, Examples> = {
  updatePortalContact: one('Only what is urgent for webhooks', { alert_kinds: ['webhook_disabled'] }),
  checkPortalAddress: one('A receiver', { url: 'https://partner.example/porter' }),
};

export const portalResponses: Answers<typeof portalEndpoints & typeof namedKeyEndpoints> = {
  getPortalHome: one('All is well', {
    partner: { id: 'prt_demo', name: 'Demo Partner', status: 'verified' },
    support_contact: 'support@porter.example',
    keys: { active: 1, ending: 0 },
    webhooks: { active: 1, failing: 0, paused: 0, disabled: 0, withheld: 0 },
    alerts_open: 0,
    days: [today],
  }),
  listPortalKeys: page('One key', key),
  getPortalKey: one('A key in use', { ...key, days: [today] }),
  listPortalPractices: page('One practice', {
    id: 'riverside-surgery',
    name: 'Riverside Surgery',
    ods_code: 'Y00001',
    ways: [way],
  }),
  listPortalAgreements: accountResponses.listOwnAgreements,
  getPortalSla: one('The month so far', sla),
  listPortalContacts: accountResponses.listOwnContacts,
  updatePortalContact: accountResponses.updateOwnContact,
  getPortalStatus: one('It runs', {
    environment: 'staging',
    support_contact: 'support@porter.example',
    checked_at: '2026-11-16T10:00:00.000Z',
    deliveries: 'on_time',
    days: [{ day: '2026-11-16', minutes_down: 0, percent: 100 }],
  }),
  listPortalWebhooks: page('One webhook', webhook),
  getPortalWebhook: one('The webhook', webhook),
  checkPortalAddress: one('It was reached', {
    outcome: 'reached',
    message: 'Reached. Once the webhook is created, send it a test event to see what it answers.',
  }),
  listPortalEvents: page('The latest event', feedEvent),
  listPortalRefusals: one('None', { data: [], count: 0, next_cursor: null }),
  listPortalAlerts: accountResponses.listAlerts,
  streamPortalLive: {
    stream: {
      summary: 'The beginning, and a delivery',
      value: 'retry: 2000\n\nevent: changed\ndata: {"kinds":["traffic"],"at":"2026-11-16T10:00:00.000Z"}\n\n',
    },
  },
};
