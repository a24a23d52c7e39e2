import { expect, it } from 'vitest';
import {
  killPostgresUnderTraffic,
  killServiceUnderTraffic,
  killWorkersUnderTraffic,
} from '../../support/post-loops.ts';
import { misbehaveUnderTraffic } from '../../support/post-loops-misbehaving.ts';
import { seedOf } from '../../support/seed.ts';

/** A short round of each fault of the post; test/faults has the long ones. */

it('the service is killed under traffic: every accepted event arrives, in order', async () => {
  const traffic = await killServiceUnderTraffic(3, seedOf('post, service killed', 1));
  console.log('post, service killed:', traffic.summary());
  expect(traffic.connectionErrors).toBeGreaterThan(0);
});

it('PostgreSQL is killed under traffic: every accepted event arrives, in order', async () => {
  const traffic = await killPostgresUnderTraffic(2, seedOf('post, PostgreSQL killed', 1));
  console.log('post, PostgreSQL killed:', traffic.summary());
  expect(traffic.statuses[503]).toBeGreaterThan(0);
  expect(traffic.connectionErrors).toBe(0);
});

it('two workers are killed in turns under traffic: every accepted event arrives, in order', async () => {
  const traffic = await killWorkersUnderTraffic(2, seedOf('post, workers killed', 1));
  console.log('post, workers killed:', traffic.summary());
  expect(traffic.connectionErrors).toBe(0);
});

it('receivers misbehave under traffic: nobody else notices, and nothing is lost', async () => {
  console.log('post, receivers misbehave:', await misbehaveUnderTraffic(1));
});
