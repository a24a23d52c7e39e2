import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventName } from '../../../src/contract/events.ts';
import { SENT_UNRECORDED_MAX } from '../../../src/domain/events/lane.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { freePort, signal, startPorter } from '../../support/porter-process.ts';
import { newPartner, publish } from '../../support/post.ts';
import { RealClock } from '../../support/real-clock.ts';
import { type Behaviour, startReceiver } from '../../support/receiver.ts';
import {
  createUpToDateDatabase,
  type Harness,
  MASTER_KEY,
  sender,
  startHarness,
} from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Workers that lose their lane without noticing: frozen, or cut off from the database. */

/** Slow enough that a worker has deliveries waiting, fast enough to be well. */
const unhurried =
  (milliseconds: number): Behaviour =>
  (response) =>
    setTimeout(() => response.writeHead(204).end(), milliseconds);

async function receivingPartner(house: Harness, behaviour: Behaviour) {
  const receiver = await startReceiver({ behaviour });
  const partner = await newPartner(house);
  await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  const sequences = () => receiver.received.map(({ headers }) => Number(headers['webhook-sequence']));
  return { receiver, partner, sequences };
}

const about = (event: EventName, ids: readonly string[]) => ids.map((id): [EventName, string] => [event, id]);
const objects = (count: number) => Array.from({ length: count }, (_, n) => `object-${n}`);

it('a worker that is frozen past its lease sends nothing stale when it wakes', async () => {
  const databaseUrl = await createUpToDateDatabase();
  const api = await startHarness({ databaseUrl, clock: new RealClock(), env: { PORTER_ROLE: 'api' } });
  const { partner, receiver, sequences } = await receivingPartner(api, unhurried(1_000));
  const worker = async () =>
    startPorter(await freePort(), {
      DATABASE_URL: databaseUrl,
      PORTER_ROLE: 'worker',
      PORTER_DATA_DIR: temporaryFolder(),
      PORTER_MASTER_KEY: MASTER_KEY,
    });
  const frozen = await worker();
  const ids = objects(600);
  await publish(api, partner.groupId, ...about('appointment.confirmed', ids));
  await expect.poll(() => sequences().length).toBeGreaterThan(100);
  // Its deliveries come once a second, all at a time. Frozen in between, it has none half out of the door.
  let seen: number;
  do {
    seen = sequences().length;
    await pause(200);
  } while (sequences().length > seen);
  signal(frozen.pid, 'SIGSTOP');
  onTestFinished(() => signal(frozen.pid, 'SIGCONT'));
  await publish(api, partner.groupId, ...about('appointment.cancelled', ids));
  await receiver.setBehaviour(unhurried(5));
  await worker();
  await expect.poll(() => new Set(sequences()).size, { timeout: 90_000 }).toBe(1_200);

  const before = receiver.received.length;
  signal(frozen.pid, 'SIGCONT');
  const agent = new Agent();
  onTestFinished(() => agent.close());
  const send = sender(frozen.url, agent);
  // It works again, and has looked at its lanes since.
  await expect.poll(async () => (await send('GET', '/readyz')).status).toBe(200);
  await publish(api, partner.groupId, ['appointment.confirmed', 'last']);
  await expect.poll(() => sequences()).toContain(1_201);
  expect(receiver.received.length - before).toBe(1);
  const latest = new Map<string, number>();
  for (const { body, headers } of receiver.received) {
    const { id } = JSON.parse(body);
    const sequence = Number(headers['webhook-sequence']);
    expect(sequence, `${id} after ${latest.get(id)}`).toBeGreaterThanOrEqual(latest.get(id) ?? 0);
    latest.set(id, sequence);
  }
});

describe('a worker that is cut off from the database', () => {
  it.each(['broken', 'silent'] as const)(
    'has sent no more than the bound that another one sends again (%s)',
    async (how) => {
      const databaseUrl = await createUpToDateDatabase();
      const proxy = await startDatabaseProxy(databaseUrl);
      const cutOff = await startHarness({ databaseUrl: proxy.url, clock: new RealClock() });
      const { partner, sequences } = await receivingPartner(cutOff, unhurried(5));
      for (let batch = 0; batch < 2; batch++)
        await publish(cutOff, partner.groupId, ...objects(1_000).map(() => 'appointment.confirmed' as const));
      await expect.poll(() => sequences().length).toBeGreaterThan(300);
      proxy.cut(how);
      await startHarness({ databaseUrl, clock: new RealClock() });
      await expect.poll(() => new Set(sequences()).size, { timeout: 90_000 }).toBe(2_000);
      const twice = sequences().length - 2_000;
      console.log(`cut off (${how}): ${twice} of 2,000 were sent twice`);
      expect(twice).toBeLessThanOrEqual(SENT_UNRECORDED_MAX);
      const db = await superuser(databaseUrl);
      const open = () => db.query("SELECT FROM deliveries WHERE state <> 'delivered'");
      await expect.poll(async () => (await open()).rowCount).toBe(0);
    },
  );
});
