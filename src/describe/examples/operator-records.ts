/** Records that operators keep, one of each, as the demo world has them or could: what answers are made of. */

export const practiceGroup = {
  id: 'riverside-surgery',
  name: 'Riverside Surgery',
  ods_code: 'Y00001',
  timezone: 'Europe/London',
  address: { line_1: '1 Weir Lane', line_2: null, town: 'Exampleton', county: null, postcode: 'EX1 1AA' },
  networks: [{ id: 'net_00VbHs4k8XvT0cQ2yLmR9eJwN', name: 'Exampleton network' }],
  ehr_status: 'unknown',
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
  opening_hours: {
    mon: [['08:00', '18:30']],
    tue: [['08:00', '18:30']],
    wed: [['08:00', '18:30']],
    thu: [['08:00', '18:30']],
    fri: [['08:00', '18:30']],
  },
};

export const network = {
  id: 'net_00VbHs4k8XvT0cQ2yLmR9eJwN',
  name: 'Evening hub network',
  practice_group_ids: ['hillview-hub', 'riverside-surgery'],
  scopes: null,
  partner_ids: null,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const partner = {
  id: 'prt_demo',
  name: 'Demo Partner',
  contact_email: 'developer@partner.example',
  status: 'verified',
  rate_limit_per_minute: null,
  sla: null,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const agreement = {
  id: 'agr_00VbHs4kHc5Yp8Wn2KsV6tRqD',
  partner_id: 'prt_demo',
  version: '2026-2',
  document_url: 'https://contracts.example/brightwater/2026-2.pdf',
  signatory: 'Ada Marsh, Brightwater Software',
  signed_at: '2026-11-14T08:00:00.000Z',
  ends_at: null,
  status: 'in_force',
  rate_limit_per_minute: 600,
  sla: '99.9 % available, 99.5 % delivered, 95 % answered within 250 ms, 95 % delivered within 30 s',
  sla_targets: {
    availability_percent: 99.9,
    latency_ms: { p95: 250 },
    delivery_success_percent: 99.5,
    delivery_seconds: { p95: 30 },
  },
  active_keys: 0,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const key = {
  id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU',
  partner_id: 'prt_demo',
  practice_group_id: 'riverside-surgery',
  label: null,
  scopes: ['practice-groups:read', 'submission-types:read', 'submission-types:write'],
  prefix: 'ptr_test_',
  last_four: 'ONCE',
  status: 'active',
  rate_limit_per_minute: null,
  agreement_id: 'agr_00VbHs4kHc5Yp8Wn2KsV6tRqD',
  allowed_addresses: null,
  proof: 'none',
  certificate_fingerprints: [],
  jwks: null,
  last_used_at: null,
  last_used_from: null,
  expires_at: '2036-01-01T00:00:00.000Z',
  revoked_at: null,
  leak: null,
  replaced_by: null,
  created_at: '2026-11-16T08:00:00.000Z',
};

export const submissionType = {
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
  patient_eligibility_check: false,
  assignee_id: 'front-desk',
  assignee_type: 'AdminTeam',
  order: 2,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
  forms_submitted_today: 7,
};

export const form = {
  id: 'new-symptom',
  title: 'A new symptom',
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const assignee = {
  id: 'front-desk',
  type: 'AdminTeam',
  name: 'Front desk',
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const formSubmission = {
  id: 'fs_00VbHs4kVa5Ej9Wn2MrX0cZgP',
  practice_group_id: 'riverside-surgery',
  submission_type_id: 'symptoms',
  local_day: '2026-11-16',
  submitted_at: '2026-11-16T08:00:00.000Z',
  over_limit: false,
  suspended: false,
  outside_hours: false,
};

export const webhook = {
  id: 'wh_00VbHs4kJd4Uf7Yk0NrB2sMpG',
  url: 'https://partner.example/porter',
  description: null,
  event_types: ['appointment.confirmed', 'appointment.cancelled'],
  status: 'active',
  status_reason: null,
  signature: 'hmac',
  header_names: [],
  practice_group_id: 'riverside-surgery',
  practice_group_name: 'Riverside Surgery',
  practice_groups: null,
  practice_group_ids: null,
  oldest_queued_at: null,
  health: {
    failures: 0,
    failing_since: null,
    last_success_at: null,
    queued: 0,
    withheld_since: null,
    withheld_reason: null,
    withheld_practice_groups: [],
  },
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
  partner_id: 'prt_demo',
  partner_name: 'Demo Partner',
};

export const writeThrough = {
  practice_group_id: 'riverside-surgery',
  url: 'https://practice-software.example/porter',
  status: 'active',
  health: { failures: 0, failing_since: null, last_success_at: null, queued: 0 },
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const subscription = {
  id: 'wh_00VbHs4kJd4Uf7Yk0NrB2sMpG',
  url: 'https://practice-software.example/porter',
  description: null,
  status: 'active',
  status_reason: null,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
  topics: ['changes'],
  health: { failures: 0, failing_since: null, last_success_at: null, queued: 0 },
};

export const signingKey = {
  id: 'sgk_00VbHs4kTy3Ch7Ul0KpV8aXeN',
  public_key: 'whpk_OQzwmtesu6faLIceZ7eeYOeUmHajN0XDaNqYw2tVhag=',
  created_at: '2026-11-16T08:00:00.000Z',
  expires_at: null,
};

export const operator = {
  id: 'opr_first',
  name: 'First operator',
  kind: 'token',
  emergency: false,
  issuer: null,
  subject: null,
  role: 'admin',
  label: null,
  status: 'active',
  expires_at: null,
  last_used_at: '2026-11-16T08:00:00.000Z',
  created_at: '2026-11-16T08:00:00.000Z',
  revoked_at: null,
};

export const contact = {
  id: 'psn_00VbHs4kPk9Ld2Fh7GbW4yOuK',
  partner_id: null,
  email: 'on-call@operator.example',
  name: 'On call',
  alert_kinds: null,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const partnerContact = {
  id: 'psn_00VbHs4kPk9Ld2Fh7GbW4yOuK',
  partner_id: 'prt_demo',
  email: 'on-call@partner.example',
  name: 'On call',
  alert_kinds: ['webhook_failing', 'webhook_disabled', 'deliveries_late'],
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};
