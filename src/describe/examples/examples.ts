import type { partnerEndpoints } from '../../contract/partner/index.ts';
import type { PracticeGroup } from '../../contract/partner/practice-groups.ts';
import type { SubmissionType } from '../../contract/partner/submission-types.ts';
import { accountRequests, accountResponses } from './account-examples.ts';
import { webhookRequests, webhookResponses } from './webhook-examples.ts';

export type Audience = 'partner' | 'operator' | 'portal' | 'practice';

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

/** Of every operation that answers with more than a status. One without an example does not compile. */
export type Answers<Endpoints> = Record<
  {
    [Id in keyof Endpoints]: Endpoints[Id] extends { response: { body: unknown } | { lines: true } }
      ? Id
      : never;
  }[keyof Endpoints],
  Examples
>;

const surgery: PracticeGroup = {
  id: 'riverside-surgery',
  name: 'Riverside Surgery',
  ods_code: 'Y00001',
  timezone: 'Europe/London',
  address: {
    line_1: '1 Weir Lane',
    line_2: null,
    town: 'Exampleton',
    county: null,
    postcode: 'EX1 1AA',
  },
  networks: [{ id: 'net_00VbHs4k8XvT0cQ2yLmR9eJwN', name: 'Exampleton network' }],
  ehr_status: 'healthy',
  created_at: '2026-02-03T09:12:44.310Z',
  updated_at: '2026-09-21T15:40:02.008Z',
};

const hub: PracticeGroup = {
  ...surgery,
  id: 'hillview-hub',
  name: 'Hillview Hub',
  ods_code: 'Y00002',
  address: null,
  ehr_status: 'unknown',
};

const symptoms: SubmissionType = {
  id: 'symptoms',
  pathway_id: 'pathway-symptoms',
  form_id: 'new-symptom',
  title: 'A new symptom',
  description: null,
  in_hours: true,
  out_of_hours: false,
  suspended: false,
  external_url: null,
  external_url_name: null,
  type: 'clinical_request',
  default_priority: 'high',
  daily_limit: 40,
  forms_submitted_today: 7,
  patient_eligibility_check: true,
  assignee_id: 'front-desk',
  assignee_type: 'AdminTeam',
  order: 2,
  created_at: '2026-02-03T09:20:00.000Z',
  updated_at: '2026-11-14T08:00:00.000Z',
};

export const partnerRequests: Record<TakesBody<typeof partnerEndpoints>, Examples> = {
  updateSubmissionType: {
    cap: {
      summary: 'Take at most 40 a day, and hand them to a team',
      value: { daily_limit: 40, assignee_id: 'front-desk', assignee_type: 'AdminTeam' },
    },
    clear: {
      summary: 'Clear what is nullable: no cap, no link',
      value: { daily_limit: null, external_url: null, external_url_name: null },
    },
    suspend: { summary: 'Take nothing for now', value: { suspended: true } },
  },
  ...accountRequests,
  ...webhookRequests,
};

/** What a success looks like. */
export const partnerResponses: Answers<typeof partnerEndpoints> = {
  listPracticeGroups: {
    acted_for: {
      summary: 'The practice group acted for',
      value: { data: [surgery], count: 1 },
      extension: true,
    },
    network: {
      summary: 'With include=network',
      value: { data: [surgery, hub], count: 2 },
      extension: true,
    },
  },
  listSubmissionTypes: {
    page: { summary: 'The only page', value: { data: [symptoms], count: 1, next_cursor: null } },
  },
  getSubmissionType: { symptoms: { summary: 'A category of clinical requests', value: symptoms } },
  updateSubmissionType: { symptoms: { summary: 'As it is after the update', value: symptoms } },
  ...webhookResponses,
  ...accountResponses,
};
