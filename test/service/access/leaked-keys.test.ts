import { describe, expect, it } from 'vitest';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { makeKey, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';

/** The hook for secret scanners: what is reported as leaked does not work any more. */

const { house, world } = await serviceForTests();
const other = await startHarness({ databaseUrl: house.databaseUrl, clock: house.clock });

const report = (body: unknown, token = OPERATOR_TOKEN) =>
  house.send('POST', '/operator/v1/leaked-keys', { token, body });
const call = (key: string, node = house) =>
  node.send('GET', '/v1/practice-groups', { key, group: world.groupId });
const entries = async (keyId: string) =>
  (await house.operator('GET', '/audit?action=key.report-leak')).data.filter(
    (entry: { subject: { id: string } }) => entry.subject.id === keyId,
  );

describe('POST /operator/v1/leaked-keys', () => {
  it('200: the key is refused by every node when the call has answered, and the refusal says why', async () => {
    const { key, keyId, partnerId } = await makeKey(house, world.groupId);
    for (const node of [house, other]) expect((await call(key, node)).status).toBe(200);
    const answer = await report({ key, source: 'A customer', url: `https://paste.example/?k=${key}` });
    expect(answer.body).toEqual({
      data: [{ outcome: 'revoked', last_four: key.slice(-4), key_id: keyId, partner_id: partnerId }],
      count: 1,
    });
    for (const node of [other, house])
      expectProblem(await call(key, node), 401, 'invalid_credentials', {
        message: 'This API key was reported as leaked and has been revoked. Contact support for a new one.',
      });
    const leak = {
      reported_at: expect.any(String),
      source: 'A customer',
      url: 'https://paste.example/?k=ptr_test_[redacted]',
    };
    expect(await house.operator('GET', `/keys/${keyId}`)).toMatchObject({ status: 'revoked', leak });
    expect(await entries(keyId)).toMatchObject([
      {
        actor: { type: 'operator', id: 'opr_first' },
        before: { leak: null, revoked_at: null },
        after: { leak, revoked_at: expect.any(String) },
      },
    ]);
    const { data } = await house.operator('GET', `/requests?partner_id=${partnerId}`);
    expect(data).toHaveLength(2);
    expect(data[0]).toMatchObject({ reason: 'leaked', key_id: keyId });
  });

  it('a second report changes nothing and leaves no entry', async () => {
    const { key, keyId } = await makeKey(house, world.groupId);
    await report({ key, source: 'First' });
    const again = await report({ key, source: 'Second' });
    expect(again.body.data).toMatchObject([{ outcome: 'already_revoked', key_id: keyId }]);
    expect(await house.operator('GET', `/keys/${keyId}`)).toMatchObject({ leak: { source: 'First' } });
    expect(await entries(keyId)).toHaveLength(1);
  });

  it('one that was revoked before is marked, too: its user is told', async () => {
    const { key, keyId } = await makeKey(house, world.groupId);
    const { revoked_at } = await house.operator('POST', `/keys/${keyId}/revoke`);
    house.clock.advance(1_000);
    expect((await report({ key })).body.data).toMatchObject([{ outcome: 'already_revoked' }]);
    expect(await house.operator('GET', `/keys/${keyId}`)).toMatchObject({
      revoked_at,
      leak: { source: null },
    });
    expect((await call(key)).body.message).toContain('leaked');
  });

  it('200: many at once, as a scanner sends them, each told what was found', async () => {
    const [one, two] = [await makeKey(house, world.groupId), await makeKey(house, world.groupId)];
    const unknown = formatKey('staging', 'c'.repeat(32));
    const typo = `${one.key.slice(0, -1)}${one.key.endsWith('0') ? '1' : '0'}`;
    const match = { type: 'porter_api_key', url: '', source: 'content' };
    const { body } = await report([
      { token: two.key, ...match },
      { token: unknown, ...match },
      { key: one.key, source: 'ours' },
      { token: typo, ...match },
      { token: two.key, ...match, url: 'https://github.example/again' },
      { token: world.key.slice(0, 12), type: 'porter_api_key' },
    ]);
    expect(body.data.map(({ outcome, key_id }: Record<string, string>) => [outcome, key_id])).toEqual([
      ['revoked', two.keyId],
      ['unknown', null],
      ['revoked', one.keyId],
      ['not_a_key', null],
      ['already_revoked', two.keyId],
      ['not_a_key', null],
    ]);
    for (const { key } of [one, two]) expect((await call(key, other)).status).toBe(401);
    expect((await call(world.key)).status).toBe(200);
    expect(await house.operator('GET', `/keys/${two.keyId}`)).toMatchObject({
      leak: { source: 'content', url: null },
    });
  });

  it('two reports at once that name the same keys in another order both answer', async () => {
    const keys = await Promise.all([1, 2, 3, 4].map(() => makeKey(house, world.groupId)));
    const reports = keys.map(({ key }) => ({ key }));
    const answers = await Promise.all([report(reports), report([...reports].reverse())]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { keyId } of keys) expect(await entries(keyId)).toHaveLength(1);
  });

  it('is for support and admins; 400 for what is no report', async () => {
    const { key } = await makeKey(house, world.groupId);
    for (const role of ['viewer', 'source']) {
      const { token } = await house.operator('POST', '/operators', { name: role, role });
      expectProblem(await report({ key }, token), 403, 'insufficient_permissions', {
        message: expect.any(String),
        required_roles: ['admin', 'support'],
      });
    }
    const { token } = await house.operator('POST', '/operators', { name: 'S', role: 'support' });
    expectInvalid(await report([{ token: key, surprise: 1 }]), [{ path: [0, 'surprise'] }]);
    expectInvalid(await report([{ source: 'x' }]), [{ path: [0, 'key'] }]);
    expectInvalid(await report(Array.from({ length: 101 }, () => ({ key }))), [
      { path: [], code: 'too_big' },
    ]);
    expect((await call(key)).status).toBe(200);
    expect((await report({ key }, token)).status).toBe(200);
  });
});
