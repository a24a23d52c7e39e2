import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { pythonWith } from '../support/python.ts';
import { OPERATOR_TOKEN, serviceForTests } from '../support/service.ts';

/** A generator that nobody here wrote makes a client of each document, and that client makes a call. */

const python = await pythonWith('test/judges/openapi-python-client.txt');
const { house, world } = await serviceForTests();

/** It does not know NDJSON, which a caller sends and reads as bytes. */
const CONFIG = `post_hooks: []
project_name_override: made
package_name_override: made
content_type_overrides:
  application/x-ndjson: application/octet-stream
`;

/** Makes a client, lets it run a program, and gives back what each of them said. */
async function generate(document: string, program: string): Promise<{ made: string; called: string }> {
  const folder = temporaryFolder();
  const config = join(folder, 'config.yml');
  writeFileSync(config, CONFIG);
  const output = join(folder, 'client');
  const where = ['--url', `${house.url}/docs/${document}`, '--config', config, '--output-path', output];
  const made = await python(['-m', 'openapi_python_client', 'generate', ...where]);
  const called = await python(['-c', program], { env: { PYTHONPATH: output } });
  return { made: made.output, called: called.output };
}

it('openapi-python-client makes a client that reads a practice group', async () => {
  const { made, called } = await generate(
    'openapi.json',
    `
from made import Client
from made.api.practice_groups import list_practice_groups

client = Client(base_url="${house.url}", headers={"x-api-key": "${world.key}", "x-practice-group-id": "${world.groupId}"})
answer = list_practice_groups.sync(client=client)
print(type(answer).__name__, answer.data[0].id)
`,
  );
  expect(made).not.toMatch(/error|warning/i);
  expect(called).toBe(`PracticeGroupList ${world.groupId}\n`);
});

it('and one for operators', async () => {
  const { made, called } = await generate(
    'operator.openapi.json',
    `
from made import AuthenticatedClient
from made.api.practice_groups import get_practice_group

client = AuthenticatedClient(base_url="${house.url}", token="${OPERATOR_TOKEN}")
answer = get_practice_group.sync("${world.groupId}", client=client)
print(type(answer).__name__, answer.id)
`,
  );
  // An object that may be null, inside a choice of objects, is too much for it: this one kind of item has no class.
  expect(made.match(/WARNING.*|Unable to.*/g)).toEqual([
    'Unable to process schema /components/schemas/ImportItem_type_0:',
  ]);
  expect(called).toBe(`OperatorPracticeGroup ${world.groupId}\n`);
});
