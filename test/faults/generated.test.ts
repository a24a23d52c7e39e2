import { expect, it } from 'vitest';
import { agreeInWorlds } from '../support/access-agreement.ts';
import { liveThroughHistories } from '../support/feed-histories.ts';
import { fuzz, StillClock } from '../support/fuzz.ts';
import { Isolation } from '../support/isolation.ts';
import { seedOf } from '../support/seed.ts';
import { startHarness } from '../support/service.ts';

/** The generated tests of test/service, longer and different each time. */

it('60,000 generated requests', async () => {
  const house = await startHarness({ clock: new StillClock(), env: { PORTER_ROLE: 'api' } });
  const { statuses, faults } = await fuzz(house, 60_000, seedOf('fuzz'));
  console.log('fuzz: answers by status', statuses);
  expect(faults.slice(0, 5), `${faults.length} faults`).toEqual([]);
});

it('5,000 random steps on two nodes', async () => {
  // No worker: an event is in the feed when the test says so.
  const env = { PORTER_ROLE: 'api' };
  const first = await startHarness({ env });
  const second = await startHarness({ databaseUrl: first.databaseUrl, clock: first.clock, env });
  const isolation = new Isolation([first, second]);
  await isolation.run(5_000, seedOf('isolation'));
  console.log('isolation: answers by status', isolation.seen);
});

it('the door and the post agree in 1,500 random worlds', async () => {
  await agreeInWorlds(1_500, seedOf('access'));
});

it('in 60 random histories of backups and restores no reader of the feed misses an event', async () => {
  await liveThroughHistories(60, seedOf('histories'));
});
