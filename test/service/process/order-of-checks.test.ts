import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import {
  type Answer,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  type Send,
  serviceForTests,
  startHarness,
} from '../../support/service.ts';

/** transport → body size → 401 → 429 → 403 scope → 403 network → 400 → 404 → 412 → 422 */

const PATH = '/v1/care-nav/submission-types';
const TOO_LARGE = `{"title":"${'x'.repeat(64 * 1024)}"}`;
const STALE = { 'if-match': '"0"' };

const { house, world } = await serviceForTests();
const { groupId: elsewhere } = await makeWorld(house);

const patch = (options: Send, id = 'type-1'): Promise<Answer> =>
  house.send('PATCH', `${PATH}/${id}`, options);
const own = (options: Send, id?: string) => patch({ key: world.key, group: world.groupId, ...options }, id);
const readOnlyKey = async (options: Record<string, unknown> = {}) =>
  (await makeKey(house, world.groupId, { scopes: ['submission-types:read'], ...options })).key;

describe('a request that fails two checks hears of the earlier one', () => {
  it('transport before body size', async () => {
    const production = await startHarness({
      env: { PORTER_ENVIRONMENT: 'production', PORTER_TRUST_PROXY: '127.0.0.1' },
    });
    const headers = { 'x-forwarded-proto': 'http' };
    expectProblem(
      await production.send('PATCH', `${PATH}/type-1`, { raw: TOO_LARGE, headers }),
      403,
      'https_required',
    );
    expectProblem(
      await production.send('PATCH', `${PATH}/type-1`, {
        raw: TOO_LARGE,
        headers: { 'x-forwarded-proto': 'https' },
      }),
      413,
      'payload_too_large',
    );
  });

  it('body size before 401', async () => {
    expectProblem(await patch({ raw: TOO_LARGE }), 413, 'payload_too_large');
    expectProblem(await patch({ raw: TOO_LARGE, key: 'nonsense' }), 413, 'payload_too_large');
    expectProblem(await patch({ raw: '{}' }), 401, 'invalid_credentials');
  });

  it('401 before 429', async () => {
    const key = (
      await makeKey(house, world.groupId, {
        rate_limit_per_minute: 1,
        expires_at: new Date(house.clock.now() + 30_000).toISOString(),
      })
    ).key;
    const call = { key, group: world.groupId, body: {} };
    expect((await patch(call)).status).toBe(200);
    house.clock.advance(29_999);
    expectProblem(await patch(call), 429, 'rate_limit_exceeded', { retry_after: expect.any(Number) });
    // The window is still full when the key expires.
    house.clock.advance(1);
    expectProblem(await patch(call), 401, 'invalid_credentials');
  });

  it('429 before 403 scope', async () => {
    const key = await readOnlyKey({ rate_limit_per_minute: 1 });
    const call = { key, group: world.groupId, body: {} };
    expectProblem(await patch(call), 403, 'insufficient_permissions', {
      required_scopes: ['submission-types:write'],
    });
    expectProblem(await patch(call), 429, 'rate_limit_exceeded', { retry_after: 60 });
  });

  it('403 scope before 403 network', async () => {
    expectProblem(
      await patch({ key: await readOnlyKey(), group: elsewhere, body: {} }),
      403,
      'insufficient_permissions',
      { required_scopes: ['submission-types:write'] },
    );
  });

  it('403 scope before the 400 of a missing header', async () => {
    expectProblem(await patch({ key: await readOnlyKey(), body: {} }), 403, 'insufficient_permissions', {
      required_scopes: ['submission-types:write'],
    });
  });

  it('403 network before 400, whatever is wrong with the request', async () => {
    const foreign = (options: Send, id?: string) =>
      patch({ key: world.key, group: elsewhere, ...options }, id);
    for (const [options, id] of [
      [{ body: { title: 1 } }],
      [{ raw: '{' }],
      [{}],
      [{ raw: '{}', headers: { 'content-type': 'text/plain' } }],
      [{ body: {} }, 'x'.repeat(300)],
    ] as [Send, string?][])
      expectProblem(await foreign(options, id), 403, 'forbidden');
    const list = await house.send('GET', `${PATH}?page_size=0`, { key: world.key, group: elsewhere });
    expectProblem(list, 403, 'forbidden');
  });

  it('400 before 404', async () => {
    expectInvalid(await own({ body: { title: 1 } }, 'missing'), [{ path: ['title'] }]);
    expectInvalid(await own({ raw: '{' }, 'missing'), [{ path: [] }]);
    expectInvalid(await own({}, 'missing'), [{ path: [] }]);
  });

  it('what is no JSON is told with all else that is wrong', async () => {
    const key = { 'idempotency-key': 'a b' };
    const both = { key: world.key, group: world.groupId };
    expectInvalid(await own({ raw: '{' }, 'missing?x=1'), [{ path: ['x'] }, { path: [] }]);
    expectInvalid(await own({}, 'x'.repeat(256)), [{ path: ['id'] }, { path: [] }]);
    expectInvalid(await house.send('POST', '/v1/test-events', { ...both, raw: '{', headers: key }), [
      { path: ['idempotency-key'] },
      { path: [] },
    ]);
  });

  it('400 before 412 and 422', async () => {
    expectInvalid(await own({ body: { title: 1, form_id: 'unknown' }, headers: STALE }), [
      { path: ['title'] },
    ]);
  });

  it('404 before 412', async () => {
    expectProblem(await own({ body: { title: 'x' }, headers: STALE }, 'missing'), 404, 'not_found');
  });

  it('412 before 422', async () => {
    expectProblem(await own({ body: { form_id: 'unknown' }, headers: STALE }), 412, 'precondition_failed');
    expectProblem(await own({ body: { form_id: 'unknown' } }), 422, 'business_rule_violation', {
      rule: 'form_unknown',
      path: ['form_id'],
    });
  });
});

describe('webhooks', () => {
  const hook = (id: string, options: Send = {}) =>
    house.send('PATCH', `/v1/webhooks/${id}`, { key: world.key, group: world.groupId, ...options });

  it('400 before 404, 404 before 412, 412 before 422', async () => {
    const created = await house.send('POST', '/v1/webhooks', {
      key: world.key,
      group: world.groupId,
      body: { url: 'https://partner.example/hook' },
    });
    const { id } = created.body;
    const refused = { url: 'https://10.0.0.1/' };
    expectInvalid(await hook('wh_none', { body: { ...refused, status: 1 }, headers: STALE }), [
      { path: ['status'] },
    ]);
    expectProblem(await hook('wh_none', { body: refused, headers: STALE }), 404, 'not_found');
    expectProblem(await hook(id, { body: refused, headers: STALE }), 412, 'precondition_failed');
    expectProblem(await hook(id, { body: refused }), 422, 'business_rule_violation', {
      rule: 'webhook_target_refused',
      path: ['url'],
    });
  });

  it('400 before 404 before 422 in a replay, and 404 before 409 in a test', async () => {
    const post = (path: string, body: unknown) =>
      house.send('POST', `/v1/webhooks/${path}`, { key: world.key, group: world.groupId, body });
    expectInvalid(await post('wh_none/replay', { since: '2999-01-01T00:00:00Z' }), [{ path: ['since'] }]);
    expectProblem(await post('wh_none/replay', { event_ids: ['evt_none'] }), 404, 'not_found');
    expectProblem(await post('wh_none/test', { event: 'prescription.issued' }), 404, 'not_found');
  });

  it('400 before 404 for a cursor that is none, told with all else', async () => {
    const get = (path: string) => house.send('GET', path, { key: world.key, group: world.groupId });
    expectInvalid(await get('/v1/webhooks/wh_none/deliveries?cursor=zz'), [{ path: ['cursor'] }]);
    expectInvalid(await get('/v1/webhooks?cursor=zz&y=1'), [{ path: ['cursor'] }, { path: ['y'] }]);
  });
});

it('operators: body size before 401 before 403 role before 400', async () => {
  const { token } = await house.operator('POST', '/operators', { name: 'Viewer', role: 'viewer' });
  const make = (options: Send) => house.send('POST', '/operator/v1/networks', options);
  expectProblem(await make({ raw: TOO_LARGE }), 413, 'payload_too_large');
  expectProblem(await make({ raw: '{' }), 401, 'invalid_credentials');
  for (const options of [
    { raw: '{' },
    { body: { name: 1 } },
    { raw: '{}', headers: { 'content-type': 'a/b' } },
  ])
    expectProblem(await make({ token, ...options }), 403, 'insufficient_permissions', {
      required_roles: ['admin'],
    });
  expectInvalid(await make({ token: OPERATOR_TOKEN, raw: '{' }), [{ path: [] }]);
});

it('a request that fails every check hears of them one after the other, as each is mended', async () => {
  const limited = await readOnlyKey({ rate_limit_per_minute: 1 });
  const invalid = { title: 1, form_id: 'unknown' };
  const broken = { form_id: 'unknown' };
  const heard: (number | string)[] = [];
  const hear = async (options: Send, id = 'missing') => {
    const { status, body } = await patch({ headers: STALE, ...options }, id);
    heard.push(typeof body.error === 'string' ? body.error : status);
  };
  await hear({ raw: TOO_LARGE, group: elsewhere });
  await hear({ body: invalid, group: elsewhere });
  await hear({ body: invalid, group: elsewhere, key: limited });
  await hear({ body: invalid, group: elsewhere, key: limited });
  await hear({ body: invalid, group: elsewhere, key: world.key });
  await hear({ body: invalid, group: world.groupId, key: world.key });
  await hear({ body: broken, group: world.groupId, key: world.key });
  await hear({ body: broken, group: world.groupId, key: world.key }, 'type-1');
  await hear({ body: broken, group: world.groupId, key: world.key, headers: {} }, 'type-1');
  expect(heard).toEqual([
    'payload_too_large',
    'invalid_credentials',
    'insufficient_permissions',
    'rate_limit_exceeded',
    'forbidden',
    400,
    'not_found',
    'precondition_failed',
    'business_rule_violation',
  ]);
});

describe('a stranger learns nothing', () => {
  it('401 for every method, address and body without a key', async () => {
    for (const [method, path] of [
      ['GET', '/v1/practice-groups'],
      ['GET', '/v1/practice-groups?nonsense=1'],
      ['DELETE', '/v1/practice-groups'],
      ['GET', '/v1'],
      ['GET', '/v1/'],
      ['GET', '/v1/nothing'],
      ['PATCH', `${PATH}/type-1`],
      ['PATCH', `${PATH}/missing`],
      ['PATCH', `${PATH}/${'x'.repeat(5_000)}`],
      ['PATCH', `${PATH}/%ff`],
      ['GET', '/v1/%'],
      ['GET', '/v2/practice-groups'],
      ['OPTIONS', '/v1/practice-groups'],
    ] as const)
      expectProblem(await house.send(method, path), 401, 'invalid_credentials');
    for (const options of [
      { raw: '{' },
      { body: { title: 1 } },
      { raw: 'x', headers: { 'content-type': 'a/b' } },
    ])
      expectProblem(await patch(options), 401, 'invalid_credentials');
  });

  it('https_required, not 400, for an unreadable address over plain HTTP', async () => {
    const production = await startHarness({ env: { PORTER_ENVIRONMENT: 'production' } });
    expectProblem(await production.send('GET', '/v1/%ff'), 403, 'https_required');
  });
});
