import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { namedKeyEndpoints, portalEndpoints } from '../../src/contract/portal/index.ts';
import { problemCatalogue } from '../../src/contract/problems.ts';
import { ruleBroken } from '../../src/contract/rules.ts';
import { errorReference } from '../../src/describe/error-reference.ts';
import { errorIndexPage, errorPage } from '../../src/site/error-pages.ts';

const codes = ['validation_error', ...Object.keys(problemCatalogue)];

/** What a person reads: no markup. */
function textOf(html = ''): string {
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

test.each(Object.entries(problemCatalogue))('%s has a page with all that is known of it', (code, entry) => {
  const text = textOf(errorPage(code)?.html);
  for (const part of [code, String(entry.status), entry.message, entry.cause, entry.remedy]) {
    expect(text).toContain(part.replaceAll('`', ''));
  }
  expect(text).toContain(`"error": "${code}"`);
});

test('the 400 has a page too', () => {
  const text = textOf(errorPage('validation_error')?.html);
  expect(text).toContain('"statusCode": 400');
  expect(text).toContain('"code": "invalid_type"');
});

test('the 422 has every rule that an operation checks, with its field and its message, here and in the reference', () => {
  const text = textOf(errorPage('business_rule_violation')?.html);
  const reference = errorReference();
  const endpoints: Endpoint[] = [
    partnerEndpoints,
    operatorEndpoints,
    portalEndpoints,
    namedKeyEndpoints,
  ].flatMap((table) => Object.values<Endpoint>(table));
  const names = new Set(endpoints.flatMap(({ rules = [] }) => rules));
  expect(names.size).toBeGreaterThan(20);
  for (const name of names) {
    const { message = '', path = [] } = ruleBroken(name).details;
    expect(text).toContain(name + path.join('') + message.replaceAll('`', ''));
    expect(reference).toContain(`| \`${name}\` | \`${path.join('')}\` | ${message} |`);
  }
});

test('there is no page for what is not an error', () => {
  for (const code of ['', 'nope', 'toString', '__proto__', '<script>'])
    expect(errorPage(code)).toBeUndefined();
});

test('the index leads to every page', () => {
  const { html } = errorIndexPage();
  for (const code of codes) expect(html).toContain(`href="/docs/errors/${code}"`);
});

describe.each([...codes, 'index'])('the page %s', (code) => {
  const { html = '', headings = [] } = (code === 'index' ? errorIndexPage() : errorPage(code)) ?? {};

  test('fetches nothing and runs nothing', () => {
    expect(html).not.toMatch(/<script|<img|<iframe|<link|style=|\son[a-z]+=/i);
    const links = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target);
    expect(
      links.filter((target) => !/^(\/docs\/errors\/|#|mailto:support@porter\.example$)/.test(target ?? '')),
    ).toEqual([]);
  });

  test("has a command to paste, with the reader's own values in it", () => {
    const [, command = ''] = /<figure class="code">.*?<code>(.*?)<\/code>/s.exec(html) ?? [];
    expect(textOf(command)).toMatch(/^(head -c 70000 \/dev\/zero \|\n {2})?curl -sS /);
    expect(command).toContain('<span data-fill="origin">');
    expect(command).toMatch(/<span data-fill="(key|group)">/);
  });

  test('has one title, and every heading that the table of contents names', () => {
    expect(html.match(/<h1>/g)).toHaveLength(1);
    for (const { id } of headings) expect(html).toContain(`<h2 id="${id}">`);
    const opened = html.match(/<(div|figure|p|ul|li|a|code|b|span|pre|h2)\b/g)?.length;
    expect(html.match(/<\/(div|figure|p|ul|li|a|code|b|span|pre|h2)>/g)?.length).toBe(opened);
  });
});
