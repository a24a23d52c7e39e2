import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BATCH_MAX, BATCH_MIN, BatchSize } from '../../src/domain/batch-size.ts';

/** The sizes that are taken until so many are through, where more than `limit` at a time fails. */
function sizesUntilDone(count: number, limit: number): { sizes: number[]; failed: number } {
  const batch = new BatchSize();
  const sizes: number[] = [];
  let failed = 0;
  for (let left = count; left > 0; ) {
    if (batch.size > limit) {
      failed++;
      batch.shrink();
      continue;
    }
    sizes.push(Math.min(batch.size, left));
    left -= batch.size;
    batch.grow();
  }
  return { sizes, failed };
}

it('takes more and more of a burst, up to a bound', () => {
  expect(sizesUntilDone(5_000, Number.POSITIVE_INFINITY).sizes).toEqual([
    100, 300, 900, 1_000, 1_000, 1_000, 700,
  ]);
});

it('gets through whatever is too much at a time, and rarely tries what fails', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: BATCH_MAX }), (limit) => {
      const { sizes, failed } = sizesUntilDone(20_000, limit);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20_000);
      expect(failed).toBeLessThan(6 + sizes.length / 5);
    }),
  );
});

it('begins anew when nothing is left', () => {
  const batch = new BatchSize();
  batch.shrink();
  batch.shrink();
  expect(batch.size).toBeLessThan(BATCH_MIN);
  batch.reset();
  expect(batch.size).toBe(BATCH_MIN);
  for (let n = 0; n < 5; n++) batch.grow();
  expect(batch.size).toBe(BATCH_MAX);
});
