import { expect, it } from 'vitest';
import { porter as run, type Surroundings } from '../../support/cli.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** What an operator looks at, and what it is asked before it takes access away. */

const { house: harness, world } = await serviceForTests();
const { groupId: group, key, keyId, partnerId } = world;
const operator = { PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };

const porter = (line: string, env: Surroundings['env'] = operator, surroundings: Surroundings = {}) =>
  run(line, { ...surroundings, env: { PORTER_URL: harness.url, ...env } });
const json = async (line: string) => {
  const { code, json: value, stderr } = await porter(`${line} --json`);
  expect(code, stderr).toBe(0);
  return value;
};

it('groups are created, listed and shown', async () => {
  const made = await json("groups create --name 'Larkhill Practice' --id larkhill --ods-code A81001");
  expect(made).toMatchObject({ id: 'larkhill', name: 'Larkhill Practice', ods_code: 'A81001' });
  expect(await json('groups show larkhill')).toEqual(made);
  expect((await porter('groups list')).stdout).toMatch(
    /^ID +NAME +ODS CODE +TIME ZONE +CREATED\n(.*\n)*larkhill +Larkhill Practice +A81001 +Europe\/London +2026-/,
  );
  expect((await porter('groups show none')).stderr).toContain(
    'There is no such practice group. See `porter groups list`.',
  );
});

it('operators are created, listed and revoked, but not the last admin', async () => {
  const made = await porter("operators create --name 'Ada Marsh' --role support --label laptop --json");
  expect(made.stderr).toBe('The token is shown this once: hand it over safely now.\n');
  const { id, token } = made.json;
  expect((await porter('operators list')).stdout).toMatch(
    new RegExp(`${id} +Ada Marsh +support +active +laptop +2026-`),
  );
  expect((await porter('partners list', { PORTER_OPERATOR_TOKEN: token })).code).toBe(0);
  expect(await json(`operators revoke ${id} --yes`)).toMatchObject({ id, status: 'revoked' });
  expect((await porter('partners list', { PORTER_OPERATOR_TOKEN: token })).code).toBe(1);

  const { data } = await json('operators list');
  const [last] = data.filter((one: { role: string; status: string }) => one.role === 'admin');
  const refusal = await porter(`operators revoke ${last.id} --yes`);
  expect(refusal.code).toBe(1);
  expect(refusal.stderr).toContain('porter operators create --role admin');
});

it('events are listed and shown with what became of them', async () => {
  const published = await json(`events publish --event appointment.confirmed --id apt_9 --group ${group}`);
  const [id] = published.event_ids;
  const list = `events list --group ${group} --event appointment.confirmed`;
  await expect
    .poll(async () => (await porter(list)).stdout)
    .toMatch(new RegExp(`2026-\\S+ +${id} +appointment.confirmed +apt_9 +Practice ${group} \\(${group}\\)`));
  expect(await json(`events show ${id}`)).toMatchObject({ id, payload: { id: 'apt_9' }, deliveries: [] });
  expect((await porter(`events show ${id}`)).stdout).toMatch(
    new RegExp(`^${id}, accepted at 2026-.*\n\\{"object":"Appointment".*\\}\nNo webhook gets it\\.\n$`),
  );
});

it('the audit is listed by what was done to whom', async () => {
  const { stdout } = await porter(`audit list --subject ${keyId}`);
  expect(stdout).toMatch(/^AT +NUMBER +WHO +ACTION +WHAT +GROUP +CHANGED\n/);
  expect(stdout).toMatch(
    new RegExp(
      `2026-\\S+ +\\d+ +.+ +key\\.\\w+ +\\w+ ${keyId} +Practice ${group} \\(${group}\\) +id, partner_id(, \\w+){3} and \\d+ more\n`,
    ),
  );
  const { data } = await json(`audit list --group ${group} --limit 2`);
  expect(data).toHaveLength(2);
});

it('who did something with a key is told by the name of its partner, and what changed by its fields', async () => {
  await harness.send('PATCH', '/v1/care-nav/submission-types/type-1', {
    key,
    group,
    body: { suspended: true },
  });
  const { stdout } = await porter(`audit list --actor ${keyId}`);
  expect(stdout).toMatch(new RegExp(` Partner \\(${keyId}\\) +submission_type\\.update +.+ suspended\n`));
});

it('the audit names what differs, and nothing that stayed as it was', async () => {
  const { id } = await harness.operator('POST', '/networks', { name: 'A', practice_group_ids: [group] });
  await harness.operator('PATCH', `/networks/${id}`, { name: 'B' });
  const { stdout } = await porter(`audit list --subject ${id}`);
  expect(stdout).toMatch(/ network\.update +network \S+ +(- +)?name\n/);
  expect(stdout).toMatch(/ network\.create +network \S+ +(- +)?id, name, practice_group_ids\b.*\n/);
});

it('lists have names beside IDs, unless a program reads them', async () => {
  const { stdout } = await porter(`keys list --partner ${partnerId} --group ${group}`);
  expect(stdout).toContain(`Practice ${group} (${group})`);
  expect(stdout).toContain(`Partner (${partnerId})`);
  const asked: string[] = [];
  const counted: typeof fetch = (url, init) => {
    asked.push(String(url));
    return fetch(url, init);
  };
  await porter(`keys list --partner ${partnerId} --json`, operator, { fetch: counted });
  expect(asked).toHaveLength(1);
});

it('whoami tells of an operator, and of a key as me does', async () => {
  const partner = { PORTER_KEY: key };
  expect((await porter('whoami', partner)).stdout).toBe((await porter('me', partner)).stdout);
  const told = await porter('whoami', { ...operator, ...partner });
  expect(told.stdout).toMatch(/^.+ \(opr_\w+\), admin\n.+: staging, version \S+\n$/);
  expect(told.stdout).toContain(harness.url);
});

it.each([
  ['a key', 'keys revoke', () => makeKey(harness, group).then(({ keyId: id }) => id)],
  ['a partner', 'partners suspend', () => makeWorld(harness).then((other) => other.partnerId)],
  [
    'an operator',
    'operators revoke',
    () => harness.operator('POST', '/operators', { name: 'Bo', role: 'viewer' }).then(({ id }) => id),
  ],
])('%s loses access on a terminal when somebody says so, elsewhere with --yes', async (_what, line, make) => {
  const id = await make();
  const questions: string[] = [];
  const answering = (answer: string): Surroundings => ({
    terminal: true,
    ask: async (question) => {
      questions.push(question);
      return answer;
    },
  });
  const status = async () => {
    const [things = ''] = line.split(' ');
    return (await harness.operator('GET', `/${things}/${id}`)).status;
  };
  const before = await status();

  const script = await porter(`${line} ${id}`);
  expect(script).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --yes to say so.') });
  for (const no of ['', 'n', 'nay']) {
    const refused = await porter(`${line} ${id}`, operator, answering(no));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was done.') });
  }
  expect(await status()).toBe(before);
  expect(questions[0]).toMatch(new RegExp(`^(Revoke|Suspend) .*${id}.*\\? .* \\[y/N\\] $`));

  expect((await porter(`${line} ${id}`, operator, answering('y'))).code).toBe(0);
  expect(await status()).toMatch(/revoked|suspended/);
});

it('status names a next step, which depends on what there is to do and on who asks', async () => {
  const next = async (env: Surroundings['env'], surroundings?: Surroundings) =>
    /^Next: (.*)$/m.exec((await porter('status', env, surroundings)).stderr)?.[1];
  expect(await next(operator)).toBe('porter alerts');
  expect(await next({ PORTER_KEY: key, PORTER_GROUP: group })).toContain('porter trigger');
  expect(await next({})).toBe('porter profiles add --help');
  const failing =
    (status: string): typeof fetch =>
    async (url) =>
      new URL(String(url)).pathname === '/operator/v1/webhooks'
        ? Response.json({
            data: [{ id: 'wh_1', url: 'https://x.example', status, health: { failures: 3, queued: 1 } }],
            count: 1,
            next_cursor: null,
          })
        : fetch(url);
  expect(await next(operator, { fetch: failing('active') })).toBe('porter deliveries list --webhook wh_1');
  expect(await next(operator, { fetch: failing('disabled') })).toContain('porter webhooks activate wh_1');
  expect((await porter('status --json')).stderr).toBe('');
});
