import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionsOf } from '../../src/cli/command.ts';
import { clientCommands } from '../../src/cli/commands/client.ts';
import { commands } from '../../src/cli/commands/index.ts';
import { completionFor, shells } from '../../src/cli/completion.ts';
import { events } from '../../src/contract/events.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { porter } from '../support/cli.ts';

const file = join(temporaryFolder(), 'completion.bash');
writeFileSync(file, completionFor('bash', commands));

/** Returns the words that bash offers for the last word of a line. */
function offered(line: string): string[] {
  const script = `source ${file}; COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _porter; echo "\${COMPREPLY[*]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(/\s+/).filter(Boolean);
}

describe('in bash', () => {
  const [appointments] = [Object.keys(events).filter((name) => name.startsWith('appointment.'))];

  it.each([
    ['porter ke', ['keys']],
    ['porter --v', ['--version']],
    ['porter webhooks re', ['replay']],
    ['porter keys issue --sc', ['--scopes']],
    ['porter keys rotate key_1 --pro', ['--profile']],
    ['porter keys list --json --gr', ['--group']],
    ['porter events list --event appointment.', appointments],
    ['porter trigger appointment.', appointments],
    ['porter listen --url ', []],
    ['porter nothing ', []],
    ['porter completion ', [...shells, '--json', '--help']],
  ])('%s', (line, words) => {
    expect(offered(line)).toEqual(words);
  });

  it('every command and option that is declared is offered', () => {
    for (const { name, options, calls } of commands.filter(({ section }) => section === 'both')) {
      const [group, word] = name.split(' ');
      expect(offered(`porter ${group} `)).toContain(word);
      expect(offered(`porter ${name} --`).toSorted()).toEqual(
        Object.keys(optionsOf({ calls, ...(options && { options }) }))
          .map((option) => `--${option}`)
          .toSorted(),
      );
    }
  });
});

it.each(shells)('porter completion %s prints a script with every command', async (shell) => {
  const { code, stdout } = await porter(`completion ${shell}`);
  expect(code).toBe(0);
  for (const { name } of commands) expect(stdout).toContain(`'${name} `);
});

it('the package of the client offers no command that it does not have', () => {
  expect(completionFor('bash', clientCommands)).not.toContain('migrate');
});
