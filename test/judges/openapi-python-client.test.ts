import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { pythonWith } from '../support/python.ts';
import { serviceForTests } from '../support/service.ts';

/** A generator that nobody here wrote makes a client of the document, and that client makes a call. */

it('openapi-python-client makes a client that reads a practice group', async () => {
  const python = await pythonWith('test/judges/openapi-python-client.txt');
  const { house, world } = await serviceForTests();
  const folder = temporaryFolder();
  const url = `${house.url}/docs/openapi.json`;
  const config = join(folder, 'config.yml');
  writeFileSync(config, 'post_hooks: []\nproject_name_override: made\npackage_name_override: made\n');
  const output = join(folder, 'client');
  const made = await python([
    '-m',
    'openapi_python_client',
    'generate',
    '--url',
    url,
    '--config',
    config,
    '--output-path',
    output,
    '--fail-on-warning',
  ]);
  expect(made.output).not.toMatch(/error|warning/i);
  expect(readdirSync(join(output, 'made'))).toContain('models');
  const call = `
from made import Client
from made.api.practice_groups import list_practice_groups

client = Client(base_url=${JSON.stringify(house.url)}, headers={"x-api-key": ${JSON.stringify(world.key)}, "x-practice-group-id": ${JSON.stringify(world.groupId)}})
answer = list_practice_groups.sync(client=client)
print(type(answer).__name__, answer.data[0].id)
`;
  const called = await python(['-c', call], { env: { PYTHONPATH: output } });
  expect(called.output).toBe(`PracticeGroupList ${world.groupId}\n`);
});
