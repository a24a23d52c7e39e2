import { it } from 'vitest';
import { dice } from '../support/fault-loops.ts';
import { killBothSidesUnderTraffic } from '../support/practice-loops.ts';
import { seedOf } from '../support/seed.ts';

/** The loop of test/service/practices/practice-software.test.ts, long and different each time. */

it('10,000 updates while Porter, PostgreSQL and the practice software are killed, 45 times: both sides end up equal', async () => {
  const roll = dice(seedOf('practice software, long'));
  const random = () => roll(1_000_000) / 1_000_000;
  console.log('practice software:', await killBothSidesUnderTraffic({ changes: 10_000, kills: 45, random }));
});
