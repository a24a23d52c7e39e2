import { scopeNames } from '../../contract/access.ts';
import * as trace from './operator-traces.ts';

/** What a partner learns about itself: its key, agreements, usage, alerts, contacts, and what it was refused. */

const agreement = {
  id: 'agr_00VbHs4kHc5Yp8Wn2KsV6tRqD',
  version: '2026-2',
  document_url: 'https://contracts.example/brightwater/2026-2.pdf',
  signatory: 'Ada Marsh',
  signed_at: '2026-11-16T08:00:00.000Z',
  ends_at: null,
  status: 'in_force',
  rate_limit_per_minute: 600,
  sla: '99.9 % a month',
  sla_targets: null,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

/** The partner knows whose it is. */
const { partner_id: _, ...alert } = trace.alert;

const contact = {
  id: 'first',
  partner_id: 'prt_demo',
  email: 'developer@partner.example',
  name: null,
  alert_kinds: null,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

const page = (...data: unknown[]) => ({
  page: { summary: 'The only page', value: { data, count: data.length, next_cursor: null } },
});

export const accountRequests = {
  updateOwnContact: {
    webhooks: {
      summary: 'Only what concerns webhooks',
      value: { alert_kinds: ['webhook_failing', 'webhook_disabled', 'deliveries_late'] },
    },
  },
};

export const accountResponses = {
  listSubmissionTypeChanges: page({
    id: 'chg_4_96bafdda0d3c4e42',
    state: 'pending',
    reason: null,
    request_id: 'req_00VbHs4kRw8Hj1',
    at: '2026-11-16T08:00:00.000Z',
    ended_at: null,
  }),
  getRefusedRequest: {
    not_found: {
      summary: 'A record that does not exist',
      value: {
        request_id: 'req_00VbHs4kRw8Hj1',
        at: '2026-11-16T08:00:00.000Z',
        method: 'GET',
        path: '/v1/care-nav/submission-types/nonsense',
        operation: 'getSubmissionType',
        status: 404,
        reason: null,
        error: 'not_found',
        answer: {
          error: 'not_found',
          statusCode: 404,
          message: 'There is no such object that you can reach. Check the IDs in the path.',
          request_id: 'req_00VbHs4kRw8Hj1',
          doc_url: 'https://api.porter.example/docs/errors/not_found',
        },
        explanation:
          'The record does not exist, or it belongs to a practice group other than the one acted for. Check the ID in the path and the practice group in x-practice-group-id.',
      },
    },
  },
  getMe: {
    demo: {
      summary: 'Two practice groups in reach, one of them through a network',
      value: {
        partner: { id: 'prt_demo', name: 'Demo Partner' },
        key: {
          id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU',
          label: null,
          scopes: scopeNames,
          rate_limit_per_minute: 300,
          expires_at: null,
        },
        practice_groups: [
          { id: 'riverside-surgery', name: 'Riverside Surgery', scopes: scopeNames, through: null },
          {
            id: 'hillview-hub',
            name: 'Hillview Hub',
            scopes: scopeNames,
            through: { id: 'net_00VbHs4k8XvT0cQ2yLmR9eJwN', name: 'Exampleton network' },
          },
        ],
      },
    },
  },
  listOwnAgreements: page(agreement),
  listUsage: page({
    day: '2026-11-16',
    kind: 'call',
    key_id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU',
    webhook_id: null,
    operation: 'updateSubmissionType',
    outcome: 'ok',
    count: 128,
  }),
  listAlerts: page(alert),
  listOwnContacts: page(contact),
  updateOwnContact: {
    webhooks: {
      summary: 'As it is after the update',
      value: { ...contact, ...accountRequests.updateOwnContact.webhooks.value },
    },
  },
};
