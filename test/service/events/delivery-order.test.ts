import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderRound, ROUND } from '../../support/delivery-model.ts';
import { storm } from '../../support/delivery-storm.ts';
import { liveThroughYear } from '../../support/delivery-year.ts';
import { dice } from '../../support/fault-loops.ts';
import { seedOf } from '../../support/seed.ts';

it('order and sequence hold whatever fails, with workers that come and go', async () => {
  await fc.assert(fc.asyncProperty(ROUND, orderRound), { seed: seedOf('order', 11), numRuns: 12 });
});

it('in four weeks of retries every event arrives or is given up after ten attempts', async () => {
  const told = await liveThroughYear(28, 2, dice(seedOf('four weeks', 11)));
  expect(told).toMatchObject({ open: 0, disabled: 0, attempts_max: 10 });
  expect((told.delivered ?? 0) + (told.given_up ?? 0)).toBe(told.accepted);
  expect(told.given_up).toBeGreaterThan(0);
  expect(told.delivered).toBeGreaterThan(told.accepted / 2);
});

it('nothing is lost and no order broken with three workers at once, whatever happens to them', async () => {
  await storm(dice(seedOf('storm', 11)), 60);
});
