import { posix } from 'node:path';
import { entries } from './contents.ts';

/**
 * The markdown files link to each other as files, so that they read well in the repository too. Here each link finds what
 * the site serves instead.
 */
type Target =
  | { href: string }
  /** Stands in the repository and is not served. */
  | { file: string };

const served = new Map<string, string>([
  ...entries.flatMap(({ source, path }) => (source ? [[`docs/${source}`, path] as const] : [])),
  ['docs/reference/errors.md', '/docs/errors'],
  ['spec/openapi.json', '/docs/openapi.json'],
  ['spec/operator.openapi.json', '/docs/operator.openapi.json'],
  ['spec/asyncapi.json', '/docs/asyncapi.json'],
  ['spec/specified/openapi.json', '/docs/specified/openapi.json'],
  ['spec/specified/asyncapi.json', '/docs/specified/asyncapi.json'],
]);

const addresses = new Set([...entries.map(({ path }) => path), ...served.values()]);

/** Whether a text such as `/docs/api` is the address of something on the site. */
export function isServed(text: string): boolean {
  return addresses.has(text);
}

/** `source` is the file that the link stands in, below docs/. Undefined: the link leads nowhere that it may. */
export function resolveLink(href: string, source: string): Target | undefined {
  if (/^(https?:\/\/|mailto:|#|\/docs(\/|#|$))/.test(href)) return { href };
  if (/^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(href)) return undefined;
  const [path = '', fragment] = href.split('#', 2);
  const file = posix.join('docs', posix.dirname(source), path);
  if (file.startsWith('..')) return undefined;
  const page = served.get(file);
  if (!page) return { file };
  if (!fragment) return { href: page };
  // Each error has a page of its own, where the file has one heading for each.
  return { href: page === '/docs/errors' ? `${page}/${fragment}` : `${page}#${fragment}` };
}
