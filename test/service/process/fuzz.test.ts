import { expect, it } from 'vitest';
import { fuzz, StillClock } from '../../support/fuzz.ts';
import { seedOf } from '../../support/seed.ts';
import { startHarness } from '../../support/service.ts';

it('2,000 generated requests: never a 500, never a hang, always an ID and a body of the decided shape', async () => {
  const house = await startHarness({ clock: new StillClock(), env: { PORTER_ROLE: 'api' } });
  const { statuses, faults } = await fuzz(house, 2_000, seedOf('fuzz', 20_261_115));
  console.log('fuzz: answers by status', statuses);
  expect(faults.slice(0, 5), `${faults.length} faults`).toEqual([]);
  // The generators must reach every part of the service, not only its door.
  for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422])
    expect(statuses[status] ?? 0, `answers with ${status}`).toBeGreaterThan(0);
});
