import type { practiceEndpoints } from '../../contract/practice/index.ts';
import type { Examples } from './examples.ts';

const one = (summary: string, value: unknown): Examples => ({ usual: { summary, value } });

const partner = {
  partner: { id: 'prt_demo', name: 'Demo partner' },
  ways: [
    { network: null, scopes: ['submission-types:read'], since: '2026-09-01T08:00:00.000Z' },
    {
      network: { id: 'net_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE', name: 'River valley' },
      scopes: ['events:read'],
      since: '2026-10-01T08:00:00.000Z',
    },
  ],
  last_call_at: '2026-11-14T09:38:00.000Z',
  stop: null,
};

const stop = {
  id: 'stp_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
  reason: 'They read more than we agreed on.',
  stopped_at: '2026-11-14T09:40:00.000Z',
  stopped_by: 'Ada Marsh',
  lifted_at: null,
  lifted_by: null,
  lifted_reason: null,
};

const received = {
  id: 'evt_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE-7',
  kind: 'received',
  at: '2026-11-14T09:30:00.000Z',
  first_at: '2026-11-14T09:30:00.000Z',
  last_at: '2026-11-14T09:30:00.000Z',
  count: 1,
  operation: null,
  event: 'appointment.confirmed',
  object: 'Appointment',
  object_id: 'a-4711',
  title: null,
  before: null,
  after: null,
  state: null,
};

export const practiceRequests: Record<string, Examples> = {
  stopPartner: one('With the reason', { reason: stop.reason }),
};

export const practiceResponses = {
  listReachingPartners: one('Who reaches us', { data: [partner], count: 1, next_cursor: null }),
  getReachingPartner: one('One that reaches us', {
    ...partner,
    calls_last_day: 1_204,
    receivers: 1,
    deliveries_waiting: 2,
    stops: [],
  }),
  listPartnerActivity: one('What it received', { data: [received], count: 1, next_cursor: null }),
  streamPracticeLive: {
    stream: {
      summary: 'The beginning, and a call',
      value:
        'retry: 2000\n\nevent: changed\ndata: {"kinds":["activity"],"at":"2026-11-14T09:30:00.000Z"}\n\n',
    },
  },
  stopPartner: one('It is kept out', stop),
} satisfies Partial<Record<keyof typeof practiceEndpoints, Examples>>;
