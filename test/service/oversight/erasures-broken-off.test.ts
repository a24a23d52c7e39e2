import { expect, it } from 'vitest';
import { freePort, startPorter, until } from '../../support/porter-process.ts';
import { newPartner, publish } from '../../support/post.ts';
import { ok, startReceiver } from '../../support/receiver.ts';
import { createUpToDateDatabase, type Harness, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** An erasure is many transactions. One that is broken off between two of them goes on with the next call, and forgets nobody. */

const ID = 'NHS-943-476-5919';
const MASTER_KEY = Buffer.alloc(32, 'm').toString('base64');

/** A partner that was sent two events about the object; `between`: so many others lie between these. */
async function told(house: Harness, between = 0) {
  const receiver = await startReceiver({ behaviour: ok });
  const partner = await newPartner(house);
  const { groupId } = partner;
  await partner.call('POST', '/v1/webhooks', { url: receiver.url, event_types: ['appointment.confirmed'] });
  const [older] = await publish(house, groupId, ['appointment.confirmed', ID]);
  for (let left = between; left > 0; left -= 1_000)
    await publish(house, groupId, ...Array.from({ length: 1_000 }, () => 'prescription.issued' as const));
  await publish(house, groupId, ['appointment.confirmed', ID]);
  await partner.send('GET', `/v1/nothing/${ID}`);
  await house.service.app.refusals.flush();
  const db = await superuser(house.databaseUrl);
  const delivered = async () => (await db.query("SELECT FROM deliveries WHERE state = 'delivered'")).rowCount;
  await expect.poll(delivered).toBe(2);
  const body = { practice_group_id: groupId, object: 'Appointment', object_id: ID };
  return { ...partner, db, older, body };
}

const createErasure = (house: Harness, body: object) =>
  house.send('POST', '/operator/v1/erasures', { token: OPERATOR_TOKEN, body });

it.each([
  ['the second stretch of its events', 'UPDATE ON events', 'OLD.id = $older', 5_000],
  ['the refused calls', 'UPDATE ON refused_requests', 'true', 0],
  ['the last step', 'UPDATE ON erasures', 'NEW.object_hash IS NULL', 0],
])(
  'fails at %s: the call made again goes on with it, and names whoever had been told before',
  async (_where, what, when, between) => {
    const house = await startHarness();
    const { db, older, body, groupId, partnerId } = await told(house, between);
    await db.query(
      `CREATE FUNCTION pg_temp.breaks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$;
     CREATE TRIGGER breaks BEFORE ${what} FOR EACH ROW WHEN (${when.replace('$older', `'${older}'`)})
       EXECUTE FUNCTION pg_temp.breaks()`,
    );
    expect((await createErasure(house, body)).status).toBe(500);
    const list = async () => (await house.operator('GET', `/erasures?practice_group_id=${groupId}`)).data;
    const [begun, ...others] = await list();
    expect(begun).toMatchObject({ finished: false, recipients: [{ partner_id: partnerId }] });
    expect(others).toEqual([]);
    await db.query(`DROP TRIGGER breaks ON ${what.split(' ').at(-1)}`);

    const { body: erasure } = await createErasure(house, body);
    expect(erasure).toMatchObject({
      id: begun.id,
      created_at: begun.created_at,
      finished: true,
      erased: { events: 2, deliveries: 2, refused_requests: 1 },
      recipients: [{ partner_id: partnerId, deliveries: 2 }],
    });
    expect(await list()).toEqual([erasure]);
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
    const { rows } = await db.query('SELECT FROM erasures WHERE object_hash IS NOT NULL');
    expect(rows).toEqual([]);
    // What is finished is not gone on with.
    expect((await createErasure(house, body)).body).toMatchObject({ erased: { events: 0 }, recipients: [] });
  },
);

it.each([
  ['the refused calls', 'refused_requests', 'refused_requests'],
  ['the access log', 'access_log', 'access_log_entries'],
])(
  'is not finished while what it heard of waits to be written to %s: that would be written afterwards',
  async (_where, table, erased) => {
    const house = await startHarness();
    const { groupId, send } = await newPartner(house);
    const forms = `/practice-groups/${groupId}/form-submissions`;
    await house.operator('POST', forms, { submission_type_id: 'type-1', id: ID });
    const db = await superuser(house.databaseUrl);
    await db.query(
      `CREATE FUNCTION pg_temp.late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'late' USING ERRCODE = 'lock_not_available'; END $$;
       CREATE TRIGGER late BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION pg_temp.late()`,
    );
    await send('GET', `/v1/nothing/${ID}`);
    await house.operator('GET', `${forms}/${ID}`);
    const body = { practice_group_id: groupId, object: 'FormSubmission', object_id: ID };
    expect((await createErasure(house, body)).status).toBe(503);
    await db.query(`DROP TRIGGER late ON ${table}`);

    expect((await createErasure(house, body)).body).toMatchObject({
      finished: true,
      erased: { [erased]: 1 },
    });
    await house.stop();
    expect((await db.query(`SELECT FROM ${table} AS one WHERE one::text LIKE '%${ID}%'`)).rowCount).toBe(0);
  },
);

it('kill -9 between two of its steps: another node goes on with it, and names whoever had been told before', async () => {
  const databaseUrl = await createUpToDateDatabase();
  const env = { PORTER_MASTER_KEY: MASTER_KEY };
  const house = await startHarness({ databaseUrl, env });
  const { db, body, partnerId } = await told(house);
  const porter = await startPorter(await freePort(), {
    ...env,
    DATABASE_URL: databaseUrl,
    PORTER_ROLE: 'api',
  });
  await db.query('BEGIN; LOCK TABLE refused_requests');
  const broken = fetch(`${porter.url}/operator/v1/erasures`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => 'broken');
  await until(
    'the events are erased',
    async () => (await db.query('SELECT FROM events WHERE erased_by IS NOT NULL')).rowCount === 2,
  );
  porter.process.kill('SIGKILL');
  expect(await broken).toBe('broken');
  await db.query('ROLLBACK');

  expect((await createErasure(house, body)).body).toMatchObject({
    finished: true,
    erased: { events: 2, refused_requests: 1 },
    recipients: [{ partner_id: partnerId, deliveries: 2 }],
  });
});

it('the same call twice at once is one erasure, and both answers name whoever had been told', async () => {
  const house = await startHarness();
  const { body, partnerId } = await told(house);
  const answers = await Promise.all([createErasure(house, body), createErasure(house, body)]);
  expect(new Set(answers.map(({ body: { id } }) => id)).size).toBe(1);
  for (const { body: erasure } of answers)
    expect(erasure).toMatchObject({
      erased: { events: 2, deliveries: 2, refused_requests: 1 },
      recipients: [{ partner_id: partnerId, deliveries: 2 }],
    });
});
