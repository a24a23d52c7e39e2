import { expect, it } from 'vitest';
import {
  killPostgresUnderLoad,
  killServiceUnderLoad,
  startTwoNodesAtOnce,
  startTwoOnOneFolder,
  terminateUnderLoad,
} from '../../support/fault-loops.ts';
import { seedOf } from '../../support/seed.ts';

/** A short round of each fault; test/faults has the long ones. */

it('PostgreSQL is killed under load: 503 until it is back, nothing acknowledged is lost', async () => {
  const load = await killPostgresUnderLoad(2, seedOf('PostgreSQL killed', 1));
  console.log('PostgreSQL killed:', load.summary());
  expect(load.statuses[503]).toBeGreaterThan(0);
});

it('the service is killed under load: nothing acknowledged is lost', async () => {
  const load = await killServiceUnderLoad(2, seedOf('service killed', 1));
  console.log('service killed:', load.summary());
});

it('SIGTERM under load: it ends by itself, what has begun is answered, nothing acknowledged is lost', async () => {
  const load = await terminateUnderLoad(1, seedOf('SIGTERM', 1));
  console.log('SIGTERM:', load.summary());
});

it('two nodes start on one empty database at once: both serve the same world', async () => {
  await startTwoNodesAtOnce(1);
});

it('two services start on one folder at once: one serves, the other says why not and ends with 1', async () => {
  await startTwoOnOneFolder(1);
});
