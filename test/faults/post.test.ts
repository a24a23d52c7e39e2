import { expect, it } from 'vitest';
import {
  freezeWorkersUnderTraffic,
  killPostgresUnderTraffic,
  killServiceUnderTraffic,
  killWorkersUnderTraffic,
} from '../support/post-loops.ts';
import { misbehaveUnderTraffic } from '../support/post-loops-misbehaving.ts';
import { seedOf } from '../support/seed.ts';

/** The loops of test/service/events/post-faults.test.ts, long and different each time. */

it('the service is killed under traffic, 100 times: every accepted event arrives, in order', async () => {
  const traffic = await killServiceUnderTraffic(100, seedOf('post, service killed'));
  console.log('post, service killed:', traffic.summary());
  expect(traffic.connectionErrors).toBeGreaterThan(0);
});

it('PostgreSQL is killed under traffic, 15 times: every accepted event arrives, in order', async () => {
  const traffic = await killPostgresUnderTraffic(15, seedOf('post, PostgreSQL killed'));
  console.log('post, PostgreSQL killed:', traffic.summary());
  expect(traffic.statuses[503]).toBeGreaterThan(0);
  expect(traffic.connectionErrors).toBe(0);
});

it('two workers are killed in turns under traffic, 20 times: every accepted event arrives, in order', async () => {
  const traffic = await killWorkersUnderTraffic(20, seedOf('post, workers killed'));
  console.log('post, workers killed:', traffic.summary());
  expect(traffic.connectionErrors).toBe(0);
});

it('workers stand still for longer than their leases, 2 times: every accepted event arrives, in order', async () => {
  const traffic = await freezeWorkersUnderTraffic(2, seedOf('post, workers frozen'));
  console.log('post, workers frozen:', traffic.summary());
  expect(traffic.connectionErrors).toBe(0);
});

it('receivers misbehave under traffic, 3 times: nobody else notices, and nothing is lost', async () => {
  console.log('post, receivers misbehave:', await misbehaveUnderTraffic(3));
});
