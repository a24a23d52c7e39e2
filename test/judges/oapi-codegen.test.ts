import { execFile } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { ROOT } from '../support/examples.ts';
import { enterPartner, enterPractice } from '../support/practice-guest.ts';
import { OPERATOR_TOKEN, serviceForTests } from '../support/service.ts';

/** A generator that nobody here wrote makes clients of all documents in Go, which compile and call the service: go/main.go. */

it('oapi-codegen makes clients that a program calls the service with', async () => {
  const { house, world } = await serviceForTests();
  const folder = temporaryFolder();
  cpSync(join(import.meta.dirname, 'go'), folder, { recursive: true });
  const env = {
    ...process.env,
    GOFLAGS: '-buildvcs=false',
    PORTER_URL: house.url,
    PORTER_GROUP: world.groupId,
    PORTER_KEY: world.key,
    PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN,
    PORTER_PARTNER_SESSION: (await enterPartner(house, world.partnerId)).cookie,
    PORTER_PRACTICE_SESSION: (await enterPractice(house, world.groupId)).cookie,
  };
  const go = async (...args: string[]) => promisify(execFile)('go', args, { cwd: folder, env });

  for (const [name, document] of [
    ['partner', 'openapi.json'],
    ['operator', 'operator.openapi.json'],
    ['portal', 'portal.openapi.json'],
    ['practice', 'practice.openapi.json'],
  ] as const) {
    mkdirSync(join(folder, name));
    const file = join(ROOT, 'spec', document);
    const args = ['-generate', 'types,client', '-package', name, '-o', join(folder, name, 'client.go'), file];
    const { stdout, stderr } = await go('tool', 'oapi-codegen', ...args);
    expect(`${stdout}${stderr}`.replaceAll(/^go: downloading .*\n/gm, '')).toBe('');
  }
  const { stdout } = await go('run', '.');
  expect(stdout).toBe(
    `partner ${world.groupId}\noperator ${world.groupId}\nportal ${world.groupId}\npractice ${world.partnerId}\n`,
  );
});
