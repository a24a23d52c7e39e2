import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A Python of its own for tests, with exact versions of what they need; made once and kept while those stay the same. */

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

interface Ran {
  code: number;
  output: string;
}

export type Python = (
  args: string[],
  options?: { cwd?: string; env?: Record<string, string> },
) => Promise<Ran>;

export async function pythonWith(requirements: string): Promise<Python> {
  const list = readFileSync(join(ROOT, requirements), 'utf8');
  const name = createHash('sha256').update(list).digest('hex').slice(0, 16);
  const folder = join(ROOT, 'node_modules/.cache/porter-python', name);
  const python = join(folder, 'bin/python');
  if (!existsSync(join(folder, 'complete'))) {
    rmSync(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', join(ROOT, requirements)]);
    await run('touch', [join(folder, 'complete')]);
  }
  return async (args, { cwd = ROOT, env = {} } = {}) => {
    const options = {
      cwd,
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONDONTWRITEBYTECODE: '1', ...env },
    };
    return run(python, args, options).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      (error) => ({ code: error.code, output: `${error.stdout}${error.stderr}` }),
    );
  };
}
