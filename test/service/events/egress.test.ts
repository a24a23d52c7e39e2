import { describe, expect, it } from 'vitest';
import { pem, postTo, SHORT_MS, testEgress, testReceiver, testServer } from '../../support/egress.ts';
import { hang, huge, ok, say, status } from '../../support/receiver.ts';

describe('a host', () => {
  it('is dialled without a request, in the clear or by TLS', async () => {
    const egress = testEgress({ ca: pem('ca') });
    for (const tls of [undefined, { cert: pem('good'), key: pem('key') }]) {
      const receiver = await testReceiver({ ...(tls && { tls }) });
      expect(await egress.dial(receiver.url, 5_000)).toBe(true);
      expect([receiver.connections, receiver.received.length]).toEqual([1, 0]);
      await receiver.setBehaviour('refuse');
      expect(await egress.dial(receiver.url, 5_000)).toBe(false);
    }
  });

  it('that may not be called, or does not answer in time, cannot be reached', async () => {
    const egress = testEgress();
    expect(await egress.dial('https://192.168.0.1/', 5_000)).toBe(false);
    const silent = await testServer(() => {});
    expect(await egress.dial(`https://localhost:${silent}/`, SHORT_MS)).toBe(false);
    const late = egress.dial(`https://localhost:${silent}/`, 60_000);
    await egress.close();
    expect(await late).toBe(false);
    expect(await egress.dial(`https://localhost:${silent}/`, 5_000)).toBe(false);
  });
});

describe('a request', () => {
  it('that is stale when its connection stands is not sent', async () => {
    const egress = testEgress();
    const receiver = await testReceiver();
    const asked: number[] = [];
    const post = (isStale: boolean) =>
      egress.post({
        ...postTo(receiver.url),
        isStale: () => {
          asked.push(receiver.connections);
          return isStale;
        },
      });
    expect(await post(true)).toMatchObject({ status: undefined, failure: { code: 'stale' } });
    expect(receiver.received).toHaveLength(0);
    expect(await post(false)).toMatchObject({ status: 200 });
    // On a connection that is kept, too.
    expect(await post(true)).toMatchObject({ failure: { code: 'stale' } });
    expect(receiver.received).toHaveLength(1);
    expect(asked).toHaveLength(3);
    // The connection of a stale request carries the next request: deliveries reach a receiver that is slow to connect to.
    expect(await post(false)).toMatchObject({ status: 200 });
    expect(receiver.connections).toBe(1);
  });

  it('that is stale only when it is repeated may have arrived before: it ends as the first try did', async () => {
    let requests = 0;
    const port = await testServer((socket) => {
      socket.on('data', () => {
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
        else socket.resetAndDestroy();
      });
    });
    const egress = testEgress();
    const to = postTo(`http://127.0.0.1:${port}/`);
    expect(await egress.post(to)).toMatchObject({ status: 200 });
    const stale = [false, true];
    const outcome = await egress.post({ ...to, isStale: () => stale.shift() ?? true });
    expect(outcome).toMatchObject({
      failure: { phase: 'answer', code: 'connection_reset' },
      wasRepeated: true,
    });
    expect(requests).toBe(2);
  });

  it('arrives as it was given: method, path, headers, body', async () => {
    const receiver = await testReceiver();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'dlv_1_1',
      'user-agent': 'Porter/1.0',
    };
    const outcome = await testEgress().post({
      url: `${receiver.url}/a%20b?c=d&e`,
      headers,
      body: '{"name":"Zoë 🏥"}',
    });
    expect(outcome).toMatchObject({ status: 200, answer: '{"ok":true}', failure: undefined });
    expect(outcome.durationMs).toBeGreaterThan(0);
    expect(receiver.received).toEqual([
      {
        method: 'POST',
        path: '/hook/a%20b?c=d&e',
        headers: {
          ...headers,
          host: new URL(receiver.url).host,
          connection: 'keep-alive',
          'content-length': '20',
        },
        body: '{"name":"Zoë 🏥"}',
      },
    ]);
    expect(headers).toHaveProperty('webhook-id', 'dlv_1_1');
  });

  it.each([204, 301, 400, 404, 410, 429, 500, 503])('answered %i is answered', async (code) => {
    const receiver = await testReceiver({ behaviour: status(code, { 'retry-after': ' 120 ' }) });
    expect(await testEgress().post(postTo(receiver.url))).toMatchObject({
      status: code,
      retryAfter: '120',
      answer: '',
      failure: undefined,
    });
  });

  it('Retry-After that nobody sent is undefined; of several the first counts', async () => {
    const egress = testEgress();
    const receiver = await testReceiver();
    expect((await egress.post(postTo(receiver.url))).retryAfter).toBeUndefined();
    await receiver.setBehaviour(
      say('HTTP/1.1 503 No\r\nretry-after: 5\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n'),
    );
    expect((await egress.post(postTo(receiver.url))).retryAfter).toMatch(/^5/);
  });

  it.each([
    ['http://192.168.0.1/', 'https'],
    ['https://192.168.0.1/', 'not a public'],
    ['nonsense', 'https'],
  ])('to %s is not sent', async (url, reason) => {
    const outcome = await testEgress().post(postTo(url));
    expect(outcome).toMatchObject({
      status: undefined,
      failure: { phase: 'address', code: 'address_refused' },
    });
    expect(outcome.failure?.detail).toContain(reason);
  });

  it('with a header that HTTP forbids fails, and harms nobody', async () => {
    const receiver = await testReceiver();
    const egress = testEgress();
    const outcome = await egress.post({ ...postTo(receiver.url), headers: { 'x y': 'z' } });
    expect(outcome.failure).toMatchObject({ code: 'failed', detail: 'invalid header key' });
    expect((await egress.post(postTo(receiver.url))).status).toBe(200);
  });
});

describe('connections', () => {
  it('are used again, by every path of an origin', async () => {
    const receiver = await testReceiver({ behaviour: status(200, {}, 'x'.repeat(16 * 1024)) });
    const egress = testEgress();
    for (let n = 0; n < 30; n++) {
      const { status: code, answer } = await egress.post(postTo(`${receiver.url}/${n}`));
      expect([code, answer.length]).toEqual([200, 1024]);
    }
    expect(receiver.connections).toBe(1);
  });

  it('are as many as there are requests at once, and then used again', async () => {
    const receiver = await testReceiver();
    const egress = testEgress();
    const post = () => egress.post(postTo(receiver.url));
    await Promise.all(Array.from({ length: 20 }, post));
    expect(receiver.connections).toBe(20);
    await Promise.all(Array.from({ length: 20 }, post));
    await Promise.all(Array.from({ length: 20 }, post));
    expect(receiver.connections).toBe(20);
    expect(receiver.received).toHaveLength(60);
  });

  it('that hang hold up no request to the same host', async () => {
    const receiver = await testReceiver({ behaviour: hang });
    const egress = testEgress({ timeoutMs: 30_000 });
    const hanging = Array.from({ length: 50 }, () => egress.post(postTo(receiver.url)));
    await expect.poll(() => receiver.received.length).toBe(50);
    await receiver.setBehaviour(ok);
    expect((await egress.post(postTo(receiver.url))).status).toBe(200);
    await egress.close();
    for (const outcome of await Promise.all(hanging)) expect(outcome.failure?.code).toBe('stopped');
  });

  it('that nobody uses go', async () => {
    // undici keeps back two seconds of what the receiver says.
    const receiver = await testReceiver({ behaviour: status(200, { 'keep-alive': 'timeout=3' }) });
    const egress = testEgress();
    await Promise.all(Array.from({ length: 5 }, () => egress.post(postTo(receiver.url))));
    expect(receiver.openConnections).toBe(5);
    await expect.poll(() => receiver.openConnections).toBe(0);
    expect((await egress.post(postTo(receiver.url))).status).toBe(200);
  });

  it('that the receiver wants closed are closed', async () => {
    const receiver = await testReceiver({ behaviour: status(200, { connection: 'close' }, 'bye') });
    const egress = testEgress();
    for (let n = 0; n < 5; n++)
      expect(await egress.post(postTo(receiver.url))).toMatchObject({ status: 200, answer: 'bye' });
    expect(receiver.connections).toBe(5);
  });

  it('are all gone after close, and requests come back at once', async () => {
    const receiver = await testReceiver();
    const egress = testEgress({ timeoutMs: 30_000 });
    await egress.post(postTo(receiver.url));
    await receiver.setBehaviour(hang);
    const hanging = egress.post(postTo(receiver.url));
    await expect.poll(() => receiver.received.length).toBe(2);
    await egress.close();
    expect((await hanging).failure).toEqual({ phase: 'answer', code: 'stopped', detail: '' });
    expect((await egress.post(postTo(receiver.url))).failure?.code).toBe('stopped');
    await expect.poll(() => receiver.openConnections).toBe(0);
    await egress.close();
  });
});

describe('an answer', () => {
  it('of 16 KiB is read; what is longer is cut off, and its status counts', async () => {
    const receiver = await testReceiver({ behaviour: status(201, {}, 'x'.repeat(16 * 1024 + 1)) });
    const egress = testEgress();
    for (const connections of [1, 2]) {
      const outcome = await egress.post(postTo(receiver.url));
      expect(outcome).toMatchObject({ status: 201, answer: 'x'.repeat(1024), failure: undefined });
      expect(receiver.connections).toBe(connections);
    }
  });

  it('without an end is cut off by its size, long before its deadline', async () => {
    const receiver = await testReceiver({ behaviour: huge(Number.POSITIVE_INFINITY) });
    const outcome = await testEgress().post(postTo(receiver.url));
    expect(outcome).toMatchObject({ status: 200, failure: undefined });
    await expect.poll(() => receiver.openConnections).toBe(0);
    expect(receiver.bytesSent).toBeLessThan(20_000_000);
  });

  it.each([
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62]), 'a\ufffd\ufffd(b'],
    ['a lone surrogate', Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62]), 'a\ufffd\ufffd\ufffdb'],
    [
      'NUL and other control characters',
      Buffer.from('a\0b\x1b[31mc\x7fd\u0085'),
      'a\ufffdb\ufffd[31mc\ufffdd\ufffd',
    ],
    ['line breaks and tabs', Buffer.from('a\r\nb\n\tc\rd'), 'a\nb\n\tc\ufffdd'],
    ['a character cut in two at 1 KiB', Buffer.from(`${'x'.repeat(1022)}🏥🏥`), 'x'.repeat(1022)],
    [
      'a character whose last byte is cut off at 1 KiB',
      Buffer.from(`${'x'.repeat(1021)}🏥`),
      'x'.repeat(1021),
    ],
    ['a character that ends at 1 KiB', Buffer.from(`${'x'.repeat(1020)}🏥🏥`), `${'x'.repeat(1020)}🏥`],
  ])('is clean text: %s', async (_what, bytes, text) => {
    const receiver = await testReceiver({ behaviour: (response) => void response.end(bytes) });
    const { answer } = await testEgress().post(postTo(receiver.url));
    expect(answer).toBe(text);
    expect(answer.isWellFormed()).toBe(true);
  });

  it('that comes in pieces is put together', async () => {
    const receiver = await testReceiver({
      behaviour: (response) => {
        response.write('a'.repeat(600), () => response.write('b'.repeat(600), () => response.end('c')));
      },
    });
    const { answer } = await testEgress().post(postTo(receiver.url));
    expect(answer).toBe('a'.repeat(600) + 'b'.repeat(424));
  });
});
