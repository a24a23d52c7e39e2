import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { BuildOptions, Metafile } from 'esbuild';

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

/** The programs that verify a signature: the code blocks of the guide that are marked `verifier`. Tests run them there. */
function verifiers(): { language: string; code: string }[] {
  const guide = readFileSync(join(ROOT, 'docs/guides/receiving-webhooks.md'), 'utf8');
  const blocks = guide.matchAll(/^```(\w+)[^\n]* verifier\n(.*?)^```$/gms);
  return [...blocks].map(([, tag = '', code = '']) => {
    const language = LANGUAGES[tag];
    if (!language) throw new Error(`The guide on webhooks has a verifier in ${tag}, which has no name here.`);
    return { language, code };
  });
}

const LANGUAGES: Record<string, string> = {
  ts: 'TypeScript',
  python: 'Python',
  sh: 'Shell',
  go: 'Go',
  java: 'Java',
};

const MAIN = 'src/main.tsx';
const EARLY = 'src/early.ts';

/** Files are named after their content, so that a browser may keep them for ever. Each screen is a file of its own. */
async function build(): Promise<void> {
  const { build } = await import('esbuild');
  const folder = join(FOLDER, 'building');
  rmSync(folder, { recursive: true, force: true });
  const common = {
    absWorkingDir: FOLDER,
    outdir: folder,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    minify: true,
    legalComments: 'none',
    entryNames: 'assets/[name]-[hash]',
    metafile: true,
    logLevel: 'warning',
  } as const satisfies BuildOptions;
  // A file of its own, which imports none of the others.
  const early = await build({ ...common, entryPoints: [EARLY] });
  const { metafile } = await build({
    ...common,
    entryPoints: [MAIN],
    splitting: true,
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"', VERIFIERS: JSON.stringify(verifiers()) },
    chunkNames: 'assets/[name]-[hash]',
  });
  Object.assign(metafile.outputs, early.metafile.outputs);
  cpSync(join(FOLDER, 'src/icon.svg'), join(folder, 'assets/icon.svg'));
  writeFileSync(join(folder, 'index.html'), page(metafile));
  writeFileSync(join(folder, 'screens.json'), JSON.stringify(screens(metafile)));
  rmSync(DIST, { recursive: true, force: true });
  cpSync(folder, DIST, { recursive: true });
  rmSync(folder, { recursive: true });
}

/** Where routes are declared, and the frame around their screens. */
const ROUTES = [
  ['src/frame/router.tsx', 'src/frame/operator-frame.tsx'],
  ['src/frame/partner-routes.ts', 'src/frame/partner-frame.tsx'],
  ['src/frame/practice-routes.ts', 'src/frame/practice-frame.tsx'],
] as const;

/** By its path, the files that a screen needs beside those of every page: the page of this address names them, and nobody finds them one after the other. */
function screens(metafile: Metafile): { path: string; files: string[] }[] {
  const known = filesOf(metafile, MAIN);
  return ROUTES.flatMap(([routes, frame]) => {
    const declared = readFileSync(join(FOLDER, routes), 'utf8').matchAll(
      /'(?!\/\$')(\/[^']*)',\s*lazyRouteComponent\(\(\) => import\('\.\.\/([^']+)'\)/g,
    );
    return [...declared].map(([, path = '', screen]) => {
      const files = new Set([...filesOf(metafile, frame), ...filesOf(metafile, `src/${screen}`)]);
      return { path, files: [...files].filter((file) => !known.has(file)).map(addressOf) };
    });
  });
}

const addressOf = (output: string) => `/console/${output.slice(output.indexOf('assets/'))}`;

/** What the source has become, and whatever it imports at once. */
function filesOf({ outputs }: Metafile, source: string): Set<string> {
  const own = Object.keys(outputs).find((output) => outputs[output]?.entryPoint === source);
  if (own === undefined) throw new Error(`Nothing was built of ${source}.`);
  const found = new Set([own]);
  for (const output of found)
    for (const { path, kind } of outputs[output]?.imports ?? [])
      if (kind === 'import-statement') found.add(path);
  return found;
}

/** `index.html` with the names of the files that it begins with. */
function page(metafile: Metafile): string {
  const [early = ''] = filesOf(metafile, EARLY);
  const [script = '', ...needed] = filesOf(metafile, MAIN);
  const style = metafile.outputs[script]?.cssBundle;
  const tags = [
    `<script type="module" async fetchpriority="high" src="${addressOf(early)}"></script>`,
    `<link rel="icon" type="image/svg+xml" href="/console/assets/icon.svg">`,
    ...(style ? [`<link rel="stylesheet" href="${addressOf(style)}">`] : []),
    ...needed.map((output) => `<link rel="modulepreload" href="${addressOf(output)}">`),
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
