import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/afterwards.ts';
import { porter as run } from '../../support/cli.ts';
import { practiceItems } from '../../support/practice-items.ts';
import { type Loose, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

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

describe('porter import', () => {
  it('sends a file, tells what came of it, and changes nothing the second time', async () => {
    const items = practiceItems();
    const name = file('practice.ndjson', items);
    expect(await porter(`import ${name}`)).toMatchObject({ code: 0, stdout: '4 created.\n' });
    expect((await porter(`import ${name} --json`)).json).toMatchObject({ unchanged: 4, created: 0 });
    expect(await porter('import -', readFileSync(join(cwd, name), 'utf8'))).toMatchObject({
      stdout: '4 unchanged.\n',
    });
  });

  it('tells each refused item with its line, and ends with 1', async () => {
    const items = practiceItems();
    const bad = { kind: 'form', id: 'bad', practice_group_id: items[0].id };
    const { code, stdout, stderr } = await porter(`import ${file('bad.ndjson', [...items, bad])}`);
    expect([code, stdout]).toEqual([1, '4 created, 1 refused.\n']);
    expect(stderr).toContain('Line 5 (bad) is refused: title: Required.');
  });

  it('sends thousands in batches, and goes on from the line that it names after a break', async () => {
    const [group] = practiceItems();
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

  it('refuses a line that is no JSON object, tells it in its turn, and imports the others', async () => {
    const [group] = practiceItems();
    const forms = Array.from({ length: 2_498 }, (_, at) => ({
      kind: 'form',
      id: `${at}`,
      practice_group_id: group.id,
      title: 'x',
    }));
    const lines = [{}, group, ...forms].map((item) => JSON.stringify(item));
    lines[1_999] = '{"kind": "form", ';
    lines[2_399] = '[1]';
    writeFileSync(join(cwd, 'torn.ndjson'), lines.join('\n'));
    const { code, stdout, stderr } = await porter('import torn.ndjson');
    expect([code, stdout]).toEqual([1, '2497 created, 3 refused.\n']);
    const noObject =
      'is refused: It is not a JSON object. Write one item on each line, such as {"kind": "form", …}.';
    // How far it is, is told where it takes longer.
    expect(stderr.split('\n').filter((line) => !/^Imported \d+ items…$/.test(line))).toEqual([
      expect.stringMatching(/^Line 1 is refused: kind: Must be one of /),
      `Line 2000 ${noObject}`,
      `Line 2400 ${noObject}`,
      '',
    ]);
    expect(await porter('import -', 'no\n')).toMatchObject({ code: 1, stdout: '1 refused.\n' });
  });

  it('names the line to go on from also where the file cannot be read to its end', async () => {
    async function* torn() {
      yield Buffer.from(
        `${practiceItems()
          .map((item) => JSON.stringify(item))
          .join('\n')}\n`,
      );
      throw Object.assign(new Error('read'), { code: 'EIO' });
    }
    const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
    const { code, stderr } = await run('import - --from-line 2', { cwd, env, stdin: torn() });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^It broke off at line 2\. Run it again with --from-line 2 .+\nError: - cannot be read/,
      ),
    ]);
  });

  it('says what is wrong with the file', async () => {
    writeFileSync(join(cwd, 'no.ndjson'), '{}\n[1]\n');
    expect((await porter('reconcile no.ndjson')).stderr).toContain('Line 1 is not valid: kind: ');
    expect((await porter('reconcile -', '[1]')).stderr).toContain('Line 1 is not a JSON object.');
    expect((await porter('import none.ndjson')).stderr).toContain('none.ndjson cannot be read (ENOENT).');
    expect((await porter('import no.ndjson --from-line 0')).code).toBe(2);
  });
});

describe('porter reconcile', () => {
  const other = async () => {
    const items = practiceItems();
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
    expect(stdout).toContain('4 items compared: 1 differs, 1 missing here, 1 missing there.');
  });

  it('takes theirs: imports what differs and what is missing here', async () => {
    const { groupId, name } = await other();
    const { code, stdout, stderr } = await porter(`reconcile ${name} --group ${groupId} --take theirs`);
    expect([code, stdout]).toEqual([0, '1 created, 1 updated.\n']);
    expect(stderr).toContain('What only Porter has stays.');
    expect(await titleOf(groupId)).toBe('Type "one"');
  });

  it('counts a single item as one', async () => {
    const [group] = practiceItems();
    const { stdout } = await porter(`reconcile ${file('single.ndjson', [group])} --group ${group.id}`);
    expect(stdout).toContain('\n1 item compared: 0 differ, 1 missing here, 0 missing there.');
  });

  it('says how to go on where what it takes is not imported', async () => {
    const { groupId, name } = await other();
    const breaking: typeof fetch = (input, init) =>
      String(input).endsWith('/import')
        ? Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }))
        : fetch(input, init);
    const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
    const line = `reconcile ${name} --group ${groupId} --take theirs`;
    const { code, stderr } = await run(line, { cwd, env, fetch: breaking });
    expect(code).toBe(3);
    expect(stderr).toMatch(/^It broke off at line \d\. Run it again: /m);
    expect(stderr).not.toContain('--from-line');
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
    const refused = await run(`reconcile ${file('one.ndjson', practiceItems())}`, { cwd, env });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('token is invalid')]);
  });
});
