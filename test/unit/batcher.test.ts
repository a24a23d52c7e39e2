import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Outage } from '../../src/platform/outage.ts';
import { Batcher } from '../../src/runtime/batcher.ts';

interface Item {
  id: number;
  /** Spoils every batch that it is in. */
  bad: boolean;
}

const turn = () => new Promise(setImmediate);

/** Items that come in waves; `turns`: how many turns of the event loop pass before each. */
const waves = fc.array(
  fc.record({
    turns: fc.nat(4),
    bad: fc.array(
      fc.boolean().chain((rare) => (rare ? fc.boolean() : fc.constant(false))),
      { minLength: 1, maxLength: 12 },
    ),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Submits the waves and settles every promise. */
async function play(moves: readonly { turns: number; bad: boolean[] }[], batcher: Batcher<Item, string>) {
  const submitted: Item[] = [];
  const settled: Promise<PromiseSettledResult<string>>[] = [];
  for (const { turns, bad } of moves) {
    for (let i = 0; i < turns; i++) await turn();
    for (const isBad of bad) {
      const item = { id: submitted.length, bad: isBad };
      submitted.push(item);
      settled.push(
        batcher.submit(item).then(
          (value) => ({ status: 'fulfilled' as const, value }),
          (reason: unknown) => ({ status: 'rejected' as const, reason }),
        ),
      );
    }
  }
  return { submitted, outcomes: await Promise.all(settled) };
}

describe('Batcher', () => {
  it('gives each caller the result of its own item, in order, in batches of at most the maximum, one at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        waves,
        fc.integer({ min: 1, max: 9 }),
        fc.nat(3),
        async (moves, batchMax, writeTurns) => {
          const tried = new Set<number>();
          const firstTries: number[] = [];
          let underWay = 0;
          const batcher = new Batcher<Item, string>(batchMax, async (items) => {
            expect(++underWay).toBe(1);
            expect(items.length).toBeLessThanOrEqual(batchMax);
            for (const { id } of items) if (!tried.has(id)) firstTries.push(id);
            for (const { id } of items) tried.add(id);
            for (let i = 0; i < writeTurns; i++) await turn();
            underWay--;
            const spoiler = items.find(({ bad }) => bad);
            if (spoiler) throw new Error(`item ${spoiler.id}`);
            return items.map(({ id }) => `result ${id}`);
          });

          const { submitted, outcomes } = await play(moves, batcher);
          submitted.forEach(({ id, bad }, index) => {
            const outcome = outcomes[index];
            // One bad item never spoils its neighbours, and hears of itself alone.
            if (bad) expect(outcome).toMatchObject({ status: 'rejected', reason: { message: `item ${id}` } });
            else expect(outcome).toEqual({ status: 'fulfilled', value: `result ${id}` });
          });
          expect(firstTries).toEqual(submitted.map(({ id }) => id));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('fails a whole batch at once with an outage, tries nothing of it again, and works on afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(waves, fc.array(fc.boolean(), { maxLength: 20 }), async (moves, outages) => {
        const attempts = new Map<number, number>();
        const failed = new Set<number>();
        let call = 0;
        let over = false;
        const batcher = new Batcher<Item, string>(8, async (items) => {
          for (const { id } of items) attempts.set(id, (attempts.get(id) ?? 0) + 1);
          await turn();
          if (!over && outages[call++]) {
            for (const { id } of items) failed.add(id);
            throw new Outage('gone');
          }
          return items.map(({ id }) => `result ${id}`);
        });
        const { submitted, outcomes } = await play(moves, batcher);
        submitted.forEach(({ id }, index) => {
          expect(attempts.get(id)).toBe(1);
          const outcome = outcomes[index];
          if (failed.has(id))
            expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'gone' } });
          else expect(outcome).toEqual({ status: 'fulfilled', value: `result ${id}` });
        });
        over = true;
        expect(await batcher.submit({ id: -1, bad: false })).toBe('result -1');
      }),
      { numRuns: 200 },
    );
  });

  it('does not try a batch one by one into an outage: the first that meets it fails all that are left', async () => {
    const tries: number[][] = [];
    const batcher = new Batcher<Item, string>(10, async (items) => {
      tries.push(items.map(({ id }) => id));
      if (items.length > 1) throw new Error('one of them is bad');
      if ((items[0]?.id ?? 0) >= 2) throw new Outage('gone');
      return ['fine'];
    });
    const { outcomes } = await play([{ turns: 0, bad: Array<boolean>(6).fill(false) }], batcher);
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array(2).fill('fulfilled'),
      ...Array(4).fill('rejected'),
    ]);
    expect(tries).toEqual([[0, 1, 2, 3, 4, 5], [0], [1], [2]]);
  });

  it('survives a write that throws before it returns a promise', async () => {
    let calls = 0;
    const batcher = new Batcher<number, number>(4, (items) => {
      if (++calls === 1) throw new TypeError('a bug');
      return Promise.resolve(items);
    });
    await expect(batcher.submit(1)).rejects.toThrow('a bug');
    expect(await batcher.submit(2)).toBe(2);
  });

  it('two batches at once: never one key in both, the order of each key kept, and nobody spoils a neighbour', async () => {
    await fc.assert(
      fc.asyncProperty(waves, fc.integer({ min: 1, max: 9 }), fc.nat(3), async (moves, batchMax, turns) => {
        const keyOf = ({ id }: Item) => String(id % 5);
        const underWay: string[][] = [];
        const tried = new Map<string, Set<number>>();
        const batcher = new Batcher<Item, string>(
          batchMax,
          async (items) => {
            const keys = items.map(keyOf);
            underWay.push(keys);
            expect(underWay.length).toBeLessThanOrEqual(2);
            if (underWay.length === 2) expect(underWay[0]?.filter((key) => keys.includes(key))).toEqual([]);
            for (const item of items)
              tried.set(keyOf(item), (tried.get(keyOf(item)) ?? new Set()).add(item.id));
            for (let i = 0; i < turns; i++) await turn();
            underWay.splice(underWay.indexOf(keys), 1);
            const spoiler = items.find(({ bad }) => bad);
            if (spoiler) throw new Error(`item ${spoiler.id}`);
            return items.map(({ id }) => `result ${id}`);
          },
          { atOnce: 2, keyOf },
        );
        const { submitted, outcomes } = await play(moves, batcher);
        submitted.forEach(({ id, bad }, index) => {
          if (bad) expect(outcomes[index]).toMatchObject({ reason: { message: `item ${id}` } });
          else expect(outcomes[index]).toEqual({ status: 'fulfilled', value: `result ${id}` });
        });
        for (const ids of tried.values()) expect([...ids]).toEqual([...ids].toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  it('the second batch goes before the first is answered, once it is half as large; a third waits', async () => {
    const sent: number[][] = [];
    const answers: (() => void)[] = [];
    const batcher = new Batcher<number, number>(
      100,
      (items) => {
        sent.push([...items]);
        return new Promise((resolve) => answers.push(() => resolve(items)));
      },
      { atOnce: 2, keyOf: String },
    );
    const submit = async (...items: number[]) => {
      const results = items.map((item) => batcher.submit(item));
      await turn();
      return results;
    };
    const all = [...(await submit(1, 2, 3, 4)), ...(await submit(5))];
    expect(sent).toEqual([[1, 2, 3, 4]]);
    // 1 is being written: who comes for it waits, and is not counted.
    all.push(...(await submit(1, 1)));
    expect(sent).toHaveLength(1);
    all.push(...(await submit(6)), ...(await submit(7, 8, 9)));
    expect(sent).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
    answers[0]?.();
    await turn();
    expect(sent[2]).toEqual([7, 8, 9, 1, 1]);
    for (const answer of answers) answer();
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5, 1, 1, 6, 7, 8, 9]);
  });
});
