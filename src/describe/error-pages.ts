import { type ErrorEntry, errorEntries } from './error-catalogue.ts';
import { style } from './error-page-style.ts';
import { statusName } from './status-names.ts';

/**
 * The pages behind `doc_url`. Each is one self-contained document: whoever reads it is in the middle of an outage or
 * behind a strict proxy, so nothing is fetched, nothing runs and nothing is remembered.
 */

const INDEX = '/docs/errors';

export function errorPage(code: string): string | undefined {
  const entries = errorEntries();
  const entry = entries.find((candidate) => candidate.code === code);
  if (!entry) return undefined;
  const siblings = entries.filter(({ status, code: other }) => status === entry.status && other !== code);
  return page(
    `${entry.code} (${entry.status})`,
    `<nav aria-label="Breadcrumb"><a href="${INDEX}">All errors</a></nav>
<main class="${family(entry.status)}">
<header>
<p class="status"><b>${entry.status}</b> ${escapeHtml(statusName(entry.status))}</p>
<h1><code>${breakable(entry.code)}</code></h1>
<p class="lead">${escapeHtml(entry.message)}</p>
</header>
<section aria-labelledby="meaning"><h2 id="meaning">What it means</h2><p>${prose(entry.cause)}</p></section>
<section aria-labelledby="remedy" class="remedy"><h2 id="remedy">What to do</h2><p>${prose(entry.remedy)}</p></section>
<section aria-labelledby="example"><h2 id="example">What the answer looks like</h2>
<pre><code>${highlighted(entry.example)}</code></pre></section>
${related(entry, siblings)}
</main>`,
  );
}

export function errorIndexPage(): string {
  const groups = Map.groupBy(errorEntries(), ({ status }) => (status < 500 ? 'yours' : 'ours'));
  return page(
    'Errors',
    `<main>
<header>
<p class="status">Porter API</p>
<h1>Errors</h1>
<p class="lead">Every refusal that a call can meet, and what to do about it. A code keeps its status and its meaning; match on the code, not on the sentence.</p>
</header>
<section aria-labelledby="yours"><h2 id="yours">Yours to fix</h2>${list(groups.get('yours') ?? [])}</section>
<section aria-labelledby="ours"><h2 id="ours">Ours to fix</h2>${list(groups.get('ours') ?? [])}</section>
</main>`,
  );
}

function list(entries: ErrorEntry[]): string {
  const items = entries.map(
    ({ code, status, message }) =>
      `<li class="${family(status)}"><a href="${INDEX}/${encodeURIComponent(code)}"><b>${status}</b><code>${breakable(code)}</code><span>${escapeHtml(message)}</span></a></li>`,
  );
  return `<ul class="list">${items.join('\n')}</ul>`;
}

function related({ status }: ErrorEntry, siblings: ErrorEntry[]): string {
  if (siblings.length === 0) return '';
  return `<section aria-labelledby="related"><h2 id="related">Other errors with status ${status}</h2>${list(siblings)}</section>`;
}

/** Colour tells whose turn it is: amber for the caller's, red for ours. The words say so too. */
function family(status: number): string {
  return status < 500 ? 'caller' : 'service';
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Porter API</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${body}
<footer><p>Still stuck? Send support the <code>x-request-id</code> header of the answer; it finds the call.</p></footer>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Codes are long single words; on a phone they may break after an underscore. */
function breakable(code: string): string {
  return escapeHtml(code).replaceAll('_', '_<wbr>');
}

/** Names of headers, fields and settings stand out from the sentence around them; other words do in backticks. */
function prose(text: string): string {
  return escapeHtml(text)
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith('`')
        ? `<code>${part.slice(1, -1)}</code>`
        : part.replaceAll(
            /\b(?:x-[a-z-]+[a-z]|[a-z]+_[a-z_]*[a-z]_?|PORTER_[A-Z_]+|Retry-After|RateLimit|If-Match|ETag|Allow|Content-(?:Type|Encoding))\b/g,
            '<code>$&</code>',
          ),
    )
    .join('');
}

/** JSON with its keys, texts and other values told apart. Works on the escaped text, so nothing slips through. */
function highlighted(value: unknown): string {
  return escapeHtml(JSON.stringify(value, null, 2)).replaceAll(
    /(&quot;(?:\\&quot;|(?!&quot;).)*&quot;)(:?)|\b(true|false|null|\d+)\b/g,
    (_match, text: string | undefined, colon: string, literal: string | undefined) => {
      if (literal !== undefined) return `<i class="literal">${literal}</i>`;
      return colon ? `<i class="key">${text}</i>:` : `<i class="text">${text}</i>`;
    },
  );
}
