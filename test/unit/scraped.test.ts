import { expect, it } from 'vitest';
import { scraped } from '../../src/runtime/oversight/scraped.ts';
import { ManualClock } from '../support/manual-clock.ts';

it('reads figures every ten seconds, and leaves them out after a minute without an answer', async () => {
  const clock = new ManualClock();
  let answer = () => Promise.resolve(1);
  let reads = 0;
  const latest = scraped(clock, () => {
    reads++;
    return answer();
  });
  expect([await latest(), await latest(), reads]).toEqual([1, 1, 1]);
  answer = () => Promise.resolve(2);
  clock.advance(9_999);
  expect(await latest()).toBe(1);
  clock.advance(1);
  expect([await latest(), reads]).toEqual([2, 2]);

  answer = () => Promise.reject(new Error('the database is away'));
  clock.advance(59_999);
  expect([await latest(), reads]).toEqual([2, 3]);
  clock.advance(10_000);
  expect(await latest()).toBeUndefined();
  answer = () => Promise.resolve(3);
  clock.advance(10_000);
  expect(await latest()).toBe(3);
});

it('does not wait for a database that hangs', async () => {
  class Hasty extends ManualClock {
    override timer(_milliseconds: number, fire: () => void): () => void {
      fire();
      return () => {};
    }
  }
  const latest = scraped(new Hasty(), () => new Promise<number>(() => {}));
  expect(await latest()).toBeUndefined();
});
