import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Outage } from '../../src/platform/outage.ts';
import { BriefCache } from '../../src/runtime/brief-cache.ts';
import { ManualClock } from '../support/manual-clock.ts';

const LIFETIME = 1_000;

/** What the database said, and when it was asked. */
interface Answered {
  askedAt: number;
}

type Step = { kind: 'get'; key: string; takesMs: number; says: 'yes' | 'no' | 'error' } | { kind: 'clear' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('get' as const),
      key: fc.constantFrom('a', 'b'),
      takesMs: fc.oneof(fc.constantFrom(0, 1, 999, 1_000, 1_001), fc.nat(300), fc.nat(2_500)),
      says: fc.constantFrom('yes', 'yes', 'yes', 'yes', 'no', 'error'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
);
const script = fc.array(fc.record({ afterMs: fc.oneof(fc.constant(0), fc.nat(400)), step }), {
  minLength: 1,
  maxLength: 40,
});

/** Time that passes only from one thing that happens to the next. */
class VirtualTime {
  readonly clock = new ManualClock();
  readonly #due: { at: number; run: () => void }[] = [];

  later(ms: number, run: () => void): void {
    this.#due.push({ at: this.clock.monotonic() + ms, run });
    this.#due.sort((a, b) => a.at - b.at);
  }

  /** Runs everything in the order of its time, each followed by all that it set off. */
  async run(): Promise<void> {
    for (let next = this.#due.shift(); next; next = this.#due.shift()) {
      this.clock.advance(next.at - this.clock.monotonic());
      next.run();
      await new Promise(setImmediate);
    }
  }
}

describe('BriefCache', () => {
  it('what is no yes is told to whoever asked, and never remembered nor shared', async () => {
    const cache = new BriefCache<string>(new ManualClock(), LIFETIME, 100, (value) => value !== 'revoked');
    const says = ['revoked', 'yes', 'never asked for'];
    const load = async () => says.shift();
    const [first, second] = [cache.get('a', load), cache.get('a', load)];
    expect(await first).toBe('revoked');
    expect(await second).toBe('yes');
    expect(cache.get('a', load)).toBe('yes');
  });

  it('gives nobody a "no" that somebody else had asked for: it may be older than what was granted since', async () => {
    const cache = new BriefCache<string>(new ManualClock(), LIFETIME, 100);
    const answers: ((value: string | undefined) => void)[] = [];
    const load = () => new Promise<string | undefined>((resolve) => answers.push(resolve));
    const before = cache.get('a', load);
    const after = cache.get('a', load);
    answers[0]?.(undefined);
    expect(await before).toBeUndefined();
    await new Promise(setImmediate);
    answers[1]?.('granted');
    expect(await after).toBe('granted');
  });

  it('asks once more for all who waited for a "no"', async () => {
    const cache = new BriefCache<string>(new ManualClock(), LIFETIME, 100);
    let questions = 0;
    const load = async () => {
      questions++;
      await new Promise(setImmediate);
      return undefined;
    };
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => cache.get('a', load)));
    expect(new Set(answers)).toEqual(new Set([undefined]));
    expect(questions).toBe(2);
  });

  it('gives nobody an answer a second or more after its question, nor one asked before a clearing that he came after', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (moves) => {
        const time = new VirtualTime();
        const { clock } = time;
        const cache = new BriefCache<Answered>(clock, LIFETIME, 100);
        let clearedAt = Number.NEGATIVE_INFINITY;
        const pending: Promise<void>[] = [];

        const get = ({ key, takesMs, says }: Extract<Step, { kind: 'get' }>) => {
          const clearedBefore = clearedAt;
          const slow: boolean[] = [];
          const load = () =>
            new Promise<Answered | undefined>((resolve, reject) => {
              const askedAt = clock.monotonic();
              slow.push(takesMs >= LIFETIME);
              time.later(takesMs, () => {
                if (says === 'error') reject(new Error('refused'));
                else resolve(says === 'yes' ? { askedAt } : undefined);
              });
            });
          const check = (value: Answered | undefined) => {
            if (value === undefined) return;
            expect(clock.monotonic() - value.askedAt).toBeLessThan(LIFETIME);
            expect(value.askedAt).toBeGreaterThanOrEqual(clearedBefore);
          };
          const answer = cache.get(key, load);
          if (!(answer instanceof Promise)) return check(answer);
          const failed = (error: Error) => {
            if (!(error instanceof Outage)) expect(error.message).toBe('refused');
            else if (slow.length > 0) expect(slow).toEqual([true, true, true]);
          };
          pending.push(answer.then(check, failed));
        };

        let at = 0;
        for (const { afterMs, step: move } of moves) {
          at += afterMs;
          time.later(at, () => {
            if (move.kind === 'get') return get(move);
            clearedAt = clock.monotonic();
            cache.clear();
          });
        }
        await time.run();
        await Promise.all(pending);
      }),
      { numRuns: 400 },
    );
  });

  it('asks once for all who wait for the same thing, and remembers without a promise', async () => {
    const time = new VirtualTime();
    const cache = new BriefCache<Answered>(time.clock, LIFETIME, 100);
    let questions = 0;
    const load = async () => {
      questions++;
      return { askedAt: time.clock.monotonic() };
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => cache.get('a', load)));
    expect(new Set(answers).size).toBe(1);
    expect(cache.get('a', load)).toBe(answers[0]);
    time.clock.advance(LIFETIME);
    expect(await cache.get('a', load)).not.toBe(answers[0]);
    expect(questions).toBe(2);
  });

  it('asks again while an answer may still be used, once for all, and nobody waits', async () => {
    const clock = new ManualClock();
    const cache = new BriefCache<string>(clock, LIFETIME, 100);
    const release: ((value: string | undefined) => void)[] = [];
    const load = () => new Promise<string | undefined>((resolve) => release.push(resolve));
    const first = cache.get('a', load);
    release[0]?.('first');
    await first;

    clock.advance(LIFETIME / 2);
    expect([cache.get('a', load), release.length]).toEqual(['first', 1]);
    clock.advance(LIFETIME / 4);
    expect([cache.get('a', load), cache.get('a', load), release.length]).toEqual(['first', 'first', 2]);
    release[1]?.('second');
    await new Promise(setImmediate);
    clock.advance(LIFETIME / 2);
    expect([cache.get('a', load), release.length]).toEqual(['second', 2]);

    clock.advance(LIFETIME / 4);
    expect([cache.get('a', load), release.length]).toEqual(['second', 3]);
    release[2]?.(undefined);
    await new Promise(setImmediate);
    // What was taken away is not used for the rest of its time.
    expect(cache.get('a', load)).toBeInstanceOf(Promise);
  });

  it('goes on with what it has when asking again fails, for as long as that may be used', async () => {
    const clock = new ManualClock();
    const cache = new BriefCache<string>(clock, LIFETIME, 100);
    await cache.get('a', async () => 'known');
    const fails = () => Promise.reject(new Error('down'));
    clock.advance(LIFETIME - 1);
    expect(cache.get('a', fails)).toBe('known');
    await new Promise(setImmediate);
    expect(cache.get('a', fails)).toBe('known');
    await new Promise(setImmediate);
    clock.advance(1);
    await expect(cache.get('a', fails)).rejects.toThrow('down');
  });

  it('does not share a question that was asked before a clearing, nor keep its answer', async () => {
    const time = new VirtualTime();
    const cache = new BriefCache<string>(time.clock, LIFETIME, 100);
    const release: ((value: string) => void)[] = [];
    const load = () => new Promise<string>((resolve) => release.push(resolve));
    const before = cache.get('a', load);
    cache.clear();
    const after = cache.get('a', load);
    expect(after).not.toBe(before);
    release[1]?.('new');
    expect(await after).toBe('new');
    release[0]?.('old');
    expect(await before).toBe('old');
    expect(cache.get('a', load)).toBe('new');
  });

  it('remembers no refusal and no failure', async () => {
    const cache = new BriefCache<string>(new ManualClock(), LIFETIME, 100);
    const answers: (() => Promise<string | undefined>)[] = [
      async () => undefined,
      async () => Promise.reject(new Error('down')),
      async () => 'yes',
    ];
    const load = () => (answers.shift() as () => Promise<string | undefined>)();
    expect(await cache.get('a', load)).toBeUndefined();
    await expect(cache.get('a', load)).rejects.toThrow('down');
    expect(await cache.get('a', load)).toBe('yes');
    expect(cache.get('a', load)).toBe('yes');
  });

  it('forgets the oldest when it is full', async () => {
    const cache = new BriefCache<string>(new ManualClock(), LIFETIME, 3);
    const questions: string[] = [];
    const ask = (key: string) =>
      cache.get(key, async () => {
        questions.push(key);
        return key;
      });
    for (const key of ['a', 'b', 'c', 'd']) await ask(key);
    for (const key of ['b', 'c', 'd', 'a']) await ask(key);
    expect(questions).toEqual(['a', 'b', 'c', 'd', 'a']);
  });
});
