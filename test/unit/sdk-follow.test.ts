import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PorterApiError, PorterConnectionError, PorterError } from '../../packages/sdk/src/index.ts';
import { type Block, BlockReader } from '../../packages/sdk/src/sse.ts';
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
});

describe('the blocks of a stream', () => {
  const read = (chunks: Uint8Array[]): Block[] => {
    const reader = new BlockReader();
    return chunks.flatMap((chunk) => reader.read(chunk));
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
        // A lone carriage return at the very end may still become a line end of two characters.
        const all = bytes(`${text}:`);
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
    const text = '\uFEFFdata\nretry: soon\nid:x\nid: a\0b\ndata:y\nother: z\nretry: 5\n\n';
    expect(read([bytes(text)])).toEqual([{ data: '\ny', id: 'x', retry: 5 }]);
  });
});
