import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { consoles, refusedTo } from '../support/console-browser.ts';
import { MASTER_KEY } from '../support/service.ts';
import { barriers } from '../support/site-browser.ts';

/** Who works here, where they are signed in, and with what the deployment runs. */

const { house, enter, open } = consoles();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

it('adds an operator whose token is shown once and signs in, and revokes them', async () => {
  const { page, complaints } = await enter('/settings');
  await button(page, 'Add an operator').click();
  await page.getByLabel('Name').fill('Robin Support');
  await page.getByLabel('Role').selectOption('support');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  const token = await page
    .getByRole('region', { name: /The token of Robin/ })
    .locator('code')
    .innerText();
  await button(page, 'I have stored it').click();
  await page.getByRole('region', { name: /The token of Robin/ }).waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(token);

  const robin = (await open('/console/sign-in')).page;
  await robin.getByLabel('Operator token').fill(token);
  await button(robin, 'Sign in').click();
  await robin.getByRole('button', { name: 'Signed in as Robin Support' }).waitFor();

  await page.reload();
  await page.getByRole('table', { name: 'Operators' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  const row = page.getByRole('row', { name: /Robin Support/ });
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByLabel('Type the name').fill('Robin Support');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await row.getByText('revoked').waitFor();
  await robin.goto(`${house().url}/console/partners`);
  await robin.getByLabel('Operator token').waitFor();
  expect(complaints).toEqual([]);
});

it('lists who is signed in, and ends a session', async () => {
  const viewer = (await enter('/settings?tab=sessions', 'viewer')).page;
  await expect.poll(() => viewer.getByRole('table', { name: 'Sessions' }).getByRole('row').count()).toBe(2);
  const { page } = await enter('/settings?tab=sessions');
  const other = page.getByRole('row', { name: /A viewer/ });
  await other.getByRole('button', { name: 'End' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'End' }).click();
  await other.waitFor({ state: 'detached' });
  await page
    .getByRole('row', { name: /First operator.*this one/ })
    .first()
    .waitFor();
  await viewer.goto(`${house().url}/console/partners`);
  await viewer.getByLabel('Operator token').waitFor();
});

it('signs out everywhere: every page of the operator asks for a token again', async () => {
  const { page } = await enter('/settings?tab=sessions', 'viewer');
  await button(page, 'Sign out everywhere').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByLabel('Operator token').waitFor();
});

it('shows the settings in force without their secrets, the nodes, and rotates the signing key', async () => {
  const { page, complaints } = await enter('/settings?tab=in-force');
  const key = page.getByRole('row', { name: /^PORTER_MASTER_KEY / });
  await key.getByText('(not shown)').first().waitFor();
  expect(await page.content()).not.toContain(MASTER_KEY);
  await page.getByRole('link', { name: 'Nodes' }).click();
  await page.getByRole('row', { name: /answers you/ }).waitFor();
  await page.getByRole('link', { name: 'Signing keys' }).click();
  await button(page, 'Rotate').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await expect.poll(() => page.getByRole('table', { name: 'Signing keys' }).getByRole('row').count()).toBe(3);
  expect(complaints).toEqual([]);
});

it('shows support nothing to change here, and the API refuses them', async () => {
  for (const tab of ['operators', 'signing']) {
    const { page } = await enter(`/settings?tab=${tab}`, 'support');
    await page.getByRole('row').nth(1).waitFor();
    for (const name of ['Add an operator', 'Revoke', 'Change', 'Rotate'])
      expect(await button(page, name).count()).toBe(0);
    expect(await refusedTo(page, 'POST', '/operators')).toBe(403);
    expect(await refusedTo(page, 'POST', '/signing-keys/rotate')).toBe(403);
  }
});
