import { PassThrough, type Readable } from 'node:stream';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { fresh } from '../../support/operator-calls.ts';
import { fanOutAll } from '../../support/post.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** Events as NDJSON: one on each line, with one outcome for each line. */

const { house, world, db } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });
const { groupId } = world;

interface Options {
  key?: string | undefined;
  token?: string;
  type?: string;
}

const send = (
  body: string | Readable,
  { key, token = OPERATOR_TOKEN, type = 'application/x-ndjson' }: Options = {},
) =>
  request(`${house.url}/operator/v1/events`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': type,
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body,
  });

const parsed = (text: string): Loose[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const textOf = (lines: readonly (object | string)[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

async function publish(lines: readonly (object | string)[], options: Options = {}): Promise<Loose[]> {
  const { statusCode, headers, body } = await send(textOf(lines), options);
  expect([statusCode, headers['content-type']]).toEqual([202, 'application/x-ndjson; charset=utf-8']);
  return parsed(await body.text());
}

const prescription = (id: string, practice_group_id = groupId) => ({
  object: 'Prescription',
  id,
  practice_group_id,
  event: 'prescription.issued',
});

/** The accepted events of objects whose IDs start like this, in the order of their acceptance. */
const kept = async (prefix: string): Promise<{ id: string; object_id: string; event: string }[]> =>
  (
    await db.query('SELECT id, object_id, event FROM events WHERE starts_with(object_id, $1) ORDER BY no', [
      prefix,
    ])
  ).rows;

const accepted = (index: number) => ({
  index,
  outcome: 'accepted',
  event_id: expect.stringMatching(/^evt_/),
});
const ids = (outcomes: Loose[]) => outcomes.map(({ event_id }) => event_id);

describe('lines of events', () => {
  it('are accepted or refused one by one, in order, and a wrong line never costs its neighbours', async () => {
    const prefix = fresh('mixed');
    const outcomes = await publish([
      prescription(`${prefix}/0`),
      '{"object": "Prescription",',
      '',
      prescription(`${prefix}/3`),
      { ...prescription(`${prefix}/4`), unknown: 1 },
      prescription(`${prefix}/5`, 'no-such-group'),
      prescription(`${prefix}/6`, 'no\nsuch-group'),
      { ...prescription(`${prefix}/7`), padding: 'x'.repeat(70_000) },
      `{"object": "Prescription", "object": "Prescription"}`,
      { events: [prescription(`${prefix}/9`)] },
      '7',
      prescription(`${prefix}/11\0`),
      prescription(`${prefix}/12`),
    ]);
    const refused = (index: number, problem: object) => ({ index, outcome: 'refused', problem });
    const invalid = (...entries: object[]) => ({ error: 'validation_error', entries });
    expect(outcomes).toMatchObject([
      accepted(0),
      refused(1, invalid({ code: 'invalid_json', path: [] })),
      accepted(3),
      refused(4, {
        ...invalid({ code: 'unrecognized_keys', path: ['unknown'] }),
        message: 'The event is not valid. Correct what the entries name, and send it again.',
      }),
      refused(5, { rule: 'practice_group_unknown', path: ['practice_group_id'] }),
      refused(6, { rule: 'practice_group_unknown' }),
      refused(7, { error: 'payload_too_large', message: 'A line has at most 64 KiB.' }),
      refused(8, invalid({ path: ['object'] })),
      refused(9, invalid({ path: ['event'] })),
      refused(10, invalid({ code: 'invalid_type', path: [] })),
      refused(11, invalid({ path: ['id'] })),
      accepted(12),
    ]);
    const stored = await kept(prefix);
    expect(stored.map(({ object_id }) => object_id)).toEqual([0, 3, 12].map((n) => `${prefix}/${n}`));
    expect(stored.map(({ id }) => id)).toEqual(ids(outcomes).filter(Boolean));
  });

  it('say of many wrong lines only so much', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, 0]));
    const lines = Array.from({ length: 60 }, (_, n) => ({ ...prescription(`wrong-${n}`), ...wrong }));
    const outcomes = await publish(lines);
    expect(outcomes).toHaveLength(60);
    for (const { problem } of outcomes) expect((problem.entries ?? []).length).toBeLessThanOrEqual(20);
    expect(outcomes[0]?.problem).toMatchObject({ more_entries: 30 });
  });

  it('may be five thousand: every event is accepted once, in the order of the lines, also of each object', async () => {
    const prefix = fresh('many');
    const lines = Array.from({ length: 5_000 }, (_, n) => ({
      object: 'Appointment',
      id: `${prefix}/${n % 50}`,
      practice_group_id: groupId,
      event: n % 100 < 50 ? 'appointment.confirmed' : 'appointment.cancelled',
    }));
    const outcomes = await publish(lines);
    expect(outcomes).toEqual(lines.map((_, index) => accepted(index)));
    const stored = await kept(prefix);
    expect(stored.map(({ id }) => id)).toEqual(ids(outcomes));
    expect(stored.map(({ object_id, event }) => [object_id, event])).toEqual(
      lines.map(({ id, event }) => [id, event]),
    );
    // Lines that arrive together share a transaction.
    const { rows } = await db.query(
      'SELECT count(DISTINCT xmin::text)::int AS transactions FROM events WHERE starts_with(object_id, $1)',
      [prefix],
    );
    expect(rows[0].transactions).toBeLessThan(500);
    await fanOutAll(house);
    const feed = await db.query(
      `SELECT e.id FROM feed f JOIN events e ON e.no = f.event_no WHERE starts_with(e.object_id, $1) ORDER BY f.position`,
      [prefix],
    );
    expect(feed.rows.map(({ id }) => id)).toEqual(ids(outcomes));
  });

  it('are answered while the caller sends, and no line without a line break is taken', async () => {
    const prefix = fresh('live');
    const body = new PassThrough();
    const answer = send(body);
    body.write(textOf([prescription(`${prefix}/0`)]));
    const { body: outcomes } = await answer;
    const reader = outcomes[Symbol.asyncIterator]();
    expect(parsed(String((await reader.next()).value))).toEqual([accepted(0)]);
    body.write(`${textOf([prescription(`${prefix}/1`)])}${JSON.stringify(prescription(`${prefix}/2`))}`);
    expect(parsed(String((await reader.next()).value))).toEqual([accepted(1)]);
    body.destroy();
    await expect(reader.next()).rejects.toThrow();
    expect((await kept(prefix)).map(({ object_id }) => object_id)).toEqual([`${prefix}/0`, `${prefix}/1`]);
  });

  it('change the EHR status and finish jobs, also beside wrong lines', async () => {
    const { groupId: group } = await makeWorld(house);
    const job = await house.operator('POST', '/write-to-record-jobs', {
      practice_group_id: group,
      resource: 'Letter',
      resource_id: 'l-1',
    });
    const ehr = (health: string, practice_group_id = group) => ({
      object: 'EhrHealthStatus',
      id: practice_group_id,
      practice_group_id,
      event: `ehr.health_status.${health}`,
    });
    const outcomes = await publish([
      ehr('healthy'),
      'no JSON',
      ehr('unhealthy', 'no-such-group'),
      {
        object: 'WriteToRecordEntry',
        id: job.id,
        practice_group_id: group,
        event: 'write-to-record.succeeded',
        resource: 'Letter',
        resource_id: 'l-1',
      },
      ehr('unhealthy'),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'accepted',
      'refused',
      'refused',
      'accepted',
      'accepted',
    ]);
    expect(await house.operator('GET', `/practice-groups/${group}/ehr-health`)).toMatchObject({
      status: 'unhealthy',
    });
    expect((await house.operator('GET', `/write-to-record-jobs/${job.id}`)).status).toBe('succeeded');
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });

  it('are open to the role `source`, and end with a problem when its token is revoked meanwhile', async () => {
    const prefix = fresh('revoked');
    const { token, id } = await house.operator('POST', '/operators', { name: 'Bookings', role: 'source' });
    const body = new PassThrough();
    const answer = send(body, { token });
    body.write(textOf([prescription(`${prefix}/0`)]));
    const { body: outcomes } = await answer;
    const reader = outcomes[Symbol.asyncIterator]();
    expect(parsed(String((await reader.next()).value))).toEqual([accepted(0)]);
    await house.operator('POST', `/operators/${id}/revoke`);
    body.end(textOf([prescription(`${prefix}/1`)]));
    expect(parsed(String((await reader.next()).value))).toMatchObject([
      { problem: { error: 'invalid_credentials' } },
    ]);
    expect(await reader.next()).toMatchObject({ done: true });
    expect(await kept(prefix)).toHaveLength(1);

    const { token: reading } = await house.operator('POST', '/operators', { name: 'Reader', role: 'viewer' });
    expect((await send('', { token: reading })).statusCode).toBe(403);
  });

  it('take nothing from JSON: another content type is answered as before', async () => {
    const prefix = fresh('json');
    const one = JSON.stringify(prescription(`${prefix}/0`));
    const json = await send(one, { type: 'application/json' });
    expect([json.statusCode, await json.body.json()]).toEqual([
      202,
      { event_ids: [expect.stringMatching(/^evt_/)] },
    ]);
    const two = await send(`${one}\n${one}`, { type: 'application/json' });
    expect(two.statusCode).toBe(400);
    const wrong = { events: [prescription(`${prefix}/1`), prescription(`${prefix}/2`, 'no-such-group')] };
    const batch = await send(JSON.stringify(wrong), { type: 'application/json' });
    expect([batch.statusCode, await batch.body.json()]).toMatchObject([
      422,
      { path: ['events', 1, 'practice_group_id'] },
    ]);
    const text = await send(one, { type: 'text/plain' });
    expect([text.statusCode, await text.body.json()]).toMatchObject([
      415,
      { message: expect.stringContaining('application/x-ndjson') },
    ]);
    expect(await kept(prefix)).toHaveLength(1);
    expect(await publish([])).toEqual([]);
  });
});

describe('lines with an Idempotency-Key', () => {
  it('are accepted once each when a broken call is made again, whether or not their outcomes arrived', async () => {
    const prefix = fresh('again');
    const key = fresh('key');
    const lines = Array.from({ length: 1_200 }, (_, n) =>
      n % 100 === 7 ? 'wrong' : prescription(`${prefix}/${n}`),
    );
    const body = new PassThrough();
    const answer = send(body, { key });
    body.write(textOf(lines.slice(0, 700)));
    (await answer).body.on('error', () => {}).resume();
    await expect.poll(async () => (await kept(prefix)).length).toBe(693);
    body.destroy();

    const before = await kept(prefix);
    const outcomes = await publish(lines, { key });
    const stored = await kept(prefix);
    expect(stored.slice(0, 693)).toEqual(before);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(
      lines.map((line) => (line === 'wrong' ? 'refused' : 'accepted')),
    );
    expect(ids(outcomes).filter(Boolean)).toEqual(stored.map(({ id }) => id));
    expect(stored).toHaveLength(1_188);
    expect(await publish(lines, { key })).toEqual(outcomes);
    expect(await kept(prefix)).toEqual(stored);
  });

  it('are accepted once each by calls at the same time', async () => {
    const prefix = fresh('at-once');
    const key = fresh('key');
    const lines = Array.from({ length: 300 }, (_, n) => prescription(`${prefix}/${n}`));
    const all = await Promise.all(Array.from({ length: 4 }, () => publish(lines, { key })));
    for (const outcomes of all) expect(outcomes).toEqual(all[0]);
    expect(await kept(prefix)).toHaveLength(300);
  });

  it('are refused where they differ from the accepted ones, and accepted where a refused one was corrected', async () => {
    const prefix = fresh('differs');
    const key = fresh('key');
    const line = (n: number, group?: string) => prescription(`${prefix}/${n}`, group);
    const first = await publish([line(0), line(1, 'no-such-group'), line(2)], { key });
    expect(first.map(({ outcome }) => outcome)).toEqual(['accepted', 'refused', 'accepted']);
    const again = await publish([line(0), line(1), line(9), line(3)], { key });
    expect(again).toMatchObject([
      first[0] as object,
      accepted(1),
      { index: 2, outcome: 'refused', problem: { error: 'conflict' } },
      accepted(3),
    ]);
    expect((await kept(prefix)).map(({ object_id }) => object_id)).toEqual(
      [0, 2, 1, 3].map((n) => `${prefix}/${n}`),
    );
    // The key of a JSON call is another key.
    const json = await send(JSON.stringify(line(4)), { key, type: 'application/json' });
    expect(json.statusCode).toBe(202);
  });

  it('are refused with `conflict` after an erasure, and their neighbours are not', async () => {
    const prefix = fresh('erased');
    const key = fresh('key');
    const lines = ['a', 'b'].map((name) => prescription(`${prefix}/${name}`));
    const first = await publish(lines, { key });
    await house.operator('POST', '/erasures', {
      practice_group_id: groupId,
      object: 'Prescription',
      object_id: `${prefix}/a`,
    });
    expect(await publish(lines, { key })).toMatchObject([
      { outcome: 'refused', problem: { error: 'conflict' } },
      first[1] as object,
    ]);
  });

  it('400: a key that is none', async () => {
    expect((await send('', { key: 'a b' })).statusCode).toBe(400);
  });
});
