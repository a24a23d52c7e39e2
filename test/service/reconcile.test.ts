import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { porter as run } from '../support/cli.ts';
import { fresh } from '../support/operator-calls.ts';
import { type Loose, OPERATOR_TOKEN, serviceForTests } from '../support/service.ts';

const { house } = await serviceForTests();
const cwd = temporaryFolder();

const porter = (line: string, stdin?: string) =>
  run(line, {
    cwd,
    ...(stdin !== undefined && { stdin }),
    env: { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN },
  });

const file = (name: string, items: readonly object[]) => {
  writeFileSync(join(cwd, name), items.map((item) => `${JSON.stringify(item)}\n`).join(''));
  return name;
};

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

/** Whole items, all fields told. */
function practice(groupId = fresh('practice')): Loose[] {
  const of = { practice_group_id: groupId };
  const hours = ['mon', 'tue', 'wed', 'thu', 'fri'].map((day) => [day, [['08:00', '18:30']]]);
  return [
    {
      kind: 'practice_group',
      id: groupId,
      name: 'Ünï 💊',
      ods_code: null,
      timezone: 'Europe/London',
      address: { line_1: '1 Lane', line_2: null, town: null, county: null, postcode: 'ZZ99 1AA' },
      opening_hours: Object.fromEntries(hours),
    },
    { kind: 'form', id: 'form', title: 'Form', ...of },
    { kind: 'assignee', id: 'desk', assignee_type: 'AdminTeam', name: 'Desk', ...of },
    {
      kind: 'submission_type',
      id: 'type',
      pathway_id: 'p',
      title: 'Type "one"\n',
      description: null,
      in_hours: true,
      out_of_hours: false,
      suspended: false,
      form_id: 'form',
      external_url: null,
      external_url_name: null,
      type: 'admin_request',
      default_priority: 'high',
      daily_limit: 0,
      patient_eligibility_check: false,
      assignee_id: 'desk',
      assignee_type: 'AdminTeam',
      order: 3,
      ...of,
    },
  ];
}

describe('the digest', () => {
  it('of the example in the manual is what it says', () => {
    const page = readFileSync(
      new URL('../../docs/operating/import-and-reconcile.md', import.meta.url),
      'utf8',
    );
    const [, item = '', text = '', hex = ''] =
      /<!-- digest -->[\s\S]*?```json\n([\s\S]*?)```[\s\S]*?```json\n(.*)\n```[\s\S]*?`([0-9a-f]{64})`/.exec(
        page,
      ) ?? [];
    expect(canonical(JSON.parse(item))).toBe(text);
    expect(digest(JSON.parse(item))).toBe(hex);
  });
});

describe('reconciling', () => {
  it('finds no difference in what was imported, whichever the kind', async () => {
    const items = practice();
    await house.operator('POST', '/import', { items });
    expect(await reconcile(items.map(digested), `?practice_group_id=${items[0].id}`)).toEqual([]);
  });

  it('tells what differs, what is missing here and what is missing there, with what Porter has on request', async () => {
    const items = practice();
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
    const items = practice();
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
    const items = practice();
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
        digested(practice()[1]),
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

  it('goes through 20,000 items, in pages, both ways', async () => {
    const [group] = practice();
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

describe('porter import', () => {
  it('sends a file, tells what came of it, and changes nothing the second time', async () => {
    const items = practice();
    const name = file('practice.ndjson', items);
    expect(await porter(`import ${name}`)).toMatchObject({ code: 0, stdout: '4 created.\n' });
    expect((await porter(`import ${name} --json`)).json).toMatchObject({ unchanged: 4, created: 0 });
    expect(await porter('import -', readFileSync(join(cwd, name), 'utf8'))).toMatchObject({
      stdout: '4 unchanged.\n',
    });
  });

  it('tells each refused item with its line, and ends with 1', async () => {
    const items = practice();
    const bad = { kind: 'form', id: 'bad', practice_group_id: items[0].id };
    const { code, stdout, stderr } = await porter(`import ${file('bad.ndjson', [...items, bad])}`);
    expect([code, stdout]).toEqual([1, '4 created, 1 refused.\n']);
    expect(stderr).toContain('Line 5 (bad) is refused: title: Required.');
  });

  it('sends thousands in batches, and goes on from the line that it names after a break', async () => {
    const [group] = practice();
    const forms = Array.from({ length: 2_500 }, (_, at) => ({
      kind: 'form',
      id: `${at}`,
      practice_group_id: group.id,
      title: 'x',
    }));
    const name = file('many.ndjson', [group, ...forms]);
    let calls = 0;
    const breaking: typeof fetch = (input, init) => {
      if (++calls === 2)
        return Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }));
      return fetch(input, init);
    };
    const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
    const broken = await run(`import ${name}`, { cwd, env, fetch: breaking });
    expect([broken.code, broken.stderr]).toEqual([
      3,
      expect.stringContaining('It broke off at line 1001. Run it again with --from-line 1001 to go on.'),
    ]);
    expect(await porter(`import ${name} --from-line 1001`)).toMatchObject({
      code: 0,
      stdout: '1501 created.\n',
    });
  });

  it('says what is wrong with the file', async () => {
    writeFileSync(join(cwd, 'no.ndjson'), '{}\n[1]\n');
    expect((await porter('import no.ndjson')).stderr).toContain('Line 2 is not a JSON object.');
    expect((await porter('import none.ndjson')).stderr).toContain('none.ndjson cannot be read (ENOENT).');
    expect((await porter('import no.ndjson --from-line 0')).code).toBe(2);
  });
});

describe('porter reconcile', () => {
  const other = async () => {
    const items = practice();
    const groupId = items[0].id;
    await house.operator('POST', '/import', { items });
    await house.operator('PATCH', `/practice-groups/${groupId}/submission-types/type`, {
      title: 'By a partner',
    });
    const extra = { kind: 'form', id: 'extra', practice_group_id: groupId, title: 'Extra' };
    const theirs = [items[0], items[1], items[3], extra];
    return { groupId, name: file(`${groupId}.ndjson`, theirs) };
  };
  const titleOf = async (groupId: string) =>
    (await house.operator('GET', `/practice-groups/${groupId}/submission-types/type`)).title;

  it('shows the differences', async () => {
    const { groupId, name } = await other();
    const { code, stdout } = await porter(`reconcile ${name} --group ${groupId}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/differs +submission_type +\S+ +type\n/);
    expect(stdout).toMatch(/missing_here +form +\S+ +extra\n/);
    expect(stdout).toMatch(/missing_there +assignee +\S+ +AdminTeam\/desk\n/);
    expect(stdout).toContain('4 items compared: 1 differ, 1 missing here, 1 missing there.');
  });

  it('takes theirs: imports what differs and what is missing here', async () => {
    const { groupId, name } = await other();
    const { code, stdout, stderr } = await porter(`reconcile ${name} --group ${groupId} --take theirs`);
    expect([code, stdout]).toEqual([0, '1 created, 1 updated.\n']);
    expect(stderr).toContain('What only Porter has stays.');
    expect(await titleOf(groupId)).toBe('Type "one"\n');
  });

  it('takes ours: writes Porter’s side, which the practice software takes over, and then nothing differs', async () => {
    const { groupId, name } = await other();
    const { code, stdout } = await porter(`reconcile ${name} --group ${groupId} --take ours`);
    expect(code).toBe(0);
    const written = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(written).toMatchObject([
      { kind: 'submission_type', id: 'type', title: 'By a partner' },
      { kind: 'form', id: 'extra', delete: true },
      { kind: 'assignee', id: 'desk', name: 'Desk' },
    ]);
    const theirs = new Map<string, Loose>();
    const lines = readFileSync(join(cwd, name), 'utf8').split('\n').filter(Boolean);
    for (const item of [...lines.map((line) => JSON.parse(line)), ...written])
      theirs.set(`${item.kind} ${item.id}`, item);
    const after = file(
      'after.ndjson',
      [...theirs.values()].filter((item) => !item.delete),
    );
    expect((await porter(`reconcile ${after} --group ${groupId} --json`)).json).toMatchObject({
      differs: 0,
      missing_here: 0,
      missing_there: 0,
    });
  });

  it('says what is wrong with a line, and with the token', async () => {
    const name = file('wrong.ndjson', [{ kind: 'form', id: 'x' }]);
    const { code, stderr } = await porter(`reconcile ${name}`);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Line 1 is not valid: practice_group_id: Required.'),
    ]);
    const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: 'pto_wrong' };
    const refused = await run(`reconcile ${file('one.ndjson', practice())}`, { cwd, env });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('token is invalid')]);
  });
});
