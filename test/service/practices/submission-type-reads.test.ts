import { beforeAll, describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem, withoutRequestId } from '../../support/answers.ts';
import { type Answer, makeKey, makeWorld, serviceForTests } from '../../support/service.ts';

const LIST = '/v1/care-nav/submission-types';
const { house, world } = await serviceForTests();

const create = (groupId: string, body: Record<string, unknown>) =>
  house.operator('POST', `/practice-groups/${groupId}/submission-types`, {
    pathway_id: 'p',
    title: 'T',
    ...body,
  });

beforeAll(async () => {
  const orders: [string, number | undefined][] = [
    ['c', 2],
    ['a', 2],
    ['z', 0],
    ['b', undefined],
    ['d', 1_000_000],
    ['e', 1],
    ['Upper', undefined],
  ];
  for (const [id, order] of orders)
    await create(world.groupId, { id, ...(order !== undefined && { order }) });
});

const list = (query = '', group = world.groupId, key = world.key): Promise<Answer> => {
  house.clock.advance(1_000);
  return house.send('GET', LIST + query, { key, group });
};
const ids = (answer: Answer): string[] => answer.body.data.map(({ id }: { id: string }) => id);

/** Follows the cursors to the end, and refuses to go round in circles. */
async function walk(size: number): Promise<Answer[]> {
  const pages = [await list(`?page_size=${size}`)];
  for (let next = pages[0]?.body.next_cursor; next !== null; next = pages.at(-1)?.body.next_cursor) {
    expect(pages.length).toBeLessThan(20);
    pages.push(await list(`?page_size=${size}&cursor=${encodeURIComponent(next)}`));
  }
  return pages;
}

describe('GET /v1/care-nav/submission-types', () => {
  it('200: by sort position, those without one last, equal ones by ID', async () => {
    const answer = await list();
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['count', 'data', 'next_cursor']);
    expect(ids(answer).slice(0, 5)).toEqual(['z', 'e', 'a', 'c', 'd']);
    expect(new Set(ids(answer).slice(5))).toEqual(new Set(['Upper', 'b', 'type-1']));
    expect(answer.body.count).toBe(8);
    expect(answer.body.next_cursor).toBeNull();
  });

  it('200: an entry of the list is the record as its own address shows it', async () => {
    const [first] = (await list()).body.data;
    const item = await house.send('GET', `${LIST}/${first.id}`, { key: world.key, group: world.groupId });
    expect(item.body).toEqual(first);
  });

  it.each([1, 2, 3, 7, 8, 9, 100])(
    '200: pages of %d hold everything once, in the same order',
    async (size) => {
      const pages = await walk(size);
      expect(pages.flatMap(ids)).toEqual(ids(await list()));
      for (const page of pages.slice(0, -1)) expect(page.body.count).toBe(size);
      for (const page of pages) expect(page.body.count).toBe(page.body.data.length);
      expect(pages).toHaveLength(Math.ceil(8 / size));
    },
  );

  it('200: 50 on a page unless asked otherwise, 100 at most', async () => {
    const other = await makeWorld(house);
    for (let i = 0; i < 101; i++) await create(other.groupId, { id: `t${i}` });
    expect((await list('', other.groupId, other.key)).body.count).toBe(50);
    const page = await list('?page_size=100', other.groupId, other.key);
    expect(page.body.count).toBe(100);
    expect(page.body.next_cursor).not.toBeNull();
    expectInvalid(await list('?page_size=101', other.groupId, other.key), [
      { code: 'too_big', expected: 'integer', path: ['page_size'] },
    ]);
  });

  it('200: a page goes on after the last entry, although one before it is gone or new', async () => {
    const other = await makeWorld(house);
    for (const [id, order] of [
      ['one', 1],
      ['two', 2],
      ['three', 3],
    ] as const)
      await create(other.groupId, { id, order });
    const first = await list('?page_size=2', other.groupId, other.key);
    expect(ids(first)).toEqual(['one', 'two']);
    await create(other.groupId, { id: 'zero', order: 0 });
    await house.send('PATCH', `${LIST}/two`, {
      key: other.key,
      group: other.groupId,
      body: { order: 1_000 },
    });
    const second = await list(`?page_size=2&cursor=${first.body.next_cursor}`, other.groupId, other.key);
    expect(ids(second)).toEqual(['three', 'two']);
  });

  it('200: only the group acted for, whatever the cursor says', async () => {
    const other = await makeWorld(house);
    const mine = await list('?page_size=1');
    const theirs = await list(`?page_size=100&cursor=${mine.body.next_cursor}`, other.groupId, other.key);
    expect(ids(theirs)).toEqual(['type-1']);
    expect(theirs.body.data[0].title).toBe('Type one');
  });

  it('400: page_size that is no number from 1 to 100', async () => {
    for (const size of ['0', '-1', '1.5', 'x', '', '1e1', '٣', '99999999999999999999'])
      expectInvalid(await list(`?page_size=${encodeURIComponent(size)}`), [
        { expected: 'integer', path: ['page_size'] },
      ]);
  });

  it('400: a cursor that is none of ours', async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const bad = [
      '',
      'x',
      '!!!',
      encode(null),
      encode({}),
      encode([]),
      encode(['a']),
      encode(['a', 1]),
      encode([1]),
      encode([1, 'a', 2]),
      encode([1, '\0']),
      'x'.repeat(1_025),
    ];
    for (const cursor of bad)
      expectInvalid(await list(`?cursor=${encodeURIComponent(cursor)}`), [{ path: ['cursor'] }]);
  });

  it('a cursor with a number that no sort position has is answered, never an internal error', async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const order of [2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])
      expect([200, 400]).toContain((await list(`?cursor=${encode([order, 'a'])}`)).status);
  });

  it('400: all problems of the query together, and unknown parameters', async () => {
    expectInvalid(await list('?page_size=0&cursor=&limit=5'), [
      { path: ['cursor'] },
      { code: 'unrecognized_keys', path: ['limit'] },
      { path: ['page_size'] },
    ]);
  });
});

describe('GET /v1/care-nav/submission-types/{id}', () => {
  it('200: the record with every field, and an ETag', async () => {
    const answer = await house.send('GET', `${LIST}/type-1`, { key: world.key, group: world.groupId });
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBe('"1"');
    expect(answer.body).toEqual({
      id: 'type-1',
      pathway_id: 'pathway-1',
      form_id: null,
      title: 'Type one',
      description: null,
      in_hours: true,
      out_of_hours: true,
      suspended: false,
      external_url: null,
      external_url_name: null,
      type: null,
      default_priority: 'medium',
      daily_limit: null,
      forms_submitted_today: 0,
      patient_eligibility_check: false,
      assignee_id: null,
      assignee_type: null,
      order: null,
      created_at: '2026-11-16T10:00:00.000Z',
      updated_at: '2026-11-16T10:00:00.000Z',
    });
  });

  it("404: another group's record looks byte for byte like one that does not exist", async () => {
    const other = await makeWorld(house);
    await create(other.groupId, { id: 'theirs' });
    const at = (id: string) => house.send('GET', `${LIST}/${id}`, { key: world.key, group: world.groupId });
    const theirs = await at('theirs');
    expectProblem(theirs, 404, 'not_found');
    expect(withoutRequestId(theirs)).toEqual(withoutRequestId(await at('absent')));
  });
});

describe('forms_submitted_today', () => {
  /** Sends a form at a moment and reads the count that partners see, by all three ways to see it. */
  async function countAfterFormAt(groupId: string, key: string, moment: string): Promise<number> {
    house.clock.set(moment);
    await house.operator('POST', `/practice-groups/${groupId}/form-submissions`, {
      submission_type_id: 'type-1',
    });
    return count(groupId, key);
  }
  async function count(groupId: string, key: string): Promise<number> {
    const call = { key, group: groupId };
    const item = await house.send('GET', `${LIST}/type-1`, call);
    const page = await house.send('GET', LIST, call);
    const updated = await house.send('PATCH', `${LIST}/type-1`, { ...call, body: {} });
    const counts = [item.body, page.body.data[0], updated.body].map((body) => body.forms_submitted_today);
    expect(new Set(counts).size).toBe(1);
    return counts[0];
  }

  it('counts a calendar day in the time zone of the group, from midnight to midnight', async () => {
    const { operator } = house;
    await operator('POST', '/practice-groups', { id: 'auckland', name: 'A', timezone: 'Pacific/Auckland' });
    await create('auckland', { id: 'type-1' });
    const { key } = await makeKey(house, 'auckland');
    // Midnight in Auckland is 11:00 UTC in summer.
    expect(await countAfterFormAt('auckland', key, '2026-11-17T10:59:59.999Z')).toBe(1);
    house.clock.set('2026-11-17T11:00:00.000Z');
    expect(await count('auckland', key)).toBe(0);
    expect(await countAfterFormAt('auckland', key, '2026-11-17T11:00:00.000Z')).toBe(1);
    expect(await countAfterFormAt('auckland', key, '2026-11-18T10:59:59.999Z')).toBe(2);
  });

  it('counts through the 23 hours of a spring day and the 25 hours of an autumn day', async () => {
    const { groupId, key } = await makeWorld(house);
    // London, 28 March 2027: 00:00 GMT to 24:00 BST, which is 23:00 UTC.
    expect(await countAfterFormAt(groupId, key, '2027-03-28T00:00:00.000Z')).toBe(1);
    expect(await countAfterFormAt(groupId, key, '2027-03-28T22:59:59.999Z')).toBe(2);
    house.clock.set('2027-03-28T23:00:00.000Z');
    expect(await count(groupId, key)).toBe(0);
    // London, 31 October 2027: 00:00 BST, which is 23:00 UTC the day before, to 24:00 GMT.
    expect(await countAfterFormAt(groupId, key, '2027-10-30T23:00:00.000Z')).toBe(1);
    expect(await countAfterFormAt(groupId, key, '2027-10-31T23:59:59.999Z')).toBe(2);
    house.clock.set('2027-11-01T00:00:00.000Z');
    expect(await count(groupId, key)).toBe(0);
  });

  it('is of the one submission type, and changes neither updated_at nor the ETag', async () => {
    const { groupId, key } = await makeWorld(house);
    await create(groupId, { id: 'other' });
    const before = await house.send('GET', `${LIST}/type-1`, { key, group: groupId });
    house.clock.advance(1_000);
    await house.operator('POST', `/practice-groups/${groupId}/form-submissions`, {
      submission_type_id: 'type-1',
    });
    const after = await house.send('GET', `${LIST}/type-1`, { key, group: groupId });
    expect(after.body).toEqual({ ...before.body, forms_submitted_today: 1 });
    expect(after.headers.etag).toBe(before.headers.etag);
    expect(
      (await house.send('GET', `${LIST}/other`, { key, group: groupId })).body.forms_submitted_today,
    ).toBe(0);
  });
});
