import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AsyncApi, OpenApi } from './generator/document.ts';
import { groupsFile } from './generator/groups.ts';
import { operationsFile, titlesFile } from './generator/operations.ts';
import { pythonGroups, pythonTypes } from './generator/python.ts';
import { eventNamesOf, typesFile } from './generator/types.ts';

/** Writes `src/generated`, the same for Python, and what the console calls and names, from the committed specification; with `--check` only compares. */

const root = resolve(import.meta.dirname, '../..');
const folder = 'packages/sdk/src/generated';
const pythonFolder = 'packages/sdk-python/src/porter_sdk';
const NOTE = 'Made by `npm run generate` from spec/. Change it there.';

const read = (path: string) => JSON.parse(readFileSync(resolve(root, path), 'utf8'));
const openApi: OpenApi = read('spec/openapi.json');
const operatorApi: OpenApi = read('spec/operator.openapi.json');
const portalApi: OpenApi = read('spec/portal.openapi.json');
const practiceApi: OpenApi = read('spec/practice.openapi.json');
const asyncApi: AsyncApi = read('spec/asyncapi.json');

const files = {
  [`${folder}/types.ts`]: typesFile(openApi, asyncApi),
  [`${folder}/groups.ts`]: groupsFile(openApi),
  [`${pythonFolder}/types.py`]: pythonTypes(openApi, eventNamesOf(asyncApi)),
  [`${pythonFolder}/_groups.py`]: pythonGroups(openApi),
  'packages/console/src/api/generated.ts': operationsFile(together(operatorApi, practiceApi)),
  // Some of its components have the names of the operator's, and are the partner's.
  'packages/console/src/api/generated-portal.ts': operationsFile(portalApi),
  // A file of its own, for the screens that say who asked for what: the others do not load it.
  'packages/console/src/api/generated-titles.ts': titlesFile([openApi, operatorApi, portalApi, practiceApi]),
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

/** What the console calls, for operators and for guests. A component that both name is the same in both. */
function together(one: OpenApi, other: OpenApi): OpenApi {
  const components = Object.keys(one.components).map((kind) => {
    const key = kind as keyof OpenApi['components'];
    return [key, { ...other.components[key], ...one.components[key] }];
  });
  return { ...one, paths: { ...one.paths, ...other.paths }, components: Object.fromEntries(components) };
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
