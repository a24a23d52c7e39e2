import { expect, it } from 'vitest';
import { porter as run } from '../../support/cli.ts';
import { makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

/** A second person's approval, from a terminal. The world is made by a node of the same database that asks for none. */

const free = await startHarness({ env: { PORTER_ROLE: 'api' } });
const house = await startHarness({
  env: { PORTER_ROLE: 'api', PORTER_APPROVALS: 'keys,networks' },
  databaseUrl: free.databaseUrl,
  clock: free.clock,
});
const world = await makeWorld(free);
const { token } = await free.operator('POST', '/operators', { name: 'Ada Marsh', role: 'admin' });
// An operator approves nothing that is as old as it is.
free.clock.advance(1);

const as = (operator: string) => (line: string) =>
  run(line, { env: { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: operator } });
const ada = as(token);
const boss = as(OPERATOR_TOKEN);

const asked = async (line: string): Promise<string> =>
  JSON.parse((await ada(`${line} --json`)).stderr).approval_id;
const askForKey = () =>
  asked(`keys issue --partner ${world.partnerId} --group ${world.groupId} --scopes events:read`);

it('a key that waits is listed, shown, approved by somebody else, and collected once by whoever asked', async () => {
  const id = await askForKey();
  expect((await boss('approvals list --status pending')).stdout).toMatch(
    new RegExp(`^ID +STATUS .*\\n${id} +pending +Issue a key +Ada Marsh \\(opr_\\w+\\) +2026-`),
  );
  expect((await boss(`approvals show ${id}`)).stdout).toContain(`"partner_id":"${world.partnerId}"`);
  expect(await ada(`approvals approve ${id}`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Somebody else has to approve it.'),
  });
  expect((await boss(`approvals approve ${id}`)).stdout).toMatch(/status +approved/);
  expect(await boss(`approvals collect ${id}`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('\n  There is no such approval, or somebody else asked for it'),
  });
  const { stdout, stderr } = await ada(`approvals collect ${id}`);
  const [, key = ''] = /^key +(ptr_test_\S+)$/m.exec(stdout) ?? [];
  expect(stderr).toBe('It is not shown again: keep it safely now.\n');
  expect((await house.send('GET', '/v1/me', { key })).status).toBe(200);
  expect(await ada(`approvals collect ${id}`)).toMatchObject({ code: 1, stdout: '' });
});

it('what is declined is told with its reason; a program collects what the API answers', async () => {
  const declined = await askForKey();
  const { stdout } = await boss(`approvals decline ${declined} --reason 'Nobody knows them.'`);
  expect(stdout).toMatch(/status +declined\n(.+\n)*reason +Nobody knows them\./);

  const id = await asked(`networks create --name North ${world.groupId}`);
  await boss(`approvals approve ${id}`);
  expect((await ada(`approvals collect ${id} --json`)).json).toMatchObject({
    operation: 'createNetwork',
    answer: { name: 'North', practice_group_ids: [world.groupId] },
  });
  expect((await boss('approvals show apv_none')).stderr).toContain(
    'There is no such approval. See `porter approvals list`.',
  );
});
