import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.ts';
import { fresh } from '../../support/operator-calls.ts';
import { makeKey, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const house = await startHarness();

interface Practice {
  groupId: string;
  key: string;
}

async function practiceIn(timezone: string, opening_hours?: object): Promise<Practice> {
  const groupId = fresh('practice');
  const hours = opening_hours && { opening_hours };
  await house.operator('POST', '/practice-groups', { id: groupId, name: 'P', timezone, ...hours });
  const { key } = await makeKey(house, groupId);
  return { groupId, key };
}

async function newType({ groupId }: Practice, settings: object): Promise<string> {
  const body = { id: fresh('kind'), pathway_id: 'p', title: 'T', ...settings };
  return (await house.operator('POST', `/practice-groups/${groupId}/submission-types`, body)).id;
}

const submit = async ({ groupId }: Practice, submission_type_id: string) =>
  (
    await house.send('POST', `/operator/v1/practice-groups/${groupId}/form-submissions`, {
      token: OPERATOR_TOKEN,
      body: { submission_type_id },
    })
  ).body;

const countSeen = async ({ groupId: group, key }: Practice, typeId: string) =>
  (await house.send('PATCH', `/v1/care-nav/submission-types/${typeId}`, { key, group, body: {} })).body
    .forms_submitted_today;

const justBefore = (moment: string) => new Date(Date.parse(moment) - 1).toISOString();
const hoursBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 3_600_000;

describe('the day that a form counts towards', () => {
  // Each day with its neighbours, its first moment, the first moment of the next, and its length in hours.
  it.each([
    [
      'Europe/London',
      ['2026-10-24', '2026-10-25', '2026-10-26'],
      '2026-10-24T23:00:00.000Z',
      '2026-10-26T00:00:00.000Z',
      25,
    ],
    [
      'Europe/London',
      ['2026-03-28', '2026-03-29', '2026-03-30'],
      '2026-03-29T00:00:00.000Z',
      '2026-03-29T23:00:00.000Z',
      23,
    ],
    [
      'Europe/London',
      ['2026-12-31', '2027-01-01', '2027-01-02'],
      '2027-01-01T00:00:00.000Z',
      '2027-01-02T00:00:00.000Z',
      24,
    ],
    [
      'Europe/London',
      ['2028-02-28', '2028-02-29', '2028-03-01'],
      '2028-02-29T00:00:00.000Z',
      '2028-03-01T00:00:00.000Z',
      24,
    ],
    [
      'Pacific/Auckland',
      ['2026-09-26', '2026-09-27', '2026-09-28'],
      '2026-09-26T12:00:00.000Z',
      '2026-09-27T11:00:00.000Z',
      23,
    ],
    [
      'Pacific/Auckland',
      ['2026-04-04', '2026-04-05', '2026-04-06'],
      '2026-04-04T11:00:00.000Z',
      '2026-04-05T12:00:00.000Z',
      25,
    ],
    [
      'America/St_Johns',
      ['2026-03-07', '2026-03-08', '2026-03-09'],
      '2026-03-08T03:30:00.000Z',
      '2026-03-09T02:30:00.000Z',
      23,
    ],
    [
      'America/St_Johns',
      ['2026-10-31', '2026-11-01', '2026-11-02'],
      '2026-11-01T02:30:00.000Z',
      '2026-11-02T03:30:00.000Z',
      25,
    ],
    [
      'Asia/Kathmandu',
      ['2026-06-09', '2026-06-10', '2026-06-11'],
      '2026-06-09T18:15:00.000Z',
      '2026-06-10T18:15:00.000Z',
      24,
    ],
    // The clocks go forward at midnight: this day begins at one o'clock.
    [
      'America/Santiago',
      ['2026-09-05', '2026-09-06', '2026-09-07'],
      '2026-09-06T04:00:00.000Z',
      '2026-09-07T03:00:00.000Z',
      23,
    ],
  ] as const)(
    '%s %j runs from local midnight to local midnight, to the millisecond',
    async (zone, days, from, to, hours) => {
      expect(hoursBetween(from, to)).toBe(hours);
      const practice = await practiceIn(zone);
      const type = await newType(practice, { daily_limit: 1 });
      const closed = { over_limit: true };

      house.clock.set(justBefore(from));
      expect(await submit(practice, type)).toMatchObject({
        local_day: days[0],
        submitted_at: justBefore(from),
        over_limit: false,
      });
      expect(await submit(practice, type)).toMatchObject({ local_day: days[0], ...closed });
      expect(await countSeen(practice, type)).toBe(2);

      house.clock.set(from);
      expect(await countSeen(practice, type)).toBe(0);
      expect(await submit(practice, type)).toMatchObject({
        local_day: days[1],
        submitted_at: from,
        over_limit: false,
      });
      expect(await submit(practice, type)).toMatchObject(closed);

      house.clock.set(justBefore(to));
      expect(await countSeen(practice, type)).toBe(2);
      expect(await submit(practice, type)).toMatchObject(closed);

      house.clock.set(to);
      expect(await countSeen(practice, type)).toBe(0);
      expect(await submit(practice, type)).toMatchObject({ local_day: days[2], over_limit: false });
    },
  );

  it('is each group’s own: the same moment counts for different days in different places', async () => {
    house.clock.set('2026-06-10T11:30:00.000Z');
    const days: Record<string, string> = {};
    for (const zone of ['Pacific/Kiritimati', 'Europe/London', 'Pacific/Pago_Pago', 'Pacific/Auckland']) {
      const practice = await practiceIn(zone);
      days[zone] = (await submit(practice, await newType(practice, {}))).local_day;
    }
    expect(days).toEqual({
      'Pacific/Kiritimati': '2026-06-11',
      'Europe/London': '2026-06-10',
      'Pacific/Pago_Pago': '2026-06-10',
      'Pacific/Auckland': '2026-06-10',
    });
    house.clock.set('2026-06-10T10:30:00.000Z');
    const early = await practiceIn('Pacific/Pago_Pago');
    expect((await submit(early, await newType(early, {}))).local_day).toBe('2026-06-09');
  });

  it('is the one that every view of the type counts, also where it is tomorrow already', async () => {
    const practice = await practiceIn('Pacific/Auckland');
    const type = await newType(practice, {});
    house.clock.set('2026-06-10T13:00:00.000Z');
    expect((await submit(practice, type)).local_day).toBe('2026-06-11');
    const partner = { key: practice.key, group: practice.groupId };
    const types = `/practice-groups/${practice.groupId}/submission-types`;
    const views = [
      (await house.send('GET', `/v1/care-nav/submission-types/${type}`, partner)).body,
      (await house.send('GET', '/v1/care-nav/submission-types', partner)).body.data[0],
      await house.operator('GET', `${types}/${type}`),
      (await house.operator('GET', types)).data[0],
    ];
    expect(views.map(({ forms_submitted_today }) => forms_submitted_today)).toEqual([1, 1, 1, 1]);
  });

  it('follows a change of time zone at once; what was counted stays where it was counted', async () => {
    house.clock.set('2026-06-10T23:30:00.000Z');
    const practice = await practiceIn('Europe/London');
    const type = await newType(practice, {});
    expect((await submit(practice, type)).local_day).toBe('2026-06-11');
    await house.operator('PATCH', `/practice-groups/${practice.groupId}`, { timezone: 'America/St_Johns' });
    expect(await countSeen(practice, type)).toBe(0);
    expect((await submit(practice, type)).local_day).toBe('2026-06-10');
    await house.operator('PATCH', `/practice-groups/${practice.groupId}`, { timezone: 'Europe/London' });
    expect(await countSeen(practice, type)).toBe(1);
  });

  it('and the recorded moment always agree, even when time passes while the form is taken', async () => {
    /** Every look at this clock costs seven milliseconds. */
    class TickingClock extends ManualClock {
      override now(): number {
        this.advance(7);
        return super.now();
      }
    }
    const clock = new TickingClock('2026-06-09T22:00:00.000Z');
    const ticking = await startHarness({ clock });
    await ticking.operator('POST', '/practice-groups', { id: 'ticking', name: 'P' });
    await ticking.operator('POST', '/practice-groups/ticking/submission-types', {
      id: 'type',
      pathway_id: 'p',
      title: 'T',
    });
    const days = new Set<string>();
    for (let ahead = 1; ahead < 60; ahead++) {
      clock.set(new Date(Date.parse('2026-06-09T23:00:00.000Z') - ahead).toISOString());
      const form = await ticking.operator('POST', '/practice-groups/ticking/form-submissions', {
        submission_type_id: 'type',
      });
      // London is an hour ahead of UTC in June.
      const local = new Date(Date.parse(form.submitted_at) + 3_600_000).toISOString();
      expect(form.local_day).toBe(local.slice(0, 10));
      days.add(form.local_day);
    }
    expect(days).toEqual(new Set(['2026-06-09', '2026-06-10']));
  });
});

describe('the hours of a submission type', () => {
  /** What an in-hours type, an out-of-hours type, one that takes both and one that takes neither say at a moment. */
  async function taken(practice: Practice, types: string[], moment: string): Promise<boolean[]> {
    house.clock.set(moment);
    const said: boolean[] = [];
    for (const type of types) {
      said.push(!(await submit(practice, type)).outside_hours);
    }
    return said;
  }

  const four = async (practice: Practice) => [
    await newType(practice, { in_hours: true, out_of_hours: false }),
    await newType(practice, { in_hours: false, out_of_hours: true }),
    await newType(practice, { in_hours: true, out_of_hours: true }),
    await newType(practice, { in_hours: false, out_of_hours: false }),
  ];
  const open = [true, false, true, false];
  const closed = [false, true, true, false];

  it('are Monday to Friday 08:00 to 18:30 unless the group says otherwise, summer and winter', async () => {
    const practice = await practiceIn('Europe/London');
    const types = await four(practice);
    // Monday 16 November, GMT.
    expect(await taken(practice, types, '2026-11-16T07:59:59.999Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-11-16T08:00:00.000Z')).toEqual(open);
    expect(await taken(practice, types, '2026-11-16T18:29:59.999Z')).toEqual(open);
    expect(await taken(practice, types, '2026-11-16T18:30:00.000Z')).toEqual(closed);
    // Friday 19 June, BST.
    expect(await taken(practice, types, '2026-06-19T06:59:59.999Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-06-19T07:00:00.000Z')).toEqual(open);
    expect(await taken(practice, types, '2026-06-19T17:30:00.000Z')).toEqual(closed);
    // The weekend after, at noon.
    expect(await taken(practice, types, '2026-06-20T11:00:00.000Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-06-21T11:00:00.000Z')).toEqual(closed);
  });

  it('are those that the group says: a lunch break, a day to midnight, a day that is left out', async () => {
    const practice = await practiceIn('Pacific/Auckland', {
      mon: [
        ['09:00', '12:00'],
        ['13:00', '24:00'],
      ],
      tue: [['00:00', '01:00']],
      sun: [],
    });
    const types = await four(practice);
    // Auckland is 12 hours ahead of UTC in June; Monday 15 June 2026.
    expect(await taken(practice, types, '2026-06-14T20:59:59.999Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-06-14T21:00:00.000Z')).toEqual(open);
    expect(await taken(practice, types, '2026-06-14T23:59:59.999Z')).toEqual(open);
    expect(await taken(practice, types, '2026-06-15T00:00:00.000Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-06-15T01:00:00.000Z')).toEqual(open);
    expect(await taken(practice, types, '2026-06-15T11:59:59.999Z')).toEqual(open);
    expect(await taken(practice, types, '2026-06-15T12:59:59.999Z')).toEqual(open);
    expect(await taken(practice, types, '2026-06-15T13:00:00.000Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-06-17T00:00:00.000Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-06-13T22:00:00.000Z')).toEqual(closed);
  });

  it('none at all: always out of hours', async () => {
    const practice = await practiceIn('Europe/London', {});
    expect(await taken(practice, await four(practice), '2026-11-16T12:00:00.000Z')).toEqual(closed);
  });

  it('on the day that the clocks go back, the hour that comes twice is inside both times', async () => {
    const practice = await practiceIn('Europe/London', { sun: [['01:00', '02:00']] });
    const types = await four(practice);
    expect(await taken(practice, types, '2026-10-24T23:59:59.999Z')).toEqual(closed);
    expect(await taken(practice, types, '2026-10-25T00:30:00.000Z')).toEqual(open);
    expect(await taken(practice, types, '2026-10-25T01:30:00.000Z')).toEqual(open);
    expect(await taken(practice, types, '2026-10-25T02:00:00.000Z')).toEqual(closed);
  });

  it('follow a change of the opening hours at once', async () => {
    const practice = await practiceIn('Europe/London', {});
    const types = await four(practice);
    expect(await taken(practice, types, '2026-11-16T12:00:00.000Z')).toEqual(closed);
    await house.operator('PATCH', `/practice-groups/${practice.groupId}`, {
      opening_hours: { mon: [['12:00', '12:01']] },
    });
    expect(await taken(practice, types, '2026-11-16T12:00:00.000Z')).toEqual(open);
    expect(await taken(practice, types, '2026-11-16T12:01:00.000Z')).toEqual(closed);
  });
});
