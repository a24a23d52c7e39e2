import { expect, it } from 'vitest';
import { Isolation } from '../../support/isolation.ts';
import { seedOf } from '../../support/seed.ts';
import { startHarness } from '../../support/service.ts';

it('600 random steps on two nodes: every status is the expected one, and no foreign byte ever comes back', async () => {
  // No worker: an event is in the feed when the test says so.
  const env = { PORTER_ROLE: 'api' };
  const first = await startHarness({ env });
  const second = await startHarness({ databaseUrl: first.databaseUrl, clock: first.clock, env });
  const isolation = new Isolation([first, second]);
  await isolation.run(600, seedOf('isolation', 20_261_115));
  console.log('isolation: answers by status', isolation.seen);
  for (const status of [200, 201, 400, 401, 403, 404])
    expect(isolation.seen[status] ?? 0, `answers with ${status}`).toBeGreaterThan(10);
});
