import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { signIn } from '../../support/console-session.ts';
import { makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { head, openWire } from '../../support/wire.ts';

/** Attacks on the surface of HTTP: by a page of another origin, by a proxy's user, by a cache. */

const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
const world = await makeWorld(house);
const EVIL = { origin: 'https://evil.example' };

const reads = Object.values<Endpoint>({ ...partnerEndpoints, ...operatorEndpoints }).filter(
  ({ method, response }) => method === 'GET' && !response.stream && !response.lines,
);
const pathOf = ({ path }: Endpoint) => path.replaceAll(/\{\w+\}/g, 'none');

describe('a page of another origin', () => {
  it('gets no permission to read an answer, whatever it asks', async () => {
    const preflight = {
      ...EVIL,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-porter-console, content-type',
    };
    const { cookie } = await signIn(house);
    for (const path of [
      '/v1/practice-groups',
      '/operator/v1/partners',
      '/console/sign-in',
      '/docs',
      '/metrics',
    ])
      for (const [method, headers] of [
        ['OPTIONS', preflight],
        ['GET', EVIL],
        ['GET', { ...EVIL, cookie }],
      ] as const) {
        const answer = await house.send(method, path, { headers });
        const allowing = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
        expect([method, path, allowing]).toEqual([method, path, []]);
        if (method === 'OPTIONS') expect(answer.status).toBeGreaterThanOrEqual(400);
      }
  });

  it('changes nothing with what a form can send', async () => {
    const person = await signIn(house);
    const before = (await house.operator('GET', '/audit?page_size=1')).data[0].id;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      for (const headers of [EVIL, { origin: 'null' }, { origin: undefined }, { origin: house.url }]) {
        const form = { cookie: person.cookie, 'content-type': type, ...headers };
        const raw = '{"name":"Forged","contact_email":"a@b.example"}';
        const answer = await house.send('POST', '/operator/v1/partners', { raw, headers: form });
        expect(answer.status).toBe(401);
        const entered = await house.send('POST', '/console/sign-in', {
          raw: `{"token":"${OPERATOR_TOKEN}"}`,
          headers: form,
        });
        expect([401, 415]).toContain(entered.status);
        expect(entered.headers['set-cookie']).toBeUndefined();
      }
    expect((await house.operator('GET', '/audit?page_size=1')).data[0].id).toBe(before);
  });
});

it('keeps no answer to a known caller in any cache, refusals included', async () => {
  const { cookie } = await signIn(house);
  for (const endpoint of reads) {
    const path = pathOf(endpoint);
    const callers = path.startsWith('/operator')
      ? [{ token: OPERATOR_TOKEN }, { headers: { cookie, 'x-porter-console': '1' } }, {}]
      : [{ key: world.key, group: world.groupId }, {}];
    for (const caller of callers) {
      const { headers } = await house.send('GET', path, caller);
      expect([path, headers['cache-control']]).toEqual([path, 'no-store']);
    }
  }
  for (const path of ['/console/me', '/console/sign-in/options', '/healthz', '/metrics'])
    expect((await house.send('GET', path)).headers['cache-control']).toBe('no-store');
  const wire = await openWire(house.url);
  wire.write('nonsense\r\n\r\n');
  expect((await wire.answer()).headers['cache-control']).toBe('no-store');
  wire.close();
});

it('takes no other method from a header or a query than that of the request line', async () => {
  const { id } = await house.operator('POST', '/networks', { name: 'Kept', practice_group_ids: [] });
  const path = `/operator/v1/networks/${id}`;
  for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override'])
    for (const method of ['GET', 'POST']) {
      const headers = { [name]: 'DELETE' };
      await house.send(method, path, { token: OPERATOR_TOKEN, headers });
      await house.send(method, `${path}?_method=DELETE`, { token: OPERATOR_TOKEN, headers });
    }
  expect((await house.operator('GET', `/networks/${id}`)).name).toBe('Kept');
});

it('routes by headers that rewrite the address nowhere else', async () => {
  for (const name of ['x-original-url', 'x-rewrite-url', 'x-forwarded-prefix', 'x-forwarded-path']) {
    const headers = { [name]: '/operator/v1/partners' };
    const answer = await house.send('GET', '/nothing', { token: OPERATOR_TOKEN, headers });
    expect([name, answer.status]).toEqual([name, name.startsWith('x-forwarded') ? 403 : 404]);
  }
});

it('loses no header of a proxy behind many others: it counts, or the request is refused', async () => {
  const ask = async (before: number, line: string) => {
    const wire = await openWire(house.url);
    wire.write(`GET /metrics HTTP/1.1\r\nhost: localhost\r\n${'a:\r\n'.repeat(before)}${line}\r\n\r\n`);
    const { status } = await wire.answer();
    wire.close();
    return status;
  };
  expect(await ask(998, 'x-own: 1')).toBe(200);
  expect(await ask(998, 'via: 1.1 proxy')).toBe(404);
  // Depending on its version, Node drops or refuses these.
  for (const many of [999, 1_100, 3_000]) expect(await ask(many, 'via: 1.1 proxy')).toBe(431);
});

it('answers no address that is only nearly one of the API', async () => {
  for (const path of [
    '//operator/v1/partners',
    '/OPERATOR/v1/partners',
    '/operator%2fv1/partners',
    '/operator/v1/partners;x=1',
    '/operator/v1/./partners',
    '/v1/../operator/v1/partners',
    '/docs/../operator/v1/partners',
    '/operator\\v1\\partners',
    '/operator/v1/partners%00',
  ]) {
    const wire = await openWire(house.url);
    wire.write(head('GET', path, { authorization: `Bearer ${OPERATOR_TOKEN}` }));
    const { status, text } = await wire.answer();
    expect([path, status >= 400, text.includes(world.partnerId)]).toEqual([path, true, false]);
    wire.close();
  }
});
