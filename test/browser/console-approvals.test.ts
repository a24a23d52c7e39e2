import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { consoles } from '../support/console-browser.ts';

/** Where a second person must approve keys and operators. */

const { house, enter } = consoles({ PORTER_APPROVALS: 'keys' });
const strict = consoles({ PORTER_APPROVALS: 'keys,operators' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function ask(page: Page) {
  // An operator approves nothing that is as old as it is.
  house().clock.advance(1);
  await page.getByRole('combobox', { name: 'Practice' }).fill('riversi');
  await page.getByRole('option', { name: /Riverside Surgery/ }).click();
  await page.getByRole('checkbox', { name: /practice-groups:read/ }).check({ force: true });
  await button(page, 'Issue the key').click();
  await page.getByText('It waits for a second person.').waitFor();
  await page.getByRole('link', { name: 'Approvals' }).click();
  await page.getByRole('table', { name: 'Approvals' }).waitFor();
}

it('a key waits for a second person, who approves it, and is collected by whoever asked', async () => {
  const { data } = await house().operator('GET', '/partners');
  const { page: support } = await enter(`/partners/${data[0].id}/issue`, 'support');
  await ask(support);
  expect(await button(support, 'Approve').count()).toBe(0);

  const { page: admin } = await enter('/settings?tab=approvals');
  await button(admin, 'Approve').click();
  const dialog = admin.getByRole('alertdialog');
  await dialog.getByText('riverside-surgery').waitFor();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await admin.getByText(/approved by First operator/).waitFor();
  expect(await button(admin, 'Collect').count()).toBe(0);

  await support.reload();
  await button(support, 'Collect').click();
  await support.getByRole('alertdialog').getByRole('button', { name: 'Collect' }).click();
  const key = await support.getByRole('region', { name: 'The key' }).locator('code').innerText();
  const called = await house().send('GET', '/v1/practice-groups', { key, group: 'riverside-surgery' });
  expect(called.status).toBe(200);
});

it('a second person declines it with a reason', async () => {
  const { data } = await house().operator('GET', '/partners');
  const { page: support } = await enter(`/partners/${data[0].id}/issue`, 'support');
  await ask(support);
  const { page: admin } = await enter('/settings?tab=approvals&status=pending');
  await button(admin, 'Decline').click();
  await admin.getByLabel('Why').fill('They have one already.');
  await admin.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
  await admin.getByText('Nothing waits.').waitFor();
  await support.reload();
  await support.getByText('They have one already.').waitFor();
});

it('a key that is to be given more waits, and so does a new operator', async () => {
  const { data } = await strict.house().operator('GET', '/keys?status=active');
  const { page } = await strict.enter(`/keys/${data[0].id}`);
  await button(page, 'Change').click();
  await page.getByLabel('Calls a minute').fill('100000');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('It waits for a second person.').waitFor();

  await page.goto(`${strict.house().url}/console/settings?tab=operators`);
  await button(page, 'Add an operator').click();
  await page.getByLabel('Name').fill('Robin Support');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByText('It waits for a second person.').waitFor();
});
