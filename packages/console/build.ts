import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Builds the console from its source into `dist`. It is called by `npm ci` (prepare), and by a start of the service that finds no build, or
 * one of another source. A build takes about two seconds; whether one is needed is found out in milliseconds.
 */

const FOLDER = import.meta.dirname;
const ROOT = join(FOLDER, '../..');
const MARK = join(FOLDER, 'dist/source');
const SOURCES = [
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/vite.config.ts',
  'packages/sdk/src',
  'src/site/assets/tokens.css',
  'package-lock.json',
];

function filesBelow(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name));
}

function sourceHash(): string {
  const hash = createHash('sha256');
  for (const path of SOURCES.flatMap((name) => filesBelow(join(ROOT, name))).sort())
    hash.update(relative(ROOT, path)).update('\0').update(readFileSync(path));
  return hash.digest('hex');
}

const built = (): string | undefined => (existsSync(MARK) ? readFileSync(MARK, 'utf8') : undefined);

const wanted = sourceHash();
if (built() !== wanted) {
  const { build } = await import('vite');
  await build({ configFile: join(FOLDER, 'vite.config.ts'), logLevel: 'warn' });
  writeFileSync(MARK, wanted);
  console.log('Built the console.');
}
