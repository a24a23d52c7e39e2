import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { practiceItems } from '../../support/practice-items.ts';
import { type Loose, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house } = await serviceForTests();
const send = (lines: readonly (object | string)[], query = '') =>
  house.send('POST', `/operator/v1/reconcile${query}`, {
    token: OPERATOR_TOKEN,
    raw: lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });

async function reconcile(lines: readonly (object | string)[], query = ''): Promise<Loose[]> {
  const answer = await send(lines, query);
  expect(answer.status).toBe(200);
  return answer.text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The definition in the manual, in code of its own. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const object = value as Record<string, unknown>;
  return `{${Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(object[name])}`)
    .join(',')}}`;
};
const digest = (item: object) => createHash('sha256').update(canonical(item)).digest('hex');
const keyOf = ({ kind, id, practice_group_id, assignee_type }: Loose) => ({
  kind,
  id,
  practice_group_id,
  ...(kind === 'assignee' && { assignee_type }),
});
const digested = (item: Loose) => ({ ...keyOf(item), digest: digest(item) });

describe('the digest', () => {
  it('of the example in the manual is what it says', () => {
    const page = readFileSync(
      new URL('../../../docs/operating/import-and-reconcile.md', import.meta.url),
      'utf8',
    );
    const [, item = '', text = '', hex = ''] =
      /The item `(.*?)` has[\s\S]*?printf '%s' '(.*?)'[\s\S]*?([0-9a-f]{64})/.exec(page) ?? [];
    expect(canonical(JSON.parse(item))).toBe(text);
    expect(digest(JSON.parse(item))).toBe(hex);
  });
});

describe('reconciling', () => {
  it('finds no difference in what was imported, whichever the kind', async () => {
    const items = practiceItems();
    await house.operator('POST', '/import', { items });
    expect(await reconcile(items.map(digested), `?practice_group_id=${items[0].id}`)).toEqual([]);
  });

  it('tells what differs, what is missing here and what is missing there, with what Porter has on request', async () => {
    const items = practiceItems();
    const groupId = items[0].id;
    const [group, form, desk, type] = items;
    await house.operator('POST', '/import', { items: [group, { ...form, source_version: 4 }, desk, type] });
    const changed = { ...type, title: 'Other' };
    const unknown = { kind: 'form', id: 'unknown', practice_group_id: groupId, title: 'x' };
    const query = `?practice_group_id=${groupId}`;
    const sent = [group, changed, unknown].map(digested);
    expect(await reconcile(sent, query)).toEqual([
      { ...keyOf(changed), difference: 'differs' },
      { ...keyOf(unknown), difference: 'missing_here' },
      { ...keyOf(form), difference: 'missing_there' },
      { ...keyOf(desk), difference: 'missing_there' },
    ]);
    expect(await reconcile(sent, `${query}&include=items`)).toMatchObject([
      { difference: 'differs', item: type },
      { difference: 'missing_here' },
      { difference: 'missing_there', item: { ...form, source_version: 4 } },
      { difference: 'missing_there', item: desk },
    ]);
    // What Porter tells is what an import takes.
    const told = await reconcile([], `${query}&include=items`);
    const { outcomes } = await house.operator('POST', '/import', { items: told.map(({ item }) => item) });
    expect(outcomes.map(({ outcome }: Loose) => outcome)).toEqual(Array(4).fill('unchanged'));
  });

  it('compares everything without a practice group, and leaves out what was made meanwhile', async () => {
    const items = practiceItems();
    await house.operator('POST', '/import', { items });
    const all = await reconcile([]);
    expect(
      all.filter(({ practice_group_id, id }) => [practice_group_id, id].includes(items[0].id)),
    ).toHaveLength(4);
    house.clock.advance(-60_000);
    expect(await reconcile([], `?practice_group_id=${items[0].id}`)).toEqual([]);
    house.clock.advance(60_000);
  });

  it('answers for a line that cannot be read, and goes on', async () => {
    const items = practiceItems();
    await house.operator('POST', '/import', { items });
    const [group, form, desk, type] = items.map(digested);
    const told = await reconcile(
      [
        '{',
        group as object,
        { ...form, digest: 'x' },
        form as object,
        desk as object,
        type as object,
        digested(practiceItems()[1]),
      ],
      `?practice_group_id=${items[0].id}`,
    );
    expect(told).toMatchObject([
      { index: 0, problem: { error: 'validation_error' } },
      { index: 2, problem: { entries: [{ path: ['digest'] }] } },
      { index: 6, problem: { entries: [{ path: ['practice_group_id'] }] } },
    ]);
  });

  it('400, 415: with a query that is not known, and what is no NDJSON', async () => {
    expect((await send([], '?kind=form')).status).toBe(400);
    const path = '/operator/v1/reconcile';
    expect((await house.send('POST', path, { token: OPERATOR_TOKEN, body: {} })).status).toBe(415);
  });

  it('compares with nothing when there is no body, whose type nobody need name', async () => {
    const items = practiceItems();
    await house.operator('POST', '/import', { items });
    const path = `/operator/v1/reconcile?practice_group_id=${items[0].id}`;
    const { status, text } = await house.send('POST', path, { token: OPERATOR_TOKEN });
    expect(status).toBe(200);
    expect(text.match(/"missing_there"/g)).toHaveLength(items.length);
  });

  it('goes through 20,000 items, in pages, both ways', async () => {
    const [group] = practiceItems();
    const forms = Array.from({ length: 20_000 }, (_, at) => ({
      kind: 'form',
      id: `form ${at}`,
      practice_group_id: group.id,
      title: 'x',
    }));
    const done = await house.send('POST', '/operator/v1/import', {
      token: OPERATOR_TOKEN,
      raw: [group, ...forms].map((item) => JSON.stringify(item)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(done.text.match(/"created"/g)).toHaveLength(20_001);
    const query = `?practice_group_id=${group.id}`;
    const named = [group, ...forms.slice(0, 15_000)].map(digested);
    const told = await reconcile(named, query);
    expect(told).toHaveLength(5_000);
    expect(new Set(told.map(({ difference }) => difference))).toEqual(new Set(['missing_there']));
    expect(new Set(told.map(({ id }) => id)).size).toBe(5_000);
  });
});

it('401 in the last line: whoever is revoked meanwhile is told of no more differences', async () => {
  const { id, token } = await house.operator('POST', '/operators', { name: 'Leaving', role: 'admin' });
  const items = practiceItems();
  await house.operator('POST', '/import', { items });
  const body = new Readable({ read() {} });
  const thousand = Array.from({ length: 1_000 }, (_, n) => ({
    kind: 'practice_group',
    id: `unknown-${n}`,
    digest: digest({}),
  }));
  body.push(thousand.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const answer = await request(`${house.url}/operator/v1/reconcile?include=items`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body,
  });
  const reading = answer.body[Symbol.asyncIterator]();
  let text = String((await reading.next()).value);
  await house.operator('POST', `/operators/${id}/revoke`);
  body.push(null);
  for (let next = await reading.next(); !next.done; next = await reading.next()) text += String(next.value);
  const told: Loose[] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told.at(-1)).toEqual({ problem: expect.objectContaining({ error: 'invalid_credentials' }) });
  expect(new Set(told.slice(0, -1).map(({ difference }) => difference))).toEqual(new Set(['missing_here']));
});
