import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** A network may cap what it grants and to whom. The other node hears of nothing but what is in the database. */

const { house, world } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });

/** A key of `home` that acts for `hub` through a network with these caps. */
async function across(caps: Record<string, unknown> = {}) {
  const hub = await makeWorld(house);
  const own = await makeKey(house, world.groupId, { rate_limit_per_minute: 100_000 });
  const network = await house.operator('POST', '/networks', {
    name: 'Shared',
    practice_group_ids: [world.groupId, hub.groupId],
    ...caps,
  });
  const call = (path: string, group = hub.groupId, method = 'GET', body?: unknown) =>
    house.send(method, path, { key: own.key, group, body });
  const patch = (body: unknown) => house.operator('PATCH', `/networks/${network.id}`, body);
  return { ...own, hub, network, call, patch };
}

const GROUPS = '/v1/practice-groups';
const TYPES = '/v1/care-nav/submission-types';

describe('a network', () => {
  it('grants everything, to everybody in it, unless it says otherwise', async () => {
    const { network, call } = await across();
    expect(network).toMatchObject({ scopes: null, partner_ids: null });
    for (const path of [GROUPS, TYPES, '/v1/webhooks', '/v1/events'])
      expect((await call(path)).status, path).toBe(200);
  });

  it('403 forbidden: for what it does not grant, and all of that for the own group', async () => {
    const { network, call } = await across({ scopes: ['submission-types:read', 'submission-types:read'] });
    expect(network.scopes).toEqual(['submission-types:read']);
    expect((await call(TYPES)).status).toBe(200);
    const refused = await call(GROUPS);
    expectProblem(refused, 403, 'forbidden', {
      message: refused.body.message,
    });
    expect(refused.body.message).toContain('does not grant practice-groups:read.');
    expect((await call(GROUPS, world.groupId)).status).toBe(200);
    expect((await call('/v1/requests/none')).status).toBe(404);
  });

  it('403 forbidden, byte for byte as for a group that does not exist: for a partner that it is not for', async () => {
    const other = await makeKey(house, world.groupId);
    const { hub, call, network } = await across({ partner_ids: [other.partnerId] });
    expect(network.partner_ids).toEqual([other.partnerId]);
    const told = async (group: string, path: string) => {
      const { status, text, body } = await call(path, group);
      return { status, text: text.replaceAll(body.request_id, '…') };
    };
    for (const path of [GROUPS, TYPES, '/v1/requests/none'])
      expect(await told(hub.groupId, path)).toEqual(await told('no-such-group', path));
    expectProblem(await call(GROUPS), 403, 'forbidden');
    expect((await house.send('GET', GROUPS, { key: other.key, group: hub.groupId })).status).toBe(200);
  });

  it('two networks grant together what each of them does', async () => {
    const { hub, call } = await across({ scopes: ['submission-types:read'] });
    expectProblem(await call(GROUPS), 403, 'forbidden', {
      message: expect.any(String),
    });
    await house.operator('POST', '/networks', {
      name: 'Second',
      practice_group_ids: [world.groupId, hub.groupId],
      scopes: ['practice-groups:read'],
    });
    expect((await call(GROUPS)).status).toBe(200);
    expect((await call(TYPES)).status).toBe(200);
  });

  it('include=network lists the groups that it lets the key read', async () => {
    const { hub, call, patch } = await across();
    const listed = async () =>
      (await call(`${GROUPS}?include=network`, world.groupId)).body.data.some(
        ({ id }: { id: string }) => id === hub.groupId,
      );
    expect(await listed()).toBe(true);
    await patch({ scopes: ['events:read'] });
    expect(await listed()).toBe(false);
    await patch({ scopes: null, partner_ids: [world.partnerId] });
    expect(await listed()).toBe(false);
    await patch({ partner_ids: null });
    expect(await listed()).toBe(true);
  });

  it('a webhook takes the two scopes from the key and from the network', async () => {
    const { call, patch } = await across({ scopes: ['webhooks:write'] });
    const create = () => call('/v1/webhooks', undefined, 'POST', { url: 'https://partner.example/hook' });
    expectProblem(await create(), 403, 'forbidden', {
      message: expect.any(String),
    });
    await patch({ scopes: ['webhooks:write', 'events:read'] });
    expect((await create()).status).toBe(201);
    const writer = await makeKey(house, world.groupId, { scopes: ['webhooks:write'] });
    expectProblem(
      await house.send('POST', '/v1/webhooks', {
        key: writer.key,
        group: world.groupId,
        body: { url: 'https://partner.example/hook' },
      }),
      403,
      'insufficient_permissions',
      { required_scopes: ['webhooks:write', 'events:read'] },
    );
  });

  it('whatever says where events go, or sends them again, takes both; a webhook is deleted with one', async () => {
    const { partnerId } = world;
    const keyWith = async (scopes: string[]): Promise<string> =>
      (
        await house.operator('POST', '/keys', {
          partner_id: partnerId,
          practice_group_id: world.groupId,
          scopes,
        })
      ).key;
    const whole = await keyWith(['webhooks:write', 'events:read']);
    const writer = await keyWith(['webhooks:write']);
    const send = (key: string, method: string, path: string, body?: unknown) =>
      house.send(method, `/v1/webhooks${path}`, { key, group: world.groupId, body });
    const { id } = (await send(whole, 'POST', '', { url: 'https://partner.example/hook' })).body;
    for (const [method, path, body] of [
      ['PATCH', '', { url: 'https://somebody-else.example/hook' }],
      ['POST', '/rotate-secret', undefined],
      ['POST', '/test', { event: 'appointment.confirmed' }],
      ['POST', '/replay', { since: new Date(house.clock.now()).toISOString() }],
    ] as const) {
      expectProblem(await send(writer, method, `/${id}${path}`, body), 403, 'insufficient_permissions', {
        required_scopes: ['webhooks:write', 'events:read'],
      });
      expect((await send(whole, method, `/${id}${path}`, body)).status).toBeLessThan(300);
    }
    expect((await send(writer, 'DELETE', `/${id}`)).status).toBe(204);
  });
});

describe('PATCH /operator/v1/networks/{id}', () => {
  it('200: changes what is named, leaves the rest, and is audited', async () => {
    const { network, patch } = await across({ scopes: ['events:read'] });
    house.clock.advance(1_000);
    const changed = await patch({ name: 'Renamed' });
    expect(changed).toEqual({ ...network, name: 'Renamed', updated_at: expect.any(String) });
    expect(changed.updated_at).not.toBe(network.updated_at);
    expect(await patch({ name: 'Renamed' })).toEqual(changed);
    expect(await patch({})).toEqual(changed);
    const lifted = await patch({ scopes: null });
    expect(lifted).toMatchObject({ name: 'Renamed', scopes: null, partner_ids: null });
    expect(await house.operator('GET', `/networks/${network.id}`)).toEqual(lifted);
    const { data } = await house.operator('GET', `/audit?subject_id=${network.id}`);
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'network.update',
      'network.update',
      'network.create',
    ]);
    expect(data[0]).toMatchObject({ before: { scopes: ['events:read'] }, after: { scopes: null } });
  });

  it('answers a cap when the second is over for which another node may remember, also when it is said again', async () => {
    const { call, patch } = await across();
    expect((await call(GROUPS)).status).toBe(200);
    for (let n = 0; n < 2; n++) {
      const before = house.clock.now();
      await patch({ scopes: ['events:read'] });
      expect(house.clock.now() - before).toBeGreaterThanOrEqual(1_000);
      expectProblem(await call(GROUPS), 403, 'forbidden', {
        message: expect.any(String),
      });
    }
  });

  it('what it grants works with the next call', async () => {
    const { call, patch } = await across({ scopes: ['events:read'], partner_ids: [world.partnerId] });
    expectProblem(await call(GROUPS), 403, 'forbidden');
    await patch({ partner_ids: null });
    expect((await call('/v1/events')).status).toBe(200);
    await patch({ scopes: null });
    expect((await call(GROUPS)).status).toBe(200);
  });

  it('422: a partner that does not exist; 404: a network that does not; 400: what cannot be set', async () => {
    const { network } = await across();
    const patch = (id: string, body: unknown) =>
      house.send('PATCH', `/operator/v1/networks/${id}`, { token: OPERATOR_TOKEN, body });
    expectProblem(await patch(network.id, { partner_ids: ['nobody'] }), 422, 'business_rule_violation', {
      rule: 'partners_unknown',
      path: ['partner_ids'],
      message: 'There is no partner nobody.',
    });
    expectProblem(await patch('none', { name: 'X' }), 404, 'not_found');
    expectInvalid(await patch(network.id, { practice_group_ids: [], scopes: [], partner_ids: [] }), [
      { code: 'too_small', expected: 'array', path: ['scopes'] },
      { code: 'too_small', expected: 'array', path: ['partner_ids'] },
      { code: 'read_only', expected: 'never', path: ['practice_group_ids'] },
    ]);
    const made = await house.send('POST', '/operator/v1/networks', {
      token: OPERATOR_TOKEN,
      body: { name: 'X', practice_group_ids: [], partner_ids: ['nobody'] },
    });
    expect(made.body.rule).toBe('partners_unknown');
  });
});
