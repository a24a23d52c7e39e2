import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../support/answers.ts';
import { practiceItems } from '../../support/practice-items.ts';
import { startReceiver, status } from '../../support/receiver.ts';
import { type Loose, makeKey, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** The sort position of a submission type: partners send whole numbers, the practice software any number, and both read any number. */
const { house, db } = await serviceForTests();
const TYPES = '/v1/care-nav/submission-types';
const ORDERS = [-2_147_483_648, -1.5, 0.1, 2_147_483_646.75, 2_147_483_647];

/** The digest as the manual defines it, computed by the test itself. */
const digest = (item: Loose) =>
  createHash('sha256')
    .update(JSON.stringify(item, (_, value) => (value?.constructor === Object ? sorted(value) : value)))
    .digest('hex');
const sorted = (value: object) =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

async function imported() {
  const items = practiceItems();
  const [group, form, desk, type] = items;
  const types: Loose[] = [...ORDERS, null].map((order, at) => ({ ...type, id: `type-${5 - at}`, order }));
  const all = [group, form, desk, ...types];
  const { outcomes } = await house.operator('POST', '/import', { items: all });
  expect(new Set(outcomes.map(({ outcome }: Loose) => outcome))).toEqual(new Set(['created']));
  const { key } = await makeKey(house, group.id);
  const send = (method: string, path: string, body?: unknown) => {
    house.clock.advance(1_000);
    return house.send(method, path, { key, group: group.id, body });
  };
  return { groupId: group.id, all, types, send };
}

describe('a fraction from the practice software', () => {
  it('is read as it was sent, and sorts between its neighbours on every page', async () => {
    const { send } = await imported();
    const read: unknown[] = [];
    let path = `${TYPES}?page_size=1`;
    for (let cursor: string | null = ''; cursor !== null; path = `${TYPES}?page_size=1&cursor=${cursor}`) {
      const { body } = await send('GET', path);
      read.push(...body.data.map(({ order }: Loose) => order));
      cursor = body.next_cursor;
    }
    expect(read).toEqual([...ORDERS, null]);
  });

  it('is no difference: not when it is imported again, and not when both sides are reconciled', async () => {
    const { groupId, all } = await imported();
    const { outcomes } = await house.operator('POST', '/import', { items: all });
    expect(new Set(outcomes.map(({ outcome }: Loose) => outcome))).toEqual(new Set(['unchanged']));
    const lines = all.map(({ kind, id, practice_group_id, assignee_type, ...fields }) => {
      const of = { practice_group_id, ...(assignee_type && kind === 'assignee' && { assignee_type }) };
      const item = {
        kind,
        id,
        ...of,
        ...(kind !== 'assignee' && assignee_type && { assignee_type }),
        ...fields,
      };
      return JSON.stringify({ kind, id, ...of, digest: digest(item) });
    });
    const { text } = await house.send('POST', `/operator/v1/reconcile?practice_group_id=${groupId}`, {
      token: OPERATOR_TOKEN,
      raw: lines.join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(text).toBe('');
  });

  it('stays when a partner changes another field, alone or together with the order of a neighbour', async () => {
    const { groupId, send } = await imported();
    expect((await send('PATCH', `${TYPES}/type-4`, { title: 'Other' })).body.order).toBe(-1.5);
    // Both are written by one statement, which sets the column for both.
    const [kept, moved] = await Promise.all([
      send('PATCH', `${TYPES}/type-4`, { title: 'Another' }),
      send('PATCH', `${TYPES}/type-3`, { order: 7 }),
    ]);
    expect([kept.body.order, moved.body.order]).toEqual([-1.5, 7]);
    const { rows } = await db.query(
      'SELECT "order" FROM submission_types WHERE practice_group_id = $1 ORDER BY "order"',
      [groupId],
    );
    expect(rows.map(({ order }) => order)).toEqual([
      -2_147_483_648,
      -1.5,
      7,
      2_147_483_646.75,
      2_147_483_647,
      null,
    ]);
  });

  it('is in the change that replaces it: in the feed, and in what the software is asked', async () => {
    const { groupId, send } = await imported();
    const expected = { before: { order: 0.1 }, after: { order: 4 } };
    await send('PATCH', `${TYPES}/type-3`, { order: 4 });
    await expect
      .poll(async () => (await house.operator('GET', `/changes?practice_group_id=${groupId}`)).data)
      .toMatchObject([expected]);
    const software = await startReceiver({ behaviour: status(200) });
    await house.operator('PUT', `/practice-groups/${groupId}/write-through`, { url: software.url });
    await send('PATCH', `${TYPES}/type-4`, { order: 5 });
    expect(software.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { before: { order: -1.5 }, after: { order: 5 } },
    ]);
    await software.close();
  });

  it('400: a partner and an operator send whole numbers only', async () => {
    const { groupId, send } = await imported();
    const problem = [
      { code: 'invalid_type', expected: 'integer', path: ['order'], message: 'Must be an integer.' },
    ];
    expectInvalid(await send('PATCH', `${TYPES}/type-4`, { order: 1.5 }), problem);
    const path = `/operator/v1/practice-groups/${groupId}/submission-types/type-4`;
    expectInvalid(await house.send('PATCH', path, { token: OPERATOR_TOKEN, body: { order: 1.5 } }), problem);
  });
});

describe('an order that cannot be', () => {
  it.each([
    ['2147483647.5', 'too_big', 'Must be at most 2147483647.'],
    ['-2147483648.5', 'too_small', 'Must be at least -2147483648.'],
    ['1e400', 'invalid_type', 'Must be a finite number.'],
    ['"1"', 'invalid_type', 'Must be a number, not a string.'],
  ])('is refused in an import, and its neighbours are taken: %s', async (order, code, message) => {
    const [group, form, desk, type] = practiceItems();
    const item = JSON.stringify({ ...type, order: '?' }).replace('"?"', order);
    const raw = `{"items":[${[group, form, desk].map((one) => JSON.stringify(one)).join()},${item}]}`;
    const answer = await house.send('POST', '/operator/v1/import', { token: OPERATOR_TOKEN, raw });
    expect(answer.body.outcomes.map(({ outcome }: Loose) => outcome)).toEqual([
      'created',
      'created',
      'created',
      'refused',
    ]);
    expect(answer.body.outcomes[3].problem.entries).toEqual([
      { code, expected: 'number', path: ['order'], message },
    ]);
  });

  it('-0 is 0', async () => {
    const [group, form, desk, type] = practiceItems();
    const raw = `{"items":[${[group, form, desk, { ...type, order: '?' }]
      .map((one) => JSON.stringify(one).replace('"?"', '-0'))
      .join()}]}`;
    const send = async () =>
      (await house.send('POST', '/operator/v1/import', { token: OPERATOR_TOKEN, raw })).body.outcomes[3]
        .outcome;
    expect([await send(), await send()]).toEqual(['created', 'unchanged']);
  });
});
