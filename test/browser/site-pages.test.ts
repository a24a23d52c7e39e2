import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { entries } from '../../src/site/contents.ts';
import { barriers, DESK, overhang, PHONE, readers } from '../support/site-browser.ts';

/** What must hold on every page, whoever reads it on whatever. */

const { open, house } = readers();

const paths = [
  ...entries.map(({ path }) => path),
  '/docs/errors/validation_error',
  '/docs/errors/internal_error',
];
const isReference = (path: string) => /api$/.test(path);

describe.each(paths)('%s', (path) => {
  it('opens without a complaint, fits on a phone with its tables, and keeps nobody out, light or dark', async () => {
    const { page, complaints } = await open(path, { ...PHONE, colorScheme: 'light' });
    if (isReference(path)) await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await overhang(page)).toBe(0);
    expect(await cutTables(page)).toEqual([]);
    // What is drawn is mended a frame later.
    await expect.poll(() => barriers(page)).toEqual([]);

    await page.setViewportSize(DESK.viewport);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => barriers(page)).toEqual([]);
    expect(await cutTables(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

/** Tables that are wider than their place, by what is in them. The reference has none. */
function cutTables(page: Page): Promise<string[]> {
  return page
    .locator('.table')
    .evaluateAll((tables) =>
      tables.flatMap((one) => (one.scrollWidth > one.clientWidth ? (one.textContent ?? '') : [])),
    );
}

it('guides and references begin at the same places on a wide screen, and code says that it goes on', async () => {
  const { page } = await open('/docs/guides/receiving-webhooks', { viewport: { width: 1920, height: 1080 } });
  const left = (selector: string) =>
    page
      .locator(selector)
      .filter({ visible: true })
      .first()
      .evaluate((element) => Math.round(element.getBoundingClientRect().left));
  const guide = [await left('#contents'), await left('h1')];
  const lineHeight = await page
    .locator('pre code')
    .first()
    .evaluate((code) => {
      const { lineHeight, fontSize } = code.ownerDocument.defaultView?.getComputedStyle(
        code.parentElement ?? code,
      ) ?? { lineHeight: '', fontSize: '' };
      return Number.parseFloat(lineHeight) / Number.parseFloat(fontSize);
    });
  expect(lineHeight).toBeLessThan(1.6);
  await page.goto(`${house().url}/docs/api`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(async () => [await left('.t-doc__sidebar'), await left('h1')]).toEqual(guide);
});

it.each(paths.filter((path) => !isReference(path)))('%s can be read without a script', async (path) => {
  const { page } = await open(path, { ...PHONE, javaScriptEnabled: false });
  expect(await page.locator('main').innerText()).toMatch(/\S{3}/);
  expect(await page.locator('#contents a').first().isVisible()).toBe(true);
  expect(await page.locator('.tabs .panel').filter({ visible: false }).count()).toBe(0);
  expect(await page.locator('button').filter({ visible: true }).count()).toBe(0);
});

it('a page that does not exist looks like the others', async () => {
  const { page, complaints } = await open('/docs/guides/rate-limit');
  expect(await page.locator('h1').innerText()).toBe('There is nothing here');
  expect(await barriers(page)).toEqual([]);
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  await page.getByRole('button', { name: 'Search', exact: true }).last().click();
  // What the address ends with is looked for.
  await page.getByRole('option').first().waitFor();
  expect(await page.getByRole('combobox').inputValue()).toBe('rate limit');
  const found = await page
    .getByRole('option')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(found).toContain('/docs/guides/rate-limits');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Go to the start' }).click();
  await page.waitForURL(`${house().url}/docs`);
});
