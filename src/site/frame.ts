import { contents, type Entry, entries, sectionOf } from './contents.ts';
import { dialogs } from './dialogs.ts';
import { type Article, escapeHtml, type Heading } from './html.ts';
import * as icons from './icons.ts';

/** The frame around every page: the bar on top, the contents beside it, and the way on. */
interface Framed {
  path: string;
  article: Article;
  /** Where the style and the scripts are, with a slash at the end. */
  assets: string;
}

const STYLES = ['tokens.css', 'base.css', 'dialogs.css', 'contents.css', 'page.css', 'text.css', 'code.css'];
/** Scripts that the page's own script imports, so that the browser need not find out one after another. */
const PRELOADED = ['page.js', 'header.js', 'theme.js', 'reader.js', 'code.js', 'navigation.js'];

export function pageOf({ path, article, assets }: Framed): string {
  const preload = PRELOADED.map((name) => `<link rel="modulepreload" href="${assets}${name}">`).join('\n');
  return `${head(article.title, assets, STYLES)}
${preload}
<script type="module" src="${assets}site.js"></script>
</head>
<body>
${bar(path)}
<div class="columns">
${contentsOf(path)}
<main id="content" tabindex="-1">
<article>
${place(path)}
${article.html}
</article>
${neighbours(path)}
</main>
${tableOfContents(article.headings)}
</div>
</body>
</html>
`;
}

export function head(title: string, assets: string, styles: readonly string[]): string {
  const name = title === 'Porter' ? title : `${title} · Porter`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(name)}</title>
<link rel="icon" type="image/svg+xml" href="${assets}icon.svg">
${styles.map((name) => `<link rel="stylesheet" href="${assets}${name}">`).join('\n')}
<script src="${assets}early.js"></script>`;
}

const SHORTCUTS: readonly Entry[] = [
  { path: '/docs', title: 'Guides' },
  { path: '/docs/api', title: 'API' },
  { path: '/docs/events', title: 'Events' },
  { path: '/docs/errors', title: 'Errors' },
];

const MENU = `<button type="button" class="icon menu" aria-controls="contents" aria-expanded="false" aria-label="Contents">${icons.menu}</button>`;

/** What needs a script to work is hidden by the style until the script is there. */
export function bar(path: string): string {
  return `<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
${MENU}
<a class="brand" href="/docs">${icons.door}<span>Porter</span></a>
<nav class="shortcuts" aria-label="Shortcuts">${SHORTCUTS.map((entry) => link(entry, path)).join('')}</nav>
<button type="button" class="find" aria-label="Search" aria-keyshortcuts="/ Control+K Meta+K">${icons.lens}<span>Search</span><kbd>/</kbd></button>
<button type="button" class="reader" aria-haspopup="dialog">${icons.key}<span>Your key</span></button>
<button type="button" class="icon theme" aria-label="Colour scheme">${icons.sun}${icons.moon}${icons.screen}</button>
</header>
${dialogs}`;
}

function link({ path, title }: Entry, current: string): string {
  const below = path !== '/docs' && current.startsWith(`${path}/`);
  const here = path === current ? ' aria-current="page"' : below ? ' aria-current="true"' : '';
  return `<a href="${path}"${here}>${escapeHtml(title)}</a>`;
}

/** `first`: what stands above the contents of the site. */
export function contentsOf(current: string, first = ''): string {
  const sections = contents
    .map(
      ({ title, entries }) =>
        `<h2>${escapeHtml(title)}</h2><ul>${entries.map((entry) => `<li>${link(entry, current)}</li>`).join('')}</ul>`,
    )
    .join('\n');
  return `<nav id="contents" aria-label="Contents">${first}${sections}</nav>`;
}

/** Where in the contents the page stands. The page of one error stands below the list of all. */
function place(path: string): string {
  if (path.startsWith('/docs/errors/')) return `<p class="place"><a href="/docs/errors">Errors</a></p>`;
  const section = sectionOf(path);
  return section ? `<p class="place">${escapeHtml(section)}</p>` : '';
}

function neighbours(path: string): string {
  const index = entries.findIndex((entry) => entry.path === path);
  if (index < 0) return '';
  const way = (entry: Entry | undefined, rel: 'prev' | 'next', label: string) =>
    entry
      ? `<a rel="${rel}" href="${entry.path}"><small>${label}</small> ${escapeHtml(entry.title)}</a>`
      : '';
  return `<nav class="neighbours" aria-label="Previous and next">${way(entries[index - 1], 'prev', 'Previous')}${way(entries[index + 1], 'next', 'Next')}</nav>`;
}

function tableOfContents(headings: readonly Heading[]): string {
  const listed = headings.filter(({ level }) => level <= 3);
  if (listed.length < 2) return '';
  const items = listed.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="toc" aria-labelledby="toc-title"><h2 id="toc-title">On this page</h2><ul>${items.join('')}</ul></nav>`;
}
