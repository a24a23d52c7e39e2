import { readdir, readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { IMMUTABLE, type Reply, type Resource, replyWith, resource } from './resource.ts';

/**
 * The console's files, as `packages/console/build.ts` made them. Every address below /console that is no file is the application's own:
 * it finds the screen itself.
 */

const BUILT = new URL('../../packages/console/dist/', import.meta.url);
const ASSETS = new URL('assets/', BUILT);

/** What react-aria writes into the page for touch screens: this text and no other. A test in the browser notices when it changes. */
const PRESSABLE = 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' '${PRESSABLE}'`,
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const UNBUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Porter console</title><meta http-equiv="refresh" content="2"></head>
<body><h1>The console is being built</h1><p>This happens once after an installation and takes a few seconds. The page opens by itself.</p></body></html>
`;

export type Console = (path: string, headers: IncomingHttpHeaders) => Promise<Reply | undefined>;

/** Read when it is first asked for, so that it costs the start nothing; known by name, so that no address becomes the name of a file. */
export function createConsole(): Console {
  let files: Promise<Files | undefined> | undefined;
  return async (path, headers) => {
    files ??= readFiles();
    const found = await files;
    if (!found) {
      files = undefined;
      return replyWith(page(UNBUILT, 503), headers);
    }
    if (!path.startsWith('/console/assets/')) return replyWith(found.pageAt(path), headers);
    const asset = found.assets.get(path.slice('/console/assets/'.length));
    return asset && replyWith(asset, headers);
  };
}

interface Files {
  pageAt: (path: string) => Resource;
  assets: Map<string, Resource>;
}

async function readFiles(): Promise<Files | undefined> {
  try {
    const names = await readdir(ASSETS);
    const assets = await Promise.all(
      names.map(async (name) => [name, asset(name, await readFile(new URL(name, ASSETS)))] as const),
    );
    const html = await readFile(new URL('index.html', BUILT), 'utf8');
    const screens: Screen[] = JSON.parse(await readFile(new URL('screens.json', BUILT), 'utf8'));
    return { pageAt: pages(html, screens), assets: new Map(assets) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** As the build has written it. */
interface Screen {
  /** Below /console: `/webhooks/$id`. */
  path: string;
  /** What it needs beside the files of every page. */
  files: string[];
}

/** The page is one and the same, but for the files of the screen at this address: named in it, they are fetched together with the first ones. */
function pages(html: string, screens: readonly Screen[]): (path: string) => Resource {
  const known = screens.map(({ path, files }) => {
    const links = files.map((file) => `<link rel="modulepreload" href="${file}">`).join('\n    ');
    const pattern = path === '/' ? '' : path.replaceAll(/\$\w+/g, '[^/]+');
    return {
      pattern: new RegExp(`^/console${pattern}/?$`),
      page: page(
        html.replace('</head>', () => `  ${links}\n  </head>`),
        200,
      ),
    };
  });
  const other = page(html, 200);
  return (path) => known.find(({ pattern }) => pattern.test(path))?.page ?? other;
}

/** Its name changes with its content. */
function asset(name: string, body: Buffer): Resource {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return resource(body, { 'content-type': type, 'cache-control': IMMUTABLE });
}

function page(body: string | Buffer, status: number): Resource {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY };
  return resource(body, headers, status);
}
