import { describe, expect, it } from 'vitest';
import { type EventName, events } from '../../../src/contract/events.ts';
import { lastEntry } from '../../support/audit.ts';
import { fresh } from '../../support/operator-calls.ts';
import {
  type Answer,
  type Loose,
  makeWorld,
  OPERATOR_TOKEN,
  serviceForTests,
} from '../../support/service.ts';

const { house, world } = await serviceForTests();
const { groupId } = world;

const publish = (body: unknown, headers: Record<string, string> = {}, token = OPERATOR_TOKEN) =>
  house.send('POST', '/operator/v1/events', { token, body, headers });

const confirmed = (more: object = {}) => ({
  object: 'Appointment',
  id: fresh('appointment'),
  practice_group_id: groupId,
  event: 'appointment.confirmed',
  ...more,
});

const read = (id: string) => house.operator('GET', `/events/${id}`);
const kept = async () => (await house.operator('GET', `/events?practice_group_id=${groupId}`)).data;

function entriesOf(answer: Answer): { code: string; path: unknown[] }[] {
  expect(answer.status).toBe(400);
  for (const entry of answer.body.message)
    expect(entry).toEqual({
      code: expect.any(String),
      expected: expect.any(String),
      path: expect.any(Array),
      message: expect.stringMatching(/./),
    });
  return answer.body.message.map(({ code, path }: Loose) => ({ code, path }));
}

const further = {
  none: {},
  failure: { failure_reason: 'The record system did not answer.', code: 'EhrUnreachable' },
  resource: { resource: 'Consultation', resource_id: 'con-1' },
};

describe('publishing', () => {
  it.each(Object.keys(events) as EventName[])('202: %s, kept as it was said', async (event) => {
    const { object, fields } = events[event];
    // In another order than the specification's: receivers get its order.
    const payload = { ...further[fields], event, practice_group_id: groupId, id: fresh('object'), object };
    const answer = await publish(payload);
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ event_ids: [expect.stringMatching(/^evt_[0-9A-Za-z]{25}$/)] });
    const [id] = answer.body.event_ids;
    const found = await read(id);
    expect(found).toEqual({
      id,
      payload,
      source_id: 'opr_first',
      accepted_at: new Date(house.clock.now()).toISOString(),
      test: false,
      deliveries: expect.any(Array),
    });
    const order = ['object', 'id', 'practice_group_id', 'event', ...Object.keys(further[fields])];
    expect(Object.keys(found.payload)).toEqual(order);
  });

  it('202: a thousand at once, in order', async () => {
    const payloads = Array.from({ length: 1_000 }, () => confirmed());
    const answer = await publish({ events: payloads });
    expect(answer.status).toBe(202);
    const ids: string[] = answer.body.event_ids;
    expect(new Set(ids).size).toBe(1_000);
    for (const at of [0, 1, 500, 999]) expect((await read(ids[at] as string)).payload).toEqual(payloads[at]);
    const newest = (await house.operator('GET', '/events?page_size=3')).data;
    expect(newest.map(({ id }: Loose) => id)).toEqual([ids[999], ids[998], ids[997]]);
  });

  it('202: any text is an ID, line breaks, quotes and emoji included', async () => {
    const odd = ['a\nb', "'; DROP TABLE events; --", '💊'.repeat(255), '\\n', '"', '{}', ' ', 'a\u2028b'];
    const { body } = await publish({ events: odd.map((id) => confirmed({ id })) });
    const found = await Promise.all(body.event_ids.map(read));
    expect(found.map(({ payload }) => payload.id)).toEqual(odd);
  });

  it('202: by an operator with the role source, who is named with the event', async () => {
    const { id, token } = await house.operator('POST', '/operators', { name: 'Bookings', role: 'source' });
    const answer = await publish(confirmed(), {}, token);
    expect(answer.status).toBe(202);
    expect((await read(answer.body.event_ids[0])).source_id).toBe(id);
  });

  it('writes no audit entry: the event is the record', async () => {
    const last = await lastEntry(house);
    await publish(confirmed());
    expect(await lastEntry(house)).toBe(last);
  });

  it('takes 2 MiB, where others take 64 KiB, and no more', async () => {
    const reason = 'x'.repeat(2_000);
    const failure = () => confirmed({ event: 'appointment.cancel-failed', failure_reason: reason });
    const large = { events: Array.from({ length: 900 }, failure) };
    expect(JSON.stringify(large).length).toBeGreaterThan(1.8 * 1024 * 1024);
    expect((await publish(large)).status).toBe(202);
    expect((await publish({ events: Array.from({ length: 1_000 }, failure) })).status).toBe(413);
  });
});

describe('a payload that is not as specified', () => {
  it('400, not 500: more problems than fit into a call', async () => {
    const fields = Array.from({ length: 180_000 }, (_, n) => [n.toString(36), 1]);
    const answer = await publish({ events: [], ...Object.fromEntries(fields) });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toHaveLength(10_001);
  });

  it.each<[string, object, { code: string; path: unknown[] }[]]>([
    ['an unknown field', { surprise: 1 }, [{ code: 'unrecognized_keys', path: ['surprise'] }]],
    [
      'a field of another event',
      { resource: 'r', resource_id: 'i' },
      [
        { code: 'unrecognized_keys', path: ['resource'] },
        { code: 'unrecognized_keys', path: ['resource_id'] },
      ],
    ],
    ['an object of another event', { object: 'Patient' }, [{ code: 'invalid_value', path: ['object'] }]],
    ['no object', { object: undefined }, [{ code: 'invalid_value', path: ['object'] }]],
    ['an empty ID', { id: '' }, [{ code: 'too_small', path: ['id'] }]],
    ['a long ID', { id: 'x'.repeat(256) }, [{ code: 'too_big', path: ['id'] }]],
    ['NUL in an ID', { id: 'a\0' }, [{ code: 'invalid_format', path: ['id'] }]],
    ['half a character', { id: '\ud83d' }, [{ code: 'invalid_format', path: ['id'] }]],
    ['no ID', { id: undefined }, [{ code: 'invalid_type', path: ['id'] }]],
    [
      'a group that is no text',
      { practice_group_id: 7 },
      [{ code: 'invalid_type', path: ['practice_group_id'] }],
    ],
    [
      'null for what may be left out',
      { event: 'appointment.booking-failed', failure_reason: null },
      [{ code: 'invalid_type', path: ['failure_reason'] }],
    ],
    [
      'no resource',
      { event: 'write-to-record.failed', object: 'WriteToRecordEntry', resource_id: '' },
      [
        { code: 'invalid_type', path: ['resource'] },
        { code: 'too_small', path: ['resource_id'] },
      ],
    ],
  ])('400: %s, alone and in a batch', async (_what, more, expected) => {
    expect(entriesOf(await publish(confirmed(more)))).toEqual(expected);
    const inBatch = await publish({ events: [confirmed(), confirmed(more), confirmed()] });
    expect(entriesOf(inBatch)).toEqual(
      expected.map(({ code, path }) => ({ code, path: ['events', 1, ...path] })),
    );
  });

  it.each([[{ event: undefined }], [{ event: 'appointment.lost' }], [{ event: 'toString' }], [{ event: 5 }]])(
    '400: %j is one entry that lists the events, whatever else is wrong',
    async (more) => {
      const answer = await publish(confirmed({ ...more, id: 5, surprise: 1 }));
      expect(answer.status).toBe(400);
      expect(answer.body.message).toEqual([
        {
          code: 'invalid_value',
          expected: 'string',
          path: ['event'],
          message: `Must be one of ${Object.keys(events).join(', ')}.`,
        },
      ]);
      const inBatch = await publish({ events: [confirmed(), confirmed(more)] });
      expect(entriesOf(inBatch)).toEqual([{ code: 'invalid_value', path: ['events', 1, 'event'] }]);
    },
  );

  it('400: all problems of a batch are reported together', async () => {
    const answer = await publish({
      events: [confirmed({ foo: 1 }), confirmed(), 'text', confirmed({ event: 'x' }), confirmed({ id: '' })],
      more: true,
    });
    expect(entriesOf(answer)).toEqual([
      { code: 'unrecognized_keys', path: ['events', 0, 'foo'] },
      { code: 'invalid_type', path: ['events', 2] },
      { code: 'invalid_value', path: ['events', 3, 'event'] },
      { code: 'too_small', path: ['events', 4, 'id'] },
      { code: 'unrecognized_keys', path: ['more'] },
    ]);
  });

  it.each([
    [{}, { code: 'invalid_value', path: ['event'] }],
    [{ events: [] }, { code: 'too_small', path: ['events'] }],
    [{ events: 'text' }, { code: 'invalid_type', path: ['events'] }],
    [{ events: {} }, { code: 'invalid_type', path: ['events'] }],
    [[], { code: 'invalid_type', path: [] }],
    ['text', { code: 'invalid_type', path: [] }],
    [null, { code: 'invalid_type', path: [] }],
  ])('400: the body %j', async (body, entry) => {
    const raw = JSON.stringify(body);
    const answer = await house.send('POST', '/operator/v1/events', {
      token: OPERATOR_TOKEN,
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect(entriesOf(answer)).toEqual([entry]);
  });

  it('400: more than a thousand', async () => {
    const answer = await publish({ events: Array.from({ length: 1_001 }, () => confirmed()) });
    expect(entriesOf(answer)).toEqual([{ code: 'too_big', path: ['events'] }]);
  });

  it('refuses a whole batch for one event: nothing is kept', async () => {
    const before = await kept();
    await publish({ events: [confirmed(), confirmed({ surprise: 1 })] });
    await publish({ events: [confirmed(), confirmed({ practice_group_id: 'nowhere' })] });
    expect(await kept()).toEqual(before);
  });
});

describe('an unknown practice group', () => {
  it('422: named, with the place where it stands', async () => {
    const unknown = confirmed({ practice_group_id: 'nowhere' });
    const broken = {
      error: 'business_rule_violation',
      rule: 'practice_group_unknown',
      message: 'There is no practice group nowhere.',
    };
    const alone = await publish(unknown);
    expect(alone.status).toBe(422);
    expect(alone.body).toMatchObject({ ...broken, path: ['practice_group_id'] });
    const inBatch = await publish({ events: [confirmed(), confirmed(), unknown] });
    expect(inBatch.status).toBe(422);
    expect(inBatch.body).toMatchObject({ ...broken, path: ['events', 2, 'practice_group_id'] });
  });
});

describe('what was published', () => {
  it('is listed newest first, by practice group and by event', async () => {
    const { groupId: other } = await makeWorld(house);
    const of = (event: string, object: string) => ({
      object,
      id: fresh('x'),
      practice_group_id: other,
      event,
    });
    const { body } = await publish({
      events: [
        of('prescription.issued', 'Prescription'),
        of('appointment.confirmed', 'Appointment'),
        of('prescription.issued', 'Prescription'),
      ],
    });
    const [first, second, third] = body.event_ids;
    const ids = async (query: string) =>
      (await house.operator('GET', `/events?practice_group_id=${other}${query}`)).data.map(
        ({ id }: Loose) => id,
      );
    expect(await ids('')).toEqual([third, second, first]);
    expect(await ids('&event=prescription.issued')).toEqual([third, first]);
    expect(await ids('&event=patient.added-to-sequence')).toEqual([]);
    const unknown = await house.send('GET', '/operator/v1/events?event=unheard-of', {
      token: OPERATOR_TOKEN,
    });
    expect(entriesOf(unknown)).toEqual([{ code: 'invalid_value', path: ['event'] }]);
  });
});
