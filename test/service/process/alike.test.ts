import { describe, expect, it } from 'vitest';
import { unknownKeys } from '../../../src/contract/problems.ts';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { expectProblem, withoutRequestId } from '../../support/answers.ts';
import { makeKey, makeWorld, serviceForTests } from '../../support/service.ts';

/** Refusals that must not be told apart: all of the answer is compared but the request ID and what counts on. */

const { house, world } = await serviceForTests();

const PATH = '/v1/practice-groups';

describe('401 invalid_credentials', () => {
  it('names what the request shows, and is the same for unknown, expired, revoked and suspended keys', async () => {
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

    const { key } = world;
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const keys: [key: string | undefined, shows: keyof typeof unknownKeys | undefined][] = [
      [undefined, 'missing'],
      ['', 'missing'],
      ['nonsense', 'not_a_key'],
      [mistyped, 'checksum'],
      [key.slice(0, -1), 'length'],
      [`${key}0`, 'length'],
      [key.toUpperCase(), 'not_a_key'],
      [`${key}, ${key}`, 'several'],
      [formatKey('production', key.slice(9, 41)), 'other_environment'],
      ['ptr_live_', 'other_environment'],
      ['pto_kQ9vXr2LwZ8nBf4YcHd7GmUa3SpJe6RtVi5Wo0Nx', 'not_a_key'],
      [`Bearer ${key}`, 'not_a_key'],
      [formatKey('staging', 'a'.repeat(32)), undefined],
      [expiring.key, undefined],
      [revoked.key, undefined],
      [suspended.key, undefined],
    ];
    const answers = new Map<string | undefined, unknown>();
    for (const [key, shows] of keys)
      for (const [method, path] of [
        ['GET', PATH],
        ['POST', '/v1/webhooks'],
        ['GET', '/v1/nothing'],
      ] as const) {
        const body = method === 'POST' ? { url: 'https://a.example/' } : undefined;
        const answer = await house.send(method, path, { key, group: world.groupId, body });
        expectProblem(answer, 401, 'invalid_credentials', shows && { message: unknownKeys[shows] });
        const known = answers.get(shows) ?? withoutRequestId(answer);
        expect(withoutRequestId(answer), key).toEqual(known);
        answers.set(shows, known);
      }
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
