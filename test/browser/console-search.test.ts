import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { consoles } from '../support/console-browser.ts';
import { HOSTILE, newHook, newNamedPartner } from '../support/console-world.ts';
import type { Partner } from '../support/post.ts';
import { barriers } from '../support/site-browser.ts';

/** One box for everything: IDs open at once, the rest is one Enter away. */

const { house, enter } = consoles();

let brightwater: Partner;
let webhookId: string;
beforeAll(async () => {
  brightwater = await newNamedPartner(house(), 'Brightwater Software');
  webhookId = await newHook(brightwater, 'https://hooks.brightwater.example/porter');
  await newNamedPartner(house(), `Hostile ${HOSTILE}`);
});

/** The answer to what was typed is there, and not only to its beginning. */
const found = (page: Page) => page.getByRole('status').getByText(/^\d+ found\./);
const box = (page: Page) => page.getByRole('combobox', { name: 'Search' });

async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((value) => Reflect.get(globalThis, 'navigator').clipboard.writeText(value), text);
  await box(page).press('ControlOrMeta+V');
}

it.each(['/', 'Control+k'])(
  'opens by %s and finds by a part of a name, grouped by kind, first hit on Enter',
  async (keys) => {
    const { page, complaints } = await enter('/', 'viewer');
    await page.keyboard.press(keys);
    await box(page).pressSequentially('brightw');
    await page
      .getByRole('group', { name: 'Partners' })
      .getByRole('option', { name: /Brightwater Software/ })
      .waitFor();
    await page.getByRole('group', { name: 'Webhooks' }).getByRole('option').waitFor();
    await found(page).waitFor();
    expect(await box(page).getAttribute('aria-expanded')).toBe('true');
    const active = await box(page).getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).innerText()).toContain('Brightwater Software');
    expect(await barriers(page, '[role="dialog"]')).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`/console/partners/${brightwater.partnerId}`);
    expect(complaints).toEqual([]);
  },
);

it('goes from hit to hit by arrow keys, around the end as well', async () => {
  const { page } = await enter('/');
  await page.keyboard.press('/');
  await box(page).pressSequentially('brightw');
  await page.getByRole('listbox', { name: 'Found' }).getByRole('option').nth(1).waitFor();
  await found(page).waitFor();
  const selected = () => page.getByRole('listbox').getByRole('option', { selected: true }).innerText();
  const first = await selected();
  await page.keyboard.press('ArrowDown');
  await expect.poll(selected).not.toBe(first);
  await page.keyboard.press('ArrowUp');
  await expect.poll(selected).toBe(first);
  await page.keyboard.press('ArrowUp');
  await expect.poll(selected).not.toBe(first);
});

it('opens what an ID belongs to at once, and what the last four of a key do when they are pasted', async () => {
  const { page } = await enter('/');
  await page.keyboard.press('/');
  await paste(page, `  ${webhookId} `);
  await expect.poll(() => page.url()).toContain(`/console/webhooks/${webhookId}`);
  const { last_four } = await house().operator('GET', `/keys/${brightwater.keyId}`);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await paste(page, last_four);
  await expect.poll(() => page.url()).toContain(`/console/keys/${brightwater.keyId}`);
});

it('opens a refused call by its request ID', async () => {
  const { headers } = await brightwater.send('GET', '/v1/webhooks/wh_unknown');
  const id = String(headers['x-request-id']);
  await expect.poll(async () => (await house().operator('GET', `/requests?request_id=${id}`)).count).toBe(1);
  const { page } = await enter('/');
  await page.keyboard.press('/');
  await paste(page, id);
  await expect.poll(() => page.url()).toContain(`/console/refused/${id}`);
});

it('waits with Enter for the answer to what was typed', async () => {
  const { page } = await enter('/');
  await page.keyboard.press('/');
  await box(page).pressSequentially('hooks.brightwater.example');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain(`/console/webhooks/${webhookId}`);
});

it('shows names as they are, and says when nothing is found', async () => {
  const { page } = await enter('/');
  await page.keyboard.press('/');
  await box(page).pressSequentially('hostile <img');
  const hit = page.getByRole('option', { name: /Hostile/ }).first();
  await hit.waitFor();
  expect(await hit.innerText()).toContain(HOSTILE);
  await box(page).fill('nobody is called so');
  await page.getByText('Nothing is called that.').waitFor();
  expect(await page.title()).not.toBe('taken');
});

it('remembers what was opened for as long as somebody is signed in, and nothing after', async () => {
  const { page } = await enter('/');
  await page.keyboard.press('/');
  await paste(page, webhookId);
  await expect.poll(() => page.url()).toContain(webhookId);
  await page.reload();
  await page.getByRole('button', { name: /Signed in as/ }).waitFor();
  await page.keyboard.press('/');
  await page
    .getByRole('group', { name: 'Opened before' })
    .getByRole('option', { name: /brightwater/ })
    .waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /Signed in as/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Operator token').waitFor();
  const kept = await page.evaluate(() => JSON.stringify(Reflect.get(globalThis, 'sessionStorage')));
  expect(kept).not.toContain('brightwater');
});
