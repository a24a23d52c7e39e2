/** What happened, as the operator API tells it, one of each: events, deliveries, refusals, the audit and what is counted. */

export const delivery = {
  id: 'dlv_00VbHs4kJd4Uf7Yk0NrB2sMpG_42_00VbHs4kL',
  event_id: 'evt_00VbHs4kLm3Xe6Zu9BtC1vQaF',
  event: 'appointment.confirmed',
  object_id: 'apt_1042',
  sequence: 42,
  status: 'pending',
  withheld_reason: null,
  attempts: [],
  next_attempt_at: '2026-11-16T08:00:00.000Z',
  created_at: '2026-11-16T08:00:00.000Z',
  finished_at: null,
  webhook_id: 'wh_00VbHs4kJd4Uf7Yk0NrB2sMpG',
  partner_id: 'prt_demo',
  practice_group_id: 'riverside-surgery',
};

export const refusedRequest = {
  request_id: 'req_00VbHs4kRw8Hj1',
  at: '2026-11-16T08:00:00.000Z',
  method: 'GET',
  path: '/v1/care-nav/submission-types/nonsense',
  operation: 'getSubmissionType',
  status: 404,
  reason: null,
  partner_id: 'prt_demo',
  key_id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU',
  practice_group_id: 'riverside-surgery',
  address: '203.0.113.7',
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
};

export const change = {
  id: 'chg_2a_9f86d081884c7d65',
  kind: 'submission_type',
  practice_group_id: 'riverside-surgery',
  object_id: 'symptoms',
  before: { daily_limit: 40, suspended: false },
  after: { daily_limit: null, suspended: true },
  partner_id: 'prt_demo',
  key_id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU',
  request_id: refusedRequest.request_id,
  state: 'pending',
  reason: null,
  at: '2026-11-14T08:00:00.000Z',
  ended_at: null,
};

export const publishedEvent = {
  id: 'evt_00VbHs4kLm3Xe6Zu9BtC1vQaF',
  source_id: 'opr_first',
  accepted_at: '2026-11-16T08:00:00.000Z',
  test: false,
  deliveries: [
    {
      id: 'dlv_00VbHs4kJd4Uf7Yk0NrB2sMpG_42_00VbHs4kL',
      webhook_id: 'wh_00VbHs4kJd4Uf7Yk0NrB2sMpG',
      status: 'pending',
    },
  ],
  payload: {
    object: 'Appointment',
    id: 'apt_1042',
    practice_group_id: 'riverside-surgery',
    event: 'appointment.confirmed',
  },
};

export const job = {
  id: 'wtr_00VbHs4kUz4Di8Vm1LqW9bYfO',
  practice_group_id: 'riverside-surgery',
  resource: 'Consultation',
  resource_id: 'con_311',
  status: 'queued',
  failed_attempts: 0,
  created_at: '2026-11-16T08:00:00.000Z',
  updated_at: '2026-11-16T08:00:00.000Z',
};

export const subscriptionDelivery = {
  id: 'dlv_00VbHs4kJd4Uf7Yk0NrB2sMpG_42_00VbHs4kL',
  event_id: 'evt_00VbHs4kLm3Xe6Zu9BtC1vQaF',
  object_id: 'symptoms',
  sequence: 1,
  status: 'pending',
  attempts: [],
  next_attempt_at: '2026-11-16T08:00:00.000Z',
  created_at: '2026-11-16T08:00:00.000Z',
  finished_at: null,
  event: 'submission-type.changed',
};

export const usage = {
  partner_id: 'prt_demo',
  day: '2026-11-16',
  kind: 'call',
  key_id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU',
  webhook_id: null,
  operation: 'updateSubmissionType',
  outcome: 'ok',
  count: 128,
};

export const sla = {
  partner: { id: 'prt_demo', name: 'Demo Partner' },
  month: '2026-11',
  complete: false,
  agreement: {
    id: 'agr_00VbHs4kHc5Yp8Wn2KsV6tRqD',
    version: '2026-2',
    signed_at: '2026-11-14T08:00:00.000Z',
    ends_at: null,
    sla: '99.9 % available',
    sla_targets: { availability_percent: 99.9 },
  },
  calls: { total: 48210, refused: 37, rate_limited: 0, failed: 4, answered_percent: 99.99 },
  uptime: { minutes: 23040, minutes_down: 6, percent: 99.97 },
  availability_percent: 99.96,
  latency_ms: { p50: 4, p95: 18, p99: 42 },
  deliveries: { delivered: 9120, given_up: 3, retried: 41, success_percent: 99.97 },
  delivery_seconds: null,
  targets: [],
};

export const audit = {
  seq: 1,
  at: '2026-11-16T08:00:00.000Z',
  actor: { type: 'system', id: 'porter' },
  action: 'operator.create',
  subject: { type: 'operator', id: 'opr_first' },
  practice_group_id: null,
  request_id: null,
  before: null,
  after: {
    id: 'opr_first',
    name: 'First operator',
    role: 'admin',
    label: null,
    status: 'active',
    expires_at: null,
    last_used_at: null,
    created_at: '2026-11-16T08:00:00.000Z',
    revoked_at: null,
  },
  hash: '42d02c3f861480b59891d74787fae5d89093de25e714aae7ac438daf70dd09ff',
};

export const anchor = {
  seq: 215,
  hash: 'b8434909a2a08b69fa2a3b6f07ed5eee3c39c4eb9a3365b8f33da68e1fbf788f',
  at: '2026-11-16T08:00:00.000Z',
  key: 'Be8Ff_KVtNiMkccPLFjV2LDf-KsQWzDyt5QnEa0o74M',
  line: 'porter-audit-anchor-v1 seq=215 hash=b8434909a2a08b69fa2a3b6f07ed5eee3c39c4eb9a3365b8f33da68e1fbf788f at=2026-11-16T10:00:14.140Z key=Be8Ff_KVtNiMkccPLFjV2LDf-KsQWzDyt5QnEa0o74M signature=wTa_G-TPNGFzmKD7hZ2bEQB6Oe5vg3D8tmOsgty-7nDmC4FbewI3r4L6gDj4e5avPogudUd0AMNlbVF5GtQbAw',
};

export const access = {
  id: 'acc_98',
  kind: 'read',
  first_at: '2026-11-16T08:00:00.000Z',
  last_at: '2026-11-16T08:00:00.000Z',
  count: 1,
  partner_id: 'prt_demo',
  key_id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU',
  operator_id: null,
  person: null,
  practice_group_id: 'riverside-surgery',
  operation: 'listSubmissionTypeChanges',
  object: null,
  object_id: null,
  event_id: null,
  event: null,
  webhook_id: null,
  delivery_id: null,
  positions: null,
  agreement_signed_at: '2026-11-16T08:00:00.000Z',
  through: [{ key_id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU', network_id: null }],
  erased_by: null,
};

export const alert = {
  id: 'alt_00VbHs4kQs1Ae5Rj8HnT6xVcL',
  kind: 'key_leaked',
  subject: { type: 'key', id: 'key_00VbHs4kGq7TzN1bXw3Ea9LdU', name: 'ptr_test_…ONCE' },
  practice_group_id: 'riverside-surgery',
  message:
    'The key key_00VbHs4kGq7TzN1bXw3Ea9LdU (ptr_test_…ONCE) for riverside-surgery was reported as leaked at 2026-11-16T10:00:14.140Z, and does not work any more.',
  remedy: 'Issue a new key when the partner asks for it, and look through the use of this one.',
  details: { since: '2026-11-16T08:00:00.000Z', until: null, count: null, usual: null, reason: null },
  began_at: '2026-11-16T08:00:00.000Z',
  ended_at: '2026-11-16T08:00:00.000Z',
  ended_because: 'told',
  partner_id: 'prt_demo',
};

export const erasure = {
  id: 'era_00VbHs4kSx2Bg6Tk9JoU7zWdM',
  practice_group_id: 'riverside-surgery',
  object: 'Appointment',
  operator_id: 'opr_first',
  created_at: '2026-11-16T08:00:00.000Z',
  finished: true,
  erased: {
    events: 1,
    deliveries: 1,
    deliveries_withdrawn: 0,
    form_submissions: 0,
    write_to_record_jobs: 0,
    audit_entries: 0,
    refused_requests: 0,
    idempotency_keys: 0,
    access_log_entries: 1,
  },
  recipients: [],
};
