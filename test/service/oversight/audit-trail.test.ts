import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type OperatorOperationId, operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { entriesAfter, lastEntry } from '../../support/audit.ts';
import { contents } from '../../support/for-test.ts';
import { furnish, make, type OperatorCall, operationIds, validCall } from '../../support/operator-calls.ts';
import { fanOutAll } from '../../support/post.ts';
import { type Answer, type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

// Without a worker: what is in the tables is what the calls put there.
const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
const given = await furnish(house);
const db = await superuser(house.databaseUrl);

/** Events are a record of their own: who said what, and when. Asking changes nothing. */
const unaudited: OperatorOperationId[] = [
  'publishEvents',
  'getAvailability',
  'reconcileItems',
  'previewNetwork',
];
const changing = operationIds.filter(
  (id) => operatorEndpoints[id].method !== 'GET' && !unaudited.includes(id),
);
const reading = operationIds.filter((id) => operatorEndpoints[id].method === 'GET');

const without = (body: Loose, ...names: string[]) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));

interface Expected {
  /** Action, and the type of what it was done to. */
  tells: [string, string][];
  /** Where the thing can be read, before and after. */
  item?: (call: OperatorCall) => string;
  made?: (answer: Answer) => unknown;
}

/** Of a key, what time and use make of it. */
const PASSING = ['status', 'last_used_at', 'last_used_from'];

/** What concerns no practice group, or several. */
const OF_NO_GROUP =
  /^(agreement\.|approval\.|contact\.|partner\.(?!resume)|operator\.|session\.|signing_key\.|subscription\.|network\.(create|update|delete)$)/;

/** The practice group in whose part of the trail an entry is to be found. */
function groupOf({ action, subject, after }: Loose): string | null {
  if (subject.type === 'invitation') return after.practice_group_id;
  if (OF_NO_GROUP.test(action)) return null;
  return ['practice_group', 'ehr_health'].includes(subject.type) ? subject.id : given.groupId;
}

/** What an agreement is worth at a moment, which is no change of it. */
const COUNTED = ['status', 'active_keys'];

function passingOf(id: OperatorOperationId): string[] {
  if (/Key$/.test(id)) return PASSING;
  return id === 'updateAgreement' ? COUNTED : [];
}

const own = (call: OperatorCall) => call.path.replace('/operator/v1', '');
const parent = (call: OperatorCall) => own(call).split('/').slice(0, 3).join('/');

/** What each changing operation tells. The table has a place for each, so a new one without it fails here. */
const tells: Partial<Record<OperatorOperationId, Expected>> = {
  createPracticeGroup: { tells: [['practice_group.create', 'practice_group']], made: ({ body }) => body },
  updatePracticeGroup: { tells: [['practice_group.update', 'practice_group']], item: own },
  deletePracticeGroup: { tells: [['practice_group.delete', 'practice_group']], item: own },
  createNetwork: { tells: [['network.create', 'network']], made: ({ body }) => body },
  updateNetwork: { tells: [['network.update', 'network']], item: own },
  deleteNetwork: { tells: [['network.delete', 'network']], item: own },
  addNetworkMember: { tells: [['network.members', 'network']], item: parent },
  removeNetworkMember: { tells: [['network.members', 'network']], item: parent },
  createPartner: { tells: [['partner.create', 'partner']], made: ({ body }) => body },
  updatePartner: { tells: [['partner.update', 'partner']], item: own },
  signAgreement: {
    tells: [
      ['partner.sign-agreement', 'partner'],
      ['agreement.create', 'agreement'],
    ],
    item: parent,
  },
  createAgreement: {
    tells: [['agreement.create', 'agreement']],
    made: ({ body }) => without(body, ...COUNTED),
  },
  updateAgreement: { tells: [['agreement.update', 'agreement']], item: own },
  verifyPartner: { tells: [['partner.verify', 'partner']], item: parent },
  suspendPartner: { tells: [['partner.suspend', 'partner']], item: parent },
  issueKey: { tells: [['key.issue', 'key']], made: ({ body }) => without(body, 'key', ...PASSING) },
  issueKeys: { tells: [['key.issue', 'key']] },
  updateKey: { tells: [['key.update', 'key']], item: own },
  // Two things change: there is a new key, and the old one is to end.
  rotateKey: {
    tells: [
      ['key.issue', 'key'],
      ['key.rotate', 'key'],
    ],
  },
  revokeKey: { tells: [['key.revoke', 'key']], item: parent },
  reportLeakedKeys: { tells: [['key.report-leak', 'key']] },
  createSubmissionType: { tells: [['submission_type.create', 'submission_type']], made: ({ body }) => body },
  updateGroupSubmissionType: { tells: [['submission_type.update', 'submission_type']] },
  deleteSubmissionType: { tells: [['submission_type.delete', 'submission_type']], item: own },
  deleteForm: { tells: [['form.delete', 'form']], item: own },
  deleteAssignee: { tells: [['assignee.delete', 'assignee']], item: own },
  importItems: { tells: [['practice_group.import', 'practice_group']] },
  putForm: { tells: [['form.put', 'form']], made: ({ body }) => body },
  putAssignee: { tells: [['assignee.put', 'assignee']], made: ({ body }) => body },
  createFormSubmission: { tells: [['form_submission.create', 'form_submission']], made: ({ body }) => body },
  reportEhrHealth: { tells: [['ehr_health.change', 'ehr_health']], item: own },
  createWriteToRecordJob: {
    tells: [['write_to_record_job.create', 'write_to_record_job']],
    made: ({ body }) => body,
  },
  succeedWriteToRecordJob: {
    tells: [['write_to_record_job.succeed', 'write_to_record_job']],
    item: parent,
  },
  failWriteToRecordJob: { tells: [['write_to_record_job.fail', 'write_to_record_job']], item: parent },
  updatePartnerWebhook: { tells: [['webhook.update', 'webhook']] },
  deletePartnerWebhook: { tells: [['webhook.delete', 'webhook']] },
  replayPartnerWebhook: { tells: [['webhook.replay', 'webhook']] },
  retryFailedDeliveries: { tells: [['webhook.retry-failed', 'webhook']] },
  remindOfAlert: { tells: [['alert.remind', 'alert']] },
  retryDelivery: { tells: [['delivery.retry', 'delivery']] },
  createPartnerContact: { tells: [['contact.create', 'contact']], made: ({ body }) => body },
  updatePartnerContact: { tells: [['contact.update', 'contact']], item: own },
  deletePartnerContact: { tells: [['contact.delete', 'contact']], item: own },
  createContact: { tells: [['contact.create', 'contact']], made: ({ body }) => body },
  updateContact: { tells: [['contact.update', 'contact']], item: own },
  deleteContact: { tells: [['contact.delete', 'contact']], item: own },
  reportChangeApplied: { tells: [['change.applied', 'change']] },
  reportChangeRejected: { tells: [['change.rejected', 'change']] },
  putWriteThrough: { tells: [['write_through.put', 'practice_group']] },
  deleteWriteThrough: { tells: [['write_through.delete', 'practice_group']] },
  createSubscription: { tells: [['subscription.create', 'subscription']] },
  updateSubscription: { tells: [['subscription.update', 'subscription']] },
  deleteSubscription: { tells: [['subscription.delete', 'subscription']] },
  rotateSubscriptionSecret: { tells: [['subscription.rotate-secret', 'subscription']] },
  testSubscription: { tells: [['subscription.test', 'subscription']] },
  replaySubscription: { tells: [['subscription.replay', 'subscription']] },
  createErasure: {
    tells: [
      ['erasure.begin', 'erasure'],
      ['erasure.create', 'erasure'],
    ],
    made: ({ body }) => body,
  },
  rotateSigningKey: { tells: [['signing_key.rotate', 'signing_key']] },
  createOperator: { tells: [['operator.create', 'operator']], made: ({ body }) => without(body, 'token') },
  updateOperator: { tells: [['operator.update', 'operator']], item: own },
  revokeOperator: { tells: [['operator.revoke', 'operator']], item: parent },
  approveApproval: {
    tells: [
      ['key.issue', 'key'],
      ['approval.approve', 'approval'],
    ],
  },
  declineApproval: { tells: [['approval.decline', 'approval']], item: parent },
  collectApproval: { tells: [['approval.collect', 'approval']], item: parent },
  createPartnerInvitation: { tells: [['invitation.create', 'invitation']], made: ({ body }) => body },
  createPracticeInvitation: { tells: [['invitation.create', 'invitation']], made: ({ body }) => body },
  liftStop: { tells: [['partner.resume', 'partner']] },
  withdrawInvitation: { tells: [['invitation.withdraw', 'invitation']] },
  revokeOwnSessions: { tells: [['session.end', 'session']] },
  revokeSession: { tells: [['session.end', 'session']] },
};

describe('the audit trail', () => {
  it('is checked here for every operation that changes something', () => {
    expect(Object.keys(tells).sort()).toEqual([...changing].sort());
  });

  it.each(changing)(
    '%s leaves one entry for each thing that it changes: who, what, for which practice group, before and after',
    async (id) => {
      const expected = tells[id] as Expected;
      const call = await validCall(id, given);
      const read = async () => {
        if (!expected.item) return null;
        const answer = await make(given, { id, method: 'GET', path: `/operator/v1${expected.item(call)}` });
        return answer.status === 404 ? null : without(answer.body, ...passingOf(id));
      };
      const before = await read();
      const seq = await lastEntry(house);
      house.clock.advance(1);
      const at = new Date(house.clock.now()).toISOString();
      const answer = await make(given, call);
      expect(answer.status).toBe(operatorEndpoints[id].response.status);

      const entries = await entriesAfter(house, seq);
      expect(entries.map(({ action, subject }) => [action, subject.type])).toEqual(expected.tells);
      for (const entry of entries) {
        // What was approved is done by whoever asked for it.
        const { approved_by = entry.actor } = entry.actor;
        expect(approved_by).toMatchObject({ id: 'opr_first', name: 'First operator' });
        expect(entry).toMatchObject({
          at,
          actor: { type: 'operator' },
          practice_group_id: groupOf(entry),
          request_id: answer.headers['x-request-id'],
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        });
        expect(await house.operator('GET', `/audit/${entry.seq}`)).toEqual(entry);
      }
      if (expected.made) {
        // What takes several transactions says at the end what it came to.
        expect(entries.at(-1).before).toBeNull();
        expect(entries.at(-1).after).toEqual(expected.made(answer));
        expect(entries.at(-1).subject.id).toBe(answer.body.id);
      } else if (expected.item) {
        expect(entries[0].before).toEqual(before);
        expect(entries[0].after).toEqual(await read());
        expect(entries[0].before).not.toEqual(entries[0].after);
        expect(call.path).toContain(entries[0].subject.id);
      }
    },
  );

  it('has an entry for everything that a partner changes, by its key', async () => {
    const { groupId: group, key, keyId } = await makeWorld(house);
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await house.send(method, path, { key, group, body });
      expect(answer.status).toBeLessThan(300);
      return answer;
    };
    const { id } = (await call('POST', '/v1/webhooks', { url: 'https://partner.example/hook' })).body;
    const event = 'patient.added-to-sequence';
    // A replay of nothing changes nothing, so there has to be something in the feed.
    await house.operator('POST', '/events', { object: 'Patient', id: 'p', practice_group_id: group, event });
    await fanOutAll(house);
    /** A test event changes nothing: it is a record of its own, as published events are. */
    const acts: Record<string, [actions: string[], method: string, path: string, body?: unknown]> = {
      updateSubmissionType: [
        ['submission_type.update'],
        'PATCH',
        '/v1/care-nav/submission-types/type-1',
        { order: 7 },
      ],
      createWebhook: [['webhook.create'], 'POST', '/v1/webhooks', { url: 'https://partner.example/other' }],
      updateWebhook: [['webhook.update'], 'PATCH', `/v1/webhooks/${id}`, { description: 'Renamed' }],
      rotateWebhookSecret: [['webhook.rotate-secret'], 'POST', `/v1/webhooks/${id}/rotate-secret`],
      testWebhook: [['webhook.test'], 'POST', `/v1/webhooks/${id}/test`, { event }],
      triggerTestEvent: [[], 'POST', '/v1/test-events', { event }],
      replayWebhook: [
        ['webhook.replay'],
        'POST',
        `/v1/webhooks/${id}/replay`,
        { since: '2020-01-01T00:00:00Z' },
      ],
      updateOwnContact: [['contact.update'], 'PATCH', '/v1/contacts/first', { alert_kinds: [] }],
      deleteWebhook: [['webhook.delete'], 'DELETE', `/v1/webhooks/${id}`],
    };
    const changes = Object.values(partnerEndpoints).filter(({ method }) => method !== 'GET');
    expect(Object.keys(acts).sort()).toEqual(changes.map(({ operationId }) => operationId).sort());
    for (const [actions, method, path, body] of Object.values(acts)) {
      const seq = await lastEntry(house);
      const answer = await call(method, path, body);
      expect(await entriesAfter(house, seq)).toMatchObject(
        actions.map((action) => ({
          action,
          actor: { type: 'partner', id: keyId },
          practice_group_id: group,
          request_id: answer.headers['x-request-id'],
        })),
      );
    }
  });

  it('tells of a rotation which key replaces which', async () => {
    const call = await validCall('rotateKey', given);
    const seq = await lastEntry(house);
    const { body } = await make(given, call);
    const [issued, rotated] = await entriesAfter(house, seq);
    expect(issued).toMatchObject({ before: null, after: { id: body.id, replaced_by: null } });
    expect(rotated.before).toMatchObject({ replaced_by: null, expires_at: null });
    expect(rotated.after).toMatchObject({ id: rotated.subject.id, replaced_by: body.id });
    expect(call.path).toContain(rotated.subject.id);
  });

  it("tells of a partner's update which key made it and exactly the fields that changed", async () => {
    const { groupId: group, key, keyId } = await makeWorld(house);
    const seq = await lastEntry(house);
    const answer = await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
      key,
      group,
      body: { title: 'New', suspended: false, daily_limit: 4 },
    });
    expect(await entriesAfter(house, seq)).toMatchObject([
      {
        actor: { type: 'partner', id: keyId },
        action: 'submission_type.update',
        subject: { type: 'submission_type', id: 'type-1' },
        practice_group_id: group,
        request_id: answer.headers['x-request-id'],
        before: { title: 'Type one', daily_limit: null },
        after: { title: 'New', daily_limit: 4 },
      },
    ]);
    const [entry] = await entriesAfter(house, seq);
    expect(Object.keys(entry.after).sort()).toEqual(['daily_limit', 'title']);
    expect(Object.keys(entry.before).sort()).toEqual(['daily_limit', 'title']);
  });

  it('an update that changes nothing leaves no entry', async () => {
    const { groupId: group, key } = await makeWorld(house);
    const seq = await lastEntry(house);
    for (const body of [{}, { title: 'Type one' }, { description: null, in_hours: true }])
      await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body });
    expect(await lastEntry(house)).toBe(seq);
  });

  it.each(reading)('%s leaves no entry', async (id) => {
    const call = await validCall(id, given);
    const seq = await lastEntry(house);
    expect((await make(given, call)).status).toBe(200);
    expect(await lastEntry(house)).toBe(seq);
  });

  it('refused calls leave no entry: 400, 401, 403, 404, 409, 412, 422', async () => {
    const { groupId: group, key } = await makeWorld(house);
    const viewer = await house.operator('POST', '/operators', { name: 'V', role: 'viewer' });
    const seq = await lastEntry(house);
    const patch = (body: unknown, headers: Record<string, string> = {}) =>
      house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body, headers });
    const post = (path: string, body: unknown, token?: string) =>
      house.send('POST', `/operator/v1${path}`, { body, ...(token !== undefined && { token }) });
    const admin = OPERATOR_TOKEN;
    const statuses = [
      await patch({ titel: 'x' }),
      await post('/partners', { name: 'P', contact_email: 'a@b.example' }),
      await post('/partners', { name: 'P', contact_email: 'a@b.example' }, viewer.token),
      await post('/partners/nobody/verify', undefined, admin),
      await post('/practice-groups', { id: group, name: 'Again' }, admin),
      await patch({ title: 'x' }, { 'if-match': '"999"' }),
      await patch({ form_id: 'nothing' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 401, 403, 404, 409, 412, 422]);
    expect(await lastEntry(house)).toBe(seq);
  });

  it('holds no key, no token and no hash of one', async () => {
    const { key } = await makeWorld(house);
    const { token } = await house.operator('POST', '/operators', { name: 'O', role: 'viewer' });
    const { rows } = await db.query<{ body: string }>('SELECT body FROM audit_entries');
    const trail = rows.map(({ body }) => body).join('\n');
    for (const secret of [key, token, OPERATOR_TOKEN]) {
      const digest = createHash('sha256').update(secret).digest();
      for (const form of [
        secret,
        digest.toString('hex'),
        digest.toString('base64'),
        digest.toString('base64url'),
      ])
        expect(trail.includes(form)).toBe(false);
    }
    expect(/ptr_(test|live)_[0-9A-Za-z]|pto_|whsec_/.exec(trail)).toBeNull();
    expect([...trail.matchAll(/"(\w+)":/g)].map(([, name]) => name)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/hash|secret|token|^key$/)]),
    );
  });
});

describe('a change and its entry', () => {
  it.each(changing)('%s: without its entry the change does not happen either', async (id) => {
    const call = await validCall(id, given);
    const before = await contents(house.databaseUrl, { accessLog: true });
    await db.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no room in the book'; END $$`);
    await db.query('CREATE TRIGGER fail BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION fail()');
    try {
      expect((await make(given, call)).status).toBe(500);
    } finally {
      await db.query('DROP FUNCTION fail CASCADE');
    }
    expect(await contents(house.databaseUrl, { accessLog: true })).toEqual(before);
    expect((await make(given, call)).status).toBe(operatorEndpoints[id].response.status);
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });
});
