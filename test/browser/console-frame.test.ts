import { expect, it } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { barriers, DESK, overhang, PHONE } from '../support/site-browser.ts';

/** The frame of the console: who comes in, and how one finds one's way. */

const { house, open, enter, tokenOf } = consoles();
const WIDE = { viewport: { width: 1920, height: 1080 } } as const;
const FIRST_LOAD_BYTES_MAX = 250_000;

it('asks who it is, and leads back to where one wanted to go', async () => {
  const { page } = await open('/console/webhooks?status=paused');
  await page.getByLabel('Operator token').fill('pto_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This token is not one that works').waitFor();
  await page.getByLabel('Operator token').fill(await tokenOf('viewer'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
  expect(page.url()).toBe(`${house().url}/console/webhooks?status=paused`);
});

it('keeps no token where a script could read it, and nothing of the session after signing out', async () => {
  const { page } = await enter('/');
  const kept = await page.evaluate(() => {
    const { cookie } = Reflect.get(globalThis, 'document');
    const kept = ['localStorage', 'sessionStorage'].map((name) => Reflect.get(globalThis, name));
    return JSON.stringify([cookie, ...kept]);
  });
  expect(kept).not.toContain('pto_');
  expect(await page.context().cookies()).toEqual([
    expect.objectContaining({ httpOnly: true, value: expect.not.stringContaining('pto_') }),
  ]);
  await page.getByRole('button', { name: /Signed in as/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Operator token').waitFor();
  await page.goto(`${house().url}/console/partners`);
  await page.getByLabel('Operator token').waitFor();
});

it('says which environment it is, in a word', async () => {
  const { page } = await enter('/');
  await expect.poll(() => page.getByRole('banner').innerText()).toMatch(/staging/i);
});

it('shows in a menu where the keyboard is, in the dark, too', async () => {
  const { page } = await enter('/', 'viewer', { ...DESK, colorScheme: 'dark' });
  await page.getByRole('button', { name: /Signed in as/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  await page.keyboard.press('ArrowDown');
  const ring = () =>
    page.evaluate(() => {
      const { activeElement: focused } = Reflect.get(globalThis, 'document');
      if (!focused) return [];
      const { outlineStyle, outlineWidth } = Reflect.get(globalThis, 'getComputedStyle')(focused);
      return [focused.role, outlineStyle, outlineWidth];
    });
  await expect.poll(ring).toEqual(['menuitem', 'solid', '2px']);
});

it('goes everywhere by keyboard', async () => {
  const { page } = await enter('/');
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.getByRole('heading', { name: 'Partners', level: 1 }).waitFor();
  await page
    .getByRole('row', { name: /Brightwater|Demo/ })
    .first()
    .waitFor();
  await page.keyboard.press('j');
  await expect
    .poll(() => page.evaluate(() => Reflect.get(globalThis, 'document').activeElement?.getAttribute('role')))
    .toBe('row');
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
});

it('keeps a filter in the address, and Back takes it off', async () => {
  const { page } = await enter('/webhooks');
  await page.getByRole('combobox', { name: 'State' }).selectOption('disabled');
  await page.getByText('No webhook is like that').waitFor();
  expect(page.url()).toContain('?state=disabled');
  await page.goBack();
  await expect.poll(() => page.url()).not.toContain('state');
});

it.each([
  ['phone', { viewport: { width: 360, height: 780 } }],
  ['tablet', PHONE],
  ['desk', DESK],
  ['wide screen', WIDE],
])('fits a %s in both colour schemes, and keeps nobody out', async (_name, size) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await enter('/partners', 'viewer', { ...size, colorScheme });
    await page.getByRole('row', { name: /Demo Partner/ }).waitFor();
    await loaded(page);
    expect(await overhang(page)).toBe(0);
    expect(await barriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
  }
});

it('loads little, and from nobody else', async () => {
  const { page, requests, complaints } = await enter('/');
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  const files = requests.filter((one) => one.url().includes('/console/assets/'));
  const sizes = await Promise.all(
    [...new Set(files)].map(async (one) => (await one.sizes()).responseBodySize),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`first load of the console: ${bytes} bytes compressed`);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
  expect(complaints).toEqual([]);
});

it('says within its frame that an address leads nowhere', async () => {
  const { page } = await enter('/nowhere/at/all');
  await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
  await page.getByRole('link', { name: 'Partners' }).click();
  await page.getByRole('heading', { level: 1, name: 'Partners' }).waitFor();
});

it('tells whoever finds the address of what their role may not do, before anything is typed', async () => {
  const { data } = await house().operator('GET', '/partners');
  const partner = `/partners/${data[0].id}`;
  const { page } = await enter(`${partner}/issue`, 'viewer');
  for (const path of [`${partner}/issue`, `${partner}/issue-many`, '/networks/new']) {
    await page.goto(`${house().url}/console${path}`);
    await page.getByText(/^Your role, viewer, does not allow this\. Ask somebody with the role /).waitFor();
    expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0);
  }
});
