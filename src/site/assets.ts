import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { contentHash, IMMUTABLE, REVALIDATED, type Resource, resource } from './resource.ts';

/** Files under an address that is named after their content, so that a browser may keep them for ever. */
export interface Assets {
  /** With a slash at the end. */
  folder: string;
  find(path: string): Resource | undefined;
}

const FOLDER = new URL('./assets/', import.meta.url);
const NAMES = [
  'tokens.css',
  'base.css',
  'dialogs.css',
  'contents.css',
  'page.css',
  'text.css',
  'code.css',
  'reference.css',
  'icon.svg',
  'early.js',
  'page.js',
  'site.js',
  'header.js',
  'theme.js',
  'reader.js',
  'code.js',
  'navigation.js',
  'search.js',
  'synonyms.js',
  'reference.js',
  'mend.js',
];
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The style and the scripts of the pages: all in one folder, because they import each other by relative paths. */
export async function loadAssets(): Promise<Assets> {
  const files: [name: string, file: string | URL][] = NAMES.map((name) => [name, new URL(name, FOLDER)]);
  files.push(['minisearch.js', fileURLToPath(import.meta.resolve('minisearch'))]);
  return assetsOf(
    await Promise.all(files.map(async ([name, file]) => [name, await readFile(file)] as const)),
  );
}

export function assetsOf(files: readonly (readonly [name: string, body: Buffer])[]): Assets {
  const hash = contentHash(...files.map(([, body]) => body));
  const assets = new Map(files.map(([name, body]) => [name, asset(name, body)]));
  return {
    folder: `/docs/assets/${hash}/`,
    find(path) {
      const [, asked, name = ''] = /^\/docs\/assets\/([0-9a-f]{16})\/([a-z.]+)$/.exec(path) ?? [];
      const found = assets.get(name);
      // While several nodes are being upgraded, a page of one version may ask a node of another.
      return found && asked !== hash ? revalidated(found) : found;
    },
  };
}

function asset(name: string, body: Buffer): Resource {
  const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return resource(body, { 'content-type': type, 'cache-control': IMMUTABLE });
}

function revalidated(found: Resource): Resource {
  return { ...found, headers: { ...found.headers, 'cache-control': REVALIDATED } };
}
