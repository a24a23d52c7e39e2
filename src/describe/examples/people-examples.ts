import type { operatorEndpoints } from '../../contract/operator/index.ts';
import type { Examples } from './examples.ts';
import * as record from './operator-records.ts';

const one = (summary: string, value: unknown): Examples => ({ usual: { summary, value } });

const at = '2026-11-14T09:40:00.000Z';
const ann = { id: 'opr_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE', name: 'Ann Archer' };
const ben = { id: 'opr_0VkQ3yXbTm1c8Zr4Hn6Lp2WsF', name: 'Ben Baker' };

const approval = {
  id: 'apv_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
  kind: 'keys',
  operation: 'issueKey',
  summary: 'Issue a key',
  params: {},
  body: { partner_id: 'prt_demo', practice_group_id: 'riverside-surgery', scopes: ['practice-groups:read'] },
  status: 'pending',
  requested_by: ann,
  requested_at: at,
  expires_at: '2026-11-17T09:40:00.000Z',
  decided_by: null,
  decided_at: null,
  reason: null,
  is_collectable: false,
};
const decided = { decided_by: ben, decided_at: '2026-11-14T10:00:00.000Z' };

const invitation = {
  id: 'inv_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
  partner_id: 'prt_demo',
  practice_group_id: null,
  email: 'dev@partner.example',
  name: 'Dana Doyle',
  status: 'sent',
  invited_by: ann,
  created_at: at,
  sent_at: '2026-11-14T09:40:20.000Z',
  expires_at: '2026-11-17T09:40:20.000Z',
  entered_at: null,
  error: null,
};

const session = {
  id: 'ses_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
  expires_at: '2026-11-14T21:00:00.000Z',
  idle_expires_at: '2026-11-14T10:10:00.000Z',
};

export const waitingExample = one('It waits', approval);

const stop = {
  id: 'stp_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE',
  partner: { id: 'prt_demo', name: 'Demo partner' },
  practice_group: { id: 'riverside-surgery', name: 'Riverside Surgery' },
  reason: 'They read more than we agreed on.',
  stopped_at: at,
  stopped_by: 'Ada Marsh',
  lifted_at: null,
  lifted_by: null,
  lifted_reason: null,
};

/** What a success looks like of what people do together: sessions, approvals, invitations. */
export const peopleResponses = {
  listApprovals: one('What waits', { data: [approval], count: 1, next_cursor: null }),
  getApproval: one('A key that waits', approval),
  approveApproval: one('It was done', { ...approval, ...decided, status: 'approved', is_collectable: true }),
  declineApproval: one('With the reason', {
    ...approval,
    ...decided,
    status: 'declined',
    reason: 'The new agreement is not signed yet.',
  }),
  collectApproval: one('The new key', {
    operation: 'issueKey',
    answer: { ...record.key, key: 'ptr_test_SHOWN_ONCE' },
  }),
  createPartnerInvitation: one('To be sent', {
    ...invitation,
    status: 'waiting',
    sent_at: null,
    expires_at: null,
  }),
  createPracticeInvitation: one('To be sent', {
    ...invitation,
    partner_id: null,
    practice_group_id: 'riverside-surgery',
    email: 'manager@practice.example',
    status: 'waiting',
    sent_at: null,
    expires_at: null,
  }),
  listInvitations: one('One that was sent', { data: [invitation], count: 1, next_cursor: null }),
  withdrawInvitation: one('Its link works no more', { ...invitation, status: 'withdrawn' }),
  listStops: one('One in force', { data: [stop], count: 1, next_cursor: null }),
  liftStop: one('It is in force no more', {
    ...stop,
    lifted_at: '2026-11-14T10:00:00.000Z',
    lifted_by: ann.name,
    lifted_reason: 'The practice asked us to by telephone.',
  }),
  getOperatorMe: one('With a session', {
    operator: { ...ann, role: 'admin' },
    session,
    environment: 'staging',
    version: '0.1.0',
    sign_in: 'token',
    approvals: [],
    support_contact: 'support@porter.example',
  }),
  listSessions: one('Your own', {
    data: [
      {
        ...session,
        operator_id: ann.id,
        operator_name: ann.name,
        address: '198.51.100.7',
        user_agent: 'Mozilla/5.0',
        is_current: true,
        created_at: '2026-11-14T09:00:00.000Z',
        last_used_at: at,
      },
    ],
    count: 1,
    next_cursor: null,
  }),
} satisfies Partial<Record<keyof typeof operatorEndpoints, Examples>>;
