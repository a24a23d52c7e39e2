import type { partnerEndpoints } from '../contract/partner/index.ts';
import type { PracticeGroup } from '../contract/partner/practice-groups.ts';
import type { SubmissionType } from '../contract/partner/submission-types.ts';
import { webhookRequests, webhookResponses } from './webhook-examples.ts';

export type Audience = 'partner' | 'operator';

export interface Example {
  summary: string;
  value: unknown;
  /** Shows something that the specification does not name. */
  extension?: true;
}

export type Examples = Record<string, Example>;

/** The operations that take a body. One without an example does not compile. */
export type TakesBody<Endpoints> = {
  [Id in keyof Endpoints]: Endpoints[Id] extends { body: unknown } ? Id : never;
}[keyof Endpoints];

const larkhill: PracticeGroup = {
  id: 'pg_larkhill',
  name: 'Larkhill Medical Centre',
  ods_code: 'Z99001',
  timezone: 'Europe/London',
  address: {
    line_1: '12 Orchard Lane',
    line_2: null,
    town: 'Larkhill',
    county: 'Wiltshire',
    postcode: 'ZZ99 1AA',
  },
  networks: [{ id: 'net_plain', name: 'Plain Primary Care Network' }],
  ehr_status: 'healthy',
  created_at: '2026-02-03T09:12:44.310Z',
  updated_at: '2026-09-21T15:40:02.008Z',
};

const hub: PracticeGroup = {
  ...larkhill,
  id: 'pg_plain_hub',
  name: 'Plain Evening Hub',
  ods_code: null,
  address: null,
  ehr_status: 'unknown',
};

const sickNote: SubmissionType = {
  id: 'st_sick_note',
  pathway_id: 'pathway_admin',
  form_id: 'form_sick_note',
  title: 'Sick note',
  description: 'Ask for a new fit note, or for one to be extended.',
  in_hours: true,
  out_of_hours: false,
  suspended: false,
  external_url: null,
  external_url_name: null,
  type: 'admin_request',
  default_priority: 'medium',
  daily_limit: 40,
  forms_submitted_today: 7,
  patient_eligibility_check: true,
  assignee_id: 'team_reception',
  assignee_type: 'AdminTeam',
  order: 3,
  created_at: '2026-02-03T09:20:00.000Z',
  updated_at: '2026-11-14T08:00:00.000Z',
};

export const partnerRequests: Record<TakesBody<typeof partnerEndpoints>, Examples> = {
  updateSubmissionType: {
    cap: {
      summary: 'Take at most 40 a day, and hand them to a team',
      value: { daily_limit: 40, assignee_id: 'team_reception', assignee_type: 'AdminTeam' },
    },
    clear: {
      summary: 'Clear what is nullable: no cap, no link',
      value: { daily_limit: null, external_url: null, external_url_name: null },
    },
    suspend: { summary: 'Take nothing for now', value: { suspended: true } },
  },
  updateOwnContact: {
    webhooks: {
      summary: 'Only what concerns webhooks',
      value: { alert_kinds: ['webhook_failing', 'webhook_disabled', 'deliveries_late'] },
    },
  },
  ...webhookRequests,
};

/** What a success looks like, where seeing it helps. */
export const partnerResponses: Partial<Record<keyof typeof partnerEndpoints, Examples>> = {
  listPracticeGroups: {
    acted_for: {
      summary: 'The practice group acted for',
      value: { data: [larkhill], count: 1 },
      extension: true,
    },
    network: {
      summary: 'With include=network',
      value: { data: [larkhill, hub], count: 2 },
      extension: true,
    },
  },
  listSubmissionTypes: {
    page: { summary: 'The only page', value: { data: [sickNote], count: 1, next_cursor: null } },
  },
  getSubmissionType: { sick_note: { summary: 'A category of administrative requests', value: sickNote } },
  updateSubmissionType: { sick_note: { summary: 'As it is after the update', value: sickNote } },
  ...webhookResponses,
};
