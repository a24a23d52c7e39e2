import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { makeKey, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';

/** What was agreed is a record, and keys go by it. The other node hears of nothing but what is in the database. */

const { house, world, db } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });
const { databaseUrl, clock } = house;
const other = await startHarness({ databaseUrl, clock, env: { PORTER_ROLE: 'api' } });

const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  house.send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body, ...(headers && { headers }) });
const signed = (more: object = {}) => ({
  version: '2026-1',
  signatory: 'Ada Marsh',
  signed_at: '2026-11-10T00:00:00Z',
  ...more,
});
const record = (partnerId: string, more: object = {}) =>
  house.operator('POST', `/partners/${partnerId}/agreements`, signed(more));
const issue = (partner_id: string, more: object = {}) =>
  send('POST', '/keys', {
    partner_id,
    practice_group_id: world.groupId,
    scopes: ['practice-groups:read'],
    ...more,
  });
/** The limit that a key has, as each of the nodes tells it. */
async function limitsOf(key: string): Promise<string[]> {
  const answers = await Promise.all(
    [house, other].map((node) => node.send('GET', '/v1/practice-groups', { key, group: world.groupId })),
  );
  return answers.map(({ headers }) => String(headers['ratelimit-policy']));
}
const policy = (limit: number) => Array(2).fill(`"default";q=${limit};w=60`);

describe('an agreement', () => {
  it('201: is kept as it was recorded, and gives the partner its terms', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const sla = {
      availability_percent: 99.9,
      latency_ms: { p95: 250 },
      delivery_seconds: { p50: 2, p99: 60 },
    };
    const made = await record(partnerId, {
      document_url: 'https://contracts.example/1.pdf',
      signed_at: '2026-11-16T01:00:00+02:00',
      rate_limit_per_minute: 600,
      sla,
    });
    const now = new Date(clock.now()).toISOString();
    expect(made).toEqual({
      id: expect.stringMatching(/^agr_/),
      partner_id: partnerId,
      version: '2026-1',
      document_url: 'https://contracts.example/1.pdf',
      signatory: 'Ada Marsh',
      signed_at: '2026-11-15T23:00:00.000Z',
      ends_at: null,
      status: 'in_force',
      rate_limit_per_minute: 600,
      sla: '99.9 % available, 95 % answered within 250 ms, half delivered within 2 s, 99 % delivered within 60 s',
      sla_targets: sla,
      active_keys: 0,
      created_at: now,
      updated_at: now,
    });
    expect(await house.operator('GET', `/partners/${partnerId}/agreements/${made.id}`)).toEqual(made);
    // The first is of the step of onboarding, and was signed today: the terms are still its.
    expect(await house.operator('GET', `/partners/${partnerId}`)).toMatchObject({ sla: null });
    clock.advance(1);
    await record(partnerId, { signed_at: now, rate_limit_per_minute: 700, sla });
    expect(await house.operator('GET', `/partners/${partnerId}`)).toMatchObject({
      rate_limit_per_minute: 700,
      sla: '99.9 % available, 95 % answered within 250 ms, half delivered within 2 s, 99 % delivered within 60 s',
    });
  });

  it('is made by the step of onboarding too, with as much as is known', async () => {
    const { id } = await house.operator('POST', '/partners', { name: 'P', contact_email: 'p@p.example' });
    const path = `/partners/${id}/agreements`;
    expect((await house.operator('GET', path)).data).toEqual([]);
    await house.operator('POST', `/partners/${id}/sign-agreement`, { sla: 'gold', rate_limit_per_minute: 9 });
    const { data } = await house.operator('GET', path);
    const now = new Date(clock.now()).toISOString();
    const unknown = { version: null, signatory: null, document_url: null };
    expect(data).toMatchObject([{ ...unknown, signed_at: now, sla: 'gold', rate_limit_per_minute: 9 }]);
  });

  it('of a partner who has applied is the signature, and of one who was suspended as well', async () => {
    const { id } = await house.operator('POST', '/partners', { name: 'P', contact_email: 'p@p.example' });
    await house.operator('POST', `/partners/${id}/suspend`);
    await record(id);
    expect((await house.operator('POST', `/partners/${id}/verify`)).status).toBe('verified');
    const second = await house.operator('POST', '/partners', { name: 'P', contact_email: 'p@p.example' });
    await record(second.id);
    expect(await house.operator('GET', `/partners/${second.id}`)).toMatchObject({
      status: 'agreement_signed',
    });
  });

  it.each([
    ['a signature of next week', { signed_at: '2026-11-23T10:00:00Z' }, 422],
    ['an end before the signature', { ends_at: '2026-11-01T00:00:00Z' }, 422],
    ['a year that PostgreSQL does not know', { signed_at: '0000-01-01T00:00:00Z' }, 400],
    ['an end that cannot be written', { ends_at: '9999-12-31T23:59:59-01:00' }, 400],
    ['no target', { sla: {} }, 400],
    ['no quantile', { sla: { latency_ms: {} } }, 400],
    ['a target that is not known', { sla: { latency: 5 } }, 400],
    ['more than all', { sla: { availability_percent: 100.1 } }, 400],
    ['an address that is none', { document_url: 'contract.pdf' }, 400],
  ])('%s is refused, and nothing is recorded', async (_what, more, status) => {
    const { partnerId } = await makeKey(house, world.groupId);
    const answer = await send('POST', `/partners/${partnerId}/agreements`, signed(more));
    expect(answer.status).toBe(status);
    expect((await house.operator('GET', `/partners/${partnerId}/agreements`)).count).toBe(1);
  });

  it('400 names the field of a target; 404 for a partner, and for the agreement of another', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const odd = { sla: { latency_ms: { p95: 'fast' } } };
    expectInvalid(await send('POST', `/partners/${partnerId}/agreements`, signed(odd)), [
      { code: 'invalid_type', path: ['sla', 'latency_ms', 'p95'] },
    ]);
    expectProblem(await send('POST', '/partners/none/agreements', signed()), 404, 'not_found');
    expectProblem(await send('GET', '/partners/none/agreements'), 404, 'not_found');
    const made = await record(partnerId);
    const path = `/partners/${world.partnerId}/agreements/${made.id}`;
    expectProblem(await send('GET', path), 404, 'not_found');
    expectProblem(await send('PATCH', path, { ends_at: null }), 404, 'not_found');
  });

  it('is ended and amended, by whoever has seen it as it is', async () => {
    const { partnerId } = await makeKey(house, world.groupId);
    const made = await record(partnerId);
    const path = `/partners/${partnerId}/agreements/${made.id}`;
    const { headers } = await send('GET', path);
    const ended = await send(
      'PATCH',
      path,
      { ends_at: '2026-11-16T10:00:00Z' },
      { 'if-match': String(headers.etag) },
    );
    expect(ended.body).toMatchObject({ status: 'ended', ends_at: '2026-11-16T10:00:00.000Z' });
    expectProblem(
      await send('PATCH', path, { ends_at: null }, { 'if-match': String(headers.etag) }),
      412,
      'precondition_failed',
    );
    expect((await send('PATCH', path, { ends_at: null, signatory: 'Bo' })).body).toMatchObject({
      status: 'in_force',
      signatory: 'Bo',
    });
    expectInvalid(await send('PATCH', path, { signed_at: '2026-01-01T00:00:00Z' }), [
      { code: 'read_only', path: ['signed_at'] },
    ]);
  });
});

describe('a key', () => {
  it('is issued under the agreement that was signed last, and has its limit', async () => {
    const { partnerId, key: first } = await makeKey(house, world.groupId);
    expect(await limitsOf(first)).toEqual(policy(300));
    clock.advance(1);
    const now = new Date(clock.now()).toISOString();
    const made = await record(partnerId, { signed_at: now, rate_limit_per_minute: 600 });
    const { body } = await issue(partnerId);
    expect(body.agreement_id).toBe(made.id);
    expect(await limitsOf(body.key)).toEqual(policy(600));
    // What was issued before stays under what was agreed then.
    expect(await limitsOf(first)).toEqual(policy(300));
    expect((await issue(partnerId, { rate_limit_per_minute: 5 })).body.rate_limit_per_minute).toBe(5);
    const path = `/partners/${partnerId}/agreements`;
    expect(
      (await house.operator('GET', path)).data.map((one: { active_keys: number }) => one.active_keys),
    ).toEqual([1, 2]);
  });

  it('has the new limit on every node when an agreement, or the terms of its partner, were changed', async () => {
    const { partnerId, key, keyId } = await makeKey(house, world.groupId);
    const { agreement_id } = await house.operator('GET', `/keys/${keyId}`);
    expect(await limitsOf(key)).toEqual(policy(300));
    const path = `/partners/${partnerId}/agreements/${agreement_id}`;
    await house.operator('PATCH', path, { rate_limit_per_minute: 400 });
    expect(await limitsOf(key)).toEqual(policy(400));
    expect((await house.operator('GET', `/partners/${partnerId}`)).rate_limit_per_minute).toBe(400);
    const terms = { rate_limit_per_minute: 500, sla: { availability_percent: 99.5 } };
    await house.operator('PATCH', `/partners/${partnerId}`, terms);
    expect(await limitsOf(key)).toEqual(policy(500));
    expect(await house.operator('GET', path)).toMatchObject({
      rate_limit_per_minute: 500,
      sla: '99.5 % available',
      sla_targets: terms.sla,
    });
    expect((await house.operator('GET', `/partners/${partnerId}`)).sla).toBe('99.5 % available');
  });

  it('moves to another agreement of its partner, and to no other', async () => {
    const { partnerId, key, keyId } = await makeKey(house, world.groupId);
    const made = await record(partnerId, { rate_limit_per_minute: 77 });
    await house.operator('PATCH', `/keys/${keyId}`, { agreement_id: made.id });
    expect(await limitsOf(key)).toEqual(policy(77));
    const foreign = await makeKey(house, world.groupId);
    const { agreement_id } = await house.operator('GET', `/keys/${foreign.keyId}`);
    for (const wrong of [agreement_id, 'none']) {
      const refused = await send('PATCH', `/keys/${keyId}`, { agreement_id: wrong });
      expect([refused.status, refused.body.rule]).toEqual([422, 'agreement_unknown']);
      const notIssued = await issue(partnerId, { agreement_id: wrong });
      expect([notIssued.status, notIssued.body.rule]).toEqual([422, 'agreement_unknown']);
    }
  });

  it('goes on working, on its terms, when its agreement has ended: that is shown, and no further key is issued', async () => {
    const { partnerId, key, keyId } = await makeKey(house, world.groupId);
    const { agreement_id } = await house.operator('GET', `/keys/${keyId}`);
    const path = `/partners/${partnerId}/agreements/${agreement_id}`;
    await house.operator('PATCH', path, {
      ends_at: new Date(clock.now() + 1).toISOString(),
      rate_limit_per_minute: 55,
    });
    clock.advance(10);
    expect(await house.operator('GET', path)).toMatchObject({ status: 'ended', active_keys: 1 });
    expect(await limitsOf(key)).toEqual(policy(55));
    for (const more of [{}, { agreement_id }]) {
      const refused = await issue(partnerId, more);
      expect([refused.status, refused.body.rule]).toEqual([422, 'agreement_ended']);
    }
    // A key that was compromised can be replaced all the same.
    const rotated = await house.operator('POST', `/keys/${keyId}/rotate`, { overlap_seconds: 0 });
    expect(rotated.agreement_id).toBe(agreement_id);
    await record(partnerId);
    expect((await issue(partnerId)).status).toBe(201);
  });

  it('of which the version before wrote no agreement goes by the terms of its partner', async () => {
    const { partnerId, key, keyId } = await makeKey(house, world.groupId);
    await db.query('UPDATE api_keys SET agreement_id = NULL WHERE id = $1', [keyId]);
    await db.query('DELETE FROM agreements WHERE partner_id = $1', [partnerId]);
    await house.operator('PATCH', `/partners/${partnerId}`, { rate_limit_per_minute: 44 });
    expect(await limitsOf(key)).toEqual(policy(44));
    const { body } = await issue(partnerId);
    expect(body.agreement_id).toBeNull();
    expect(await limitsOf(body.key)).toEqual(policy(44));
  });
});

describe('GET /v1/agreements', () => {
  it('200: a partner reads its own, and nobody else’s', async () => {
    const { partnerId, key } = await makeKey(house, world.groupId);
    clock.advance(1);
    const made = await record(partnerId, { sla: 'gold' });
    const { status, body } = await house.send('GET', '/v1/agreements', { key });
    expect(status).toBe(200);
    const { partner_id: _whose, active_keys: _keys, ...own } = made;
    expect(body.data.slice(1)).toEqual([own]);
    expect(body.count).toBe(2);
  });
});
