import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../support/answers.ts';
import { makeKey, type Send, serviceForTests } from '../../support/service.ts';
import { head, openWire, type WireAnswer } from '../../support/wire.ts';

const TYPES = '/v1/care-nav/submission-types';
const { house, world } = await serviceForTests();

describe('x-request-id', () => {
  it('is on every answer, and in the body of every refusal but the specified 400', async () => {
    const { key: limited } = await makeKey(house, world.groupId, { rate_limit_per_minute: 1 });
    await house.send('GET', '/v1/practice-groups', { key: limited, group: world.groupId });
    const { key: unscoped } = await makeKey(house, world.groupId, { scopes: ['events:read'] });
    const cases: [number, string, string, Send][] = [
      [200, 'GET', '/v1/practice-groups', {}],
      [200, 'HEAD', '/v1/practice-groups', {}],
      [200, 'PATCH', `${TYPES}/type-1`, { body: {} }],
      [400, 'PATCH', `${TYPES}/type-1`, { body: { title: 1 } }],
      [400, 'GET', '/v1/%ff', {}],
      [401, 'GET', '/v1/practice-groups', { key: undefined }],
      [403, 'GET', '/v1/practice-groups', { key: unscoped }],
      [403, 'GET', '/v1/practice-groups', { group: 'elsewhere' }],
      [403, 'GET', '/v1/practice-groups', { headers: { 'x-forwarded-for': '1.2.3.4' } }],
      [404, 'GET', '/v1/nothing', {}],
      [404, 'GET', '/nothing', {}],
      [302, 'GET', '/', {}],
      [405, 'PUT', '/v1/practice-groups', {}],
      [412, 'PATCH', `${TYPES}/type-1`, { body: {}, headers: { 'if-match': '"0"' } }],
      [413, 'PATCH', `${TYPES}/type-1`, { raw: 'x'.repeat(70_000) }],
      [415, 'PATCH', `${TYPES}/type-1`, { raw: 'x', headers: { 'content-type': 'a/b' } }],
      [422, 'PATCH', `${TYPES}/type-1`, { body: { form_id: 'none' } }],
      [429, 'GET', '/v1/practice-groups', { key: limited }],
      [200, 'GET', '/docs/errors', {}],
      [404, 'GET', '/docs/errors/nothing', {}],
      [200, 'GET', '/healthz', {}],
      [200, 'GET', '/metrics', {}],
    ];
    const seen = new Set<unknown>();
    for (const [status, method, path, options] of cases) {
      const answer = await house.send(method, path, { key: world.key, group: world.groupId, ...options });
      expect(answer.status, `${method} ${path}`).toBe(status);
      const id = answer.headers['x-request-id'];
      expect(id, `${method} ${path}`).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
      expect(seen.has(id)).toBe(false);
      seen.add(id);
      if (status > 400 && method !== 'HEAD') expect(answer.body.request_id).toBe(id);
    }
  });

  it.each(['a', 'f47ac10b-58cc-4372-a567-0e02b2c3d479', 'A.b_c:d-9', 'x'.repeat(128)])(
    'keeps a well-formed one: %s',
    async (id) => {
      const headers = { 'x-request-id': id };
      const refused = await house.send('GET', '/v1/practice-groups', { headers });
      expect(refused.headers['x-request-id']).toBe(id);
      expect(refused.body.request_id).toBe(id);
      const good = await house.send('GET', '/v1/practice-groups', {
        key: world.key,
        group: world.groupId,
        headers,
      });
      expect(good.headers['x-request-id']).toBe(id);
    },
  );

  it.each(['', 'two words', 'a,b', 'x'.repeat(129), '<script>', 'a"b', 'é', 'a/b', '{}', 'a\tb'])(
    'replaces a malformed one: %j',
    async (id) => {
      const answer = await house.send('GET', '/v1/practice-groups', {
        headers: { 'x-request-id': Buffer.from(id).toString('latin1') },
      });
      expect(answer.status).toBe(401);
      expect(answer.headers['x-request-id']).toMatch(/^req_[A-Za-z0-9_-]+$/);
      expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
    },
  );

  it('is in the log line of the call', async () => {
    await house.send('GET', '/v1/practice-groups', { headers: { 'x-request-id': 'find-me' } });
    const line = house.logLines().find(({ request_id }) => request_id === 'find-me');
    expect(line).toMatchObject({
      status: 401,
      error: 'invalid_credentials',
      operation: 'listPracticeGroups',
    });
  });

  it('is in the log line of a call whose address cannot be read', async () => {
    await house.send('GET', '/v1/%ff', { headers: { 'x-request-id': 'unreadable' } });
    const line = house.logLines().find(({ request_id }) => request_id === 'unreadable');
    expect(line).toMatchObject({ status: 401 });
  });
});

/** What is no HTTP, sent as it is. */
async function raw(bytes: string): Promise<WireAnswer> {
  const wire = await openWire(house.url);
  wire.write(bytes);
  const answer = await wire.answer();
  wire.close();
  return answer;
}

describe('requests that no HTTP client would send', () => {
  it.each([
    ['a line that is no request', 'HELLO\r\n\r\n'],
    ['a broken header', 'GET / HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nhost: x\r\nx-api-key : y\r\n\r\n'],
    ['a control character in a header', 'GET / HTTP/1.1\r\nhost: x\r\nx-api-key: a\x00b\r\n\r\n'],
    ['an unknown version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'a length and chunks at once',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a length that is no number', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: abc\r\n\r\n'],
    ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
    ['no Host', 'GET /v1/practice-groups HTTP/1.1\r\n\r\n'],
  ])('400 with a request ID and the specified body: %s', async (_name, bytes) => {
    const answer = await raw(bytes);
    expect(answer.status).toBe(400);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expectInvalid({ ...answer, body: JSON.parse(answer.text) }, [{ code: 'invalid_http', path: [] }]);
  });

  it('431 with a request ID: headers of more than 16 KiB', async () => {
    const answer = await raw(head('GET', '/v1/practice-groups', { 'x-padding': 'x'.repeat(20_000) }));
    expect(answer.status).toBe(431);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(JSON.parse(answer.text)).toMatchObject({ error: true, statusCode: 431 });
    const long = await raw(head('GET', `/v1/${'x'.repeat(20_000)}`));
    expect(long.status).toBe(431);
    expect(long.headers['x-request-id']).toMatch(/^req_/);
  });

  it('an Expect that nobody knows is ignored, and does not pass the door', async () => {
    const answer = await raw(head('GET', '/v1/practice-groups', { expect: 'the-unexpected' }));
    expect(answer.status).toBe(401);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  });

  it('100 and then the answer to Expect: 100-continue', async () => {
    const wire = await openWire(house.url);
    wire.write(
      head('PATCH', `${TYPES}/type-1`, {
        'x-api-key': world.key,
        'x-practice-group-id': world.groupId,
        'content-type': 'application/json',
        'content-length': '2',
        expect: '100-continue',
      }),
    );
    expect((await wire.answer()).status).toBe(100);
    wire.write('{}');
    expect((await wire.answer()).status).toBe(200);
    wire.close();
  });

  it('a broken request does not take the service down', async () => {
    const wire = await openWire(house.url);
    wire.write(
      'PATCH /v1/care-nav/submission-types/type-1 HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"a',
    );
    wire.close();
    await wire.closed;
    expect((await house.send('GET', '/healthz')).status).toBe(200);
  });
});

it('a key that was sent as the request ID by mistake is not kept', async () => {
  const { headers } = await house.send('GET', '/v1/practice-groups', {
    key: world.key,
    group: world.groupId,
    headers: { 'x-request-id': world.key },
  });
  expect(headers['x-request-id']).toMatch(/^req_/);
});
