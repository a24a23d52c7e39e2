import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Metafile } from 'esbuild';

/**
 * Builds the console from its source into `dist`. It is called by `npm ci` (prepare), and by a start of the service that finds no build. A
 * build takes a second; whether one is needed is found out in milliseconds.
 */

const FOLDER = import.meta.dirname;
const ROOT = join(FOLDER, '../..');
const DIST = join(FOLDER, 'dist');
const MARK = join(DIST, 'source');
const SOURCES = [
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/build.ts',
  'packages/sdk/src',
  'src/site/assets/tokens.css',
  'package-lock.json',
  'docs/guides/receiving-webhooks.md',
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

/** The code that verifies a signature, as the documentation has it: there it is tried out, and there alone it is written down. */
function verifiers(): { language: string; code: string }[] {
  const guide = readFileSync(join(ROOT, 'docs/guides/receiving-webhooks.md'), 'utf8');
  const blocks = guide.matchAll(/^```(\w+)(?: tab="[^"]+")?\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, tag = '', code = '']) => {
    const language = LANGUAGES[tag];
    const isProgram = tag !== 'sh' || code.startsWith('#!');
    return language &&
      isProgram &&
      /WEBHOOK_SECRET/.test(code) &&
      /\b(verif|genuine)/i.test(code) &&
      code.length > 500
      ? { language, code }
      : [];
  });
}

const LANGUAGES: Record<string, string> = {
  ts: 'TypeScript',
  python: 'Python',
  sh: 'Shell',
  go: 'Go',
  java: 'Java',
};

/** Files are named after their content, so that a browser may keep them for ever. Each screen is a file of its own. */
async function build(): Promise<void> {
  const { build } = await import('esbuild');
  const folder = join(FOLDER, 'building');
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: FOLDER,
    entryPoints: ['src/main.tsx'],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    minify: true,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"', VERIFIERS: JSON.stringify(verifiers()) },
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    metafile: true,
    logLevel: 'warning',
  });
  cpSync(join(FOLDER, 'src/icon.svg'), join(folder, 'assets/icon.svg'));
  writeFileSync(join(folder, 'index.html'), page(metafile));
  rmSync(DIST, { recursive: true, force: true });
  cpSync(folder, DIST, { recursive: true });
  rmSync(folder, { recursive: true });
}

/** `index.html` with the names of the files that it begins with. */
function page({ outputs }: Metafile): string {
  const [[script = '', entry] = []] = Object.entries(outputs).filter(
    ([, { entryPoint }]) => entryPoint === 'src/main.tsx',
  );
  const addressOf = (output: string) => `/console/${output.slice(output.indexOf('assets/'))}`;
  const needed = new Set<string>();
  const follow = (output: string) => {
    for (const { path, kind } of outputs[output]?.imports ?? [])
      if (kind === 'import-statement' && !needed.has(path)) {
        needed.add(path);
        follow(path);
      }
  };
  follow(script);
  const tags = [
    `<link rel="icon" type="image/svg+xml" href="/console/assets/icon.svg">`,
    ...(entry?.cssBundle ? [`<link rel="stylesheet" href="${addressOf(entry.cssBundle)}">`] : []),
    ...[...needed].map((output) => `<link rel="modulepreload" href="${addressOf(output)}">`),
    `<script type="module" src="${addressOf(script)}"></script>`,
  ];
  return readFileSync(join(FOLDER, 'index.html'), 'utf8').replace('<!-- files -->', () =>
    tags.join('\n    '),
  );
}

const wanted = sourceHash();
if (!existsSync(MARK) || readFileSync(MARK, 'utf8') !== wanted) {
  await build();
  writeFileSync(MARK, wanted);
  console.log('Built the console.');
}
