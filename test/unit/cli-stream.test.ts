import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InOrder } from '../../src/cli/in-order.ts';
import { type ServerSentEvent, SseParser } from '../../src/cli/sse.ts';

describe('the reader of server-sent events', () => {
  const line = fc
    .string({ unit: 'grapheme', maxLength: 12 })
    .map((text) => text.replaceAll(/[\r\n\0\uFEFF]/g, ''));
  const block = fc.record({
    id: fc.option(line, { nil: undefined }),
    event: line.filter((text) => text !== '' && !text.startsWith(' ')),
    data: fc.array(line, { minLength: 1, maxLength: 3 }),
    comment: line,
    end: fc.constantFrom('\n', '\r\n', '\r'),
  });

  it('reads the same events however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(block), fc.array(fc.integer({ min: 1, max: 40 })), (blocks, cuts) => {
        const bytes = Buffer.from(
          blocks
            .map(({ id, event, data, comment, end }) =>
              [
                `: ${comment}`,
                ...(id === undefined ? [] : [`id: ${id}`]),
                `event: ${event}`,
                ...data.map((one) => `data: ${one}`),
                '',
                '',
              ].join(end),
            )
            // A last line, so that a final CR is known to be a whole line break.
            .concat(': end\n')
            .join(''),
        );
        const parser = new SseParser();
        const seen: ServerSentEvent[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = cuts[turn % cuts.length] ?? bytes.length;
          seen.push(...parser.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(seen).toEqual(blocks.map(({ event, data }) => ({ event, data: data.join('\n') })));
        expect(parser.lastEventId).toBe(blocks.findLast(({ id }) => id !== undefined)?.id);
      }),
    );
  });

  it('takes the ID and the waiting time of a block without data', () => {
    const parser = new SseParser();
    expect(parser.push(Buffer.from('retry: 2000\nid: c1\n\n'))).toEqual([]);
    expect([parser.lastEventId, parser.retryMs]).toEqual(['c1', 2000]);
  });

  it('does not take the ID of a block that was cut off', () => {
    const parser = new SseParser();
    parser.push(Buffer.from('id: c1\ndata: 1\n\nid: c2\ndata: 2\n'));
    expect(parser.lastEventId).toBe('c1');
  });
});

describe('tasks in order', () => {
  it('never runs two of one name at once or out of order, nor more than it may', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(5) })),
        fc.integer({ min: 1, max: 3 }),
        async (tasks, atOnceMax) => {
          const queue = new InOrder({ atOnceMax, waitingMax: 4 });
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
    const queue = new InOrder({ atOnceMax: 1, waitingMax: 2 });
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
