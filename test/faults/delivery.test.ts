import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { closeDatabase, openDatabase } from '../../src/store/database.ts';
import { announceLiveness } from '../../src/store/events/presence.ts';
import { openDeliveryHarness } from '../support/delivery-harness.ts';
import { orderRound, ROUND } from '../support/delivery-model.ts';
import { storm } from '../support/delivery-storm.ts';
import { liveThroughYear } from '../support/delivery-year.ts';
import { dice } from '../support/fault-loops.ts';
import { seedOf } from '../support/seed.ts';

/** The rounds of test/service/events/delivery-order.test.ts, many and different each time. */

it('order and sequence hold in 80 random rounds', async () => {
  await fc.assert(fc.asyncProperty(ROUND, orderRound), { seed: seedOf('order'), numRuns: 80 });
});

it('in a year of retries every event arrives or is given up after ten attempts', async () => {
  const told = await liveThroughYear(365, 4, dice(seedOf('year')));
  console.log('a year:', { ...told, sent: told.sent.length });
  expect(told).toMatchObject({ open: 0, disabled: 0, attempts_max: 10 });
  expect((told.delivered ?? 0) + (told.given_up ?? 0)).toBe(told.accepted);
});

it('nothing is lost and no order broken in 12 storms with three workers at once', async () => {
  const roll = dice(seedOf('storm'));
  for (let round = 0; round < 12; round++) await storm(roll, 150);
});

it('a worker whose sign of life ended without a word shows another one', async () => {
  const office = await openDeliveryHarness();
  const { host, port, user, password, database } = office.admin;
  const upward: Socket[] = [];
  const downward: Socket[] = [];
  // What ends above is never heard of below, as with a firewall that forgets a connection.
  const proxy = createServer((down) => {
    const up = connect(port, host);
    upward.push(up);
    downward.push(down);
    down.on('data', (data) => up.write(data)).on('error', () => {});
    up.on('data', (data) => down.write(data)).on('error', () => {});
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const through = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const url = `postgres://${user}:${encodeURIComponent(password ?? '')}@${through}/${database}`;
  const db = openDatabase({ url, connectionsMax: 2 });
  onTestFinished(async () => {
    await closeDatabase(db);
    for (const socket of [...upward, ...downward]) socket.destroy();
    proxy.close();
  });
  const presence = announceLiveness(db, 7, [], () => {}, office.clock);
  const signs = () =>
    office.rows(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
  await presence.ensure();
  expect(await signs()).toHaveLength(1);
  for (const socket of upward) socket.destroy();
  await expect.poll(signs).toHaveLength(0);
  office.clock.advance(6_000);
  const signsNow = async () => {
    await presence.ensure();
    return signs();
  };
  await expect.poll(signsNow).toHaveLength(1);
  presence.leave();
});
