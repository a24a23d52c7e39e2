import { expect, it } from 'vitest';
import { databaseTime } from '../../../src/platform/clock.ts';
import { clearSome } from '../../../src/store/oversight/retention.ts';
import { freePort, startPorter, until } from '../../support/porter-process.ts';
import { fanOutAll, newPartner, publish } from '../../support/post.ts';
import { hang, ok, startReceiver } from '../../support/receiver.ts';
import { createUpToDateDatabase, type Harness, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** An erasure names every partner that knows of the object, so that it can be told to erase it too. */

const ID = 'NHS-943-476-5919';
const DAY_MS = 86_400_000;

const erase = (house: Harness, practice_group_id: string, object = 'Appointment') =>
  house.operator('POST', '/erasures', { practice_group_id, object, object_id: ID });

async function clear(house: Harness): Promise<void> {
  const { db, retention } = house.service.app;
  while ((await clearSome(db, 'clear_old', databaseTime(house.clock), retention)) > 0);
}

it('whoever was sent it, also when its deliveries are cleared away and only the access log knows', async () => {
  const house = await startHarness();
  const db = await superuser(house.databaseUrl);
  const receiver = await startReceiver({ behaviour: ok });
  const partner = await newPartner(house);
  await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  await publish(house, partner.groupId, ['appointment.confirmed', ID], ['appointment.cancelled', ID]);
  const count = async (rows: string) => (await db.query(`SELECT FROM ${rows}`)).rowCount;
  await expect.poll(() => count("deliveries WHERE state = 'delivered'")).toBe(2);
  const sent = await db.query("SELECT max(attempts -> 0 ->> 'at') AS last_at FROM deliveries");
  house.clock.advance(31 * DAY_MS);
  await clear(house);
  expect(await count('events')).toBe(0);

  const { recipients, erased } = await erase(house, partner.groupId);
  expect(erased).toMatchObject({ events: 0, deliveries: 0, access_log_entries: 2 });
  expect(recipients).toEqual([
    { partner_id: partner.partnerId, deliveries: 2, under_way: 0, reads: 0, last_at: sent.rows[0].last_at },
  ]);
});

it('whoever read it from the feed or in a log, and nobody who read something else, or later', async () => {
  const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
  const reader = await newPartner(house);
  const { groupId } = reader;
  const [looking, other, late] = await Promise.all([1, 2, 3].map(() => newPartner(house, groupId)));
  const hook = await looking?.call('POST', '/v1/webhooks', { url: 'https://partner.example/hook' });
  await publish(
    house,
    groupId,
    ['prescription.issued', 'rx-1'],
    ['appointment.confirmed', ID],
    ['prescription.issued', 'rx-2'],
  );
  await fanOutAll(house);
  await reader.call('GET', '/v1/events');
  house.clock.advance(1_000);
  await reader.call('GET', '/v1/events?event_types=appointment.confirmed');
  const last_at = new Date(house.clock.now()).toISOString();
  await looking?.call('GET', `/v1/webhooks/${hook?.id}/deliveries`);
  await other?.call('GET', '/v1/events?event_types=prescription.issued');
  const first = await erase(house, groupId);
  expect(first.recipients).toHaveLength(2);
  expect(first.recipients).toContainEqual({
    partner_id: reader.partnerId,
    deliveries: 0,
    under_way: 0,
    reads: 2,
    last_at,
  });
  expect(first.recipients).toContainEqual(
    expect.objectContaining({ partner_id: looking?.partnerId, deliveries: 0, reads: 1 }),
  );

  // Over the place of what was erased, and it is not shown there any more.
  house.clock.advance(5_000);
  await late?.call('GET', '/v1/events');
  expect((await erase(house, groupId)).recipients).toEqual([]);
});

it('whoever read it before it was erased, also when the erasure is broken off, and nobody who read after that', async () => {
  const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
  const db = await superuser(house.databaseUrl);
  const reader = await newPartner(house);
  const late = await newPartner(house, reader.groupId);
  await publish(
    house,
    reader.groupId,
    ['prescription.issued', 'rx-1'],
    ['appointment.confirmed', ID],
    ['prescription.issued', 'rx-2'],
  );
  await fanOutAll(house);
  await reader.call('GET', '/v1/events');
  await db.query(
    `CREATE FUNCTION pg_temp.breaks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$;
     CREATE TRIGGER breaks BEFORE UPDATE ON erasures FOR EACH ROW WHEN (NEW.object_hash IS NULL) EXECUTE FUNCTION pg_temp.breaks()`,
  );
  const body = { practice_group_id: reader.groupId, object: 'Appointment', object_id: ID };
  const broken = await house.send('POST', '/operator/v1/erasures', { token: OPERATOR_TOKEN, body });
  expect(broken.status).toBe(500);
  await db.query('DROP TRIGGER breaks ON erasures');
  house.clock.advance(DAY_MS);
  await late.call('GET', '/v1/events');
  expect((await erase(house, reader.groupId)).recipients).toMatchObject([
    { partner_id: reader.partnerId, reads: 1 },
  ]);
});

it('whoever is being sent it, and nobody of whom nothing was on its way', async () => {
  const house = await startHarness();
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const receiver = await startReceiver({
    behaviour: (response) => void answered.then(() => response.end()),
  });
  const sent = await newPartner(house);
  const paused = await newPartner(house, sent.groupId);
  await sent.call('POST', '/v1/webhooks', { url: receiver.url });
  const { id } = await paused.call('POST', '/v1/webhooks', { url: receiver.url });
  await paused.call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' });
  await publish(house, sent.groupId, ['appointment.confirmed', ID]);
  await expect.poll(() => receiver.received.length).toBe(1);

  const at = new Date(house.clock.now()).toISOString();
  const erasure = await erase(house, sent.groupId);
  expect(erasure.erased).toMatchObject({ deliveries: 2, deliveries_withdrawn: 2 });
  expect(erasure.recipients).toEqual([
    { partner_id: sent.partnerId, deliveries: 0, under_way: 1, reads: 0, last_at: at },
  ]);
  answer();
});

it('whoever may have been sent it by a worker that died, also when another has cleared up behind that', async () => {
  const databaseUrl = await createUpToDateDatabase();
  const env = { PORTER_MASTER_KEY: Buffer.alloc(32, 'm').toString('base64') };
  const house = await startHarness({ databaseUrl, env: { ...env, PORTER_ROLE: 'api' } });
  const db = await superuser(databaseUrl);
  const receiver = await startReceiver({ behaviour: hang });
  const partner = await newPartner(house);
  const { id } = await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  const worker = await startPorter(await freePort(), { ...env, DATABASE_URL: databaseUrl });
  await publish(house, partner.groupId, ['appointment.confirmed', ID]);
  await until('it is sent', () => receiver.received.length === 1);
  worker.process.kill('SIGKILL');
  await worker.exited;
  await partner.call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' });
  await startHarness({ databaseUrl, env });
  await until(
    'the lane is free',
    async () => (await db.query('SELECT FROM webhook_lanes WHERE holder IS NULL')).rowCount === 1,
  );
  expect((await erase(house, partner.groupId)).recipients).toMatchObject([
    { partner_id: partner.partnerId, deliveries: 0, under_way: 1 },
  ]);
});
