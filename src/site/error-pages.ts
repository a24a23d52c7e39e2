import { ruleEntries } from '../contract/rules.ts';
import { type ErrorEntry, errorEntries } from '../describe/error-catalogue.ts';
import { DEFAULT_SUPPORT } from '../describe/openapi.ts';
import { statusName } from '../describe/status-names.ts';
import { askWhy, type Demonstration, demonstrationOf } from './error-commands.ts';
import { type Article, escapeHtml, type Heading, heading } from './html.ts';
import { withPlaceholders } from './placeholders.ts';

/**
 * The pages behind `doc_url`. Whoever reads one may be in the middle of an outage: they are made from the contract alone,
 * without a file or a library that could fail, and say everything without a script.
 */

const INDEX = '/docs/errors';

/** `support`: an e-mail address, or the address of a page. */
export function errorPage(code: string, support = DEFAULT_SUPPORT): Article | undefined {
  const entries = errorEntries();
  const entry = entries.find((candidate) => candidate.code === code);
  if (!entry) return undefined;
  const siblings = entries.filter(({ status, code: other }) => status === entry.status && other !== code);
  const sections: [id: string, text: string, html: string][] = [
    ['meaning', 'What it means', `<p>${prose(entry.cause)}</p>`],
    ['remedy', 'What to do', `<p class="remedy">${prose(entry.remedy)}</p>`],
    ['example', 'What the answer looks like', example(entry)],
    ['try', 'See it for yourself', demonstration(demonstrationOf(code))],
  ];
  if (code === 'business_rule_violation') sections.push(['rules', 'Every rule', rules]);
  if (siblings.length > 0)
    sections.push(['related', `Other errors with status ${entry.status}`, list(siblings)]);
  const headings = sections.map(([id, text]): Heading => ({ level: 2, id, text }));
  return {
    title: entry.code,
    html: `<div class="${family(entry.status)}">
<p class="status"><b>${entry.status}</b> ${escapeHtml(statusName(entry.status))}</p>
<h1><code>${breakable(entry.code)}</code></h1>
<p>${escapeHtml(entry.message)}</p>
${sections.map(([id, text, html]) => heading({ level: 2, id, text }, escapeHtml(text)) + html).join('\n')}
<p class="note">Still stuck? Send <a href="${escapeHtml(support.includes('://') ? support : `mailto:${support}`)}">support</a> the <code>x-request-id</code> header of the answer; it finds the call.</p>
</div>`,
    headings,
  };
}

const rules = `<p>${prose('`rule` in the answer names one of these, and `path` leads to the field. The message of an answer may say more.')}</p>
<div class="table" role="region" aria-label="Rules" tabindex="0"><table role="table"><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Rule</th><th role="columnheader" scope="col">Field</th><th role="columnheader" scope="col">Message</th></tr></thead><tbody role="rowgroup">
${ruleEntries
  .map(
    ([name, { path, message }]) =>
      `<tr role="row"><td role="cell" data-column="Rule"><code>${breakable(name)}</code></td><td role="cell" data-column="Field"><code>${breakable(path)}</code></td><td role="cell" data-column="Message">${prose(message)}</td></tr>`,
  )
  .join('\n')}
</tbody></table></div>`;

export function errorIndexPage(): Article {
  const groups = Map.groupBy(errorEntries(), ({ status }) => (status < 500 ? 'yours' : 'ours'));
  const headings: Heading[] = [
    { level: 2, id: 'yours', text: 'Yours to fix' },
    { level: 2, id: 'ours', text: 'Ours to fix' },
  ];
  const why: Heading = { level: 2, id: 'why', text: 'Ask why a call was refused' };
  return {
    title: 'Errors',
    html: `<h1>Errors</h1>
<p>Every refusal that a call can meet, and what to do about it. A code keeps its status and its meaning; match on the code, not on the sentence.</p>
${headings.map((one) => heading(one, one.text) + list(groups.get(one.id as 'yours' | 'ours') ?? [])).join('\n')}
${heading(why, why.text)}${demonstration(askWhy)}`,
    headings: [...headings, why],
  };
}

function list(entries: ErrorEntry[]): string {
  const items = entries.map(
    ({ code, status, message }) =>
      `<li class="${family(status)}"><a href="${INDEX}/${encodeURIComponent(code)}"><b>${status}</b> <code>${breakable(code)}</code> <span>${escapeHtml(message)}</span></a></li>`,
  );
  return `<ul class="errors">${items.join('\n')}</ul>`;
}

function example(entry: ErrorEntry): string {
  return `<figure class="code output"><figcaption>Answer</figcaption><pre tabindex="0"><code>${highlighted(entry.example)}</code></pre></figure>`;
}

function demonstration({ says, command }: Demonstration): string {
  return `<p>${prose(says)}</p><figure class="code"><figcaption>Shell</figcaption><pre tabindex="0"><code>${withPlaceholders(escapeHtml(command))}</code></pre></figure>`;
}

/** Colour tells whose turn it is: amber for the caller's, red for ours. The words say so too. */
function family(status: number): string {
  return status < 500 ? 'caller' : 'service';
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
      if (literal !== undefined) return `<span class="hljs-literal">${literal}</span>`;
      return colon ? `<span class="hljs-attr">${text}</span>:` : `<span class="hljs-string">${text}</span>`;
    },
  );
}
