import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fresh } from '../../support/operator-calls.ts';
import { makeWorld, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** Events that come one by one, at the same time: they share a transaction, and nothing else. */

const { house, world, db } = await serviceForTests();
const { groupId } = world;

const prescription = (id: string, practice_group_id = groupId) => ({
  object: 'Prescription',
  id,
  practice_group_id,
  event: 'prescription.issued',
});

const publish = (body: unknown, key?: string, at = house) =>
  at.send('POST', '/operator/v1/events', {
    token: OPERATOR_TOKEN,
    body,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });

const ofObjects = async (prefix: string) =>
  (
    await db.query<{ object_id: string; xmin: string; id: string }>(
      'SELECT id, object_id, xmin FROM events WHERE starts_with(object_id, $1)',
      [prefix],
    )
  ).rows;

/** Nothing is accepted until `meanwhile` is over: what comes in that time waits. */
async function whileHeld<T>(meanwhile: (waiting: () => Promise<number>) => Promise<T>): Promise<T> {
  await db.query('BEGIN; LOCK TABLE events IN EXCLUSIVE MODE');
  try {
    const blocked = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'events'::regclass";
    return await meanwhile(async () => (await db.query(blocked)).rowCount ?? 0);
  } finally {
    await db.query('COMMIT');
  }
}

it('422 for a practice group whose ID has a line break, also after the ID of a practice group', async () => {
  const prefix = fresh('break');
  for (const group of [`${groupId}\nno-such`, `no-such\n${groupId}`, `${groupId}\n${groupId}`])
    expect((await publish(prescription(prefix, group))).status).toBe(422);
  expect(await ofObjects(prefix)).toEqual([]);
});

it('shares a transaction among what comes at the same time', async () => {
  const prefix = fresh('shared');
  const { app } = house.service;
  const accepted = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      app.events.submit({
        id: `evt_${prefix}_${n}`,
        payload: {
          object: 'Prescription',
          id: `${prefix}/${n}`,
          practice_group_id: groupId,
          event: 'prescription.issued',
        },
        sourceId: 'opr_first',
        traceparent: undefined,
        keyed: undefined,
      }),
    ),
  );
  expect(accepted).toEqual(accepted.map(() => ({ outcome: 'accepted' })));
  const kept = await ofObjects(prefix);
  expect(kept).toHaveLength(60);
  expect(new Set(kept.map(({ xmin }) => xmin)).size).toBe(1);
});

it('tells each of sixty concurrent calls of its own event', async () => {
  const prefix = fresh('told');
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => publish(prescription(`${prefix}/${n}`))),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  const told = answers.map(({ body }, n) => [`${prefix}/${n}`, ...body.event_ids]);
  expect(told.sort()).toEqual((await ofObjects(prefix)).map(({ object_id, id }) => [object_id, id]).sort());
});

it('answers 202 only after the commit', async () => {
  const id = fresh('late');
  let answered = false;
  const answer = await whileHeld(async (waiting) => {
    const call = publish(prescription(id)).finally(() => {
      answered = true;
    });
    await expect.poll(waiting).toBeGreaterThan(0);
    expect(answered).toBe(false);
    return { call };
  });
  expect((await answer.call).status).toBe(202);
  expect(await ofObjects(id)).toHaveLength(1);
});

it('takes one key once, on two nodes and from a dozen calls at once', async () => {
  const other = await startHarness({ databaseUrl: house.databaseUrl });
  const [id, key] = [fresh('once'), fresh('key')];
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) => publish(prescription(id), key, n % 2 ? other : house)),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
  expect(await ofObjects(id)).toHaveLength(1);
});

it('accepts its neighbours when somebody else has the key of a call, and stands still', async () => {
  const [prefix, key] = [fresh('still'), fresh('key')];
  await db.query('BEGIN');
  await db.query(
    `INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at) VALUES ('opr_first', $1, '', '{}', now())`,
    [key],
  );
  const { app } = house.service;
  // Of one moment, so that they are in one batch.
  const submit = (id: string, keyed?: { key: string; bodyHash: Buffer; answer: { event_ids: string[] } }) =>
    app.events.submit({
      id: `evt_${prefix}_${id}`,
      payload: {
        object: 'Prescription',
        id: `${prefix}/${id}`,
        practice_group_id: groupId,
        event: 'prescription.issued',
      },
      sourceId: 'opr_first',
      traceparent: undefined,
      keyed,
    });
  const keep = (name: string) => ({
    key: name,
    bodyHash: Buffer.from('00', 'hex'),
    answer: { event_ids: [] },
  });
  const waiting = submit('waits', keep(key));
  const neighbours = [submit('plain'), submit('keyed', keep(`${key}-other`))];
  expect(await Promise.allSettled(neighbours)).toEqual(
    neighbours.map(() => ({ status: 'fulfilled', value: { outcome: 'accepted' } })),
  );
  await db.query('ROLLBACK');
  expect(await waiting).toEqual({ outcome: 'accepted' });
  expect(await ofObjects(prefix)).toHaveLength(3);
});

it('accepts an event without a key while two wait for keys that somebody else has', async () => {
  const [prefix, keys] = [fresh('waits'), [fresh('key'), fresh('key')]];
  const other = await superuser(house.databaseUrl);
  await other.query('BEGIN');
  await other.query(
    `INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at)
     SELECT 'opr_first', key, '', '{}', now() FROM unnest($1::text[]) AS key`,
    [keys],
  );
  const waiting = `SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, 'accept_') > 0`;
  const held: ReturnType<typeof publish>[] = [];
  for (const key of keys) {
    held.push(publish(prescription(`${prefix}/${key}`), key));
    await expect.poll(async () => (await db.query(waiting)).rowCount).toBe(held.length);
  }
  expect((await publish(prescription(`${prefix}/free`))).status).toBe(202);
  expect(await ofObjects(prefix)).toHaveLength(1);
  await other.query('ROLLBACK');
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([202, 202]);
});

it('never lets one call spoil its neighbours, whatever they are', async () => {
  const { groupId: otherGroup } = await makeWorld(house);
  const call = fc.record({
    group: fc.constantFrom(groupId, otherGroup, 'nobody'),
    object: fc.constantFrom('a', 'b\nc', 'd\\"\u2028'),
    key: fc.constantFrom(undefined, 'k1', 'k2', 'k3'),
    isValid: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 24 }), async (calls) => {
      const round = fresh('round');
      const bodies = calls.map(({ group, object, isValid }) =>
        isValid ? prescription(`${round}/${object}`, group) : { object: 'Prescription' },
      );
      const answers = await Promise.all(
        calls.map(({ key }, n) => publish(bodies[n], key && `${round}-${key}`)),
      );
      const kept = new Map((await ofObjects(round)).map(({ id, object_id }) => [id, object_id]));
      const events = answers.flatMap(({ status, body }, n) => {
        const { group, isValid, key, object } = calls[n] as (typeof calls)[number];
        if (!isValid) expect(status).toBe(400);
        else if (group === 'nobody') expect([422, 409, 202]).toContain(status);
        else if (key === undefined) expect(status).toBe(202);
        else expect([202, 409]).toContain(status);
        if (group === 'nobody' && key === undefined && isValid) expect(status).toBe(422);
        if (status !== 202) return [];
        expect(kept.get(body.event_ids[0])).toBe(`${round}/${object}`);
        return body.event_ids as string[];
      });
      // Every event was told to somebody; each key accepted at most one.
      expect(new Set(events)).toEqual(new Set(kept.keys()));
      for (const key of ['k1', 'k2', 'k3']) {
        const accepted = answers.filter(({ status }, n) => status === 202 && calls[n]?.key === key);
        expect(new Set(accepted.map(({ text }) => text)).size).toBeLessThanOrEqual(1);
        const first = accepted.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
        expect(first).toHaveLength(accepted.length === 0 ? 0 : 1);
      }
    }),
    { numRuns: 40 },
  );
});
