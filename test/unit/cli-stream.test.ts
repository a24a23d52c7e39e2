import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeyedQueue } from '../../src/cli/keyed-queue.ts';
import { porter } from '../support/cli.ts';

const event = (id: string) =>
  `id: c${id}\ndata: ${JSON.stringify({ id, created_at: '', data: { object: 'Appointment', id, event: 'e' } })}\n\n`;
const streaming = (text: string, type = 'Text/Event-Stream; charset=utf-8') =>
  new Response(text, { headers: { 'content-type': type } });
const refusing = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ error: 'conflict', message: 'No.' }, { status, headers });

/** Listens to a service that answers so, one after another; then the key has lost its access. */
async function listening(...answers: Response[]) {
  const waits: number[] = [];
  const cursors: unknown[] = [];
  const { code, stdout, stderr } = await porter('listen', {
    env: { PORTER_KEY: 'ptr_x', PORTER_GROUP: 'g' },
    random: (count) => Buffer.alloc(count, 128),
    fetch: async (_url, init) => {
      cursors.push(new Headers(init?.headers).get('last-event-id'));
      return answers.shift() ?? refusing(403);
    },
    clock: {
      now: () => 0,
      monotonic: () => 0,
      sleep: async (milliseconds) => {
        // The watch over silence, and what is said about slow work.
        if ([45_000, 1_000].includes(milliseconds)) await new Promise(() => {});
        waits.push(milliseconds);
      },
    },
  });
  return { code, stdout, stderr, waits, cursors };
}

describe('listen', () => {
  it.each(['text/html', 'application/json', ''])('ends at once when it is answered with %s', async (type) => {
    for (const before of [[], [streaming(event('1'))]]) {
      const { code, stderr, cursors } = await listening(...before, streaming('<html>', type));
      expect(stderr).toContain("The answer has status 200 and is not one of Porter's.");
      expect([code, cursors.length]).toEqual([1, before.length + 1]);
    }
  });

  it.each([
    ['no JSON', 'data: {\n\n'],
    ['no event', 'data: {"id":"1"}\n\n'],
    ['no cursor', 'id: 🔑\n\n'],
    ['a line without end', `data: ${'x'.repeat(1_100_000)}`],
  ])('ends at a stream with %s', async (_what, text) => {
    const { code, stderr, cursors } = await listening(streaming(event('1')), streaming(text));
    expect(stderr).toContain('Error: The stream holds something that is no event.');
    expect([code, cursors]).toEqual([1, [null, 'c1']]);
  });

  it('goes on after the last event that it showed, not after one that was cut off', async () => {
    const { cursors, stdout } = await listening(
      streaming(event('1') + event('2') + event('3').slice(0, -1)),
      streaming(event('3')),
    );
    expect(cursors).toEqual([null, 'c2', 'c3']);
    expect(stdout.match(/e {2}\d/g)).toEqual(['e  1', 'e  2', 'e  3']);
  });

  it('leaves the service alone for as long as it asks, within bounds', async () => {
    const { waits } = await listening(
      streaming(event('1')),
      refusing(503, { 'retry-after': '7' }),
      refusing(429, { 'retry-after': '1' }),
      refusing(503, { 'retry-after': '99999999' }),
      refusing(503, { 'retry-after': 'soon' }),
      streaming('retry: 0\n\n'),
      streaming('retry: 99999999999\n\n'),
    );
    expect(waits).toEqual([2_000, 7_000, 8_000, 300_000, 30_000, 500, 30_000]);
  });

  it('says what to do when the service was set back, and does not try again', async () => {
    const gone = Response.json(
      {
        error: 'cursor_gone',
        statusCode: 410,
        message: 'The feed was set back.',
        request_id: 'r',
        doc_url: 'https://docs.example/errors/cursor_gone',
        resume_cursor: 'c0',
      },
      { status: 410 },
    );
    const { code, stderr, cursors } = await listening(streaming(event('1')), gone, streaming(event('2')));
    expect(stderr).toContain('The feed was set back.');
    expect(stderr).toContain('Run `porter listen` again');
    expect([code, cursors]).toEqual([1, [null, 'c1']]);
  });

  it('ends with 3 when the network fails in the middle of a refusal', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.error(new TypeError('terminated', { cause: { code: 'ECONNRESET' } }));
      },
    });
    const { code, stderr } = await listening(new Response(body, { status: 503 }));
    expect(stderr).toMatch(
      /^Error: The connection to .* was closed before the answer was there \(ECONNRESET\)/,
    );
    expect(code).toBe(3);
  });

  it('does not try a mistake of its own again', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new TypeError('of ours')) });
    const broken = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const { code, stderr, cursors } = await listening(streaming(event('1')), broken);
    expect(stderr).toContain('porter has failed: TypeError: of ours');
    expect([code, cursors.length]).toEqual([1, 2]);
  });
});

it.each(['partners list', 'listen'])('%s ends with 3 when nothing answers for two minutes', async (line) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = Promise.withResolvers<void>();
  const ended = porter(line, {
    env: { PORTER_KEY: 'ptr_x', PORTER_GROUP: 'g', PORTER_OPERATOR_TOKEN: 'pto_x' },
    fetch: (_url, init) => {
      asked.resolve();
      return new Promise((_resolve, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
      );
    },
    clock: { now: () => 0, monotonic: () => 0, sleep: () => new Promise(() => {}) },
  });
  await asked.promise;
  await vi.advanceTimersByTimeAsync(120_000);
  const { code, stderr } = await ended;
  expect(stderr).toMatch(/^Error: Nothing answers at .* \(no answer in time\)\.\n/);
  expect(code).toBe(3);
});

describe('tasks in order', () => {
  it('never runs two of one name at once or out of order, nor more than it may', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(5) })),
        fc.integer({ min: 1, max: 3 }),
        async (tasks, atOnceMax) => {
          const queue = new KeyedQueue({ atOnceMax, waitingMax: 4 });
          const running = new Set<string>();
          const finished: number[] = [];
          await new Promise<void>((allDone) => {
            if (tasks.length === 0) allDone();
            void (async () => {
              for (const [at, { name, turns }] of tasks.entries())
                await queue.add(name, async () => {
                  expect(running.has(name)).toBe(false);
                  running.add(name);
                  expect(running.size).toBeLessThanOrEqual(atOnceMax);
                  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
                  running.delete(name);
                  finished.push(at);
                  if (finished.length === tasks.length) allDone();
                });
            })();
          });
          for (const name of ['a', 'b', 'c']) {
            const ofName = finished.filter((at) => tasks[at]?.name === name);
            expect(ofName).toEqual(ofName.toSorted((x, y) => x - y));
          }
        },
      ),
    );
  });

  it('holds back whoever adds too fast', async () => {
    const queue = new KeyedQueue({ atOnceMax: 1, waitingMax: 2 });
    const gate = Promise.withResolvers<void>();
    let room = 0;
    const adding = [1, 2, 3].map(() => queue.add('a', () => gate.promise).then(() => room++));
    await Promise.all(adding.slice(0, 2));
    expect(room).toBe(2);
    gate.resolve();
    await Promise.all(adding);
    expect(room).toBe(3);
  });
});
