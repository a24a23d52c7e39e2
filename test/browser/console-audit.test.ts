import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { consoles, hostileTexts } from '../support/console-browser.ts';
import { barriers } from '../support/site-browser.ts';

/** Who did what: in words, with differences, and whether it can be trusted. */

const { house, enter } = consoles();

async function makeChange() {
  const { id } = await house().operator('POST', '/partners', {
    name: '=1+1 "Formula" Ltd',
    contact_email: 'a@b.example',
  });
  await house().operator('PATCH', `/partners/${id}`, { name: hostileTexts[0] });
  return id as string;
}

it('tells in words who did what, shows the differences, and filters by address', async () => {
  const id = await makeChange();
  const { page, complaints } = await enter('/audit', 'viewer');
  await page.getByLabel('Subject').fill(id);
  await page.keyboard.press('Enter');
  await page.getByLabel('Action').selectOption('partner.update');
  const row = page.getByRole('row', { name: /changed a partner/ });
  await row.waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  expect(page.url()).toContain(`subject_id=${id}`);
  expect(page.url()).toContain('action=partner.update');
  await row.getByText('changed a partner').click();
  await page.getByRole('heading', { name: /First operator changed a partner/ }).waitFor();
  const change = page.getByRole('region', { name: 'What changed' });
  await change.getByText('=1+1 "Formula" Ltd').waitFor();
  await change.getByText(hostileTexts[0]).waitFor();
  expect(await page.evaluate(() => Reflect.get(globalThis, 'stolen'))).toBeUndefined();
  expect(await barriers(page)).toEqual([]);
  await page.goBack();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page
    .getByRole('row', { name: /signed in/ })
    .first()
    .waitFor();
  expect(complaints).toEqual([]);
});

it('verifies the trail, also against an anchor that was kept', async () => {
  const { page } = await enter('/audit', 'viewer');
  const [kept] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Keep an anchor' }).click(),
  ]);
  const line = (await readFile(await kept.path(), 'utf8')).trim();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByLabel('An anchor that was kept').fill('nonsense');
  await page.getByRole('dialog').getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Must be an anchor of the audit trail').waitFor();
  await page.getByLabel('An anchor that was kept').fill(line);
  await page.getByRole('dialog').getByRole('button', { name: 'Verify' }).click();
  await page.getByText(/Verified: all \d+ entries are as they were written.*anchor of entry/).waitFor();
});

it('exports what the filters show, and no cell of it is a formula', async () => {
  const id = await makeChange();
  const { page } = await enter(`/audit?subject_id=${id}`, 'viewer');
  await page.getByRole('row', { name: /added a partner/ }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ]);
  const [head, ...rows] = (await readFile(await download.path(), 'utf8')).split('\r\n');
  expect(head).toMatch(/^seq,at,actor_type/);
  expect(rows).toHaveLength(2);
  for (const cell of rows.flatMap((row) => row.match(/"(?:[^"]|"")*"/g) ?? []))
    expect(cell).not.toMatch(/^"[=+@-]/);
});
