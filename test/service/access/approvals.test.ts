import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { expectProblem } from '../../support/answers.ts';
import { porter } from '../../support/cli.ts';
import { signIn } from '../../support/console-session.ts';
import { pathOf } from '../../support/operator-calls.ts';
import { type Answer, type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** The world is made before anything has to be approved, by a node of the same database that asks for nothing. */
const env = { PORTER_ROLE: 'api' };
const free = await startHarness({ env });
const house = await startHarness({
  env: { ...env, PORTER_APPROVALS: 'keys,networks,operators' },
  databaseUrl: free.databaseUrl,
  clock: free.clock,
});
const newRsa = () => ({
  n: generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' }).n,
});
const db = await superuser(house.databaseUrl);
const world = await makeWorld(free);
const other = await makeWorld(free);

const HOUR = 3_600_000;
const newOperator = (role: string): Promise<Loose> =>
  free.operator('POST', '/operators', { name: `A ${role}`, role });
const ann = await newOperator('support');
const bob = await newOperator('support');
const boss = await newOperator('admin');
// An operator approves nothing that is as old as it is.
free.clock.advance(1);
const as =
  (operator: { token: string }) =>
  (method: string, path: string, body?: unknown, headers = {}) =>
    house.send(method, `/operator/v1${path}`, { token: operator.token, body, headers });
const admin = as({ token: OPERATOR_TOKEN });
const decide = (id: string, what: string, by = bob, body?: unknown) =>
  as(by)('POST', `/approvals/${id}/${what}`, body);

const keyBody = () => ({
  partner_id: world.partnerId,
  practice_group_id: world.groupId,
  scopes: ['practice-groups:read'],
  label: 'Booking',
});
const askForKey = async (by = ann): Promise<Loose> => {
  const answer = await as(by)('POST', '/keys', keyBody());
  expect(answer.status).toBe(202);
  return answer.body;
};
const keysOf = async (): Promise<Loose[]> =>
  (await free.operator('GET', `/keys?practice_group_id=${world.groupId}&page_size=100`)).data;
const works = async (key: string) =>
  (await house.send('GET', '/v1/practice-groups', { key, group: world.groupId })).status;

describe('a key', () => {
  it('202: waits, is issued when somebody else approves, and shown once to whoever asked', async () => {
    const before = await keysOf();
    const waiting = await askForKey();
    expect(waiting).toEqual({
      id: expect.stringMatching(/^apv_[0-9A-Za-z]{25}$/),
      kind: 'keys',
      operation: 'issueKey',
      summary: 'Issue a key',
      params: {},
      body: keyBody(),
      status: 'pending',
      requested_by: { id: ann.id, name: 'A support' },
      requested_at: new Date(house.clock.now()).toISOString(),
      expires_at: new Date(house.clock.now() + 72 * HOUR).toISOString(),
      decided_by: null,
      decided_at: null,
      reason: null,
      is_collectable: false,
    });
    expect(await keysOf()).toEqual(before);
    expectProblem(await decide(waiting.id, 'collect', ann), 409, 'conflict');

    const approved = await decide(waiting.id, 'approve');
    expect(approved.status).toBe(200);
    expect(approved.body).toMatchObject({
      status: 'approved',
      decided_by: { id: bob.id },
      is_collectable: true,
    });
    expect(approved.text).not.toMatch(/ptr_test_\w/);
    const [issued] = (await keysOf()).filter(({ id }) => !before.some((one) => one.id === id));

    for (const stranger of [bob, { token: OPERATOR_TOKEN }])
      expectProblem(await as(stranger)('POST', `/approvals/${waiting.id}/collect`), 404, 'not_found');
    const { status, body } = await decide(waiting.id, 'collect', ann);
    expect(status).toBe(200);
    expect(body).toEqual({
      operation: 'issueKey',
      answer: { ...issued, key: expect.stringMatching(/^ptr_test_/) },
    });
    expect(await works(body.answer.key)).toBe(200);
    expectProblem(await decide(waiting.id, 'collect', ann), 409, 'conflict');
    expect((await as(bob)('GET', `/approvals/${waiting.id}`)).body.is_collectable).toBe(false);
  });

  it('is nowhere in clear text before it is collected', async () => {
    const { id } = await askForKey();
    await decide(id, 'approve');
    const { rows } = await db.query('SELECT a::text AS text, answer FROM approvals a WHERE id = $1', [id]);
    const { answer } = (await decide(id, 'collect', ann)).body;
    expect(rows[0].answer).toBeInstanceOf(Buffer);
    expect(rows[0].text + rows[0].answer.toString('latin1')).not.toContain(answer.key);
    const audit = await admin('GET', '/audit?page_size=100');
    expect(audit.text).not.toContain(answer.key);
    expect(JSON.stringify(house.logLines())).not.toContain(answer.key);
  });

  it('is audited under both names', async () => {
    const { id } = await askForKey();
    await decide(id, 'approve');
    const { answer } = (await decide(id, 'collect', ann)).body;
    const [issue] = (await admin('GET', `/audit?subject_id=${answer.id}`)).body.data;
    expect(issue.actor).toEqual({
      type: 'operator',
      id: ann.id,
      name: 'A support',
      approved_by: { id: bob.id, name: 'A support' },
    });
    const { data } = (await admin('GET', `/audit?subject_id=${id}`)).body;
    expect(data.map((entry: Loose) => [entry.action, entry.actor.id])).toEqual([
      ['approval.collect', ann.id],
      ['approval.approve', bob.id],
      ['approval.request', ann.id],
    ]);
    expect((await admin('GET', '/audit/verify')).body).toMatchObject({ ok: true });
  });

  it('in bulk and by rotation waits, too; revoking never does', async () => {
    const many = await as(ann)('POST', '/keys/bulk', {
      partner_id: world.partnerId,
      practice_group_ids: [world.groupId, other.groupId],
      scopes: ['events:read'],
    });
    expect([many.status, many.body.operation]).toEqual([202, 'issueKeys']);
    await decide(many.body.id, 'approve');
    const { data } = (await decide(many.body.id, 'collect', ann)).body.answer;
    expect(data.map((one: Loose) => one.practice_group_id)).toEqual([world.groupId, other.groupId]);

    const rotation = await as(ann)('POST', `/keys/${data[0].id}/rotate`, { overlap_seconds: 0 });
    expect([rotation.status, rotation.body.params]).toEqual([202, { id: data[0].id }]);
    const before = house.clock.now();
    expect((await decide(rotation.body.id, 'approve')).status).toBe(200);
    // The old key is over on every node when the approval has answered.
    expect(house.clock.now() - before).toBeGreaterThanOrEqual(1_000);
    const read = await house.send('GET', '/v1/me', { key: data[0].key });
    expect(read.status).toBe(401);
    const { key, id } = (await decide(rotation.body.id, 'collect', ann)).body.answer;
    expect((await house.send('GET', '/v1/me', { key })).status).toBe(200);
    expect((await as(ann)('POST', `/keys/${id}/revoke`)).status).toBe(200);
  });

  it('422 at once for what would be refused; nothing waits', async () => {
    const count = async () => (await db.query('SELECT FROM approvals')).rowCount;
    const before = await count();
    const refused = await as(ann)('POST', '/keys', { ...keyBody(), practice_group_id: 'nobody' });
    expectProblem(refused, 422, 'business_rule_violation', {
      rule: 'practice_group_unknown',
      path: ['practice_group_id'],
    });
    expect((await as(ann)('POST', '/keys', {})).status).toBe(400);
    const viewer = await newOperator('viewer');
    expect((await as(viewer)('POST', '/keys', keyBody())).status).toBe(403);
    expect(await count()).toBe(before);
  });

  it('202: many with Idempotency-Keys at once keep no connection from each other, nor from partners', async () => {
    const before = await keysOf();
    const lastEntry = async () => (await admin('GET', '/audit?page_size=1')).body.data[0].seq;
    const last = await lastEntry();
    const answers: Answer[] = [];
    // Each time twice as many as there are connections: with two for each, ten would wait for each other.
    for (const turn of [1, 2, 3]) {
      const atOnce = Array.from({ length: 20 }, (_, n) =>
        as(ann)('POST', '/keys', keyBody(), { 'idempotency-key': `at-once-${turn}-${n}` }),
      );
      answers.push(...(await Promise.all(atOnce)));
    }
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    // What was rehearsed is undone, and in no audit.
    expect(await keysOf()).toEqual(before);
    expect(await lastEntry()).toBe(last + 60);
  });

  it('with an Idempotency-Key waits once', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, again] = [
      await as(ann)('POST', '/keys', keyBody(), headers),
      await as(ann)('POST', '/keys', keyBody(), headers),
    ];
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const approve = () =>
      as(bob)('POST', `/approvals/${first.body.id}/approve`, undefined, { 'idempotency-key': 'approve' });
    const answers = [await approve(), await approve()];
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual([
      [200, 'approved'],
      [200, 'approved'],
    ]);
  });
});

/** Each operation that may wait, with a body that works; the list of the contract is what is tested. */
const networkCalls: Record<string, (id: string) => { params?: Record<string, string>; body?: unknown }> = {
  createNetwork: () => ({ body: { name: 'New', practice_group_ids: [world.groupId, other.groupId] } }),
  updateNetwork: (id) => ({ params: { id }, body: { name: 'Renamed', scopes: ['events:read'] } }),
  addNetworkMember: (id) => ({ params: { id, practice_group_id: other.groupId } }),
  removeNetworkMember: (id) => ({ params: { id, practice_group_id: world.groupId } }),
  deleteNetwork: (id) => ({ params: { id } }),
};

describe('a network', () => {
  const list = async () => (await admin('GET', '/networks?page_size=100')).body.data;

  it('every operation that changes one waits', () => {
    const waiting = Object.values(operatorEndpoints as Record<string, Endpoint>).filter(
      ({ operationId, tag, method, approval }) =>
        approval === 'networks' ||
        (tag === 'Networks' && method !== 'GET' && operationId !== 'previewNetwork'),
    );
    expect(waiting.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(networkCalls).sort());
    for (const { approval } of waiting) expect(approval).toBe('networks');
  });

  it.each(Object.entries(networkCalls))(
    '202: %s waits, and is done when another admin approves',
    async (name, parts) => {
      const { id } = await free.operator('POST', '/networks', {
        name: 'Shared',
        practice_group_ids: [world.groupId],
      });
      const { params = {}, body } = parts(id);
      const endpoint = operatorEndpoints[name as 'createNetwork'];
      const before = await list();
      const path = pathOf(endpoint.path, params).replace('/operator/v1', '');
      const asked: Answer = await as(boss)(endpoint.method, path, body);
      expect([asked.status, asked.body.kind, asked.body.params]).toEqual([202, 'networks', params]);
      expect(await list()).toEqual(before);
      house.clock.advance(1);
      // Support may ask for keys, but changes no network, and so lets none be changed.
      expectProblem(await decide(asked.body.id, 'approve'), 403, 'insufficient_permissions', {
        required_roles: ['admin'],
      });
      expect((await admin('POST', `/approvals/${asked.body.id}/approve`)).status).toBe(200);
      expect(await list()).not.toEqual(before);
      const { answer } = (await as(boss)('POST', `/approvals/${asked.body.id}/collect`)).body;
      expect(answer === null).toBe(endpoint.response.status !== 201 && name !== 'updateNetwork');
    },
  );
});

describe('a change of a key', () => {
  const FINGERPRINT = 'ab'.repeat(32);
  const later = (hours: number) => new Date(house.clock.now() + hours * HOUR).toISOString();
  const jwk = (kid: string) => ({ kty: 'RSA', kid, ...newRsa(), e: 'AQAB' });
  const keyWith = async (more: object): Promise<Loose> =>
    free.operator('POST', '/keys', { ...keyBody(), ...more });
  const change = (id: string, body: object, headers = {}) => as(ann)('PATCH', `/keys/${id}`, body, headers);
  const known = jwk('known');
  const bound = {
    scopes: ['practice-groups:read', 'events:read'],
    allowed_addresses: ['10.0.0.0/8', '2001:db8::/32'],
    rate_limit_per_minute: 100,
  };
  const withJwks = { proof: 'private_key_jwt', jwks: { keys: [known] } };

  it.each<[string, object, () => object]>([
    ['another scope', bound, () => ({ scopes: ['practice-groups:read', 'webhooks:write'] })],
    ['another address', bound, () => ({ allowed_addresses: ['10.0.0.0/8', '11.0.0.1'] })],
    ['a larger range', bound, () => ({ allowed_addresses: ['10.0.0.0/7'] })],
    ['a range of the other family', bound, () => ({ allowed_addresses: ['::a00:0/104'] })],
    ['any address', bound, () => ({ allowed_addresses: null })],
    ['a higher limit', bound, () => ({ rate_limit_per_minute: 101 })],
    ['the limit of its agreement, which is higher', bound, () => ({ rate_limit_per_minute: null })],
    ['a limit above that of its agreement', {}, () => ({ rate_limit_per_minute: 301 })],
    ['a later expiry', { expires_at: later(1_000) }, () => ({ expires_at: later(1_001) })],
    ['no expiry', { expires_at: later(1_000) }, () => ({ expires_at: null })],
    ['no proof', withJwks, () => ({ proof: 'none' })],
    ['another public key', withJwks, () => ({ jwks: { keys: [known, jwk('other')] } })],
    ['another public key of the same name', withJwks, () => ({ jwks: { keys: [jwk('known')] } })],
    ['more and less at once', bound, () => ({ scopes: ['webhooks:read'], rate_limit_per_minute: 1 })],
  ])('202: %s waits, and is there once approved', async (_, given, changes) => {
    const key = await keyWith(given);
    const body = changes();
    const asked = await change(key.id, body);
    expect([asked.status, asked.body.operation, asked.body.params, asked.body.body]).toEqual([
      202,
      'updateKey',
      { id: key.id },
      body,
    ]);
    const read = async () => (await free.operator('GET', `/keys/${key.id}`)) as Loose;
    const { key: _secret, ...issued } = key;
    expect(await read()).toEqual(issued);
    expect((await decide(asked.body.id, 'approve')).status).toBe(200);
    expect(await read()).toMatchObject(body);
  });

  it.each<[string, object, () => object]>([
    ['a label', bound, () => ({ label: 'Other' })],
    ['fewer scopes', bound, () => ({ scopes: ['events:read'] })],
    ['smaller ranges', bound, () => ({ allowed_addresses: ['10.1.0.0/16', '10.2.3.4', '2001:db8:1::/48'] })],
    ['a first list of addresses', {}, () => ({ allowed_addresses: ['10.0.0.0/8'] })],
    ['a lower limit', bound, () => ({ rate_limit_per_minute: 99 })],
    ['a limit below that of its agreement', {}, () => ({ rate_limit_per_minute: 299 })],
    ['an expiry', {}, () => ({ expires_at: later(1_000) })],
    ['an earlier expiry', { expires_at: later(1_001) }, () => ({ expires_at: later(1_000) })],
    ['a proof', {}, () => withJwks],
    [
      'fewer public keys',
      { ...withJwks, jwks: { keys: [known, jwk('x')] } },
      () => ({ jwks: { keys: [known] } }),
    ],
    ['what the proof does not ask for', withJwks, () => ({ certificate_fingerprints: [FINGERPRINT] })],
  ])('200: %s does not wait', async (_, given, changes) => {
    const { id } = await keyWith(given);
    expect((await change(id, changes())).status).toBe(200);
  });

  it('412 and 422 at once; nothing waits', async () => {
    const { id } = await keyWith(bound);
    const wider = { scopes: ['webhooks:write'] };
    expect((await change(id, wider, { 'if-match': '"7"' })).status).toBe(412);
    const refused = await change(id, { ...wider, proof: 'private_key_jwt' });
    expectProblem(refused, 422, 'business_rule_violation', { rule: 'proof_incomplete', path: ['proof'] });
  });

  it('409 when the key was changed after the request: what was asked for may mean more now', async () => {
    const { id } = await keyWith(bound);
    const [wider, rotation] = [
      await change(id, { scopes: ['webhooks:write'] }),
      await as(ann)('POST', `/keys/${id}/rotate`),
    ];
    expect((await change(id, { rate_limit_per_minute: 10 })).status).toBe(200);
    for (const asked of [wider, rotation]) {
      expectProblem(await decide(asked.body.id, 'approve'), 409, 'conflict');
      expect((await as(ann)('GET', `/approvals/${asked.body.id}`)).body.status).toBe('pending');
    }
    const again = await change(id, { scopes: ['webhooks:write'] });
    expect((await decide(again.body.id, 'approve')).status).toBe(200);
  });
});

describe('an operator', () => {
  const wanted = { name: 'Second me', role: 'admin' };

  it('202: waits, and is created when another admin approves', async () => {
    const asked = await as(boss)('POST', '/operators', wanted);
    expect([asked.status, asked.body.kind, asked.body.operation]).toEqual([
      202,
      'operators',
      'createOperator',
    ]);
    expectProblem(await decide(asked.body.id, 'approve', bob), 403, 'insufficient_permissions', {
      required_roles: ['admin'],
    });
    expectProblem(await decide(asked.body.id, 'approve', boss), 403, 'insufficient_permissions');
    expect((await admin('POST', `/approvals/${asked.body.id}/approve`)).status).toBe(200);
    const { answer } = (await as(boss)('POST', `/approvals/${asked.body.id}/collect`)).body;
    expect((await as(answer)('GET', '/me')).body.operator).toMatchObject(wanted);
  });

  it('403: approves nothing that was asked for before it was created', async () => {
    const { id } = await askForKey();
    const young = await newOperator('admin');
    expectProblem(await decide(id, 'approve', young), 403, 'insufficient_permissions');
    house.clock.advance(1);
    expectProblem(await decide(id, 'approve', young), 403, 'insufficient_permissions');
    expect((await decide((await askForKey()).id, 'approve', young)).status).toBe(200);
  });

  it('202: a later expiry waits, an earlier one and a revocation do not', async () => {
    const now = house.clock.now();
    const expires_at = (hours: number) => new Date(now + hours * HOUR).toISOString();
    const { id } = await free.operator('POST', '/operators', { ...wanted, expires_at: expires_at(500) });
    const change = (body: object) => as(boss)('PATCH', `/operators/${id}`, body);
    const asked = await change({ expires_at: expires_at(501) });
    expect([asked.status, asked.body.operation]).toEqual([202, 'updateOperator']);
    expect((await change({ expires_at: null })).status).toBe(202);
    expect((await change({ label: 'On loan', expires_at: expires_at(499) })).status).toBe(200);
    expectProblem(await admin('POST', `/approvals/${asked.body.id}/approve`), 409, 'conflict');
    const again = await change({ expires_at: expires_at(501) });
    expect((await admin('POST', `/approvals/${again.body.id}/approve`)).status).toBe(200);
    expect((await admin('GET', `/operators/${id}`)).body.expires_at).toBe(expires_at(501));
    expect((await as(boss)('POST', `/operators/${id}/revoke`)).status).toBe(200);
  });
});

describe('a network that was changed after the request', () => {
  it('409 for its settings; its members are added and removed all the same', async () => {
    const { id } = await free.operator('POST', '/networks', { name: 'N', practice_group_ids: [] });
    const rename = await as(boss)('PATCH', `/networks/${id}`, { name: 'M' });
    const add = await as(boss)('PUT', `/networks/${id}/members/${world.groupId}`);
    await free.operator('PATCH', `/networks/${id}`, { scopes: ['events:read'] });
    expectProblem(await admin('POST', `/approvals/${rename.body.id}/approve`), 409, 'conflict');
    expect((await admin('POST', `/approvals/${add.body.id}/approve`)).status).toBe(200);
  });
});

describe('who decides', () => {
  it('403: never who asked, with a token or a session', async () => {
    const { id } = await askForKey();
    expectProblem(await decide(id, 'approve', ann), 403, 'insufficient_permissions');
    const session = await signIn(house, ann.token);
    const again = await session.send('POST', `/operator/v1/approvals/${id}/approve`);
    expectProblem(again, 403, 'insufficient_permissions');
    expect((await as(ann)('GET', `/approvals/${id}`)).body.status).toBe('pending');
  });

  it('declined with a reason, nothing is done, and it cannot be approved any more; who asked may withdraw', async () => {
    const { id } = await askForKey();
    const declined = await decide(id, 'decline', bob, { reason: 'Not yet signed.' });
    expect(declined.body).toMatchObject({
      status: 'declined',
      reason: 'Not yet signed.',
      is_collectable: false,
    });
    expectProblem(await decide(id, 'approve'), 409, 'conflict');
    expectProblem(await decide(id, 'collect', ann), 409, 'conflict');
    const mine = await askForKey();
    expect((await decide(mine.id, 'decline', ann, { reason: 'A mistake.' })).status).toBe(200);
    expectProblem(await decide(mine.id, 'decline', bob, { reason: 'Too late.' }), 409, 'conflict');
    expect((await decide(mine.id, 'decline', bob, {})).status).toBe(400);
  });

  it('409 after three days, to the millisecond; an answer is kept for three days as well', async () => {
    const late = await askForKey();
    house.clock.advance(72 * HOUR - 1);
    const inTime = await askForKey();
    house.clock.advance(1);
    expectProblem(await decide(late.id, 'approve'), 409, 'conflict');
    expect((await as(ann)('GET', `/approvals/${late.id}`)).body.status).toBe('expired');
    const expired = (await as(ann)('GET', '/approvals?status=expired&page_size=100')).body.data;
    expect(expired.map((one: Loose) => one.id)).toContain(late.id);
    await decide(inTime.id, 'approve');
    house.clock.advance(72 * HOUR);
    expectProblem(await decide(inTime.id, 'collect', ann), 409, 'conflict');
  });

  it('422 when it cannot be carried out any more: nothing is done, and it goes on waiting', async () => {
    const { partnerId, groupId } = await makeWorld(free);
    const body = { ...keyBody(), partner_id: partnerId, practice_group_id: groupId };
    const { id } = (await as(ann)('POST', '/keys', body)).body;
    await free.operator('POST', `/partners/${partnerId}/suspend`);
    expectProblem(await decide(id, 'approve'), 422, 'business_rule_violation', {
      rule: 'partner_not_verified',
      path: ['partner_id'],
    });
    expect((await as(ann)('GET', `/approvals/${id}`)).body.status).toBe('pending');
    await free.operator('POST', `/partners/${partnerId}/verify`);
    expect((await decide(id, 'approve')).status).toBe(200);
  });

  it('409 when whoever asked was revoked meanwhile', async () => {
    const gone = await newOperator('support');
    house.clock.advance(1);
    const { id } = await askForKey(gone);
    await free.operator('POST', `/operators/${gone.id}/revoke`);
    expectProblem(await decide(id, 'approve'), 409, 'conflict');
  });

  it('of many who approve at once, one does, and it is done once', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => newOperator('support')));
    house.clock.advance(1);
    const { id } = await askForKey();
    const before = (await keysOf()).length;
    const answers = await Promise.all(others.map((one) => decide(id, 'approve', one)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    expect(await keysOf()).toHaveLength(before + 1);
  });

  it('404 for one that is not there', async () => {
    for (const what of ['approve', 'collect'])
      expectProblem(await decide('apv_none', what), 404, 'not_found');
    expectProblem(await decide('apv_none', 'decline', bob, { reason: 'x' }), 404, 'not_found');
    expectProblem(await as(bob)('GET', '/approvals/apv_none'), 404, 'not_found');
  });
});

describe('the setting', () => {
  it('is told by GET /operator/v1/me, and without it nothing waits', async () => {
    expect((await admin('GET', '/me')).body.approvals).toEqual(['keys', 'networks', 'operators']);
    expect((await free.operator('GET', '/me')).approvals).toEqual([]);
    expect((await free.operator('POST', '/keys', keyBody())).key).toMatch(/^ptr_test_/);
  });
});

describe('the command line', () => {
  const run = (line: string) =>
    porter(line, { env: { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN } });

  it('says that a key or a network waits, does not show one as made, and what was not asked for', async () => {
    const issue = `keys issue --partner ${world.partnerId} --group ${world.groupId} --scopes events:read`;
    for (const line of [issue, `keys rotate ${world.keyId}`, `networks create --name N ${world.groupId}`]) {
      const { code, stdout, stderr } = await run(line);
      expect(stdout).toBe('');
      expect(stderr).toMatch(
        /Nothing was done yet: it waits for a second person\.\n +Until 2026-\S+, somebody else approves it, .+: porter approvals approve apv_/,
      );
      expect(code).toBe(1);
      const forPrograms = await run(`${line} --json`);
      expect(forPrograms).toMatchObject({ code: 1, stdout: '' });
      const waiting = JSON.parse(forPrograms.stderr);
      expect(waiting).toEqual({
        error: 'waiting',
        message: 'Nothing was done yet: it waits for a second person.',
        hint: expect.stringContaining(waiting.approval_id),
        approval_id: expect.stringMatching(/^apv_/),
      });
    }
    const { id } = await free.operator('POST', '/networks', { name: 'N', practice_group_ids: [] });
    const { stderr } = await run(`networks add ${id} ${world.groupId} ${other.groupId}`);
    expect(stderr).toContain(`Not asked for yet: ${other.groupId}.`);
    expect((await free.operator('GET', `/networks/${id}`)).practice_group_ids).toEqual([]);
  });
});
