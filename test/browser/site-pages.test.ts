import { describe, expect, it } from 'vitest';
import { entries } from '../../src/site/contents.ts';
import { barriers, DESK, PHONE, readers } from '../support/site-browser.ts';

/** What must hold on every page, whoever reads it on whatever. */

const { open, house } = readers();

const paths = [
  ...entries.map(({ path }) => path),
  '/docs/errors/validation_error',
  '/docs/errors/internal_error',
];
const isReference = (path: string) => /api$/.test(path);

describe.each(paths)('%s', (path) => {
  // What Scalar draws is Scalar's; the bar above it is ours.
  const ours = isReference(path) ? '.bar' : 'html';

  it('opens without a complaint, fits on a phone, and keeps nobody out, light or dark', async () => {
    const { page, complaints } = await open(path, { ...PHONE, colorScheme: 'light' });
    if (isReference(path)) await page.getByRole('heading', { level: 1 }).waitFor();
    const [content, screen] = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = Reflect.get(globalThis, 'document').documentElement;
      return [scrollWidth, clientWidth];
    });
    expect(content).toBe(screen);
    expect(await barriers(page, ours)).toEqual([]);

    await page.setViewportSize(DESK.viewport);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await barriers(page, ours)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

it.each(paths.filter((path) => !isReference(path)))('%s: no table is wider than its place', async (path) => {
  for (const size of [DESK, PHONE]) {
    const { page } = await open(path, size);
    const cut = await page
      .locator('.table')
      .evaluateAll((tables) =>
        tables.flatMap((one) => (one.scrollWidth > one.clientWidth ? (one.textContent ?? '') : [])),
      );
    expect([size.viewport.width, cut]).toEqual([size.viewport.width, []]);
  }
});

it.each(paths.filter((path) => !isReference(path)))('%s can be read without a script', async (path) => {
  const { page } = await open(path, { ...PHONE, javaScriptEnabled: false });
  expect(await page.locator('main').innerText()).toMatch(/\S{3}/);
  expect(await page.locator('#contents a').first().isVisible()).toBe(true);
  expect(await page.locator('.tabs .panel').filter({ visible: false }).count()).toBe(0);
  expect(await page.locator('button').filter({ visible: true }).count()).toBe(0);
});

it('a page that does not exist looks like the others', async () => {
  const { page, complaints } = await open('/docs/guides/nothing');
  expect(await page.locator('h1').innerText()).toBe('There is nothing here');
  expect(await barriers(page)).toEqual([]);
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  await page.getByRole('link', { name: 'Go to the start' }).click();
  await page.waitForURL(`${house().url}/docs`);
});
