import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PorterApiError, PorterConnectionError, PorterError } from '../../packages/sdk/src/index.ts';
import { SSE_BLOCK_MAX, type SseMessage, SseParser } from '../../packages/sdk/src/sse.ts';
import { answer, clientOf, cut, manualRuntime, problem, startScript } from '../support/sdk.ts';

const OPENING = 'retry: 3000\nid: c0\n\n';
const data = (id: string) => ({
  id,
  created_at: '2026-11-16T10:00:00.000Z',
  data: { object: 'Appointment', id: 'apt', practice_group_id: 'g', event: 'appointment.confirmed' },
});
const event = (cursor: string) =>
  `id: ${cursor}\nevent: appointment.confirmed\ndata: ${JSON.stringify(data(`evt_${cursor}`))}\n\n`;

const say = (response: ServerResponse, text: string, then = () => {}) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(text, then);
};
const stream =
  (text: string, end: 'end' | 'cut' | 'stay' = 'stay') =>
  (response: ServerResponse) => {
    say(response, text, () => {
      if (end === 'end') response.end();
      if (end === 'cut') response.destroy();
    });
  };

async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) if (taken.push(item) === count) break;
  return taken;
}

describe('following the feed', () => {
  it('yields each event with its place, and leaves the connection when nobody listens', async () => {
    let closed: Promise<void> | undefined;
    const server = await startScript((response) => {
      closed = new Promise((resolve) => response.once('close', resolve));
      say(response, `${OPENING}: heartbeat\n\n${event('c1')}${event('c2')}`);
    });
    const events = clientOf(server.url).events.follow({ event_types: ['appointment.confirmed'] });
    expect(await take(events, 2)).toEqual([
      { ...data('evt_c1'), cursor: 'c1' },
      { ...data('evt_c2'), cursor: 'c2' },
    ]);
    await closed;
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'GET',
      url: '/v1/events/stream?event_types=appointment.confirmed',
    });
    expect(request?.headers).toMatchObject({ accept: 'text/event-stream', 'x-api-key': 'ptr_test_1' });
    expect(request?.headers).not.toHaveProperty('last-event-id');
  });

  it('goes on after the last place that it knows, whatever broke the connection', async () => {
    const server = await startScript(
      stream(OPENING, 'cut'),
      stream(event('c1') + event('c2').slice(0, 40), 'cut'),
      stream(': heartbeat\nid: c7\n\n', 'end'),
      cut,
      answer(503, problem('service_unavailable', 503), { 'retry-after': '3' }),
      answer(409, problem('conflict', 409)),
      stream(event('c8')),
    );
    const runtime = manualRuntime();
    const events = clientOf(server.url, { runtime }).events.follow({ cursor: 'kept' });
    expect((await take(events, 2)).map(({ cursor }) => cursor)).toEqual(['c1', 'c8']);
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([
      'kept',
      'c0',
      'c1',
      'c7',
      'c7',
      'c7',
      'c7',
    ]);
    // Half of 3 s after each connection that ended, doubled while they bring nothing; then that of failed calls.
    expect(runtime.waits).toEqual([1500, 1500, 3000, 250, 3000 + 500, 1000]);
  });

  it('comes back quickly to a feed that is merely quiet', async () => {
    const ended = Array(3).fill(stream(OPENING, 'end'));
    const server = await startScript(...ended, stream(event('c1')));
    const runtime = manualRuntime();
    let time = 0;
    const now = () => (time += 40_000);
    await take(clientOf(server.url, { runtime: { ...runtime, now } }).events.follow(), 1);
    expect(runtime.waits).toEqual([1500, 1500, 1500]);
  });

  it('replaces a connection on which nothing is heard any more', async () => {
    const server = await startScript(stream(OPENING), stream(event('c1')));
    const events = clientOf(server.url, { runtime: manualRuntime() }).events.follow({ silenceMs: 30 });
    expect(await take(events, 1)).toMatchObject([{ cursor: 'c1' }]);
    expect(server.requests[1]?.headers['last-event-id']).toBe('c0');
  });

  it('never gives up later, but at the beginning like any call', async () => {
    const runtime = manualRuntime();
    const down = await startScript(cut);
    const lost = clientOf(down.url, { runtime }).events.follow();
    await expect(lost.next()).rejects.toThrow(PorterConnectionError);
    expect(down.requests).toHaveLength(4);
    const back = await startScript(stream(OPENING, 'end'), ...Array(20).fill(cut), stream(event('c1')));
    expect(await take(clientOf(back.url, { runtime }).events.follow(), 1)).toHaveLength(1);
    expect(Math.max(...runtime.waits)).toBe(15_000);
  });

  it.each([401, 403, 400])('ends when the service refuses: %i', async (status) => {
    const server = await startScript(stream(OPENING, 'end'), answer(status, {}));
    const events = clientOf(server.url, { runtime: manualRuntime() }).events.follow();
    await expect(events.next()).rejects.toThrow(PorterApiError);
    expect(server.requests).toHaveLength(2);
  });

  it('ends when what answers is no stream', async () => {
    const server = await startScript(answer(200, { welcome: true }));
    await expect(clientOf(server.url).events.follow().next()).rejects.toMatchObject({
      status: 200,
      problem: { error: 'unknown', body: { welcome: true } },
    });
  });

  it('ends when the feed was set back, and tells where to go on', async () => {
    const gone = { ...problem('cursor_gone', 410), resume_cursor: 'c0' };
    const server = await startScript(stream(OPENING + event('c1'), 'cut'), answer(410, gone));
    const events = clientOf(server.url, { runtime: manualRuntime() }).events.follow();
    await events.next();
    const error = await events.next().catch((error) => error);
    expect(error).toBeInstanceOf(PorterApiError);
    expect(error).toMatchObject({ status: 410, problem: { error: 'cursor_gone', resume_cursor: 'c0' } });
    expect(server.requests).toHaveLength(2);
  });

  it('begins with the refusal of one stream too many', async () => {
    const server = await startScript(answer(409, problem('conflict', 409)));
    await expect(clientOf(server.url).events.follow().next()).rejects.toThrow('409 conflict');
    expect(server.requests).toHaveLength(1);
  });

  it('ends with the reason of its signal, while it listens and while it waits', async () => {
    const listening = new AbortController();
    const open = await startScript(stream(OPENING + event('c1')));
    const events = clientOf(open.url).events.follow({ signal: listening.signal });
    await events.next();
    const next = events.next();
    listening.abort();
    await expect(next).rejects.toBe(listening.signal.reason);

    const waiting = new AbortController();
    const closed = await startScript(stream(OPENING, 'end'));
    const sleep = async (_milliseconds: number, signal?: AbortSignal) => {
      waiting.abort();
      signal?.throwIfAborted();
    };
    const paused = clientOf(closed.url, { runtime: { sleep } }).events.follow({ signal: waiting.signal });
    await expect(paused.next()).rejects.toMatchObject({ name: 'AbortError' });
    expect(closed.requests).toHaveLength(1);
  });

  it('keeps events of a kind that is not known here, and refuses what is no event', async () => {
    const letter = { id: 'evt_1', created_at: '', data: { event: 'letter.sent', id: 'l_1' } };
    const server = await startScript(stream(`id: c1\ndata: ${JSON.stringify(letter)}\n\ndata: {"half\n\n`));
    const events = clientOf(server.url).events.follow();
    expect((await events.next()).value.data).toEqual({
      event: 'unknown',
      name: 'letter.sent',
      payload: letter.data,
    });
    await expect(events.next()).rejects.toThrow(PorterError);
  });

  it.each(['null', '[]', '{}', '{"data":null}', '{"data":{"event":7}}'])(
    'refuses %s, which is JSON but no event',
    async (text) => {
      const server = await startScript(stream(`data: ${text}\n\n`));
      await expect(clientOf(server.url).events.follow().next()).rejects.toThrow(PorterError);
    },
  );

  it('refuses a place that no header takes', async () => {
    const server = await startScript(stream('id: c🔑\n\n'));
    const end = clientOf(server.url).events.follow().next();
    await expect(end).rejects.toMatchObject({ name: 'PorterError', cause: expect.any(TypeError) });
    expect(server.requests).toHaveLength(1);
  });

  it('takes a stream whatever the case of its content type, and leaves other endless text alone', async () => {
    const opened = (type: string, body: BodyInit) => {
      const fetch = async () => new Response(body, { headers: { 'content-type': type } });
      return clientOf('https://porter.test', { fetch }).events.follow().next();
    };
    await expect(opened('Text/Event-Stream; charset=utf-8', event('c1'))).resolves.toMatchObject({
      value: { cursor: 'c1' },
    });
    const cancel = vi.fn();
    await expect(opened('text/html', new ReadableStream({ cancel }))).rejects.toMatchObject({ status: 200 });
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('refuses an event without end', async () => {
    const server = await startScript(stream(`data: ${'x'.repeat(SSE_BLOCK_MAX)}`));
    const end = clientOf(server.url).events.follow().next();
    await expect(end).rejects.toMatchObject({ name: 'PorterError', cause: expect.any(RangeError) });
  });

  it('is in no hurry, whatever the service says', async () => {
    const hurry = stream('retry: 0\n\n', 'end');
    const huge = { 'retry-after': '9999999999' };
    const server = await startScript(
      hurry,
      hurry,
      answer(503, problem('service_unavailable', 503), huge),
      stream(event('c1')),
    );
    const runtime = manualRuntime();
    await take(clientOf(server.url, { runtime }).events.follow(), 1);
    expect(runtime.waits).toEqual([250, 500, 3_600_000 + 250]);
  });

  it('hands out nothing once its signal is aborted', async () => {
    const controller = new AbortController();
    const server = await startScript(stream(OPENING + event('c1') + event('c2')));
    const events = clientOf(server.url).events.follow({ signal: controller.signal });
    await events.next();
    controller.abort();
    await expect(events.next()).rejects.toBe(controller.signal.reason);
  });

  it('ends when its signal is aborted in the moment in which the stream opens', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const fetch = async () => {
      const response = new Response('', { headers: { 'content-type': 'text/event-stream' } });
      // Read when the call is over, and before the stream listens to the signal.
      const body = () => {
        controller.abort(reason);
        return new ReadableStream();
      };
      return Object.defineProperty(response, 'body', { get: body });
    };
    const events = clientOf('https://porter.test', { fetch }).events.follow({ signal: controller.signal });
    await expect(events.next()).rejects.toBe(reason);
  });

  it.each([0, -1, Number.NaN])('does not begin with a silence of %d ms', async (silenceMs) => {
    const events = clientOf('https://porter.test').events.follow({ silenceMs });
    await expect(events.next()).rejects.toThrow(TypeError);
  });

  describe('with timers that are watched', () => {
    const streaming = (...texts: string[]) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const body = new ReadableStream({
        start: (controller) => {
          for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
        },
      });
      const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      return clientOf('https://porter.test', { fetch });
    };

    it('leaves no timer behind, and nobody who listens to its signal', async () => {
      const { signal } = new AbortController();
      const events = streaming(OPENING, event('c1'), event('c2')).events.follow({ signal });
      await events.next();
      expect(vi.getTimerCount()).toBe(0);
      await events.return(undefined as never);
      expect(vi.getTimerCount()).toBe(0);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });

    it.each([
      [Number.POSITIVE_INFINITY, 0],
      [2 ** 31, 1],
    ])('takes a silence of %d ms as what it is', async (silenceMs, timers) => {
      const events = streaming(OPENING, event('c1')).events.follow({ silenceMs });
      await events.next();
      const next = events.next();
      next.catch(() => {});
      await vi.advanceTimersByTimeAsync(1000);
      expect(vi.getTimerCount()).toBe(timers);
    });
  });
});

describe('the blocks of a stream', () => {
  const read = (chunks: Uint8Array[]): SseMessage[] => {
    const parser = new SseParser();
    return chunks.flatMap((chunk) => parser.push(chunk));
  };
  const bytes = (text: string) => new TextEncoder().encode(text);

  it('are the same however the bytes are cut', () => {
    const line = fc.stringMatching(/^[^\r\n\0]*$/);
    const block = fc.record({
      id: line,
      data: fc.array(line, { minLength: 1 }),
      end: fc.constantFrom('\n', '\r\n', '\r'),
    });
    fc.assert(
      fc.property(fc.array(block), fc.array(fc.nat(), { maxLength: 20 }), (blocks, cuts) => {
        const text = blocks
          .map(({ id, data, end }) =>
            [`id: ${id}`, ...data.map((one) => `data: ${one}`), ':x', '', ''].join(end),
          )
          .join('');
        const all = bytes(text);
        const places = [0, ...cuts.map((at) => at % (all.length + 1)).sort((a, b) => a - b), all.length];
        const chunks = places.slice(1).map((end, at) => all.slice(places[at], end));
        expect(read(chunks)).toEqual(blocks.map(({ id, data }) => ({ id, data: data.join('\n') })));
      }),
    );
  });

  it('keep characters whole that were cut in the middle', () => {
    const chunks = [...bytes('data: ä€😀\n\n')].map((byte) => Uint8Array.of(byte));
    expect(read(chunks)).toEqual([{ data: 'ä€😀' }]);
  });

  it('take a field without a colon as empty, and leave out what is not theirs', () => {
    const text =
      '\uFEFFdata\nretry: 5\nid:x\nid: a\0b\ndata:y\nother: z\nretry: soon\nretry: 5s\nevent:e\n\n';
    expect(read([bytes(text)])).toEqual([{ data: '\ny', id: 'x', retry: 5, event: 'e' }]);
  });

  it.each([
    ['line', bytes('x'.repeat(1024))],
    ['block', bytes(`data:${'x'.repeat(1018)}\n`)],
  ])('are no longer than is sensible: a %s without end', (_name, chunk) => {
    const parser = new SseParser();
    const push = (times: number) => {
      for (let time = 0; time < times; time++) parser.push(chunk);
    };
    push(SSE_BLOCK_MAX / 1024);
    expect(() => push(2)).toThrow(RangeError);
  });

  it('are no longer than is sensible, also if they come in one piece', () => {
    const whole = bytes(`data:${'x'.repeat(SSE_BLOCK_MAX)}\n\n`);
    expect(() => read([whole])).toThrow(RangeError);
  });

  it('may be many, each as long as it likes', () => {
    const parser = new SseParser();
    const long = bytes(`data:${'x'.repeat(SSE_BLOCK_MAX / 2)}\n\n`);
    for (let time = 0; time < 4; time++) expect(parser.push(long)).toHaveLength(1);
  });

  it('take as long as their length: a line is not read again with each of its pieces', () => {
    const reading = vi.spyOn(String.prototype, 'split');
    onTestFinished(() => reading.mockRestore());
    const parser = new SseParser();
    const piece = bytes('x');
    for (let at = 0; at < 1_000; at++) parser.push(piece);
    const messages = parser.push(bytes('\n\n'));
    const read = reading.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
    expect(messages).toEqual([{}]);
    expect(read).toBe(1_002);
  });
});
