import { expect, it } from 'vitest';
import { freezePostgresUnderLoad } from '../../support/fault-loops.ts';

it('PostgreSQL stands still under load: callers get 503 instead of waiting for ever, and it works on afterwards', async () => {
  const load = await freezePostgresUnderLoad(1);
  console.log('PostgreSQL frozen:', load.summary());
  expect(load.statuses[503]).toBeGreaterThan(0);
});
