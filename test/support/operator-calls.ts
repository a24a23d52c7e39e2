import { request } from 'undici';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { type OperatorOperationId, operatorEndpoints } from '../../src/contract/operator/index.ts';
import { SYSTEM } from '../../src/domain/access/principal.ts';
import { noDetails } from '../../src/domain/oversight/alerts.ts';
import { askForApproval } from '../../src/operations/access/approvals.ts';
import { transact } from '../../src/store/database.ts';
import { fanOut } from '../../src/store/events/deliveries.ts';
import { fanOutToOperators } from '../../src/store/events/operator-events.ts';
import { beginAlerts } from '../../src/store/oversight/alerts.ts';
import { signIn } from './console-session.ts';
import { enterPractice } from './practice-guest.ts';
import { type Answer, type Harness, makeKey, OPERATOR_TOKEN } from './service.ts';

/**
 * A call that succeeds, for every operation of the operator API: what tests of "each endpoint must …" start from.
 * The table has a place for each operation, so a new one without a call does not compile.
 */

export interface Furnished {
  house: Harness;
  groupId: string;
  partnerId: string;
  keyId: string;
}

export interface OperatorCall {
  id: OperatorOperationId;
  method: string;
  path: string;
  body?: unknown;
  /** NDJSON, instead of a body. */
  lines?: string | undefined;
}

type Parts = { params?: Record<string, string>; query?: string; body?: unknown; lines?: string };

export const operationIds = Object.keys(operatorEndpoints) as OperatorOperationId[];

let count = 0;
/** Unlike any name that the harness gives. */
export const fresh = (prefix: string) => `${prefix}.${++count}`;

/** A practice group with one of everything, and a partner with a key. */
export async function furnish(house: Harness): Promise<Furnished> {
  const groupId = fresh('furnished');
  await house.operator('POST', '/practice-groups', { id: groupId, name: 'Furnished' });
  await house.operator('PUT', `/practice-groups/${groupId}/forms/form-1`, { title: 'Form' });
  await house.operator('PUT', `/practice-groups/${groupId}/assignees/Admin/ann`, { name: 'Ann' });
  await house.operator('POST', `/practice-groups/${groupId}/submission-types`, {
    id: 'type-1',
    pathway_id: 'pathway-1',
    title: 'Type',
  });
  await house.operator('POST', `/practice-groups/${groupId}/form-submissions`, {
    id: 'submission-1',
    submission_type_id: 'type-1',
  });
  const { partnerId, keyId } = await makeKey(house, groupId);
  return { house, groupId, partnerId, keyId };
}

/** What an operation needs beforehand is made anew, so that the same call can be asked for again and again. */
export async function validCall(id: OperatorOperationId, given: Furnished): Promise<OperatorCall> {
  const { params = {}, query = '', body, lines } = await table[id](given);
  const endpoint = operatorEndpoints[id];
  return { id, method: endpoint.method, path: pathOf(endpoint.path, params) + query, body, lines };
}

export function pathOf(template: string, params: Record<string, string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

export function make(
  { house }: Pick<Furnished, 'house'>,
  call: OperatorCall,
  token = OPERATOR_TOKEN,
): Promise<Answer> {
  const { response }: Endpoint = operatorEndpoints[call.id];
  if (response.stream && call.method === 'GET') return beginStream(house, call, token);
  if (call.lines === undefined) return house.send(call.method, call.path, { token, body: call.body });
  const headers = { 'content-type': 'application/x-ndjson' };
  return house.send(call.method, call.path, { token, raw: call.lines, headers });
}

/** A stream would go on for ever: what it begins with is read, and no more. */
async function beginStream({ url }: Harness, { path }: OperatorCall, token: string): Promise<Answer> {
  const answer = await request(url + path, { headers: { authorization: `Bearer ${token}` } });
  if (answer.statusCode === 200) {
    answer.body.on('error', () => {}).destroy();
    return { status: 200, headers: answer.headers, text: '', body: undefined };
  }
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text, body: JSON.parse(text) };
}

const newPartner = async ({ house }: Furnished, ...steps: string[]): Promise<string> => {
  const { id } = await house.operator('POST', '/partners', { name: 'New', contact_email: 'a@b.example' });
  for (const step of steps) await house.operator('POST', `/partners/${id}/${step}`);
  return id;
};

/** Asked for by somebody else than the first operator, unless it is to be. The deployments of tests mostly ask for no approvals. */
export const newApproval = async (
  { house, groupId, partnerId }: Furnished,
  operatorId?: string,
): Promise<string> => {
  const by = operatorId ?? (await house.operator('POST', '/operators', { name: 'Asks', role: 'admin' })).id;
  // An operator approves nothing that is as old as it is.
  house.clock.advance(1);
  const { body } = await askForApproval(house.service.app, operatorEndpoints.issueKey, {
    body: { partner_id: partnerId, practice_group_id: groupId, scopes: ['events:read'] },
    principal: {
      kind: 'operator',
      operatorId: by,
      name: 'Asks',
      role: 'admin',
      expiresAt: Number.POSITIVE_INFINITY,
    },
    requestId: 'req_test',
  });
  return body.id;
};

const invitationBody = { email: 'ada@partner.example', name: 'Ada' };

/** The first that it has, with a limit of its own. */
export const agreementBody = () => ({
  version: fresh('version'),
  signatory: 'Ada',
  signed_at: '2026-11-01T00:00:00Z',
  rate_limit_per_minute: 700,
});

const newAgreement = async ({ house, partnerId: id }: Furnished): Promise<Record<string, string>> => {
  const made = await house.operator('POST', `/partners/${id}/agreements`, agreementBody());
  return { id, agreement_id: made.id };
};

const newNetwork = async ({ house }: Furnished, ...practice_group_ids: string[]): Promise<string> =>
  (await house.operator('POST', '/networks', { name: 'Network', practice_group_ids })).id;

const issued = ({ house, partnerId, groupId }: Furnished): Promise<{ id: string; key: string }> =>
  house.operator('POST', '/keys', keyBody(partnerId, groupId));

const newKey = async (given: Furnished): Promise<string> => (await issued(given)).id;

const keyBody = (partner_id: string, practice_group_id: string) => ({
  partner_id,
  practice_group_id,
  scopes: ['practice-groups:read'],
});

const appointmentEvent = (practice_group_id: string) => ({
  object: 'Appointment',
  id: fresh('appointment'),
  practice_group_id,
  event: 'appointment.confirmed',
});

const jobBody = (practice_group_id: string) => ({
  practice_group_id,
  resource: 'Consultation',
  resource_id: fresh('consultation'),
});

const newJob = async ({ house, groupId }: Furnished): Promise<string> =>
  (await house.operator('POST', '/write-to-record-jobs', jobBody(groupId))).id;

const webhooks = new WeakMap<Furnished, Promise<string>>();

/** One for each practice group, paused: what is queued for it stays as it is. */
function pausedWebhook(given: Furnished): Promise<string> {
  const known = webhooks.get(given) ?? newWebhook(given);
  webhooks.set(given, known);
  return known;
}

/** Of a new partner. */
export async function newWebhook({ house, groupId }: Furnished): Promise<string> {
  const { key } = await makeKey(house, groupId);
  const send = (method: string, path: string, body: unknown) =>
    house.send(method, `/v1/webhooks${path}`, { key, group: groupId, body });
  const { id } = (await send('POST', '', { url: 'https://partner.example/hook' })).body;
  await send('PATCH', `/${id}`, { status: 'paused' });
  return id;
}

export async function newDelivery(given: Furnished): Promise<string> {
  const { house, groupId } = given;
  await pausedWebhook(given);
  const { event_ids } = await house.operator('POST', '/events', appointmentEvent(groupId));
  for (;;) {
    await fanOut(house.service.app.db, new Date(house.clock.now()).toISOString(), 0, 1_000);
    const { data } = await house.operator('GET', `/deliveries?event_id=${event_ids[0]}`);
    if (data.length > 0) return data[0].id;
  }
}

/** One that is open, of a partner. */
async function newAlert({ house, partnerId, keyId, groupId }: Furnished): Promise<string> {
  const id = fresh('alert');
  await transact(house.service.app.db, SYSTEM, (tx) =>
    beginAlerts(tx, new Date(house.clock.now()).toISOString(), [
      {
        id,
        kind: 'key_expiring',
        subject: { type: 'key', id: `${keyId}.${id}`, name: 'Key' },
        partnerId,
        practiceGroupId: groupId,
        details: noDetails,
      },
    ]),
  );
  return id;
}

const contactBody = { email: 'on-call@operator.example', name: 'On call' };

/** There are few places for the operator's own: those of earlier calls make room. */
async function makeRoom({ house }: Furnished): Promise<void> {
  const { data } = await house.operator('GET', '/contacts');
  for (const { id } of data) await house.operator('DELETE', `/contacts/${id}`);
}

async function newContact(given: Furnished): Promise<string> {
  await makeRoom(given);
  return (await given.house.operator('POST', '/contacts', contactBody)).id;
}

/** Of a partner that is new. */
async function newPartnerContact(given: Furnished): Promise<{ id: string; contact_id: string }> {
  const id = await newPartner(given);
  const { id: contact_id } = await given.house.operator('POST', `/partners/${id}/contacts`, contactBody);
  return { id, contact_id };
}

/** A change that a partner made, in the feed. */
async function newChange({ house, groupId }: Furnished): Promise<string> {
  const { key } = await makeKey(house, groupId);
  const body = { title: fresh('title') };
  await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group: groupId, body });
  for (;;) {
    await fanOutToOperators(house.service.app.db, new Date(house.clock.now()).toISOString(), 0, 1_000);
    const made = await house.send('GET', '/v1/care-nav/submission-types/type-1/changes', {
      key,
      group: groupId,
    });
    if (made.body.count > 0) return made.body.data[0].id;
  }
}

/** One for each practice group, of a topic that nobody announces on. */
const subscriptions = new WeakMap<Furnished, Promise<string>>();
const newSubscription = async ({ house }: Furnished): Promise<string> =>
  (await house.operator('POST', '/subscriptions', subscriptionBody())).id;
const subscriptionBody = () => ({ url: 'https://practice-software.example/hook', topics: ['alerts'] });

export function subscriptionOf(given: Furnished): Promise<string> {
  const known = subscriptions.get(given) ?? newSubscription(given);
  subscriptions.set(given, known);
  return known;
}

const newSubscriptionTest = async (given: Furnished): Promise<{ event_id: string; delivery_id: string }> =>
  given.house.operator('POST', `/subscriptions/${await subscriptionOf(given)}/test`, { topic: 'alerts' });

const emptyGroup = async ({ house }: Furnished): Promise<string> =>
  (await house.operator('POST', '/practice-groups', { name: 'Empty' })).id;
const writeThroughBody = { url: 'https://practice-software.example/ask' };
const groupWithWriteThrough = async (given: Furnished): Promise<string> => {
  const id = await emptyGroup(given);
  await given.house.operator('PUT', `/practice-groups/${id}/write-through`, writeThroughBody);
  return id;
};

const ofSubscription = async (given: Furnished): Promise<Parts> => ({
  params: { id: await subscriptionOf(given) },
});
const ofChange = async (given: Furnished): Promise<Parts> => ({ params: { id: await newChange(given) } });

/** By somebody of the practice, of a partner that is new. */
export async function newStop({ house, groupId }: Furnished): Promise<string> {
  const { partnerId } = await makeKey(house, groupId);
  const manager = await enterPractice(house, groupId);
  const { body } = await manager.send('PUT', `/practice/v1/partners/${partnerId}/stop`, {
    body: { reason: 'Too much' },
  });
  return body.id;
}

const newType = async ({ house, groupId }: Furnished): Promise<string> => {
  const body = { id: fresh('type'), pathway_id: 'pathway-1', title: 'Type' };
  return (await house.operator('POST', `/practice-groups/${groupId}/submission-types`, body)).id;
};

const ofGroup = async ({ groupId }: Furnished): Promise<Parts> => ({ params: { id: groupId } });
const nothing = async (): Promise<Parts> => ({});

const table: Record<OperatorOperationId, (given: Furnished) => Promise<Parts>> = {
  createPracticeGroup: async () => ({ body: { id: fresh('group'), name: 'New group' } }),
  listAllPracticeGroups: nothing,
  getPracticeGroup: ofGroup,
  updatePracticeGroup: async ({ groupId }) => ({ params: { id: groupId }, body: { name: fresh('name') } }),
  deletePracticeGroup: async ({ house }) => ({
    params: { id: (await house.operator('POST', '/practice-groups', { name: 'Gone' })).id },
  }),
  createNetwork: async ({ groupId }) => ({ body: { name: 'New network', practice_group_ids: [groupId] } }),
  listNetworks: nothing,
  getNetwork: async (given) => ({ params: { id: await newNetwork(given) } }),
  updateNetwork: async (given) => ({
    params: { id: await newNetwork(given, given.groupId) },
    body: { scopes: ['events:read'] },
  }),
  deleteNetwork: async (given) => ({ params: { id: await newNetwork(given, given.groupId) } }),
  addNetworkMember: async (given) => ({
    params: { id: await newNetwork(given), practice_group_id: given.groupId },
  }),
  removeNetworkMember: async (given) => ({
    params: { id: await newNetwork(given, given.groupId), practice_group_id: given.groupId },
  }),
  previewNetwork: async ({ groupId }) => ({ body: { practice_group_ids: [groupId] } }),
  createPartner: async () => ({ body: { name: 'New partner', contact_email: 'a@b.example' } }),
  listPartners: nothing,
  getPartner: async ({ partnerId }) => ({ params: { id: partnerId } }),
  updatePartner: async (given) => ({
    params: { id: await newPartner(given) },
    body: { rate_limit_per_minute: 600 },
  }),
  signAgreement: async (given) => ({ params: { id: await newPartner(given) }, body: { sla: 'gold' } }),
  verifyPartner: async (given) => ({ params: { id: await newPartner(given, 'sign-agreement') } }),
  suspendPartner: async (given) => ({ params: { id: await newPartner(given) } }),
  createAgreement: async ({ partnerId }) => ({ params: { id: partnerId }, body: agreementBody() }),
  listAgreements: async ({ partnerId }) => ({ params: { id: partnerId } }),
  getAgreement: async (given) => ({ params: await newAgreement(given) }),
  updateAgreement: async (given) => ({
    params: await newAgreement(given),
    body: { ends_at: '2030-01-01T00:00:00Z' },
  }),
  issueKey: async ({ partnerId, groupId }) => ({ body: keyBody(partnerId, groupId) }),
  issueKeys: async ({ partnerId, groupId }) => ({
    body: { partner_id: partnerId, practice_group_ids: [groupId], scopes: ['practice-groups:read'] },
  }),
  listKeys: nothing,
  getKey: async ({ keyId }) => ({ params: { id: keyId } }),
  updateKey: async (given) => ({ params: { id: await newKey(given) }, body: { label: 'Renamed' } }),
  rotateKey: async (given) => ({ params: { id: await newKey(given) }, body: { overlap_seconds: 60 } }),
  revokeKey: async (given) => ({ params: { id: await newKey(given) } }),
  reportLeakedKeys: async (given) => ({ body: { key: (await issued(given)).key, source: 'a scanner' } }),
  createSubmissionType: async ({ groupId }) => ({
    params: { id: groupId },
    body: { id: fresh('type'), pathway_id: 'pathway-2', title: 'New type' },
  }),
  listGroupSubmissionTypes: ofGroup,
  getGroupSubmissionType: async ({ groupId }) => ({
    params: { id: groupId, submission_type_id: 'type-1' },
  }),
  updateGroupSubmissionType: async (given) => ({
    params: { id: given.groupId, submission_type_id: await newType(given) },
    body: { title: fresh('title') },
  }),
  deleteSubmissionType: async (given) => ({
    params: { id: given.groupId, submission_type_id: await newType(given) },
  }),
  getAvailability: async ({ groupId }) => ({
    params: { id: groupId },
    body: { submission_type_ids: ['type-1'] },
  }),
  putForm: async ({ groupId }) => ({
    params: { id: groupId, form_id: fresh('form') },
    body: { title: 'New form' },
  }),
  listForms: ofGroup,
  getForm: async ({ groupId }) => ({ params: { id: groupId, form_id: 'form-1' } }),
  deleteForm: async ({ house, groupId }) => {
    const form_id = fresh('form');
    await house.operator('PUT', `/practice-groups/${groupId}/forms/${form_id}`, { title: 'Gone' });
    return { params: { id: groupId, form_id } };
  },
  putAssignee: async ({ groupId }) => ({
    params: { id: groupId, assignee_type: 'Admin', assignee_id: fresh('assignee') },
    body: { name: 'New assignee' },
  }),
  listAssignees: ofGroup,
  getAssignee: async ({ groupId }) => ({
    params: { id: groupId, assignee_type: 'Admin', assignee_id: 'ann' },
  }),
  deleteAssignee: async ({ house, groupId }) => {
    const assignee_id = fresh('assignee');
    await house.operator('PUT', `/practice-groups/${groupId}/assignees/Admin/${assignee_id}`, {
      name: 'Gone',
    });
    return { params: { id: groupId, assignee_type: 'Admin', assignee_id } };
  },
  importItems: async ({ groupId }) => ({
    body: { items: [{ kind: 'form', id: fresh('form'), practice_group_id: groupId, title: 'Imported' }] },
  }),
  reconcileItems: async ({ groupId }) => ({
    lines: JSON.stringify({ kind: 'form', id: 'form-1', practice_group_id: groupId, digest: '0'.repeat(64) }),
  }),
  createFormSubmission: async ({ groupId }) => ({
    params: { id: groupId },
    body: { submission_type_id: 'type-1', id: fresh('submission') },
  }),
  listFormSubmissions: ofGroup,
  getFormSubmission: async ({ groupId }) => ({
    params: { id: groupId, form_submission_id: 'submission-1' },
  }),
  publishEvents: async ({ groupId }) => ({ body: appointmentEvent(groupId) }),
  listPublishedEvents: nothing,
  getPublishedEvent: async ({ house, groupId }) => ({
    params: { id: (await house.operator('POST', '/events', appointmentEvent(groupId))).event_ids[0] },
  }),
  getEventLife: async ({ house, groupId }) => ({
    params: { id: (await house.operator('POST', '/events', appointmentEvent(groupId))).event_ids[0] },
  }),
  reportEhrHealth: async ({ house }) => ({
    params: { id: (await house.operator('POST', '/practice-groups', { name: 'Unheard of' })).id },
    body: { status: 'healthy' },
  }),
  getEhrHealth: ofGroup,
  createWriteToRecordJob: async ({ groupId }) => ({ body: jobBody(groupId) }),
  listWriteToRecordJobs: nothing,
  getWriteToRecordJob: async (given) => ({ params: { id: await newJob(given) } }),
  succeedWriteToRecordJob: async (given) => ({ params: { id: await newJob(given) } }),
  failWriteToRecordJob: async (given) => ({
    params: { id: await newJob(given) },
    body: { permanent: true },
  }),
  listAllWebhooks: nothing,
  getPartnerWebhook: async (given) => ({ params: { id: await pausedWebhook(given) } }),
  updatePartnerWebhook: async (given) => ({
    params: { id: await newWebhook(given) },
    body: { status: 'active' },
  }),
  deletePartnerWebhook: async (given) => ({ params: { id: await newWebhook(given) } }),
  replayPartnerWebhook: async (given) => {
    await newDelivery(given);
    return { params: { id: await pausedWebhook(given) }, body: { since: '2026-01-01T00:00:00Z' } };
  },
  listWebhookAttempts: async (given) => ({ params: { id: await pausedWebhook(given) } }),
  retryFailedDeliveries: async (given) => {
    const id = await newDelivery(given);
    await transact(given.house.service.app.db, SYSTEM, async (tx) =>
      tx.defer("UPDATE deliveries SET state = 'failed', finished_at = created_at WHERE sequence = $1", [
        id.split('_')[2],
      ]),
    );
    return { params: { id: await pausedWebhook(given) } };
  },
  getWebhookHealth: async (given) => ({ params: { id: await pausedWebhook(given) } }),
  listDeliveries: nothing,
  getDelivery: async (given) => ({ params: { id: await newDelivery(given) } }),
  retryDelivery: async (given) => ({ params: { id: await newDelivery(given) } }),
  listChanges: nothing,
  listLatestChanges: nothing,
  streamChanges: nothing,
  getChange: ofChange,
  reportChangeApplied: ofChange,
  reportChangeRejected: async (given) => ({ ...(await ofChange(given)), body: { reason: 'Closed.' } }),
  putWriteThrough: async (given) => ({ params: { id: await emptyGroup(given) }, body: writeThroughBody }),
  getWriteThrough: async (given) => ({ params: { id: await groupWithWriteThrough(given) } }),
  deleteWriteThrough: async (given) => ({ params: { id: await groupWithWriteThrough(given) } }),
  createSubscription: async () => ({ body: subscriptionBody() }),
  listSubscriptions: nothing,
  getSubscription: ofSubscription,
  updateSubscription: async (given) => ({
    ...(await ofSubscription(given)),
    body: { description: fresh('description') },
  }),
  deleteSubscription: async (given) => ({ params: { id: await newSubscription(given) } }),
  rotateSubscriptionSecret: async (given) => ({ params: { id: await newSubscription(given) } }),
  testSubscription: async (given) => ({ ...(await ofSubscription(given)), body: { topic: 'alerts' } }),
  listSubscriptionDeliveries: ofSubscription,
  getSubscriptionDelivery: async (given) => ({
    params: { id: await subscriptionOf(given), delivery_id: (await newSubscriptionTest(given)).delivery_id },
  }),
  replaySubscription: async (given) => ({
    ...(await ofSubscription(given)),
    body: { event_ids: [(await newSubscriptionTest(given)).event_id] },
  }),
  listPartnerUsage: nothing,
  getFigures: nothing,
  getSla: async ({ partnerId }) => ({ params: { id: partnerId } }),
  listSigningKeys: nothing,
  rotateSigningKey: async () => ({ body: { overlap_seconds: 0 } }),
  createOperator: async () => ({ body: { name: 'New operator', role: 'viewer' } }),
  listOperators: nothing,
  getOperator: async () => ({ params: { id: 'opr_first' } }),
  updateOperator: async ({ house }) => ({
    params: { id: (await house.operator('POST', '/operators', { name: 'Labelled', role: 'viewer' })).id },
    body: { label: 'Laptop of Ann', expires_at: '2027-11-16T00:00:00.000Z' },
  }),
  revokeOperator: async ({ house }) => ({
    params: { id: (await house.operator('POST', '/operators', { name: 'Gone', role: 'viewer' })).id },
  }),
  listApprovals: nothing,
  getApproval: async (given) => ({ params: { id: await newApproval(given) } }),
  approveApproval: async (given) => ({ params: { id: await newApproval(given) } }),
  declineApproval: async (given) => ({ params: { id: await newApproval(given) }, body: { reason: 'No.' } }),
  collectApproval: async (given) => {
    const { token } = await given.house.operator('POST', '/operators', { name: 'Second', role: 'admin' });
    const id = await newApproval(given, 'opr_first');
    await given.house.send('POST', `/operator/v1/approvals/${id}/approve`, { token });
    return { params: { id } };
  },
  createPartnerInvitation: async ({ partnerId }) => ({ params: { id: partnerId }, body: invitationBody }),
  createPracticeInvitation: async ({ groupId }) => ({ params: { id: groupId }, body: invitationBody }),
  listStops: nothing,
  liftStop: async (given) => ({
    params: { id: await newStop(given) },
    body: { reason: 'The practice asked' },
  }),
  listInvitations: nothing,
  withdrawInvitation: async ({ house, partnerId }) => ({
    params: { id: (await house.operator('POST', `/partners/${partnerId}/invitations`, invitationBody)).id },
  }),
  getOperatorMe: nothing,
  listSessions: nothing,
  revokeOwnSessions: async ({ house }) => {
    await signIn(house);
    return {};
  },
  revokeSession: async ({ house }) => {
    const { body } = await (await signIn(house)).send('GET', '/operator/v1/me');
    return { params: { id: body.session.id } };
  },
  listRefusedRequests: nothing,
  explainRequest: async ({ house, groupId }) => {
    const { key } = await makeKey(house, groupId, { scopes: ['events:read'] });
    const refused = await house.send('GET', '/v1/webhooks', { key, group: groupId });
    return { params: { request_id: String(refused.headers['x-request-id']) } };
  },
  listAudit: nothing,
  getAuditEntry: async () => ({ params: { seq: '1' } }),
  getAuditAnchor: nothing,
  verifyAudit: nothing,
  listAccessLog: nothing,
  exportAccessLog: nothing,
  listAllAlerts: nothing,
  getAlert: async (given) => {
    await given.house.operator('POST', '/leaked-keys', { key: (await issued(given)).key });
    const { data } = await given.house.operator('GET', '/alerts?page_size=1');
    return { params: { id: data[0].id } };
  },
  remindOfAlert: async (given) => ({ params: { id: await newAlert(given) } }),
  getAttention: nothing,
  createPartnerContact: async (given) => ({ params: { id: await newPartner(given) }, body: contactBody }),
  listPartnerContacts: async ({ partnerId }) => ({ params: { id: partnerId } }),
  getPartnerContact: async ({ partnerId }) => ({ params: { id: partnerId, contact_id: 'first' } }),
  updatePartnerContact: async (given) => ({
    params: await newPartnerContact(given),
    body: { alert_kinds: ['key_expiring'] },
  }),
  deletePartnerContact: async (given) => ({ params: await newPartnerContact(given) }),
  createContact: async (given) => {
    await makeRoom(given);
    return { body: contactBody };
  },
  listContacts: nothing,
  getContact: async (given) => ({ params: { id: await newContact(given) } }),
  updateContact: async (given) => ({ params: { id: await newContact(given) }, body: { name: null } }),
  deleteContact: async (given) => ({ params: { id: await newContact(given) } }),
  createErasure: async ({ groupId }) => ({
    body: { practice_group_id: groupId, object: 'Appointment', object_id: fresh('appointment') },
  }),
  listErasures: nothing,
  search: async ({ groupId }) => ({ query: `?q=${groupId}` }),
  listSettings: nothing,
  listNodes: nothing,
  streamLive: nothing,
  getErasure: async ({ house, groupId }) => {
    const body = { practice_group_id: groupId, object: 'Appointment', object_id: fresh('appointment') };
    return { params: { id: (await house.operator('POST', '/erasures', body)).id } };
  },
};
