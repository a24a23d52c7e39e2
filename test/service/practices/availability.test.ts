import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { fresh } from '../../support/operator-calls.ts';
import { type Loose, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house, world } = await serviceForTests();

const ask = (groupId: string, body: unknown = {}, token = OPERATOR_TOKEN) =>
  house.send('POST', `/operator/v1/practice-groups/${groupId}/submission-types/availability`, {
    token,
    body,
  });

const newGroup = async (settings: object = {}): Promise<string> =>
  (await house.operator('POST', '/practice-groups', { id: fresh('practice'), name: 'P', ...settings })).id;

const newType = async (groupId: string, settings: object = {}): Promise<string> => {
  const body = { id: fresh('kind'), pathway_id: 'p', title: 'T', ...settings };
  return (await house.operator('POST', `/practice-groups/${groupId}/submission-types`, body)).id;
};

const submit = (groupId: string, submission_type_id: string) =>
  house.operator('POST', `/practice-groups/${groupId}/form-submissions`, { submission_type_id });

describe('availability', () => {
  it('200: tells of every type of the practice, in the order of their list, why it is not allowed and what is left', async () => {
    house.clock.set('2026-11-16T12:00:00.000Z');
    const groupId = await newGroup();
    const free = await newType(groupId, { order: 2 });
    const closed = await newType(groupId, {
      order: 1,
      suspended: true,
      in_hours: false,
      daily_limit: 1,
    });
    const capped = await newType(groupId, { daily_limit: 3 });
    await submit(groupId, closed);
    await submit(groupId, closed);
    await submit(groupId, capped);
    expect((await ask(groupId)).body).toEqual({
      data: [
        {
          submission_type_id: closed,
          allowed: false,
          reasons: ['over_limit', 'suspended', 'outside_hours'],
          remaining_today: 0,
        },
        { submission_type_id: free, allowed: true, reasons: [], remaining_today: null },
        { submission_type_id: capped, allowed: true, reasons: [], remaining_today: 2 },
      ],
    });
  });

  it('200: without a body, of a practice without types, and of those that are named alone', async () => {
    const groupId = await newGroup();
    expect((await ask(groupId, undefined)).body).toEqual({ data: [] });
    const [one] = [await newType(groupId), await newType(groupId)];
    const { body } = await ask(groupId, { submission_type_ids: [one, one] });
    expect(body.data.map(({ submission_type_id }: Loose) => submission_type_id)).toEqual([one]);
    expect((await ask(groupId, { submission_type_ids: [] })).body).toEqual({ data: [] });
  });

  it('200: may be asked by a source, which sends the forms', async () => {
    const { token } = await house.operator('POST', '/operators', {
      name: 'Practice software',
      role: 'source',
    });
    expect((await ask(world.groupId, {}, token)).status).toBe(200);
  });

  it('404, 422: of a practice group or a type that does not exist, which it names', async () => {
    expectProblem(await ask('no-such-group'), 404, 'not_found');
    const other = await newGroup();
    const theirs = await newType(other);
    const answer = await ask(world.groupId, { submission_type_ids: ['type-1', theirs, 'none'] });
    expect(answer.body).toMatchObject({
      statusCode: 422,
      rule: 'submission_types_unknown',
      path: ['submission_type_ids'],
      message: `This practice group has no submission type ${theirs}, none. Check the IDs.`,
    });
  });

  it('400: with more than a thousand types', async () => {
    const submission_type_ids = Array.from({ length: 1_001 }, (_, i) => `type-${i}`);
    expect((await ask(world.groupId, { submission_type_ids })).status).toBe(400);
  });

  it('agrees with what is then recorded: what it allows is not marked, and what it does not allow is, for the same reasons', async () => {
    // Each with moments around the changes of its clocks.
    const places = {
      'Europe/London': [
        '2026-03-29T00:59:00Z',
        '2026-03-29T01:00:00Z',
        '2026-10-25T00:30:00Z',
        '2026-10-25T01:30:00Z',
      ],
      'America/Santiago': [
        '2026-09-06T03:59:00Z',
        '2026-09-06T04:00:00Z',
        '2026-04-05T02:30:00Z',
        '2026-04-05T03:30:00Z',
      ],
      'Pacific/Auckland': [
        '2026-09-26T13:59:00Z',
        '2026-09-26T14:00:00Z',
        '2026-04-04T13:30:00Z',
        '2026-04-04T14:30:00Z',
      ],
      'Pacific/Kiritimati': ['2026-06-10T09:59:00Z', '2026-06-10T10:00:00Z'],
      'Pacific/Pago_Pago': ['2026-06-10T10:59:00Z', '2026-06-10T11:00:00Z'],
    };
    const place = fc
      .constantFrom(...(Object.keys(places) as (keyof typeof places)[]))
      .chain((timezone) => fc.tuple(fc.constant(timezone), fc.constantFrom(...places[timezone])));
    const clockTime = fc
      .integer({ min: 0, max: 1_440 })
      .map((m) => `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`);
    const day = fc.array(
      fc.tuple(clockTime, clockTime).filter(([from, to]) => from < to),
      { maxLength: 3 },
    );
    const hours = fc.record(
      { mon: day, tue: day, wed: day, thu: day, fri: day, sat: day, sun: day },
      { requiredKeys: [] },
    );
    const type = fc.record({
      suspended: fc.boolean(),
      in_hours: fc.boolean(),
      out_of_hours: fc.boolean(),
      daily_limit: fc.option(fc.nat(2), { nil: null }),
      forms: fc.nat(3),
      yesterday: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(
        place,
        hours,
        fc.array(type, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: -90, max: 90 }),
        async ([timezone, moment], opening_hours, types, minutes) => {
          const at = Date.parse(moment) + minutes * 60_000;
          const groupId = await newGroup({ timezone, opening_hours });
          const ids: string[] = [];
          for (const { forms, yesterday, ...settings } of types) {
            const id = await newType(groupId, settings);
            ids.push(id);
            house.clock.set(new Date(at - 25 * 3_600_000).toISOString());
            for (let i = 0; i < yesterday; i++) await submit(groupId, id);
            house.clock.set(new Date(at).toISOString());
            for (let i = 0; i < forms; i++) await submit(groupId, id);
          }
          const { data } = (await ask(groupId)).body;
          expect(data).toHaveLength(ids.length);
          for (const { submission_type_id, allowed, reasons, remaining_today } of data) {
            const form = await submit(groupId, submission_type_id);
            const marks = (['over_limit', 'suspended', 'outside_hours'] as const).filter(
              (mark) => form[mark],
            );
            expect(reasons).toEqual(marks);
            expect(allowed).toBe(marks.length === 0);
            const { daily_limit } = types[ids.indexOf(submission_type_id)] as (typeof types)[number];
            if (daily_limit === null) expect(remaining_today).toBeNull();
            else expect(remaining_today === 0).toBe(form.over_limit);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
