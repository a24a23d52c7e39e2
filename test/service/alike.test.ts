import { describe, expect, it } from 'vitest';
import { formatKey } from '../../src/domain/api-key.ts';
import { expectProblem, withoutRequestId } from '../support/answers.ts';
import { makeKey, makeWorld, serviceForTests } from '../support/service.ts';

/** Refusals that must not be told apart: all of the answer is compared but the request ID and what counts on. */

const { house, world } = await serviceForTests();

const PATH = '/v1/practice-groups';

describe('401 invalid_credentials looks the same whatever is wrong with the key', () => {
  it('missing, empty, nonsense, mistyped, never issued, of the other environment, expired, revoked, suspended', async () => {
    const expiring = await makeKey(house, world.groupId, {
      expires_at: new Date(house.clock.now() + 60_000).toISOString(),
    });
    const revoked = await makeKey(house, world.groupId);
    const suspended = await makeKey(house, world.groupId);
    for (const { key } of [expiring, revoked, suspended])
      expect((await house.send('GET', PATH, { key, group: world.groupId })).status).toBe(200);
    await house.operator('POST', `/keys/${revoked.keyId}/revoke`);
    await house.operator('POST', `/partners/${suspended.partnerId}/suspend`);
    house.clock.advance(60_000);

    const mistyped = world.key.slice(0, -1) + (world.key.endsWith('0') ? '1' : '0');
    const keys: Record<string, string | undefined> = {
      missing: undefined,
      empty: '',
      nonsense: 'nonsense',
      mistyped,
      'one letter short': world.key.slice(0, -1),
      'one letter more': `${world.key}0`,
      'in upper case': world.key.toUpperCase(),
      'two keys': `${world.key}, ${world.key}`,
      'never issued': formatKey('staging', 'a'.repeat(32)),
      'of the other environment': formatKey('production', world.key.slice(9, 41)),
      'an operator token': 'pto_kQ9vXr2LwZ8nBf4YcHd7GmUa3SpJe6RtVi5Wo0Nx',
      'a bearer': `Bearer ${world.key}`,
      expired: expiring.key,
      revoked: revoked.key,
      suspended: suspended.key,
    };
    const answers = new Map<string, unknown>();
    for (const [name, key] of Object.entries(keys)) {
      const answer = await house.send('GET', PATH, { key, group: world.groupId });
      expectProblem(answer, 401, 'invalid_credentials');
      answers.set(name, withoutRequestId(answer));
    }
    for (const [name, answer] of answers) expect(answer, name).toEqual(answers.get('missing'));
  });

  it('a good key in another place is no key', async () => {
    const missing = withoutRequestId(await house.send('GET', PATH, { group: world.groupId }));
    for (const [path, headers] of [
      [`${PATH}?x-api-key=${world.key}`, {}],
      [PATH, { cookie: `x-api-key=${world.key}` }],
      [PATH, { 'x-api-token': world.key }],
    ] as [string, Record<string, string>][])
      expect(withoutRequestId(await house.send('GET', path, { group: world.groupId, headers }))).toEqual(
        missing,
      );
  });

  it('the hint that Authorization is not looked at is the same for a good key and for nonsense', async () => {
    const [good, nonsense] = await Promise.all(
      [`Bearer ${world.key}`, 'Basic nonsense'].map(async (authorization) =>
        withoutRequestId(await house.send('GET', PATH, { group: world.groupId, headers: { authorization } })),
      ),
    );
    expect(good).toEqual(nonsense);
  });

  it('200: the name of the header is not case-sensitive', async () => {
    const headers = { 'X-API-Key': world.key, 'X-Practice-Group-ID': world.groupId };
    expect((await house.send('GET', PATH, { headers })).status).toBe(200);
  });
});

describe('403 forbidden looks the same for a group elsewhere and for one that does not exist', () => {
  it('on every address', async () => {
    const other = await makeWorld(house);
    for (const [method, path, body] of [
      ['GET', PATH],
      ['GET', `${PATH}?include=network`],
      ['GET', '/v1/care-nav/submission-types'],
      ['GET', '/v1/care-nav/submission-types/type-1'],
      ['PATCH', '/v1/care-nav/submission-types/type-1', { title: 'x' }],
      ['POST', '/v1/webhooks', { url: 'https://partner.example/hook' }],
      ['GET', '/v1/webhooks'],
      ['GET', '/v1/webhooks/wh_none/deliveries'],
      ['POST', '/v1/webhooks/wh_none/replay', { since: '2026-01-01T00:00:00Z' }],
      ['GET', '/v1/events'],
      ['GET', '/v1/requests/req_none'],
    ] as const) {
      const call = (group: string) => house.send(method, path, { key: world.key, group, body });
      const exists = await call(other.groupId);
      expectProblem(exists, 403, 'forbidden');
      expect(withoutRequestId(exists)).toEqual(withoutRequestId(await call('no-such-group')));
    }
  });
});
