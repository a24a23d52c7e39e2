import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './examples.ts';

const JUDGES = join(ROOT, 'test/judges');

/** Installs exactly what the lock file in a folder of test/judges names, and keeps it while the lock stays the same. No package runs a script. */
export async function installJudge(name: string): Promise<string> {
  const folder = join(ROOT, 'node_modules/.cache', `porter-${name}`);
  const wanted = readFileSync(join(JUDGES, name, 'package-lock.json'), 'utf8');
  const complete = join(folder, 'complete');
  if (!existsSync(complete) || readFileSync(complete, 'utf8') !== wanted) {
    rmSync(folder, { recursive: true, force: true });
    cpSync(join(JUDGES, name), folder, { recursive: true });
    await promisify(execFile)('npm', ['ci', '--ignore-scripts'], { cwd: folder });
    writeFileSync(complete, wanted);
  }
  return join(folder, 'node_modules');
}
