import { Readable } from 'node:stream';
import fc from 'fast-check';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../support/answers.ts';
import { lastEntry } from '../../support/audit.ts';
import { fresh } from '../../support/operator-calls.ts';
import { type Loose, makeKey, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const { house, db } = await serviceForTests();

const importJson = async (items: object[], node = house): Promise<Loose[]> =>
  (await node.operator('POST', '/import', { items })).outcomes;

const send = (body: string | Buffer | Readable, token = OPERATOR_TOKEN) =>
  request(`${house.url}/operator/v1/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body,
  });

const linesOf = (text: string): Loose[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

async function importLines(items: readonly (object | string)[]): Promise<Loose[]> {
  const text = items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join('\n');
  const answer = await send(text);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  return linesOf(await answer.body.text());
}

/** As its JSON is sent: an object of a program's own has another `__proto__`. */
const withProto = (item: object, value: unknown): object =>
  Object.defineProperty({ ...item }, '__proto__', { value, enumerable: true });

const told = (outcomes: Loose[]) => outcomes.map(({ outcome }) => outcome);
const get = (path: string) =>
  house.send('GET', `/operator/v1/practice-groups/${path}`, { token: OPERATOR_TOKEN });

function practice(groupId = fresh('practice'), source_version?: number) {
  const of = { practice_group_id: groupId, source_version };
  return {
    groupId,
    items: [
      { kind: 'practice_group', id: groupId, name: 'Imported', source_version },
      { kind: 'form', id: 'form', title: 'Form', ...of },
      { kind: 'assignee', id: 'desk', assignee_type: 'AdminTeam', name: 'Desk', ...of },
      {
        kind: 'submission_type',
        id: 'type',
        pathway_id: 'p',
        title: 'Type',
        form_id: 'form',
        assignee_id: 'desk',
        assignee_type: 'AdminTeam',
        daily_limit: 5,
        ...of,
      },
    ],
  };
}

describe.each([
  ['a list', (items: object[]) => importJson(items)],
  ['lines', (items: object[]) => importLines(items)],
] as const)('importing %s', (_how, take) => {
  it('makes a whole practice in one call, changes what is said otherwise, and does nothing the second time', async () => {
    const { groupId, items } = practice();
    const outcomes = await take(items);
    expect(outcomes).toEqual(items.map(({ id }, index) => ({ index, id, outcome: 'created' })));
    expect((await get(groupId)).body).toMatchObject({
      name: 'Imported',
      timezone: 'Europe/London',
      opening_hours: { mon: [['08:00', '18:30']] },
    });
    expect((await get(`${groupId}/forms/form`)).body.title).toBe('Form');
    expect((await get(`${groupId}/assignees/AdminTeam/desk`)).body.name).toBe('Desk');
    const type = await get(`${groupId}/submission-types/type`);
    expect(type.body).toMatchObject({
      title: 'Type',
      form_id: 'form',
      daily_limit: 5,
      default_priority: 'medium',
    });

    house.clock.advance(1_000);
    const last = await lastEntry(house);
    expect(told(await take(items))).toEqual(items.map(() => 'unchanged'));
    expect(await lastEntry(house)).toBe(last);
    expect(await get(`${groupId}/submission-types/type`)).toMatchObject({ body: type.body });

    const [, form, , whole] = items as [object, object, object, object];
    expect(
      told(
        await take([
          { ...form, title: 'Other' },
          { ...whole, daily_limit: undefined },
        ]),
      ),
    ).toEqual(['updated', 'updated']);
    const changed = await get(`${groupId}/submission-types/type`);
    // An item is whole: what is left out is at its default.
    expect(changed.body).toEqual({
      ...type.body,
      daily_limit: null,
      updated_at: new Date(house.clock.now()).toISOString(),
    });
    expect([type.headers.etag, changed.headers.etag]).toEqual(['"1"', '"2"']);
    const { data } = await house.operator('GET', `/audit?practice_group_id=${groupId}`);
    expect(data).toMatchObject([
      {
        action: 'practice_group.import',
        actor: { id: 'opr_first' },
        subject: { type: 'practice_group', id: groupId },
        before: [
          { kind: 'form', id: 'form', title: 'Form' },
          { kind: 'submission_type', id: 'type', daily_limit: 5 },
        ],
        after: [
          { kind: 'form', id: 'form', title: 'Other' },
          { kind: 'submission_type', id: 'type', daily_limit: null },
        ],
      },
      {
        before: [],
        after: items.map(({ kind, id }) => ({ kind, id, digest: expect.stringMatching(/^[0-9a-f]{64}$/) })),
      },
    ]);
    expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
  });

  it('never lets an older version take the place of a newer one, also after a removal', async () => {
    const { groupId, items } = practice(undefined, 5);
    const [group, form, desk, type] = items as [object, object, object, object];
    const older = (item: object, more: object) => ({ ...item, source_version: 4, ...more });
    const gone = (kind: string, id: string, source_version: number) => ({
      kind,
      id,
      practice_group_id: groupId,
      source_version,
      delete: true,
    });
    expect(told(await take(items))).toEqual(items.map(() => 'created'));
    expect(
      told(
        await take([
          older(group, { name: 'Old' }),
          older(form, { title: 'Old' }),
          older(desk, { name: 'Old' }),
          older(type, { title: 'Old' }),
          gone('submission_type', 'type', 4),
          gone('form', 'form', 4),
        ]),
      ),
    ).toEqual(Array(6).fill('stale'));
    // The same version again is no older one: it puts right what was changed here.
    await house.operator('PATCH', `/practice-groups/${groupId}/submission-types/type`, { title: 'By hand' });
    expect(told(await take([type]))).toEqual(['updated']);
    // A newer one that says the same leaves no trace but itself.
    expect(
      told(
        await take([
          { ...type, source_version: 7 },
          { ...type, source_version: 6, title: 'x' },
        ]),
      ),
    ).toEqual(['unchanged', 'stale']);
    expect(told(await take([gone('submission_type', 'type', 8), gone('form', 'form', 6)]))).toEqual([
      'deleted',
      'deleted',
    ]);
    expect(
      told(
        await take([
          { ...type, source_version: 7 },
          { ...form, source_version: 5 },
        ]),
      ),
    ).toEqual(['stale', 'stale']);
    expect((await get(`${groupId}/submission-types/type`)).status).toBe(404);
    // What was never here can be gone, too.
    expect(told(await take([gone('form', 'never', 9), { ...form, id: 'never', source_version: 8 }]))).toEqual(
      ['unchanged', 'stale'],
    );
    expect(
      told(
        await take([
          { ...form, source_version: 6 },
          { ...type, source_version: 8 },
        ]),
      ),
    ).toEqual(['created', 'created']);
    // The fourth version of that name: made, changed, removed, made.
    expect((await get(`${groupId}/submission-types/type`)).headers.etag).toBe('"4"');
  });

  it('refuses an item for itself, says why, and takes the others', async () => {
    const { groupId, items } = practice();
    const of = { practice_group_id: groupId };
    const outcomes = await take([
      ...items,
      { kind: 'form', id: 'x', practice_group_id: 'no-such-group', title: 'x' },
      { kind: 'submission_type', id: 'x', pathway_id: 'p', title: 'x', form_id: 'none', ...of },
      { kind: 'submission_type', id: 'x', pathway_id: 'p', title: 'x', assignee_id: 'desk', ...of },
      { kind: 'form', id: 'form', delete: true, ...of },
      { kind: 'practice_group', id: groupId, delete: true },
      { kind: 'form', id: 'bad', titel: 'x', ...of },
      { kind: 'robot', id: 'r2' },
      { kind: 'form', id: 'late', title: 'Late', ...of },
    ]);
    expect(outcomes.slice(4)).toMatchObject([
      { index: 4, id: 'x', outcome: 'refused', problem: { rule: 'practice_group_unknown' } },
      {
        outcome: 'refused',
        problem: { error: 'business_rule_violation', rule: 'form_unknown', path: ['form_id'] },
      },
      { outcome: 'refused', problem: { rule: 'assignee_pair' } },
      {
        outcome: 'refused',
        problem: { error: 'conflict', used_by: [{ type: 'submission_type', count: 1, ids: ['type'] }] },
      },
      { outcome: 'refused', problem: { error: 'conflict' } },
      {
        outcome: 'refused',
        id: 'bad',
        problem: {
          error: 'validation_error',
          entries: [
            { path: ['title'], message: 'Required.' },
            { code: 'unrecognized_keys', path: ['titel'] },
          ],
        },
      },
      { outcome: 'refused', id: 'r2', problem: { error: 'validation_error', entries: [{ path: ['kind'] }] } },
      { index: 11, id: 'late', outcome: 'created' },
    ]);
  });

  it('bounds what it says of wrong items, however many fields are wrong and however long their names and values', async () => {
    const { groupId } = practice();
    const long = 'x'.repeat(1_000);
    const wrong = (n: number, size = '') => ({
      kind: 'submission_type',
      id: `t${n}`,
      practice_group_id: groupId,
      ...Object.fromEntries(Array.from({ length: 50 }, (_, field) => [`unknown_${field}${size}`, 'value'])),
    });
    const many = Array.from({ length: 1_000 }, (_, n) => wrong(n));
    const inLines = Array.from({ length: 1_000 }, (_, n) => wrong(n, long));
    for (const [outcomes, bytes] of [
      [await importJson(many), 600_000],
      [await importLines(inLines), 800_000],
    ] as const) {
      expect(outcomes.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(
        many.map(({ id }) => `${id} refused`),
      );
      expect(JSON.stringify(outcomes).length).toBeLessThan(bytes);
      expect(JSON.stringify(outcomes)).not.toMatch(/x{101}/);
      const listed = outcomes.map(({ problem }) => problem.entries?.length ?? 0);
      expect(Math.max(...listed)).toBe(20);
      expect(listed.reduce((sum, count) => sum + count, 0)).toBe(1_000);
      // 50 unknown fields, and two that are missing.
      for (const [at, { problem }] of outcomes.entries())
        expect((listed[at] ?? 0) + problem.more_entries).toBe(52);
    }
    const [huge] = await importJson([{ kind: 'form', id: long, practice_group_id: long, title: long }]);
    expect(huge).toMatchObject({ id: null, outcome: 'refused' });
    expect(JSON.stringify(huge)).not.toMatch(/x{101}/);
    const [line] = await importLines([`{"kind": "form", ${`"${long}": 1, `.repeat(60)}"id": "f"}`]);
    expect(JSON.stringify(line)).not.toMatch(/x{101}/);
  });

  it('refuses an item with a field named __proto__ as with any that is not known', async () => {
    const { groupId, items } = practice();
    const of = { practice_group_id: groupId };
    const outcomes = await take([
      ...items,
      withProto({ kind: 'form', id: 'odd', title: 'Odd', ...of }, { title: 'Polluted' }),
      withProto({ kind: 'form', id: 'form', delete: true, ...of }, null),
      withProto({ id: 'kindless' }, { kind: 'form', title: 'x', ...of }),
    ]);
    expect(outcomes.slice(4)).toMatchObject([
      {
        outcome: 'refused',
        id: 'odd',
        problem: {
          error: 'validation_error',
          entries: [{ code: 'unrecognized_keys', path: ['__proto__'] }],
        },
      },
      { outcome: 'refused', id: 'form', problem: { entries: [{ path: ['__proto__'] }] } },
      { outcome: 'refused', id: 'kindless', problem: { entries: [{ path: ['kind'] }] } },
    ]);
    expect((await get(`${groupId}/forms/odd`)).status).toBe(404);
  });

  it('goes by the order of the items: a practice comes and goes within one call', async () => {
    const { groupId, items } = practice();
    const gone = items.toReversed().map(({ kind, id, ...rest }) => ({
      kind,
      id,
      ...(kind !== 'practice_group' && { practice_group_id: groupId }),
      ...('assignee_type' in rest && kind === 'assignee' && { assignee_type: 'AdminTeam' }),
      delete: true,
    }));
    expect(told(await take([...items, ...gone, ...items]))).toEqual([
      ...items.map(() => 'created'),
      ...items.map(() => 'deleted'),
      ...items.map(() => 'created'),
    ]);
    expect((await get(`${groupId}/submission-types/type`)).status).toBe(200);
  });
});

it('400: a list whose items are no objects, each with its place', async () => {
  const items = [1, null, [], practice().items[0]];
  const answer = await house.send('POST', '/operator/v1/import', { token: OPERATOR_TOKEN, body: { items } });
  const problem = { code: 'invalid_type', expected: 'object' };
  expectInvalid(
    answer,
    [0, 1, 2].map((at) => ({ ...problem, path: ['items', at] })),
  );
  expect(answer.text).toContain('Must be an object, not a number.');
});

describe('lines', () => {
  it('are each answered for, in order, whatever they hold; blank ones count and are passed over', async () => {
    const { groupId, items } = practice();
    const form = { kind: 'form', practice_group_id: groupId, title: 'F' };
    const outcomes = await importLines([
      items[0] as object,
      '',
      '{"kind": "form", ',
      `{"kind":"form","id":"twice","id":"other","practice_group_id":"${groupId}","title":"x"}`,
      JSON.stringify({ ...form, id: 'long', title: 'x'.repeat(70_000) }),
      ' \r',
      `${JSON.stringify({ ...form, id: 'crlf' })}\r`,
      '[]',
      'null',
    ]);
    expect(outcomes.map(({ index, id, outcome, problem }) => [index, id, outcome, problem?.error])).toEqual([
      [0, groupId, 'created', undefined],
      [2, null, 'refused', 'validation_error'],
      [3, null, 'refused', 'validation_error'],
      [4, null, 'refused', 'payload_too_large'],
      [6, 'crlf', 'created', undefined],
      [7, null, 'refused', 'validation_error'],
      [8, null, 'refused', 'validation_error'],
    ]);
  });

  it('come as they like: byte by byte, and cut within a character', async () => {
    const { items } = practice();
    const bytes = Buffer.from(
      items
        .map((item) => JSON.stringify({ ...item, title: undefined, name: 'Ünï 💊' }))
        .slice(0, 1)
        .join('\n'),
    );
    const answer = await send(Readable.from([...bytes].map((byte) => Buffer.from([byte]))));
    expect(linesOf(await answer.body.text())).toMatchObject([{ outcome: 'created' }]);
    expect((await get(items[0]?.id as string)).body.name).toBe('Ünï 💊');
  });

  it('401, 403: of a stranger or another role are not read; 415 compressed', async () => {
    const endless = () =>
      Readable.from(
        (function* () {
          for (let i = 0; i < 1_000; i++) yield `${JSON.stringify(practice().items[0])}\n`.repeat(10);
        })(),
      );
    const { token } = await house.operator('POST', '/operators', { name: 'Viewer', role: 'viewer' });
    const before = await db.query('SELECT count(*) FROM practice_groups');
    expect((await send(endless(), 'pto_none')).statusCode).toBe(401);
    expect((await send(endless(), token)).statusCode).toBe(403);
    expect((await db.query('SELECT count(*) FROM practice_groups')).rows).toEqual(before.rows);
    const packed = await house.send('POST', '/operator/v1/import', {
      token: OPERATOR_TOKEN,
      raw: 'x',
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
    });
    expect(packed.status).toBe(415);
    // It takes either, and says both.
    expect(packed.body.message).toMatch(/application\/json, .*application\/x-ndjson/);
  });

  it('by the ten thousand: more than any body may have, answered while they are sent', async () => {
    const { groupId, items } = practice();
    await importJson([items[0] as object]);
    const count = 10_000;
    const line = (at: number) =>
      `${JSON.stringify({ kind: 'form', id: `f${at}`, practice_group_id: groupId, title: 'x'.repeat(200) })}\n`;
    let goOn = () => {};
    const answered = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const body = Readable.from(
      (async function* () {
        for (let at = 0; at < count / 2; at++) yield line(at);
        // Nothing more before something was answered.
        await answered;
        for (let at = count / 2; at < count; at++) yield line(at);
      })(),
    );
    const answer = await send(body);
    let text = '';
    for await (const part of answer.body) {
      goOn();
      text += part;
    }
    const outcomes = linesOf(text);
    expect(outcomes.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(new Set(told(outcomes))).toEqual(new Set(['created']));
    const { rows } = await db.query('SELECT count(*)::int AS n FROM forms WHERE practice_group_id = $1', [
      groupId,
    ]);
    expect(rows).toEqual([{ n: count }]);
  });

  it('that end early are taken as far as they were whole, and no further', async () => {
    const { groupId, items } = practice();
    const whole = items.map((item) => `${JSON.stringify(item)}\n`).join('');
    const cut = JSON.stringify({ kind: 'form', id: 'cut', practice_group_id: groupId, title: 'Cut' });
    const body = new Readable({ read() {} });
    body.push(`${whole}${cut}`);
    const answer = await send(body).catch(() => undefined);
    body.destroy(new Error('gone'));
    await answer?.body.text().catch(() => {});
    await expect.poll(async () => (await get(`${groupId}/submission-types/type`)).status).toBe(200);
    expect((await get(`${groupId}/forms/cut`)).status).toBe(404);
  });
});

describe('from two callers at once', () => {
  it('what somebody else makes while it is decided on is changed then, and the rest of its thousand is made', async () => {
    const { groupId, items } = practice();
    await importJson([items[0] as object]);
    await db.query('BEGIN');
    await db.query(
      `INSERT INTO forms (practice_group_id, id, title, created_at, updated_at) VALUES ($1, 'form', 'Made meanwhile', now(), now())`,
      [groupId],
    );
    const importing = importJson(items.slice(1) as object[]);
    const watcher = await superuser(house.databaseUrl);
    await expect
      .poll(async () => (await watcher.query(`SELECT FROM pg_locks WHERE NOT granted`)).rowCount)
      .toBeGreaterThan(0);
    await db.query('COMMIT');
    expect(told((await importing) as Loose[])).toEqual(['updated', 'created', 'created']);
    expect((await get(`${groupId}/forms/form`)).body.title).toBe('Form');
  });

  it('the end is that of the highest version, whatever is sent when, on two nodes, in lists and lines', async () => {
    const other = await startHarness({ databaseUrl: house.databaseUrl, clock: house.clock });
    const change = fc.record({
      what: fc.constantFrom('practice_group', 'form', 'assignee', 'submission_type'),
      id: fc.constantFrom('a', 'b'),
      removed: fc.boolean(),
      text: fc.constantFrom('one', 'two', 'three'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 2, maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 4 }),
        async (changes, random, callers) => {
          const groupId = fresh('race');
          const base = { kind: 'practice_group', id: groupId, name: 'Base', source_version: 0 };
          await importJson([base]);
          const items = changes.map(({ what, id, removed, text }, at) => {
            const version = { source_version: at + 1 };
            // The practice group is only changed: what is in it would keep it.
            if (what === 'practice_group') return { kind: what, id: groupId, name: text, ...version };
            const key = {
              kind: what,
              id,
              practice_group_id: groupId,
              ...(what === 'assignee' && { assignee_type: 'Admin' }),
            };
            if (removed) return { ...key, ...version, delete: true };
            if (what === 'submission_type') return { ...key, ...version, pathway_id: 'p', title: text };
            return { ...key, ...version, [what === 'form' ? 'title' : 'name']: text };
          });
          const shuffled = items
            .map((item) => ({ item, at: random.next().value as number }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ item }) => item);
          // Some are sent twice, as after a lost answer.
          const sent = [...shuffled, ...shuffled.slice(0, 5)];
          const parts = Array.from({ length: callers }, (_, caller) =>
            sent.filter((_item, at) => at % callers === caller),
          );
          await Promise.all(
            parts.map(async (part, caller) => {
              for (let at = 0; at < part.length; at += 3) {
                const some = part.slice(at, at + 3);
                if (caller % 2) await importJson(some, other);
                else await importLines(some);
              }
            }),
          );
          const highest = new Map<string, Loose>();
          for (const item of items) highest.set(`${item.kind} ${item.id}`, item);
          for (const item of highest.values()) {
            const path = {
              practice_group: groupId,
              form: `${groupId}/forms/${item.id}`,
              assignee: `${groupId}/assignees/Admin/${item.id}`,
              submission_type: `${groupId}/submission-types/${item.id}`,
            }[item.kind as 'form'];
            const { status, body } = await get(path);
            expect([status, status === 200 && (body.title ?? body.name)]).toEqual(
              item.delete ? [404, false] : [200, item.title ?? item.name],
            );
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('a partner’s update and an import of the same type both have their effect, one after the other', async () => {
    const { groupId, items } = practice();
    await importJson(items);
    const { key } = await makeKey(house, groupId);
    const type = items[3] as object;
    for (let round = 0; round < 10; round++) {
      const [patched] = await Promise.all([
        house.send('PATCH', '/v1/care-nav/submission-types/type', {
          key,
          group: groupId,
          body: { title: `P${round}` },
        }),
        importJson([{ ...type, title: `I${round}` }]),
      ]);
      expect(patched.status).toBe(200);
      expect([`P${round}`, `I${round}`]).toContain(
        (await get(`${groupId}/submission-types/type`)).body.title,
      );
    }
  });
});

it('401 in the last line: whoever is revoked meanwhile goes on with no line that was not done', async () => {
  const { id, token } = await house.operator('POST', '/operators', { name: 'Leaving', role: 'admin' });
  const prefix = fresh('leaving');
  const thousand = (from: number) =>
    Array.from({ length: 1_000 }, (_, n) => {
      const item = { kind: 'practice_group', id: `${prefix}-${from + n}`, name: 'Leaving' };
      return `${JSON.stringify(item)}\n`;
    }).join('');
  const count = async () =>
    (await db.query('SELECT count(*)::int AS n FROM practice_groups WHERE id LIKE $1', [`${prefix}-%`]))
      .rows[0].n;
  const body = new Readable({ read() {} });
  body.push(thousand(0));
  const answering = send(body, token);
  await expect.poll(count).toBe(1_000);
  await house.operator('POST', `/operators/${id}/revoke`);
  body.push(thousand(1_000));
  body.push(null);
  const outcomes = linesOf(await (await answering).body.text());
  expect(outcomes).toHaveLength(1_001);
  expect(outcomes.at(-1)).toEqual({
    problem: expect.objectContaining({ error: 'invalid_credentials' }),
  });
  expect(await count()).toBe(1_000);
});
