import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import type { Visitor } from '../support/console-session.ts';
import { ROOT } from '../support/examples.ts';
import { enterPartner, enterPractice } from '../support/practice-guest.ts';
import { pythonWith } from '../support/python.ts';
import { OPERATOR_TOKEN, serviceForTests } from '../support/service.ts';

/** A generator that nobody here wrote makes a client of each document, and that client makes a call. */

const python = await pythonWith('test/judges/openapi-python-client.txt');
const { house, world } = await serviceForTests();
const { groupId, partnerId, key } = world;
const asGuest = ({ cookie }: Visitor) => {
  const [name, value] = cookie.split('=');
  return `cookies={"${name}": "${value}"}, headers={"x-porter-console": "1"}`;
};
const somebody = await enterPartner(house, partnerId);
const manager = await enterPractice(house, groupId);

/** It does not know NDJSON, which a caller sends and reads as bytes. */
const CONFIG = `post_hooks: []
project_name_override: made
package_name_override: made
content_type_overrides:
  application/x-ndjson: application/octet-stream
`;

it.each([
  [
    'partner',
    'openapi.json',
    `headers={"x-api-key": "${key}", "x-practice-group-id": "${groupId}"}`,
    'practice_groups.list_practice_groups',
    `PracticeGroupList ${groupId}`,
  ],
  [
    'operator',
    'operator.openapi.json',
    `headers={"authorization": "Bearer ${OPERATOR_TOKEN}"}`,
    'practice_groups.list_all_practice_groups',
    `OperatorPracticeGroupPage ${groupId}`,
  ],
  [
    'portal',
    'portal.openapi.json',
    asGuest(somebody),
    'portal.list_portal_practices',
    `PortalPracticePage ${groupId}`,
  ],
  [
    'practice',
    'practice.openapi.json',
    asGuest(manager),
    'my_practice.list_reaching_partners',
    `ReachingPartnerPage ${partnerId}`,
  ],
])(
  'openapi-python-client makes a client of the %s document that lists',
  async (_audience, file, way, operation, first) => {
    const folder = temporaryFolder();
    const config = join(folder, 'config.yml');
    writeFileSync(config, CONFIG);
    const output = join(folder, 'client');
    const where = ['--path', join(ROOT, 'spec', file), '--config', config, '--output-path', output];
    const made = await python(['-m', 'openapi_python_client', 'generate', ...where]);
    expect(made, made.output).toMatchObject({ code: 0 });
    expect(made.output).not.toMatch(/error|warning|unable/i);

    const [module, name] = operation.split('.');
    const program = `
from made import Client
from made.api.${module} import ${name}

answer = ${name}.sync(client=Client(base_url="${house.url}", ${way}))
first = answer.data[0]
print(type(answer).__name__, getattr(first, "partner", first).id)
`;
    const called = await python(['-c', program], { env: { PYTHONPATH: output } });
    expect(called.output).toBe(`${first}\n`);
  },
);
