import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { loaded } from '../support/console-browser.ts';
import { newNamedPartner, newPractice } from '../support/console-world.ts';
import { guests } from '../support/guest-browser.ts';
import { backwards, tabThrough } from '../support/keyboard.ts';
import type { Partner } from '../support/post.ts';
import { HOOK } from '../support/post.ts';

/** The pages of partners and practices without a mouse: in the order of reading, always seen, and no way out of a dialog but its own. */

const { house, comeIn } = await guests();
let acme: Partner;
let webhook: string;

beforeAll(async () => {
  house().clock.advance(Date.now() - house().clock.now());
  const practice = await newPractice(house(), 'Riverside Medical Centre');
  acme = await newNamedPartner(house(), 'Acme Booking', practice);
  webhook = (await acme.call('POST', '/v1/webhooks', { url: HOOK })).id;
  await acme.call('GET', '/v1/practice-groups');
  await acme.send('GET', '/v1/webhooks/none');
});

async function goesInOrder(page: Page, path: string): Promise<void> {
  await page.goto(`${house().url}/console${path}`);
  await loaded(page);
  const stops = await tabThrough(page);
  const [first] = stops;
  expect([path, first?.name]).toEqual([path, 'a Skip to the content']);
  // The bar, the rooms, the page.
  const parts = stops.map(({ part }) => part).filter((part, at, all) => part !== all[at - 1]);
  expect([path, parts]).toEqual([path, ['page', 'header', 'nav', 'main'].slice(0, parts.length)]);
  expect([path, backwards(stops)]).toEqual([path, []]);
  expect([path, stops.filter(({ isSeen }) => !isSeen).map(({ name }) => name)]).toEqual([path, []]);
}

it('the portal: the Tab key goes as somebody reads, and shows where it is', async () => {
  const { page } = await comeIn({ partner: acme.partnerId });
  const rooms = [
    '',
    'practices',
    'keys',
    'webhooks',
    'events',
    'refused',
    'alerts',
    'verify',
    'agreement',
    'status',
  ];
  for (const room of [...rooms, `keys/${acme.keyId}`, `webhooks/${webhook}`])
    await goesInOrder(page, `/portal${room && `/${room}`}`);
});

it('the pages of a practice: the same', async () => {
  const { page } = await comeIn({ practice: acme.groupId });
  for (const path of ['', `/partners/${acme.partnerId}`]) await goesInOrder(page, `/my-practice${path}`);
});

/** Opened by the keyboard, it keeps the focus until it is closed, and gives it back to what opened it. */
async function keepsFocus(page: Page, opener: Locator, dialog: Locator): Promise<void> {
  await opener.focus();
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  const isWithin = () => dialog.evaluate((element) => element.contains(element.ownerDocument.activeElement));
  await expect.poll(isWithin).toBe(true);
  for (let n = 0; n < 15; n++) {
    await page.keyboard.press(n % 5 === 4 ? 'Shift+Tab' : 'Tab');
    expect(await isWithin()).toBe(true);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect
    .poll(() => opener.evaluate((element) => element === element.ownerDocument.activeElement))
    .toBe(true);
}

it('a dialog keeps the focus, and gives it back', async () => {
  const { page } = await comeIn({ partner: acme.partnerId }, '/portal/webhooks');
  await keepsFocus(
    page,
    page.getByRole('button', { name: 'Create webhook' }),
    page.getByRole('dialog', { name: 'Create a webhook' }),
  );
  await page.goto(`${house().url}/console/portal/webhooks/${webhook}`);
  for (const name of ['Pause', 'Rotate secret', 'Delete'])
    await keepsFocus(page, page.getByRole('button', { name, exact: true }), page.getByRole('alertdialog'));

  const { page: practice } = await comeIn(
    { practice: acme.groupId },
    `/my-practice/partners/${acme.partnerId}`,
  );
  await keepsFocus(
    practice,
    practice.getByRole('button', { name: 'Stop this partner' }),
    practice.getByRole('dialog'),
  );
});

it('rooms and rows are reached by keys', async () => {
  const { page } = await comeIn({ partner: acme.partnerId });
  await loaded(page);
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  // The first page has a table of that name as well.
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await page.getByRole('table', { name: 'Webhooks' }).getByRole('row').nth(1).waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.locator('[role="row"]:focus').count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Delivery log' }).waitFor();
});
