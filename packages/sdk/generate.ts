import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AsyncApi, OpenApi } from './generator/document.ts';
import { groupsFile } from './generator/groups.ts';
import { operationsFile } from './generator/operations.ts';
import { pythonGroups, pythonTypes } from './generator/python.ts';
import { eventNamesOf, typesFile } from './generator/types.ts';

/** Writes `src/generated`, the same for Python, and what the console calls, from the committed specification; with `--check` only compares. */

const root = resolve(import.meta.dirname, '../..');
const folder = 'packages/sdk/src/generated';
const pythonFolder = 'packages/sdk-python/src/porter_sdk';
const NOTE = 'Made by `npm run generate` from spec/. Change it there.';

const read = (path: string) => JSON.parse(readFileSync(resolve(root, path), 'utf8'));
const openApi: OpenApi = read('spec/openapi.json');
const operatorApi: OpenApi = read('spec/operator.openapi.json');
const asyncApi: AsyncApi = read('spec/asyncapi.json');

const files = {
  [`${folder}/types.ts`]: typesFile(openApi, asyncApi),
  [`${folder}/groups.ts`]: groupsFile(openApi, eventNamesOf(asyncApi)),
  [`${pythonFolder}/types.py`]: pythonTypes(openApi, eventNamesOf(asyncApi)),
  [`${pythonFolder}/_groups.py`]: pythonGroups(openApi, eventNamesOf(asyncApi)),
  'packages/console/src/api/generated.ts': operationsFile(operatorApi, eventNamesOf(asyncApi)),
};

for (const [path, code] of Object.entries(files)) {
  const text = path.endsWith('.py')
    ? `# ${NOTE}\n\n${code.trimEnd()}\n`
    : formatted(path, `// ${NOTE}\n\n${code}`);
  if (onDisk(path) === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${path} no longer says what spec/ says. Run \`npm run generate\` and commit the result.`);
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(resolve(root, path)), { recursive: true });
  writeFileSync(resolve(root, path), text);
  console.log(`wrote ${path}`);
}

function formatted(path: string, code: string): string {
  const biome = resolve(root, 'node_modules/.bin/biome');
  return execFileSync(biome, ['check', '--write', `--stdin-file-path=${path}`], {
    cwd: root,
    input: code,
    encoding: 'utf8',
  });
}

function onDisk(path: string): string | undefined {
  try {
    return readFileSync(resolve(root, path), 'utf8');
  } catch {
    return undefined;
  }
}
