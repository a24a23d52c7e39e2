import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { clientCommands } from '../../../src/cli/commands/client.ts';
import { installPacked, rehearsePublishing } from '../../support/sdk-project.ts';
import { OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** The command line as people get it who have no checkout: packed, installed into an empty project, and run against a service. */

const ROOT = resolve(import.meta.dirname, '../../..');
const { house, world } = await serviceForTests();
const { folder, packed, installed } = await installPacked('cli');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifest = JSON.parse(readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8'));

/** The machine's own Node, as a stranger would have it: not the one that npm installed here. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((entry) => !entry.includes('node_modules'))
  .join(delimiter);

function porter(line: string, env: Record<string, string> = {}) {
  const program = join(folder, 'node_modules/.bin/porter');
  const options = { cwd: folder, env: { PATH, HOME: folder, PORTER_URL: house.url, ...env } };
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    execFile(program, line.split(' '), options, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

describe('the package of the command line', () => {
  it('brings nothing along, holds one program, and could be published as it is', async () => {
    expect(installed).toEqual(['@porter/cli']);
    expect(packed.files.map(({ path }) => path)).toEqual([
      'CHANGELOG.md',
      'README.md',
      'dist/porter.js',
      'package.json',
    ]);
    expect(packed.size).toBeLessThan(150_000);
    expect(await rehearsePublishing('cli')).toEqual([]);
    expect(readFileSync(join(ROOT, 'packages/cli/CHANGELOG.md'), 'utf8')).toContain(
      `## ${manifest.version}\n`,
    );
  });

  it('has no server inside', () => {
    const code = readFileSync(join(folder, 'node_modules/@porter/cli/dist/porter.js'), 'utf8');
    expect(code).not.toMatch(/CREATE TABLE|find-my-way|createServer|from"pg"/);
    expect(code.match(/from"(?!node:)[^"]*"/g)).toBeNull();
  });

  it('knows its own version, and every command but those that are the service', async () => {
    expect((await porter('--version')).stdout).toBe(`${manifest.version}\n`);
    const help = await porter('--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const { name } of clientCommands) expect(help.stdout).toContain(name.split(' ')[0]);
    expect(await porter('serve')).toMatchObject({ code: 2 });
  });

  it('calls a service as a partner and as an operator', async () => {
    const partner = { PORTER_KEY: world.key, PORTER_GROUP: world.groupId };
    const me = await porter('whoami --json', partner);
    expect(me, me.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(me.stdout)).toMatchObject({ partner: { id: world.partnerId } });
    const triggered = await porter('trigger appointment.confirmed', partner);
    expect(triggered.stdout).toMatch(/^appointment\.confirmed is on its way: evt_/);
    const operator = { PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
    expect((await porter(`keys list --group ${world.groupId}`, operator)).stdout).toContain(world.keyId);
    expect((await porter('status', operator)).stdout).toContain('is running and ready.');
  });
});
