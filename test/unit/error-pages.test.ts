import { describe, expect, test } from 'vitest';
import { problemCatalogue } from '../../src/contract/problems.ts';
import { errorIndexPage, errorPage } from '../../src/describe/error-pages.ts';

const codes = ['validation_error', ...Object.keys(problemCatalogue)];

/** What a person reads: no markup, no style. */
function textOf(page: string | undefined): string {
  return (page ?? '')
    .replaceAll(/<style>.*?<\/style>/gs, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

test.each(Object.entries(problemCatalogue))('%s has a page with all that is known of it', (code, entry) => {
  const text = textOf(errorPage(code));
  for (const part of [code, String(entry.status), entry.message, entry.cause, entry.remedy]) {
    expect(text).toContain(part.replaceAll('`', ''));
  }
  expect(text).toContain(`"error": "${code}"`);
});

test('the 400 has a page too', () => {
  const text = textOf(errorPage('validation_error'));
  expect(text).toContain('"statusCode": 400');
  expect(text).toContain('"code": "invalid_type"');
});

test('there is no page for what is not an error', () => {
  for (const code of ['', 'nope', 'toString', '__proto__', '<script>'])
    expect(errorPage(code)).toBeUndefined();
});

test('the index leads to every page', () => {
  const index = errorIndexPage();
  for (const code of codes) expect(index).toContain(`href="/docs/errors/${code}"`);
});

describe.each([...codes, 'index'])('the page %s', (code) => {
  const page = (code === 'index' ? errorIndexPage() : errorPage(code)) ?? '';

  test('fetches nothing and runs nothing', () => {
    expect(page).not.toMatch(/<script|<img|<iframe|@import|url\(|\son[a-z]+=/i);
    const links = [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target);
    expect(links.filter((target) => !target?.startsWith('/docs/errors') && target !== 'data:,')).toEqual([]);
  });

  test('is a whole, labelled document', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toContain('name="viewport"');
    expect(page.match(/<h1>/g)).toHaveLength(1);
    expect(page.match(/<main/g)).toHaveLength(1);
    for (const [, id] of page.matchAll(/aria-labelledby="([^"]+)"/g)) expect(page).toContain(`id="${id}"`);
    const opened = page.match(/<(section|p|ul|li|a|code|i|b|span|pre)\b/g)?.length;
    expect(page.match(/<\/(section|p|ul|li|a|code|i|b|span|pre)>/g)?.length).toBe(opened);
  });
});
