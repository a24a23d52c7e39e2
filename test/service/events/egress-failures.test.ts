import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../../src/platform/egress/outcome.ts';
import { postTo, postWithin, SHORT_MS, testEgress, testReceiver, testServer } from '../../support/egress.ts';
import { startFullReceiver } from '../../support/full-receiver.ts';
import { type Behaviour, closeMidway, hang, lieLength, redirect, say, slow } from '../../support/receiver.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n';
const BIG_BODY = 'x'.repeat(40_000_000);

/** What comes of a request to a receiver that behaves so. */
async function outcomeOf(behaviour: Behaviour) {
  const receiver = await testReceiver({ behaviour });
  const outcome = await testEgress().post(postTo(receiver.url));
  return { ...outcome, requests: receiver.received.length };
}

describe('a receiver that lets a request wait', () => {
  const ENOUGH = 250;

  /**
   * What comes of a request whose deadline passes. A busy machine may need all of a short one to get to where the receiver keeps
   * silent: then it is tried with a longer one.
   */
  async function inVain(code: string, url: string, body?: string): Promise<PostOutcome> {
    const outcome = await postWithin(SHORT_MS, postTo(url, body));
    if (outcome.failure?.code === code) return outcome;
    return postWithin(10 * SHORT_MS, postTo(url, body));
  }

  it('for the connection', async () => {
    const { url } = await startFullReceiver();
    const { failure, durationMs } = await inVain('connect_timeout', url);
    expect(failure).toEqual({ phase: 'connect', code: 'connect_timeout', detail: new URL(url).host });
    expect(durationMs).toBeGreaterThan(ENOUGH);
  });

  it('for TLS', async () => {
    const port = await testServer(() => {});
    const { failure } = await inVain('tls_timeout', `https://localhost:${port}/`);
    expect(failure).toEqual({ phase: 'tls', code: 'tls_timeout', detail: `127.0.0.1:${port}` });
  });

  it('until it reads', async () => {
    const port = await testServer((socket) => socket.pause());
    const { failure } = await inVain('send_timeout', `http://127.0.0.1:${port}/`, BIG_BODY);
    expect(failure).toEqual({ phase: 'send', code: 'send_timeout', detail: '' });
  });

  it('until it reads, and nothing more of the request leaves after the deadline', async () => {
    const connection = Promise.withResolvers<Socket>();
    const port = await testServer((socket) => connection.resolve(socket.pause()));
    await inVain('send_timeout', `http://127.0.0.1:${port}/`, BIG_BODY);
    const socket = await connection.promise;
    const end = new Promise((resolve) => socket.once('end', () => resolve('end')).once('error', resolve));
    socket.resume();
    expect(await end).toMatchObject({ code: 'ECONNRESET' });
  });

  it.each<[string, Behaviour]>([
    ['an answer', hang],
    ['the rest of the status line', say('HTTP/1.1 20')],
    ['the rest of the headers', say('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n')],
    ['an answer after an interim one', say('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n')],
    ['an answer after 100 Continue', say('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('for %s', async (_what, behaviour) => {
    const outcome = await inVain('answer_timeout', (await testReceiver({ behaviour })).url);
    expect(outcome).toMatchObject({
      status: undefined,
      failure: { phase: 'answer', code: 'answer_timeout' },
    });
    expect(outcome.durationMs).toBeGreaterThan(ENOUGH);
  });

  it.each<[string, Behaviour]>([
    ['byte by byte', slow],
    ['having claimed more than it sends', lieLength(10, 5)],
    ['in the middle of a chunk', say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab')],
  ])('for the rest of the answer, %s', async (_what, behaviour) => {
    const { url } = await testReceiver({ behaviour });
    const outcome = await inVain('body_timeout', url);
    expect(outcome).toMatchObject({ status: 200, failure: { phase: 'answer', code: 'body_timeout' } });
    expect(outcome.answer).not.toBe('');
  });
});

describe('a receiver that breaks off', () => {
  it('refuses the connection', async () => {
    const { failure, requests } = await outcomeOf('refuse');
    expect(failure).toMatchObject({ phase: 'connect', code: 'connection_refused' });
    expect(failure?.detail).toMatch(/^127\.0\.0\.1:\d+, \[::1\]:\d+$/);
    expect(requests).toBe(0);
  });

  it('in the middle of the answer', async () => {
    const outcome = await outcomeOf(closeMidway);
    expect(outcome).toMatchObject({
      status: 200,
      answer: 'half of',
      failure: { phase: 'answer', code: 'closed_early' },
      requests: 1,
    });
  });

  it('in the middle of the headers', async () => {
    const behaviour: Behaviour = ({ socket }) => void socket?.end('HTTP/1.1 200 OK\r\ncontent-');
    expect(await outcomeOf(behaviour)).toMatchObject({
      status: undefined,
      failure: { code: 'closed_early' },
    });
  });

  it('without an answer, and is not asked twice on a new connection', async () => {
    const outcome = await outcomeOf(({ socket }) => void socket?.end());
    expect(outcome).toMatchObject({
      status: undefined,
      failure: { phase: 'answer', code: 'closed_early' },
      requests: 1,
    });
  });

  it('by a reset', async () => {
    const outcome = await outcomeOf(({ socket }) => void socket?.resetAndDestroy());
    expect(outcome).toMatchObject({ failure: { phase: 'answer', code: 'connection_reset' }, requests: 1 });
  });

  it('while the request is still being sent', async () => {
    const port = await testServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { failure } = await testEgress().post(postTo(`http://127.0.0.1:${port}/`, BIG_BODY));
    expect(failure).toMatchObject({ phase: 'send', code: 'connection_reset' });
  });
});

describe('a receiver that talks nonsense', () => {
  it.each<[string, Behaviour]>([
    ['another protocol', say('SSH-2.0-OpenSSH_9.9\r\n')],
    ['binary', say('\0\x01\x02\xff\xfe')],
    ['HTTP/0.9', say('<html>hello</html>')],
    ['no status', say('HTTP/1.1 OK\r\n\r\n')],
    ['a header without an end', say(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`)],
    ['a negative length', say('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n')],
    ['two lengths', say('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab')],
    [
      'a length and chunks',
      say('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n'),
    ],
    ['a chunk that is none', say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n')],
    [
      'another protocol, politely',
      say('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
    ['hints without end', say('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000))],
    ['100 Continue without end', say('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000))],
  ])('%s', async (_what, behaviour) => {
    expect(await outcomeOf(behaviour)).toMatchObject({
      failure: { phase: 'answer', code: 'invalid_http' },
    });
  });

  const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  it.each([
    ['the reason of the status', undefined, 'HTTP/1.1 200 ', 'x'],
    ['line breaks before the answer', undefined, '', '\r\n'],
    ['the extension of a chunk', 200, `${CHUNKED}1;`, 'x'],
    ['extensions of many chunks', 200, CHUNKED, `1;${'x'.repeat(1_000)}\r\nx\r\n`],
    ['the length of a chunk', 200, CHUNKED, '0'],
  ])('without an end: %s', async (_what, status, head, piece) => {
    const more = piece.repeat(Math.ceil(65_536 / piece.length));
    const port = await testServer((socket) => {
      const flood = () => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', flood);
      socket.once('data', () => {
        socket.write(head);
        flood();
      });
    });
    const outcome = await testEgress().post(postTo(`http://127.0.0.1:${port}/`));
    expect(outcome).toMatchObject({
      status,
      failure: { phase: 'answer', code: 'invalid_http', detail: 'it has no end' },
    });
  });

  it('sends more than it claimed: the answer counts, and the next one is not made of the rest', async () => {
    const receiver = await testReceiver({ behaviour: lieLength(5, 500) });
    const egress = testEgress();
    for (let n = 1; n <= 3; n++) {
      const outcome = await egress.post(postTo(receiver.url));
      expect(outcome).toMatchObject({ status: 200, answer: 'xxxxx', failure: undefined });
      expect(receiver.connections).toBe(n);
    }
  });

  it('sends a second answer that nobody asked for: the next request does not get it', async () => {
    const receiver = await testReceiver({
      behaviour: say(`${HEAD}ok`, 'HTTP/1.1 418 No\r\ncontent-length: 0\r\n\r\n'),
    });
    const egress = testEgress();
    for (let n = 0; n < 3; n++) expect((await egress.post(postTo(receiver.url))).status).toBe(200);
  });

  it('sends a body with 204', async () => {
    const outcome = await outcomeOf(say('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello'));
    expect(outcome).toMatchObject({ status: 204, failure: undefined });
  });

  it('redirects to the metadata of the cloud: nobody goes there', async () => {
    for (const code of [301, 302, 303, 307, 308])
      expect(await outcomeOf(redirect(undefined, code))).toMatchObject({
        status: code,
        failure: undefined,
        requests: 1,
      });
  });
});

describe('interim answers are not the answer', () => {
  it.each([
    ['103', ['HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', `${HEAD}ok`]],
    ['103 in one piece with the answer', [`HTTP/1.1 103 Early Hints\r\n\r\n${HEAD}ok`]],
    ['100', ['HTTP/1.1 100 Continue\r\n\r\n', `${HEAD}ok`]],
    ['100 in one piece with the answer', [`HTTP/1.1 100 Continue\r\n\r\n${HEAD}ok`]],
    [
      '100 twice and 103 in one piece with the answer',
      [`HTTP/1.1 100 C\r\nx: y\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\n${HEAD}ok`],
    ],
  ])('%s', async (_what, parts) => {
    let connections = 0;
    const port = await testServer((socket) => {
      connections++;
      socket.on('data', () => {
        for (const part of parts) socket.write(part);
      });
    });
    const egress = testEgress();
    for (let n = 0; n < 20; n++)
      expect(await egress.post(postTo(`http://127.0.0.1:${port}/`))).toMatchObject({
        status: 200,
        answer: 'ok',
      });
    expect(connections).toBe(1);
  });
});

describe('a connection that the receiver closed while it lay idle', () => {
  /** Answers the first `answers` requests of each connection and then does something else. */
  async function answering(answers: number, afterwards: (socket: Socket, connection: number) => void) {
    let requests = 0;
    let connections = 0;
    const port = await testServer((socket) => {
      const connection = ++connections;
      let answered = 0;
      socket.on('data', () => {
        requests++;
        if (answered++ < answers) socket.write(`${HEAD}ok`);
        else afterwards(socket, connection);
      });
    });
    const egress = testEgress();
    return { post: () => egress.post(postTo(`http://127.0.0.1:${port}/`)), requests: () => requests };
  }

  it('is replaced, and nobody hears of it', async () => {
    const receiver = await testReceiver();
    const egress = testEgress();
    for (let n = 1; n <= 5; n++) {
      expect(await egress.post(postTo(receiver.url))).toMatchObject({ status: 200, failure: undefined });
      receiver.cutConnections();
    }
    expect(receiver.received).toHaveLength(5);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['closed', (socket) => void socket.end()],
    ['reset', (socket) => void socket.resetAndDestroy()],
  ])('%s just as the next request came: that one goes over a new connection', async (_how, afterwards) => {
    const { post, requests } = await answering(1, afterwards);
    for (let n = 0; n < 4; n++) expect(await post()).toMatchObject({ status: 200, failure: undefined });
    expect(requests()).toBe(7);
  });

  it('is tried once more, not for ever', async () => {
    const { post, requests } = await answering(1, (socket) => void socket.end());
    await post();
    const broken = await answering(0, (socket, connection) => {
      if (connection === 1 && broken.requests() === 1) socket.write(`${HEAD}ok`);
      else socket.end();
    });
    await broken.post();
    expect(await broken.post()).toMatchObject({ status: undefined, failure: { code: 'closed_early' } });
    expect([requests(), broken.requests()]).toEqual([1, 3]);
  });

  it('is not replaced once the answer has begun', async () => {
    const { post, requests } = await answering(1, (socket) => void socket.end('HTTP/1.1 2'));
    await post();
    expect(await post()).toMatchObject({ status: undefined, failure: { code: 'closed_early' } });
    expect(requests()).toBe(2);
  });
});
