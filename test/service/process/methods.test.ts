import { describe, expect, it } from 'vitest';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { OPERATOR_TOKEN, type Send, serviceForTests } from '../../support/service.ts';
import { head, openWire } from '../../support/wire.ts';

const GROUPS = '/v1/practice-groups';
const TYPES = '/v1/care-nav/submission-types';
const { house, world } = await serviceForTests();

const send = (method: string, path: string, options: Send = {}) => {
  house.clock.advance(1_000);
  return house.send(method, path, { key: world.key, group: world.groupId, ...options });
};

describe('405 method_not_allowed', () => {
  const addresses: [string, string[]][] = [
    [GROUPS, ['GET', 'HEAD']],
    [TYPES, ['GET', 'HEAD']],
    [`${TYPES}/type-1`, ['GET', 'HEAD', 'PATCH']],
  ];

  it.each(addresses)('%s names the methods that it takes in Allow', async (path, allowed) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY']) {
      if (allowed.includes(method)) continue;
      const answer = await send(method, path);
      expectProblem(answer, 405, 'method_not_allowed');
      expect(String(answer.headers.allow).split(', ').sort(), method).toEqual(allowed);
    }
  });

  it('also with a query, a body, and an ID that does not exist', async () => {
    expectProblem(await send('POST', `${GROUPS}?a=b`, { body: {} }), 405, 'method_not_allowed');
    expectProblem(await send('DELETE', `${TYPES}/missing`), 405, 'method_not_allowed');
    expectProblem(await send('PUT', `${TYPES}/a%2Fb`, { raw: '{' }), 405, 'method_not_allowed');
  });

  it('Allow agrees with the contract for every address of it', async () => {
    const endpoints = Object.values(partnerEndpoints);
    for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
      const methods = endpoints
        .filter((endpoint) => endpoint.path === path)
        .map(({ method }) => method as string);
      const answer = await send('PROPFIND', path.replaceAll(/\{\w+\}/g, 'x'));
      expect(String(answer.headers.allow).split(', ').sort()).toEqual(
        [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort(),
      );
    }
  });

  it('an address of its own is not also an ID: /keys/bulk takes what it takes, and not what a key does', async () => {
    for (const path of ['/keys/bulk', '/networks/preview']) {
      const answer = await house.send('PUT', `/operator/v1${path}`, { token: OPERATOR_TOKEN });
      expectProblem(answer, 405, 'method_not_allowed');
      expect(answer.headers.allow).toBe('POST');
    }
  });

  it('no CONNECT: the connection is closed and nothing is tunnelled', async () => {
    const wire = await openWire(house.url);
    wire.write(head('CONNECT', 'example.org:443'));
    await wire.closed;
  });
});

describe('HEAD', () => {
  it.each([GROUPS, TYPES, `${TYPES}/type-1`])('200: %s has the headers of GET and no body', async (path) => {
    const got = await send('GET', path);
    const headed = await send('HEAD', path);
    expect(headed.status).toBe(200);
    expect(headed.text).toBe('');
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control'])
      expect(headed.headers[name], name).toBe(got.headers[name]);
  });

  it('401, 403, 400 and 404 as for GET', async () => {
    for (const [options, path, status] of [
      [{ key: undefined }, GROUPS, 401],
      [{ group: 'elsewhere' }, GROUPS, 403],
      [{ group: undefined }, GROUPS, 400],
      [{}, `${TYPES}/missing`, 404],
      [{}, '/v1/nothing', 404],
    ] as [Send, string, number][]) {
      const answer = await send('HEAD', path, options);
      expect(answer.status).toBe(status);
      expect(answer.text).toBe('');
    }
  });
});

describe('addresses that do not exist', () => {
  const unknown = [
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/practice-groups/',
    '/v1//practice-groups',
    '/V1/practice-groups',
    '/v1/Practice-Groups',
    '/v1/practice-groups/group-1',
    '/v1/care-nav',
    '/v1/care-nav/submission-types/type-1/more',
    '/v2/practice-groups',
  ];

  it.each(unknown)('404 with a key: %s', async (path) => {
    expectProblem(await send('GET', path), 404, 'not_found');
    expectProblem(await send('PATCH', path, { body: {} }), 404, 'not_found');
  });

  it('401 without a key below /v1, so that nobody can map it', async () => {
    for (const path of unknown.filter((path) => path.startsWith('/v')))
      expectProblem(await send('GET', path, { key: undefined }), 401, 'invalid_credentials');
  });

  it('404 without a key elsewhere', async () => {
    for (const path of ['/nothing', '/favicon.ico', '/docs/nothing', '/v', '/v1x', '/..%2fv1'])
      expectProblem(await send('GET', path, { key: undefined }), 404, 'not_found');
  });

  it('400 with a key, 401 without: an address with escapes that stand for no text', async () => {
    for (const path of [`${TYPES}/%ff`, `${TYPES}/%`, '/v1/%zz', `${TYPES}/%C3`]) {
      expectInvalid(await send('PATCH', path, { body: {} }), [{ code: 'invalid_http', path: [] }]);
      expectProblem(await send('PATCH', path, { key: undefined, body: {} }), 401, 'invalid_credentials');
    }
  });
});

describe('the whole address in the request line', () => {
  const ask = async (url: string, headers: Record<string, string>) => {
    const wire = await openWire(house.url);
    wire.write(head('GET', url, headers));
    const answer = await wire.answer();
    wire.close();
    return answer.status;
  };

  it('200, 302, 404 and 401 as for the path alone', async () => {
    const credentials = { 'x-api-key': world.key, 'x-practice-group-id': world.groupId };
    expect(await ask(`http://porter.test${GROUPS}`, credentials)).toBe(200);
    expect(await ask(`http://porter.test${GROUPS}?include=network`, credentials)).toBe(200);
    expect(await ask('http://porter.test/v1/nothing', credentials)).toBe(404);
    expect(await ask('http://porter.test/v1/nothing', {})).toBe(401);
    expect(await ask('http://porter.test/v1/%ff', {})).toBe(401);
    expect(await ask('http://porter.test', {})).toBe(302);
  });
});

describe('what HTTP allows and few clients do', () => {
  const credentials = () => ({ 'x-api-key': world.key, 'x-practice-group-id': world.groupId });

  it('answers requests that were sent without waiting, in their order', async () => {
    const wire = await openWire(house.url);
    const body = '{"title":"Pipelined"}';
    wire.write(
      head('PATCH', `${TYPES}/type-1`, {
        ...credentials(),
        'content-type': 'application/json',
        'content-length': String(body.length),
      }) +
        body +
        head('GET', '/v1/nothing', credentials()) +
        head('GET', '/v1/practice-groups') +
        head('GET', `${TYPES}/type-1`, credentials()),
    );
    const answers = [await wire.answer(), await wire.answer(), await wire.answer(), await wire.answer()];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 200]);
    expect(JSON.parse(answers[0]?.text ?? '').title).toBe('Pipelined');
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(4);
    wire.close();
  });

  it('goes on with HTTP when somebody asks to upgrade', async () => {
    const wire = await openWire(house.url);
    wire.write(head('GET', GROUPS, { connection: 'Upgrade', upgrade: 'websocket' }));
    expect((await wire.answer()).status).toBe(401);
    wire.close();
  });

  it('404 to OPTIONS *, with a request ID', async () => {
    const wire = await openWire(house.url);
    wire.write(head('OPTIONS', '*'));
    const answer = await wire.answer();
    expect(answer.status).toBe(404);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    wire.close();
  });

  it('carries out an update whose caller hangs up before the answer', async () => {
    const { app } = house.service;
    const { submit } = app.updates;
    const outcome = new Promise((resolve) => {
      app.updates.submit = (update) => {
        const result = submit.call(app.updates, update);
        wire.then((open) => open.close());
        resolve(result);
        return result;
      };
    });
    const wire = openWire(house.url);
    const body = '{"title":"Hung up"}';
    (await wire).write(
      head('PATCH', `${TYPES}/type-1`, {
        ...credentials(),
        'content-type': 'application/json',
        'content-length': String(body.length),
      }) + body,
    );
    await outcome;
    app.updates.submit = submit;
    expect((await send('GET', `${TYPES}/type-1`)).body.title).toBe('Hung up');
  });
});
