import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { consoles, refusedTo } from '../support/console-browser.ts';
import { barriers } from '../support/site-browser.ts';

/** Keys: who uses one, from where and how much; its rotation, its change and its end. */

const { house, enter } = consoles();
const GROUP = 'riverside-surgery';

async function makeKey(label: string) {
  const { data } = await house().operator('GET', '/partners');
  const body = { partner_id: data[0].id, practice_group_id: GROUP, label, scopes: ['practice-groups:read'] };
  return house().operator('POST', '/keys', body);
}

const call = async (key: string, group = GROUP) =>
  (await house().send('GET', '/v1/practice-groups', { key, group })).status;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

it('rotates a key with an overlap, and tells whether the old one is still used and for how long', async () => {
  const old = await makeKey('rotated');
  const { page, complaints } = await enter(`/keys/${old.id}`, 'support');
  // It stands still there as it does for the service, however long the test takes.
  await page.clock.setFixedTime(house().clock.now());
  await page.reload();
  await button(page, 'Rotate').click();
  await page.getByLabel('The old one keeps working').selectOption('3600');
  await button(page, 'Issue the new key').click();
  const key = await page
    .getByRole('region', { name: /The new key/ })
    .locator('code')
    .innerText();
  await button(page, 'I have stored it').click();
  await page.getByText('has not been used since the new one was issued').waitFor();
  expect(await page.getByRole('timer').innerText()).toMatch(/^(1\sh|59\smin)$/);
  expect([await call(old.key), await call(key)]).toEqual([200, 200]);

  house().clock.advance(60_000);
  await call(old.key);
  await house().service.app.keyUses.close();
  await page.reload();
  await page.getByText('The old key is still used').waitFor();
  await page.getByRole('link', { name: /rotated/ }).click();
  await page.getByText('It was last used').first().waitFor();
  expect(complaints).toEqual([]);
});

it('changes the label, the scopes and the limit of a key, and takes no change over a newer one', async () => {
  const { id, key } = await makeKey('before');
  const { page } = await enter(`/keys/${id}`, 'support');
  await button(page, 'Change').click();
  await page.getByLabel('Label').fill('after');
  await page.getByRole('checkbox', { name: /events:read/ }).check({ force: true });
  await page.getByLabel('Calls a minute').fill('3');
  await button(page, 'Save').click();
  await page.getByRole('heading', { name: /after/, level: 1 }).waitFor();
  const changed = await house().operator('GET', `/keys/${id}`);
  expect(changed).toMatchObject({ label: 'after', rate_limit_per_minute: 3 });
  expect([...changed.scopes].sort()).toEqual(['events:read', 'practice-groups:read']);
  expect([await call(key), await call(key), await call(key), await call(key)]).toEqual([200, 200, 200, 429]);

  await button(page, 'Change').click();
  await page.getByLabel('Label').fill('mine');
  await house().operator('PATCH', `/keys/${id}`, { label: 'somebody else was faster' });
  await button(page, 'Save').click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  expect(await page.getByLabel('Label').inputValue()).toBe('mine');
  expect((await house().operator('GET', `/keys/${id}`)).label).toBe('somebody else was faster');
});

it('revokes a key only when its last four are typed', async () => {
  const { id, key, last_four } = await makeKey('to be revoked');
  const { page } = await enter(`/keys/${id}`, 'support');
  await button(page, 'Revoke').click();
  const revoke = page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' });
  await page.getByLabel(/last four/).fill('nope');
  expect(await revoke.isDisabled()).toBe(true);
  expect(await call(key)).toBe(200);
  await page.getByLabel(/last four/).fill(last_four);
  await revoke.click();
  await page.getByText('Calls with it are refused.').waitFor();
  expect(await call(key)).toBe(401);
  expect(await button(page, 'Rotate').count()).toBe(0);
});

it('issues keys for all practices of a network at once', async () => {
  const { data } = await house().operator('GET', '/partners');
  const { page, complaints } = await enter(`/partners/${data[0].id}/issue-many`, 'support');
  await page.getByLabel('Add all practices of a network').selectOption({ label: 'Exampleton network (2)' });
  await page.getByText('2 practices get a key each').waitFor();
  await button(page, 'Leave out hillview-hub').click();
  await page.getByRole('combobox', { name: 'Add a practice' }).fill('Y00002');
  await page.getByRole('option', { name: /Hillview Hub/ }).click();
  await page.getByText('2 practices get a key each').waitFor();
  await page.getByRole('checkbox', { name: /practice-groups:read/ }).check({ force: true });
  await button(page, 'Issue 2 keys').click();
  const shown = await page
    .getByRole('region', { name: /2 keys of/ })
    .locator('code')
    .innerText();
  const [, ...rows] = shown.trim().split('\n');
  expect(rows).toHaveLength(2);
  for (const row of rows) {
    const [group, , key] = row.split(',');
    expect(await call(key ?? '', group)).toBe(200);
  }
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
  expect(download.suggestedFilename()).toBe('porter-keys.csv');
  expect(complaints).toEqual([]);
});

it('tells who uses it, from where and how much, by day and by operation', async () => {
  const { id, key } = await makeKey('much used');
  for (let i = 0; i < 3; i++) await call(key);
  const { id: elsewhere } = await house().operator('POST', '/practice-groups', { name: 'Elsewhere' });
  await call(key, elsewhere);
  const { page, complaints } = await enter(`/keys/${id}`, 'viewer');
  await page.clock.setSystemTime(house().clock.now());
  await page.reload();
  const today = page.getByRole('table', { name: 'Calls by day' }).getByRole('row').last();
  await expect
    .poll(async () => (await today.innerText()).split(/\s+/).slice(-4))
    .toEqual(['3', '1', '0', '0']);
  await page
    .getByRole('table', { name: 'Calls by operation' })
    .getByRole('row', { name: /^List practice groups listPracticeGroups 3 1/ })
    .waitFor();
  await page.getByRole('table', { name: 'Latest refusals' }).getByText('403 forbidden').waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('lists keys by their state, in an address', async () => {
  const { id, last_four } = await makeKey('listed');
  await house().operator('POST', `/keys/${id}/revoke`);
  const { page } = await enter('/keys');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('revoked');
  await page.getByRole('row', { name: new RegExp(`listed \\(…${last_four}\\)`) }).waitFor();
  expect(page.url()).toContain('status=revoked');
});

it('shows a viewer nothing to change, and the API refuses them', async () => {
  const { id } = await makeKey('only looked at');
  const { page } = await enter(`/keys/${id}`, 'viewer');
  await page.getByText('It works.').waitFor();
  for (const name of ['Rotate', 'Change', 'Revoke']) expect(await button(page, name).count()).toBe(0);
  expect(await refusedTo(page, 'POST', `/keys/${id}/revoke`)).toBe(403);
  expect(await refusedTo(page, 'POST', `/keys/${id}/rotate`)).toBe(403);
});
