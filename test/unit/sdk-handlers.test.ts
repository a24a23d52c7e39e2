import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express from 'express';
import Fastify from 'fastify';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { webhookHandler as expressHandler } from '../../packages/sdk/src/express.ts';
import { webhookPlugin } from '../../packages/sdk/src/fastify.ts';
import { webhookHandler as fetchHandler, type WebhookHandlerOptions } from '../../packages/sdk/src/fetch.ts';
import { type VerifiedWebhook, WebhookVerificationError } from '../../packages/sdk/src/index.ts';
import { receiver } from '../../packages/sdk/src/receive.ts';

const secret = 'whsec_cG9ydGVyLWV4YW1wbGUtc2VjcmV0LTMyLWJ5dGVzISE=';
// Spaces, so that JSON which was parsed and written again has other bytes.
const BODY =
  '{"object": "Appointment", "id": "äpt_1", "practice_group_id": "g", "event": "appointment.confirmed"}';
const at = new Date();

const signedHeaders = (body = BODY, type = 'application/json'): Record<string, string> => ({
  'content-type': type,
  'webhook-id': 'dlv_1_7',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(secret).sign('dlv_1_7', at, body),
  'webhook-sequence': '7',
});

type Post = (headers: Record<string, string>, body: string, path?: string) => Promise<Response>;
type Start = (options: WebhookHandlerOptions) => Promise<Post>;

async function postTo(server: Server): Promise<Post> {
  if (!server.listening) await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return (headers, body, path = '/hooks') =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
}

const onExpress =
  (...before: express.RequestHandler[]): Start =>
  (options) => {
    const app = express();
    for (const one of before) app.use(one);
    app.post('/hooks', expressHandler(options));
    app.use(express.json());
    app.post('/other', (request, response) => void response.json(request.body));
    const failed: express.ErrorRequestHandler = (error, _request, response, _next) =>
      void response.status(500).send(error.message);
    app.use(failed);
    return postTo(app.listen(0, '127.0.0.1'));
  };

const onFastify: Start = async (options) => {
  const app = Fastify();
  onTestFinished(() => app.close());
  await app.register(webhookPlugin, { path: '/hooks', ...options });
  app.post('/other', async (request) => request.body);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return postTo(app.server);
};

const onFetch: Start = async (options) => {
  const handler = fetchHandler(options);
  return (headers, body) =>
    handler(new Request('http://receiver.test/hooks', { method: 'POST', headers, body }));
};

const servers: [string, Start][] = [
  ['Express', onExpress()],
  ['Express with express.raw', onExpress(express.raw({ type: '*/*' }))],
  ['Express with express.text', onExpress(express.text({ type: '*/*' }))],
  ['Express with express.urlencoded', onExpress(express.urlencoded())],
  ['Fastify', onFastify],
  ['fetch', onFetch],
];

describe.each(servers)('a receiver on %s', (_name, start) => {
  const answers = async (post: Post, headers: Record<string, string>, body = BODY) => {
    const response = await post(headers, body);
    return [response.status, await response.text()] as const;
  };

  it('answers 204 when the event was handled', async () => {
    const heard: VerifiedWebhook[] = [];
    const post = await start({ secret, onEvent: (webhook) => heard.push(webhook) });
    expect(await answers(post, signedHeaders())).toEqual([204, '']);
    expect(await answers(post, signedHeaders(BODY, 'text/plain'))).toEqual([204, '']);
    expect(heard).toHaveLength(2);
    expect(heard[0]).toMatchObject({ webhookId: 'dlv_1_7', sequence: 7, data: JSON.parse(BODY) });
  });

  it('answers 401 to what is not genuine and 400 to what is no delivery, and says why', async () => {
    const heard: unknown[] = [];
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const post = await start({ secret, onEvent: (webhook) => heard.push(webhook), onError });
    expect(await answers(post, signedHeaders(), BODY.replace('äpt_1', 'äpt_2'))).toEqual([
      401,
      expect.stringMatching(/^no_matching_signature: /),
    ]);
    expect(await answers(post, { 'content-type': 'application/json' })).toEqual([
      400,
      'missing_header: The header webhook-id is missing.',
    ]);
    expect((await answers(post, signedHeaders(''), ''))[0]).toBe(400);
    expect(heard).toEqual([]);
    const late = await start({ secret, onEvent: () => {}, onError, now: () => Date.now() + 400_000 });
    expect(await answers(late, signedHeaders())).toEqual([
      401,
      expect.stringMatching(/^timestamp_too_old: /),
    ]);
    expect(errors.every((error) => error instanceof WebhookVerificationError)).toBe(true);
    expect(errors).toMatchObject([
      { reason: 'no_matching_signature' },
      { reason: 'missing_header', message: 'The header webhook-id is missing.' },
      { reason: expect.stringMatching(/./) },
      { reason: 'timestamp_too_old' },
    ]);
  });

  it('answers 500 when the event could not be handled, so that it comes again', async () => {
    const errors: unknown[] = [];
    const broken = Object.assign(new Error('database is down'), { status: 410, statusCode: 410 });
    const post = await start({
      secret,
      onEvent: async () => Promise.reject(broken),
      onError: (error) => errors.push(error),
    });
    expect(await answers(post, signedHeaders())).toEqual([500, 'The receiver failed. Its log says why.']);
    expect(errors).toEqual([broken]);
  });

  it('calls what it was given as the methods that they are', async () => {
    const practice = {
      secret,
      heard: [] as unknown[],
      onEvent({ webhookId }: VerifiedWebhook) {
        this.heard.push(webhookId);
        throw 'failed';
      },
      onError(error: unknown) {
        this.heard.push(error);
      },
    };
    expect((await answers(await start(practice), signedHeaders()))[0]).toBe(500);
    expect(practice.heard).toEqual(['dlv_1_7', 'failed']);
  });

  it('tells the console when nobody else wants to hear', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => said.mockRestore());
    const broken = new Error('database is down');
    const post = await start({ secret, onEvent: () => Promise.reject(broken) });
    await answers(post, signedHeaders());
    expect(said).toHaveBeenCalledWith(broken);
  });

  it('does not start with a secret that is none', async () => {
    const starting = async () =>
      start({ secret: process.env.PORTER_NO_SUCH_VARIABLE ?? '', onEvent: () => {} });
    await expect(starting()).rejects.toThrow('begins with whsec_');
  });

  it('takes no more than any event could have', async () => {
    const body = JSON.stringify({ ...JSON.parse(BODY), id: 'x'.repeat(1_100_000) });
    const heard: unknown[] = [];
    const post = await start({ secret, onEvent: (webhook) => heard.push(webhook) });
    const accepted = await post(signedHeaders(body), body).then(
      ({ ok }) => ok,
      () => false, // Closed before it was sent whole.
    );
    expect(accepted).toBe(false);
    expect(heard).toEqual([]);
  });
});

it.each([
  ['Express', onExpress()],
  ['Fastify', onFastify],
])('a receiver on %s leaves the bodies of other routes alone', async (_name, start) => {
  const post = await start({ secret, onEvent: () => {} });
  const response = await post({ 'content-type': 'application/json' }, '{"a": 1}', '/other');
  expect(await response.json()).toEqual({ a: 1 });
});

describe('a body that was read before it could be verified', () => {
  it('is told to the developer, with what to do: Express', async () => {
    const post = await onExpress(express.json())({ secret, onEvent: () => {} });
    const response = await post(signedHeaders(), BODY);
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringContaining('Put the route of webhookHandler above app.use(express.json())'),
    ]);
  });

  it('is told to the developer, with what to do: fetch', async () => {
    const request = new Request('http://receiver.test', {
      method: 'POST',
      headers: signedHeaders(),
      body: BODY,
    });
    await request.json();
    const answer = fetchHandler({ secret, onEvent: () => {} })(request);
    await expect(answer).rejects.toThrow('Hand over the Request untouched.');
  });
});

it('a body takes little more memory than its bytes, however small its pieces', async () => {
  setFlagsFromString('--expose-gc');
  const heapBytes = () => {
    runInNewContext('gc')();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const count = 300_000;
  let grown = Number.POSITIVE_INFINITY;
  async function* pieces() {
    const before = heapBytes();
    for (let at = 0; at < count; at++) yield Buffer.from(' ');
    grown = heapBytes() - before;
  }
  const { status } = await receiver({ secret, onEvent: () => {}, onError: () => {} })(
    signedHeaders(),
    pieces(),
  );
  expect(status).toBe(401);
  expect(grown).toBeLessThan(10 * count);
});
