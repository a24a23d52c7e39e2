import { expect, it } from 'vitest';
import {
  freezePostgresUnderLoad,
  killPostgresUnderLoad,
  killServiceUnderLoad,
  startTwoNodesAtOnce,
  startTwoOnOneFolder,
  terminateUnderLoad,
} from '../support/fault-loops.ts';
import { seedOf } from '../support/seed.ts';

/** The loops of test/service/process/faults.test.ts, long and different each time. */

it('PostgreSQL is killed under load, 15 times', async () => {
  const load = await killPostgresUnderLoad(15, seedOf('PostgreSQL killed'));
  console.log('PostgreSQL killed:', load.summary());
  expect(load.statuses[503]).toBeGreaterThan(0);
});

it('the service is killed under load, 25 times', async () => {
  const load = await killServiceUnderLoad(25, seedOf('service killed'));
  console.log('service killed:', load.summary());
});

it('SIGTERM under load, 10 times', async () => {
  const load = await terminateUnderLoad(10, seedOf('SIGTERM'));
  console.log('SIGTERM:', load.summary());
});

it('PostgreSQL stands still under load, 3 times', async () => {
  const load = await freezePostgresUnderLoad(3);
  console.log('PostgreSQL frozen:', load.summary());
});

it('two nodes start on one empty database at once, 10 times', async () => {
  await startTwoNodesAtOnce(10);
});

it('two services start on one folder at once, 10 times', async () => {
  await startTwoOnOneFolder(10);
});
