import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type ApiProblem,
  Porter,
  PorterApiError,
  PorterConnectionError,
  PorterTimeoutError,
} from '../../packages/sdk/src/index.ts';
import { answer, clientOf, cut, hang, problem, startScript } from '../support/sdk.ts';

const webhook = (id: string) => ({ id, url: 'https://partner.example/hook' });
const caught = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
};
const caughtNow = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
};

describe('a call', () => {
  it('carries the key, the practice group, the query and the body', async () => {
    const server = await startScript(answer(200, { id: 'a b' }, { etag: '"7"', 'x-request-id': 'mine' }));
    const porter = clientOf(`${server.url}/`);
    await porter.submissionTypes.update('a/b', { daily_limit: null }, { ifMatch: '"6"', requestId: 'mine' });
    await porter.actingFor('hillview-hub').practiceGroups.list({ include: 'network' });
    await porter.events
      .list({ cursor: undefined, event_types: ['prescription.issued', 'appointment.confirmed'] })
      .catch(() => {});
    const [update, list, events] = server.requests;
    expect(update).toMatchObject({
      method: 'PATCH',
      url: '/v1/care-nav/submission-types/a%2Fb',
      body: '{"daily_limit":null}',
      headers: {
        'x-api-key': 'ptr_test_1',
        'x-practice-group-id': 'riverside-surgery',
        'content-type': 'application/json',
        'if-match': '"6"',
        'x-request-id': 'mine',
      },
    });
    expect(list).toMatchObject({
      method: 'GET',
      url: '/v1/practice-groups?include=network',
      headers: { 'x-api-key': 'ptr_test_1', 'x-practice-group-id': 'hillview-hub' },
    });
    expect(list?.headers).not.toHaveProperty('content-type');
    expect(decodeURIComponent(events?.url ?? '')).toBe(
      '/v1/events?event_types=prescription.issued,appointment.confirmed',
    );
  });

  it('gives the data, and on request what stood beside it', async () => {
    const server = await startScript(answer(200, webhook('wh_1'), { etag: '"7"', 'x-request-id': 'req_9' }));
    const call = clientOf(server.url).webhooks.get('wh_1');
    expect(await call).toEqual(webhook('wh_1'));
    expect(await call.withResponse()).toMatchObject({ status: 200, etag: '"7"', requestId: 'req_9' });
    expect(await call.finally(() => {})).toEqual(webhook('wh_1'));
    expect(server.requests).toHaveLength(1);
  });

  it('that answers 204 gives nothing', async () => {
    const server = await startScript((response) => response.writeHead(204).end());
    expect(await clientOf(server.url).webhooks.delete('wh_1')).toBeUndefined();
  });

  it('follows no redirect, which would carry the key away', async () => {
    const elsewhere = await startScript(answer(200, {}));
    const server = await startScript(answer(307, {}, { location: elsewhere.url }));
    expect(await caught(clientOf(server.url).webhooks.get('wh_1'))).toMatchObject({ status: 307 });
    expect(elsewhere.requests).toEqual([]);
  });

  it('uses the fetch that it is given', async () => {
    const fetch = async () => Response.json(webhook('wh_2'));
    expect(await clientOf('https://porter.test', { fetch }).webhooks.get('wh_2')).toEqual(webhook('wh_2'));
  });

  it.each(['apiKey', 'practiceGroupId', 'baseUrl'])('is not possible without %s', (name) => {
    const options = { apiKey: 'a', practiceGroupId: 'b', baseUrl: 'https://porter.test', [name]: '' };
    expect(() => new Porter(options)).toThrow(`new Porter({ ${name} }): it is missing or empty.`);
  });

  it.each(['apiKey', 'practiceGroupId'])('refuses what cannot be %s, and does not repeat it', (name) => {
    for (const value of ['secret\n', 'sec\u0000ret', 'se cret', 'sécret', 'secret\u007f']) {
      const error = caughtNow(() => clientOf('https://porter.test', { [name]: value }));
      expect(error).toBeInstanceOf(TypeError);
      expect(inspect(error)).toContain(`new Porter({ ${name} })`);
      expect(inspect(error)).not.toMatch(/s[eé].*cret/s);
    }
    const other = () => clientOf('https://porter.test').actingFor('hill\nview');
    expect(other).toThrow('new Porter({ practiceGroupId })');
  });

  it.each([
    'http://porter.test',
    'http://127.0.0.1.porter.test',
    'http://localhost.porter.test',
    'http://[::2]',
    'ftp://127.0.0.1',
    'porter.test',
    'https://ann@porter.test',
    'https://:hunter2@porter.test',
    'https://porter.test?a=hunter2',
    'https://porter.test/#hunter2',
  ])('does not take its key to %s', (baseUrl) => {
    const error = caughtNow(() => clientOf(baseUrl));
    expect(error).toBeInstanceOf(TypeError);
    expect(inspect(error)).toContain('new Porter({ baseUrl })');
    expect(inspect(error)).not.toContain('hunter2');
  });

  it.each([
    ['https://porter.test/v0//', 'https://porter.test/v0/v1/webhooks/wh_1'],
    ['https://porter.test?', 'https://porter.test/v1/webhooks/wh_1'],
    ['http://localhost:8080', 'http://localhost:8080/v1/webhooks/wh_1'],
    ['http://127.9.8.7', 'http://127.9.8.7/v1/webhooks/wh_1'],
    ['http://[::1]:8080/', 'http://[::1]:8080/v1/webhooks/wh_1'],
  ])('at %s goes to %s', async (baseUrl, expected) => {
    const urls: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      urls.push(url);
      return Response.json(webhook('wh_1'));
    };
    await clientOf(baseUrl, { fetch }).webhooks.get('wh_1');
    expect(urls).toEqual([expected]);
  });

  it.each(['', '.', '..'])('with the ID %j is not sent: it would be another call', async (id) => {
    const { webhooks } = clientOf('https://porter.test');
    expect(() => webhooks.delete(id)).toThrow(`"${id}" is no ID.`);
    expect(() => webhooks.getDelivery('wh_1', id)).toThrow(TypeError);
  });

  it.each(['null', '[]', '7', '"x"', ''])(
    'answered with %s instead of an object is refused',
    async (text) => {
      const fetch = async () => new Response(text);
      const error = await caught(clientOf('https://porter.test', { fetch }).webhooks.get('wh_1'));
      expect(error).toMatchObject({ name: 'PorterApiError', status: 200, problem: { error: 'unknown' } });
    },
  );

  it('shows the key to nobody who prints the client', async () => {
    expect(inspect(clientOf('https://porter.test'), { depth: 9, showHidden: true })).not.toContain(
      'ptr_test',
    );
  });
});

describe('pages', () => {
  const pages = [
    { data: [webhook('a'), webhook('b')], count: 2, next_cursor: 'c1' },
    { data: [], count: 0, next_cursor: 'c2' },
    { data: [webhook('c')], count: 1, next_cursor: null },
  ];

  it('are one when awaited', async () => {
    const server = await startScript(...pages.map((page) => answer(200, page)));
    expect(await clientOf(server.url).webhooks.list({ page_size: 2 })).toEqual(pages[0]);
    expect(server.requests.map(({ url }) => url)).toEqual(['/v1/webhooks?page_size=2']);
  });

  it('are every entry when iterated, read as they are needed', async () => {
    const server = await startScript(...pages.map((page) => answer(200, page)));
    const ids: string[] = [];
    const read: number[] = [];
    for await (const { id } of clientOf(server.url).webhooks.list({ page_size: 2 })) {
      ids.push(id);
      read.push(server.requests.length);
    }
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(read).toEqual([1, 1, 3]);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/webhooks?page_size=2',
      '/v1/webhooks?page_size=2&cursor=c1',
      '/v1/webhooks?page_size=2&cursor=c2',
    ]);
  });

  it('of the feed end when there is no more, though there is a cursor', async () => {
    const event = (id: string) => ({ id, created_at: '', data: { event: 'prescription.issued' } });
    const server = await startScript(
      answer(200, { data: [event('a')], count: 1, next_cursor: 'c1', has_more: true }),
      answer(200, { data: [event('b')], count: 1, next_cursor: 'c2', has_more: false }),
    );
    const cursors: string[] = [];
    for await (const page of clientOf(server.url).events.list().pages()) cursors.push(page.next_cursor);
    expect(cursors).toEqual(['c1', 'c2']);
  });

  it('of the feed keep events of a kind that is not known here', async () => {
    const data = { object: 'Letter', id: 'l_1', practice_group_id: 'g', event: 'letter.sent', weight: 7 };
    const page = {
      data: [{ id: 'evt_1', created_at: '', data }],
      count: 1,
      next_cursor: 'c',
      has_more: false,
    };
    const server = await startScript(answer(200, page));
    for await (const event of clientOf(server.url).events.list())
      expect(event.data).toEqual({ event: 'unknown', name: 'letter.sent', payload: data });
    expect.assertions(1);
  });
});

describe('a list', () => {
  const event = { id: 'evt_1', created_at: '', data: { event: 'prescription.issued' } };
  it.each([
    ['null', null],
    ['no entries', {}],
    ['entries that are no list', { data: {}, next_cursor: null }],
    ['an entry that is none', { data: [event, null], next_cursor: null, has_more: false }],
    ['an entry without an event', { data: [{ id: 'evt_1' }], next_cursor: null, has_more: false }],
    ['no cursor', { data: [event], has_more: true }],
  ])('answered with %s is refused once', async (_name, body) => {
    const server = await startScript(answer(200, body));
    const error = await caught(clientOf(server.url).events.list());
    expect(error).toMatchObject({ name: 'PorterApiError', status: 200, problem: { error: 'unknown', body } });
    expect(server.requests).toHaveLength(1);
  });

  it('of anything else has entries that are objects', async () => {
    const server = await startScript(answer(200, { data: [webhook('a'), 7], next_cursor: null }));
    expect(await caught(clientOf(server.url).webhooks.list())).toBeInstanceOf(PorterApiError);
  });
});

describe('a refusal', () => {
  const refused = async (status: number, body: unknown, headers = {}) => {
    const server = await startScript(answer(status, body, headers));
    const error = await caught(clientOf(server.url, { maxRetries: 0 }).webhooks.get('wh_1'));
    if (!(error instanceof PorterApiError)) throw error;
    return error;
  };

  it('tells its problem, told apart by its code', async () => {
    const body = problem('insufficient_permissions', 403, { required_scopes: ['webhooks:read'] });
    const error = await refused(403, body, { 'x-request-id': 'req_1' });
    expect(error).toMatchObject({
      name: 'PorterApiError',
      message: '403 insufficient_permissions: No.',
      status: 403,
      requestId: 'req_1',
      docUrl: 'https://porter.test/docs/errors/insufficient_permissions',
      problem: body,
    });
    const { problem: one } = error;
    if (one.error === 'insufficient_permissions') expectTypeOf(one.required_scopes).toEqualTypeOf<string[]>();
    if (one.error === 'business_rule_violation') expectTypeOf(one.rule).toEqualTypeOf<string>();
    if (one.error === 'rate_limit_exceeded') expectTypeOf(one.retry_after).toEqualTypeOf<number>();
    if (one.error === true)
      expectTypeOf(one.message[0]?.path).toEqualTypeOf<(string | number)[] | undefined>();
    // @ts-expect-error: not every problem has a rule.
    expect((one as ApiProblem).rule).toBeUndefined();
  });

  it('of a request that is not valid names every field', async () => {
    const entry = (path: string[]) => ({ code: 'x', expected: 'string', path, message: 'wrong' });
    const body = { error: true, statusCode: 400, message: [entry(['a', 'b']), entry([])] };
    const error = await refused(400, body, { 'x-request-id': 'req_2' });
    expect(error).toMatchObject({ requestId: 'req_2', docUrl: undefined, problem: body });
    expect(error.message).toBe('400 not valid: a.b: wrong; body: wrong');
  });

  it.each([
    ['an entry without a path', { error: true, message: [{ message: 'wrong' }] }],
    ['an entry that is none', { error: true, message: [null] }],
    ['an entry without words', { error: true, message: [{ path: [] }] }],
    ['a path of something else', { error: true, message: [{ path: [{ toString: 1 }], message: 'wrong' }] }],
    ['a code without words', { error: 'not_found', message: { toString: 1 } }],
    ['nothing', null],
  ])('with %s is kept as it came, and not repeated', async (_name, body) => {
    const server = await startScript(answer(400, body));
    const error = await caught(clientOf(server.url).webhooks.get('wh_1'));
    expect(error).toMatchObject({ name: 'PorterApiError', status: 400, problem: { error: 'unknown', body } });
    expect(server.requests).toHaveLength(1);
  });

  it('whose page is no address has none', async () => {
    expect((await refused(404, problem('not_found', 404, { doc_url: 7 }))).docUrl).toBeUndefined();
  });

  it('whose code is new, or that comes from something in between, is kept as it came', async () => {
    const body = problem('teapot', 418);
    expect((await refused(418, body)).problem).toEqual({ error: 'unknown', message: 'No.', body });
    const server = await startScript((response) => response.writeHead(502).end('<h1>Bad gateway</h1>'));
    const error = await caught(clientOf(server.url).webhooks.get('wh_1'));
    expect(error).toMatchObject({ status: 502, problem: { error: 'unknown', body: '<h1>Bad gateway</h1>' } });
    const portal = await startScript((response) => response.end('<h1>Sign in to the Wi-Fi</h1>'));
    expect(await caught(clientOf(portal.url).webhooks.get('wh_1'))).toMatchObject({
      status: 200,
      problem: { error: 'unknown' },
    });
  });
});

describe('without an answer', () => {
  it('a lost connection is an error of its own, with its cause', async () => {
    const server = await startScript(cut);
    const error = await caught(clientOf(server.url, { maxRetries: 0 }).webhooks.get('wh_1'));
    expect(error).toBeInstanceOf(PorterConnectionError);
    expect(error).not.toBeInstanceOf(PorterTimeoutError);
    expect(error).toMatchObject({ name: 'PorterConnectionError', cause: expect.any(TypeError) });
  });

  it.each([
    ['that never begins', hang],
    ['that never ends', (response: import('node:http').ServerResponse) => void response.write('{')],
  ])('an answer %s takes no longer than allowed', async (_name, step) => {
    const server = await startScript(step);
    const error = await caught(clientOf(server.url, { timeoutMs: 30, maxRetries: 0 }).webhooks.get('wh_1'));
    expect(error).toBeInstanceOf(PorterTimeoutError);
    expect(error).toMatchObject({ message: `No answer from ${server.url} within 30 ms.` });
  });

  it('a call ends at once when its signal is aborted, before, while and after it was sent', async () => {
    const controller = new AbortController();
    const server = await startScript(() => controller.abort(new Error('enough')));
    const porter = clientOf(server.url);
    const { signal } = controller;
    expect(await caught(porter.webhooks.get('wh_1', { signal }))).toBe(signal.reason);
    expect(await caught(porter.webhooks.get('wh_1', { signal }))).toBe(signal.reason);
    expect(server.requests).toHaveLength(1);
  });
});
