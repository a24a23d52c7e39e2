import type { operatorEndpoints } from '../../contract/operator/index.ts';
import { consoleResponses } from './console-examples.ts';
import type { Answers, Examples } from './examples.ts';
import * as record from './operator-records.ts';
import * as trace from './operator-traces.ts';

/** Not secrets of anybody: the bytes 0 to 31, and words. */
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const key = 'ptr_test_SHOWN_ONCE';

const one = (summary: string, value: unknown): Examples => ({ usual: { summary, value } });
const page = (...data: unknown[]): Examples =>
  one('The only page', { data, count: data.length, next_cursor: null });
const lines = (...entries: unknown[]): string =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

const ended = '2026-11-14T08:00:02.000Z';
const cursor = 'WzQyLCIwLTE5YjJjM2Q0ZTVmLTlmODZkMDgxODg0YzdkNjUiXQ';

const { deliveries: _deliveries, ...listedEvent } = trace.publishedEvent;

/** What a success looks like. An operation without one does not compile. */
export const operatorResponses: Answers<typeof operatorEndpoints> = {
  ...consoleResponses,
  createPracticeGroup: one('With the ID that it was given', {
    ...record.practiceGroup,
    id: 'pg_larkhill',
    name: 'Larkhill Medical Centre',
    ods_code: 'Z99001',
    networks: [],
  }),
  listAllPracticeGroups: page(record.practiceGroup),
  getPracticeGroup: one('A practice group in a network', record.practiceGroup),
  updatePracticeGroup: one('As it is after the update', record.practiceGroup),
  createNetwork: one('For every partner and scope', record.network),
  listNetworks: page(record.network),
  getNetwork: one('For every partner and scope', record.network),
  updateNetwork: one('For one partner, and reading alone', {
    ...record.network,
    scopes: ['practice-groups:read', 'submission-types:read', 'events:read'],
    partner_ids: ['prt_demo'],
  }),
  createPartner: one('A partner that has applied', {
    ...record.partner,
    id: 'prt_00VbHs4kNp7Ow1Dy6EaF4hUjK',
    name: 'Brightwater Software',
    contact_email: 'integrations@brightwater.example',
    status: 'applied',
  }),
  listPartners: page(record.partner),
  getPartner: one('A partner that is verified', record.partner),
  updatePartner: one('As it is after the update', { ...record.partner, rate_limit_per_minute: 900 }),
  signAgreement: one('Signed, and not yet verified', {
    ...record.partner,
    status: 'agreement_signed',
    rate_limit_per_minute: 600,
    sla: '99.9 % a month',
  }),
  verifyPartner: one('Keys can be issued to it', record.partner),
  suspendPartner: one('None of its keys works', { ...record.partner, status: 'suspended' }),
  createAgreement: one('In force', record.agreement),
  listAgreements: page(record.agreement),
  getAgreement: one('In force', record.agreement),
  updateAgreement: one('It will end', { ...record.agreement, ends_at: '2036-01-01T00:00:00.000Z' }),
  issueKey: one('With the key itself, this once', { ...record.key, key }),
  issueKeys: one('With the keys themselves, this once', {
    data: [{ id: record.key.id, practice_group_id: 'riverside-surgery', key }],
  }),
  listKeys: page(record.key),
  getKey: one('A key that works', record.key),
  updateKey: one('As it is after the update', { ...record.key, label: 'Booking service' }),
  rotateKey: one('The new key, this once', { ...record.key, key }),
  revokeKey: one('It works nowhere any more', {
    ...record.key,
    status: 'revoked',
    revoked_at: '2026-11-16T08:00:00.000Z',
  }),
  reportLeakedKeys: one('Revoked, since it was a key', {
    data: [{ outcome: 'revoked', last_four: 'ONCE', key_id: record.key.id, partner_id: 'prt_demo' }],
    count: 1,
  }),
  createSubmissionType: one('A category of clinical requests', {
    ...record.submissionType,
    forms_submitted_today: 0,
  }),
  listGroupSubmissionTypes: page(record.submissionType),
  getGroupSubmissionType: one('A category of clinical requests', record.submissionType),
  updateGroupSubmissionType: one('Closed until further notice', {
    ...record.submissionType,
    suspended: true,
  }),
  getAvailability: one('One is open, one has had enough for today', {
    data: [
      { submission_type_id: 'prescriptions', allowed: true, reasons: [], remaining_today: null },
      { submission_type_id: 'symptoms', allowed: false, reasons: ['over_limit'], remaining_today: 0 },
    ],
  }),
  putForm: one('A form', record.form),
  listForms: page(record.form),
  getForm: one('A form', record.form),
  putAssignee: one('A team', record.assignee),
  listAssignees: page(record.assignee),
  getAssignee: one('A team', record.assignee),
  importItems: one('One outcome for each item', {
    outcomes: [
      { index: 0, id: 'pg_larkhill', outcome: 'updated' },
      { index: 1, id: 'sick-note', outcome: 'created' },
      { index: 2, id: 'st_sick_note', outcome: 'created' },
      { index: 3, id: 'old-form', outcome: 'unchanged' },
    ],
  }),
  reconcileItems: one(
    'Two differences',
    lines(
      { kind: 'form', id: 'new-symptom', practice_group_id: 'riverside-surgery', difference: 'differs' },
      { kind: 'practice_group', id: 'hillview-hub', difference: 'missing_there' },
    ),
  ),
  createFormSubmission: one('Without a mark', record.formSubmission),
  listFormSubmissions: page(record.formSubmission),
  getFormSubmission: one('Without a mark', record.formSubmission),
  listAllWebhooks: page(record.webhook),
  getPartnerWebhook: one('One that is well', record.webhook),
  updatePartnerWebhook: one('As it is after the update', { ...record.webhook, status: 'paused' }),
  replayPartnerWebhook: one('On their way', { count: 128 }),
  listDeliveries: page(trace.delivery),
  getDelivery: one('Waiting to be sent', trace.delivery),
  retryDelivery: one('To be tried at once', trace.delivery),
  listRefusedRequests: page(trace.refusedRequest),
  publishEvents: one('Accepted', { event_ids: [trace.publishedEvent.id] }),
  listPublishedEvents: page(listedEvent),
  getPublishedEvent: one('With its deliveries', trace.publishedEvent),
  reportEhrHealth: one('A change, so that partners are told', { changed: true, status: 'unhealthy' }),
  getEhrHealth: one('The connection is down', { status: 'unhealthy' }),
  createWriteToRecordJob: one('Queued', trace.job),
  listWriteToRecordJobs: page(trace.job),
  getWriteToRecordJob: one('Queued', trace.job),
  succeedWriteToRecordJob: one('Written', { ...trace.job, status: 'succeeded' }),
  failWriteToRecordJob: one('Given up', { ...trace.job, status: 'failed', failed_attempts: 1 }),
  listChanges: one('The newest change', {
    data: [trace.change],
    count: 1,
    next_cursor: cursor,
    has_more: false,
  }),
  streamChanges: {
    stream: {
      summary: 'The beginning, and a change',
      value: `retry: 2000\nid: ${cursor}\n\nid: ${cursor}\nevent: submission-type.changed\ndata: ${JSON.stringify(trace.change)}\n\n`,
    },
  },
  getChange: one('Not yet answered', trace.change),
  reportChangeApplied: one('Applied', { ...trace.change, state: 'applied', ended_at: ended }),
  reportChangeRejected: one('Rejected', {
    ...trace.change,
    state: 'rejected',
    reason: 'This form is closed over the holidays.',
    ended_at: ended,
  }),
  putWriteThrough: one('With the secret, this once', { ...record.writeThrough, secret }),
  getWriteThrough: one('Where the practice software is asked', record.writeThrough),
  createSubscription: one('With the secret, this once', { ...record.subscription, secret }),
  listSubscriptions: page(record.subscription),
  getSubscription: one('One that is well', record.subscription),
  updateSubscription: one('As it is after the update', { ...record.subscription, status: 'paused' }),
  rotateSubscriptionSecret: one('Both secrets sign for a day', {
    id: record.subscription.id,
    secret,
    previous_secret_expires_at: '2026-11-17T08:00:00.000Z',
  }),
  testSubscription: one('On its way', {
    event_id: trace.subscriptionDelivery.event_id,
    delivery_id: trace.subscriptionDelivery.id,
  }),
  listSubscriptionDeliveries: page(trace.subscriptionDelivery),
  getSubscriptionDelivery: one('Waiting to be sent', trace.subscriptionDelivery),
  replaySubscription: one('On their way', { count: 12 }),
  listPartnerUsage: page(trace.usage),
  getSla: one('A month that goes on', trace.sla),
  listSigningKeys: one('The one that signs', { data: [record.signingKey] }),
  rotateSigningKey: one('The new one', record.signingKey),
  createOperator: one('With the token, this once', { ...record.operator, token: 'pto_SHOWN_ONCE' }),
  listOperators: page(record.operator),
  getOperator: one('The first one', record.operator),
  updateOperator: one('As it is after the update', {
    ...record.operator,
    expires_at: '2036-01-01T00:00:00.000Z',
  }),
  revokeOperator: one('Its token works nowhere any more', {
    ...record.operator,
    status: 'revoked',
    revoked_at: '2026-11-16T08:00:00.000Z',
  }),
  listAudit: page(trace.audit),
  getAuditEntry: one('The first entry', trace.audit),
  getAuditAnchor: one('The newest entry, signed', trace.anchor),
  verifyAudit: one('Nothing was changed', { ok: true, entries: 215 }),
  listAccessLog: page(trace.access),
  exportAccessLog: one(
    'Where it begins, and a batch',
    lines(
      { from: { batch: 0, hash: '72ec6e7b72399741060becee5fa8099a983579482ffe00bb42a4c5208cae4aa2' } },
      {
        batch: 1,
        at: '2026-11-16T08:00:00.000Z',
        entries: 0,
        hash: 'd2bfee4dea50e9026b80fe0cfe081d686c61819e1028095e2e1c0bca9f3f7d2b',
      },
    ),
  ),
  listAllAlerts: page(trace.alert),
  getAlert: one('A key that was leaked', trace.alert),
  createPartnerContact: one('Somebody who looks after webhooks', record.partnerContact),
  listPartnerContacts: page(record.partnerContact),
  getPartnerContact: one('Somebody who looks after webhooks', record.partnerContact),
  updatePartnerContact: one('To be told of everything', { ...record.partnerContact, alert_kinds: null }),
  createContact: one('The team on call', record.contact),
  listContacts: page(record.contact),
  getContact: one('The team on call', record.contact),
  updateContact: one('Only what concerns the service', {
    ...record.contact,
    alert_kinds: ['deliveries_late', 'ehr_down'],
  }),
  createErasure: one('What was erased, and who had been told', trace.erasure),
  listErasures: page(trace.erasure),
  getErasure: one('What was erased, and who had been told', trace.erasure),
};
