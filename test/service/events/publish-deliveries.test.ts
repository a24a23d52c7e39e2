import { expect, it } from 'vitest';
import { deliveryId } from '../../../src/domain/ids.ts';
import { makeWorld, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startHarness();
const db = await superuser(house.databaseUrl);

async function publishOne(groupId: string, node = house): Promise<string> {
  const { event_ids } = await node.operator('POST', '/events', {
    object: 'Patient',
    id: 'patient-1',
    practice_group_id: groupId,
    event: 'patient.added-to-sequence',
  });
  return event_ids[0];
}

it('an event tells who has it', async () => {
  const { groupId, partnerId } = await makeWorld(house);
  // Webhooks of another practice group, so that nobody but this test puts the event into their queues.
  const { groupId: elsewhere } = await makeWorld(house);
  const eventId = await publishOne(groupId);
  const states = ['waiting', 'due', 'delivered', 'failed'];
  for (const [at, state] of states.entries())
    await db.query(
      `WITH made AS (
         INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at)
         VALUES ($1, $2, $3, 'https://example.org', '{}', 'paused', now(), now()) RETURNING no)
       INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
       SELECT made.no, $4, e.no, e.object_hash, $5, now() FROM made, events e WHERE e.id = $6`,
      [`wh_${at}`, partnerId, elsewhere, 40 + at, state, eventId],
    );
  const { deliveries, accepted_at } = await house.operator('GET', `/events/${eventId}`);
  const id = (webhook: string, sequence: number) => deliveryId(webhook, sequence, Date.parse(accepted_at));
  expect(deliveries).toEqual([
    { id: id('wh_0', 40), webhook_id: 'wh_0', status: 'waiting' },
    { id: id('wh_1', 41), webhook_id: 'wh_1', status: 'pending' },
    { id: id('wh_2', 42), webhook_id: 'wh_2', status: 'delivered' },
    { id: id('wh_3', 43), webhook_id: 'wh_3', status: 'failed' },
  ]);
});

it('whoever delivers is told when an event is there', async () => {
  const { groupId } = await makeWorld(house);
  await db.query('LISTEN porter_events');
  const told = new Promise((resolve) => db.once('notification', ({ channel }) => resolve(channel)));
  // One that delivers need not be told of what it accepts.
  const door = await startHarness({ databaseUrl: house.databaseUrl, env: { PORTER_ROLE: 'api' } });
  await publishOne(groupId, door);
  expect(await told).toBe('porter_events');
});

it('the columns say what the payload says, and events about one object share a hash', async () => {
  const { groupId } = await makeWorld(house);
  const named = (object: string, id: string, event: string) => ({
    object,
    id,
    practice_group_id: groupId,
    event,
  });
  const payloads = [
    named('Patient', 'a\nb', 'patient.added-to-sequence'),
    named('Appointment', 'a\nb', 'appointment.confirmed'),
    named('Appointment', 'a\nb', 'appointment.cancelled'),
  ];
  const { event_ids } = await house.operator('POST', '/events', { events: payloads });
  const { rows } = await db.query('SELECT * FROM events WHERE id = ANY ($1) ORDER BY no', [event_ids]);
  expect(rows).toMatchObject(
    payloads.map((payload, at) => ({
      id: event_ids[at],
      practice_group_id: groupId,
      event: payload.event,
      object_id: payload.id,
      payload: JSON.stringify(payload),
      only_webhook_no: null,
    })),
  );
  const [patient, first, second] = rows.map(({ object_hash }) => object_hash);
  expect(first).toBe(second);
  expect(first).not.toBe(patient);
});
