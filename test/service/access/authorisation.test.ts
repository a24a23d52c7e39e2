import { beforeAll, describe, expect, it } from 'vitest';
import { type Scope, scopeNames } from '../../../src/contract/access.ts';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { type Answer, makeKey, makeWorld, type Send, serviceForTests } from '../../support/service.ts';

/** Every endpoint of the contract is tried, so one that is added without its checks fails here. */

const { house, world } = await serviceForTests();
const { groupId: elsewhere } = await makeWorld(house);
const keys = new Map<string, string>();
beforeAll(async () => {
  for (const scope of scopeNames) {
    keys.set(`only ${scope}`, (await makeKey(house, world.groupId, { scopes: [scope] })).key);
    const others = scopeNames.filter((other) => other !== scope);
    keys.set(`all but ${scope}`, (await makeKey(house, world.groupId, { scopes: others })).key);
  }
  const both = ['webhooks:write', 'events:read'];
  keys.set(`only ${both}`, (await makeKey(house, world.groupId, { scopes: both })).key);
});

/** What tells a partner about itself needs no practice group. */
const ABOUT_ITSELF = ['/v1/me', '/v1/agreements', '/v1/usage'];
const FOR_ANY_KEY = [...ABOUT_ITSELF, '/v1/alerts'];

/** Read off the address and the method, not off the declaration that is being tested. Why a call was refused, any key may ask. */
function scopeFor({ path, method }: Endpoint): Scope | undefined {
  if (path.startsWith('/v1/requests/') || FOR_ANY_KEY.includes(path)) return undefined;
  // Mostly of webhooks people are told.
  if (path.startsWith('/v1/contacts')) return method === 'GET' ? 'webhooks:read' : 'webhooks:write';
  // What it causes goes out through webhooks.
  if (path === '/v1/test-events') return 'webhooks:write';
  const noun = /^\/v1\/(?:care-nav\/)?([a-z-]+)/.exec(path)?.[1];
  const scope = scopeNames.find((name) => name === `${noun}:${method === 'GET' ? 'read' : 'write'}`);
  if (!scope) throw new Error(`no scope goes with ${method} ${path}`);
  return scope;
}

/** Whoever registers a webhook, says where it is, or has events sent by it again reads events through it. */
function alsoFor({ path, method }: Endpoint): Scope | undefined {
  const isWebhook = path.startsWith('/v1/webhooks') && (method === 'POST' || method === 'PATCH');
  return isWebhook ? 'events:read' : undefined;
}

const endpoints: [string, Endpoint][] = Object.values(partnerEndpoints).map((endpoint) => [
  `${endpoint.method} ${endpoint.path}`,
  endpoint,
]);

const call = (
  { method, path, body }: Pick<Endpoint, 'path' | 'body'> & { method: string },
  options: Send,
): Promise<Answer> =>
  house.send(method, path.replaceAll(/\{\w+\}/g, 'type-1'), { ...(body && { body: {} }), ...options });

it('every partner endpoint is below /v1/ and names a scope, or that it needs none', () => {
  expect(endpoints.length).toBeGreaterThanOrEqual(4);
  for (const [, endpoint] of endpoints) {
    expect(endpoint.path).toMatch(/^\/v1\//);
    const scope = scopeFor(endpoint);
    const and = alsoFor(endpoint);
    const aboutItself = ABOUT_ITSELF.includes(endpoint.path) && { aboutItself: true };
    expect(endpoint.access).toEqual(
      scope ? { scope, ...(and && { and }) } : { anyKey: true, ...aboutItself },
    );
  }
});

const scoped = endpoints.flatMap(([name, endpoint]) => {
  const needed = [scopeFor(endpoint), alsoFor(endpoint)].filter((scope) => scope !== undefined);
  return needed.map((scope) => [name, scope, needed, endpoint] as const);
});

it.each(scoped)(
  '%s: 403 insufficient_permissions with every scope but %s',
  async (_name, scope, needed, endpoint) => {
    const key = keys.get(`all but ${scope}`);
    expectProblem(await call(endpoint, { key, group: world.groupId }), 403, 'insufficient_permissions', {
      required_scopes: needed,
    });
  },
);

describe.each(endpoints)('%s', (_name, endpoint) => {
  const scope = scopeFor(endpoint);

  it('401 without a key, and with one that was never issued', async () => {
    expectProblem(await call(endpoint, { group: world.groupId }), 401, 'invalid_credentials');
    expectProblem(await call(endpoint, { group: world.groupId, key: 'no' }), 401, 'invalid_credentials');
  });

  if (ABOUT_ITSELF.includes(endpoint.path)) {
    it('200 without the header of the practice group, and whatever it says', async () => {
      for (const group of [undefined, world.groupId, elsewhere, 'no-such-group'])
        expect((await call(endpoint, { key: world.key, group })).status).toBe(200);
    });
    return;
  }

  it('400 without the header of the practice group', async () => {
    const answer = await call(endpoint, { key: world.key });
    const entries = answer.body.message.filter(
      ({ path }: { path: string[] }) => path[0] === 'x-practice-group-id',
    );
    expectInvalid({ ...answer, body: { ...answer.body, message: entries } }, [
      { code: 'invalid_type', expected: 'string', path: ['x-practice-group-id'] },
    ]);
  });

  it('403 forbidden for a practice group outside every shared network', async () => {
    expectProblem(await call(endpoint, { key: world.key, group: elsewhere }), 403, 'forbidden');
  });

  it(`no refusal at the door with ${scope ?? 'any scope'} alone`, async () => {
    const needed = [scope ?? 'events:read', alsoFor(endpoint)].filter((one) => one !== undefined);
    const key = keys.get(`only ${needed}`);
    // A stream would go on for ever.
    const method = endpoint.response.stream ? 'HEAD' : endpoint.method;
    const answer = await call({ ...endpoint, method }, { key, group: world.groupId });
    expect([401, 403, 405, 429, 500]).not.toContain(answer.status);
  });
});
