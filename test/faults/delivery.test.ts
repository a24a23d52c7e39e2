import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderRound, ROUND } from '../support/delivery-model.ts';
import { storm } from '../support/delivery-storm.ts';
import { liveThroughYear } from '../support/delivery-year.ts';
import { dice } from '../support/fault-loops.ts';
import { seedOf } from '../support/seed.ts';

/** The rounds of test/service/delivery-order.test.ts, many and different each time. */

it('order and sequence hold in 80 random rounds', async () => {
  await fc.assert(fc.asyncProperty(ROUND, orderRound), { seed: seedOf('order'), numRuns: 80 });
});

it('in a year of retries every event arrives or is given up after ten attempts', async () => {
  const told = await liveThroughYear(365, 4, dice(seedOf('year')));
  console.log('a year:', { ...told, letters: told.letters.length });
  expect(told).toMatchObject({ open: 0, disabled: 0, attempts_max: 10 });
  expect((told.delivered ?? 0) + (told.given_up ?? 0)).toBe(told.accepted);
});

it('nothing is lost and no order broken in 12 storms with three workers at once', async () => {
  const roll = dice(seedOf('storm'));
  for (let round = 0; round < 12; round++) await storm(roll, 150);
});
