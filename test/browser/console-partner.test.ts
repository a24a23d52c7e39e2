import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { consoles, hostileTexts, loaded, refusedTo } from '../support/console-browser.ts';
import { startReceiver } from '../support/receiver.ts';
import { barriers } from '../support/site-browser.ts';

/** Partners from their application on: who they are, what they signed, whom we tell, and how they are. */

const { house, enter } = consoles();

const HOSTILE = hostileTexts[0];
let made = 0;

async function makePartner(name = `Partner ${++made}`) {
  const partner = await house().operator('POST', '/partners', { name, contact_email: 'it@partner.example' });
  return { id: partner.id as string, name };
}

async function makeVerified(name?: string) {
  const partner = await makePartner(name);
  await house().operator('POST', `/partners/${partner.id}/sign-agreement`);
  await house().operator('POST', `/partners/${partner.id}/verify`);
  return partner;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const confirm = (page: Page, name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

it('support brings a partner in, step by step, up to a key that works', async () => {
  const { page, complaints } = await enter('/partners', 'support');
  await button(page, 'Add a partner').click();
  await page.getByLabel('Name').fill('Fenland Health IT');
  await page.getByLabel('E-mail').fill('it@fenland.example');
  await inDialog(page, 'Add').click();
  await page.getByRole('heading', { name: 'Fenland Health IT', level: 1 }).waitFor();

  const onboarding = page.getByRole('region', { name: 'Onboarding' });
  await onboarding
    .getByRole('listitem')
    .filter({ hasText: 'Agreement signed' })
    .getByText('the next step')
    .waitFor();
  await button(page, 'Record the agreement').click();
  await page.getByLabel('Version').fill('2026-1');
  await page.getByLabel('Signatory').fill('Jo Smith');
  await page.getByLabel('Calls a minute').fill('700');
  await inDialog(page, 'Record').click();
  await onboarding.getByRole('listitem').filter({ hasText: 'Verified' }).getByText('the next step').waitFor();
  await button(page, 'Verify').click();
  await confirm(page, 'Verify');
  await page.getByText('keys may be issued').waitFor();
  await page.getByText('700 for each key').waitFor();

  await page.getByRole('link', { name: 'Issue a key' }).click();
  await page.getByRole('combobox', { name: 'Practice' }).fill('riversi');
  await page.getByRole('option', { name: /Riverside Surgery/ }).click();
  await page.getByLabel('Label').fill('booking, production');
  await page.getByRole('checkbox', { name: /practice-groups:read/ }).check({ force: true });
  await button(page, 'Issue the key').click();
  const key = await page
    .getByRole('region', { name: /booking, production/ })
    .locator('code')
    .innerText();
  expect(complaints).toEqual([]);
  const called = await house().send('GET', '/v1/practice-groups', { key, group: 'riverside-surgery' });
  expect(called.status).toBe(200);
  await button(page, 'I have stored it').click();
  await page.getByRole('heading', { name: /booking, production/, level: 1 }).waitFor();
  expect(await page.content()).not.toContain(key);
});

it('warns whoever leaves a key that is shown once', async () => {
  const { id } = await makeVerified();
  const { page } = await enter(`/partners/${id}/issue`);
  await page.getByRole('combobox', { name: 'Practice' }).fill('hillview');
  await page.getByRole('option', { name: /Hillview/ }).click();
  await page.getByRole('checkbox', { name: /events:read/ }).check({ force: true });
  await button(page, 'Issue the key').click();
  await button(page, 'I have stored it').waitFor();
  const asked: string[] = [];
  page.on('dialog', async (dialog) => {
    asked.push(dialog.message());
    await dialog.dismiss();
  });
  await page.getByRole('link', { name: 'Audit' }).click();
  await expect.poll(() => asked).toHaveLength(1);
  expect(asked[0]).toContain('shown this one time only');
  await button(page, 'I have stored it').waitFor();
});

it('says at the field what the service says, and keeps what was typed', async () => {
  const { id } = await makeVerified();
  const { page } = await enter(`/partners/${id}/issue`);
  await page.getByLabel('Label').fill('kept');
  await page.getByLabel('Calls a minute').fill('many');
  await page.getByLabel('From where it may be used').fill('not an address');
  await button(page, 'Issue the key').click();
  await expect.poll(() => page.getByLabel('Calls a minute').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('From where it may be used').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByRole('combobox', { name: 'Practice' }).getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Label').inputValue()).toBe('kept');
});

it('suspends a partner, which stops its calls, and lifts that', async () => {
  const partner = await makeVerified();
  const issued = await house().operator('POST', '/keys', {
    partner_id: partner.id,
    practice_group_id: 'riverside-surgery',
    scopes: ['practice-groups:read'],
  });
  const call = async () =>
    (await house().send('GET', '/v1/practice-groups', { key: issued.key, group: 'riverside-surgery' }))
      .status;
  const { page } = await enter(`/partners/${partner.id}`, 'support');
  await button(page, 'Suspend').click();
  await page.getByText('Calls with 1 working key are refused').waitFor();
  await confirm(page, 'Suspend');
  await page.getByText('Calls with its keys are refused').waitFor();
  expect(await call()).toBe(401);
  await button(page, 'Lift the suspension').click();
  await confirm(page, 'Lift the suspension');
  await page.getByRole('region', { name: 'Onboarding' }).waitFor();
  expect(await call()).toBe(200);
});

it('adds a contact, changes what it is told of, and removes it', async () => {
  const { id } = await makePartner();
  const { page } = await enter(`/partners/${id}?tab=contacts`, 'support');
  await button(page, 'Add a contact').click();
  await page.getByLabel('E-mail').fill('on-call@partner.example');
  await page.getByLabel('Name').fill(HOSTILE);
  await inDialog(page, 'Add').click();
  const row = page.getByRole('row', { name: /on-call@partner.example/ });
  await row.getByText('everything').waitFor();
  await row.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('checkbox', { name: /every alert/ }).uncheck({ force: true });
  await page.getByRole('checkbox', { name: 'A webhook fails' }).check({ force: true });
  await inDialog(page, 'Save').click();
  await row.getByText('a webhook fails').waitFor();
  const { data } = await house().operator('GET', `/partners/${id}/contacts`);
  expect(data).toContainEqual(
    expect.objectContaining({ email: 'on-call@partner.example', alert_kinds: ['webhook_failing'] }),
  );
  await row.getByRole('button', { name: 'Remove' }).click();
  await confirm(page, 'Remove');
  await row.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /it@partner.example/ }).waitFor();
});

it('records the next agreement, and tells how they were served, with a page to print', async () => {
  const { id, name } = await makeVerified();
  const { page, complaints } = await enter(`/partners/${id}?tab=agreements`, 'support');
  await button(page, 'Record an agreement').click();
  await page.getByLabel('Version').fill('2026-2');
  await page.getByLabel('Signatory').fill('Sam Lee');
  await page.getByLabel('Signed', { exact: true }).fill('2026-11-01T09:00');
  await page.getByLabel('SLA', { exact: true }).selectOption('targets');
  await page.getByLabel('Availability, %').fill('101');
  await inDialog(page, 'Record').click();
  await expect.poll(() => page.getByLabel('Availability, %').getAttribute('aria-invalid')).toBe('true');
  complaints.length = 0;
  await page.getByLabel('Availability, %').fill('99.9');
  await inDialog(page, 'Record').click();
  await page.getByRole('table', { name: 'Agreements' }).getByText('2026-2').waitFor();
  await page.getByRole('table', { name: 'Agreements' }).getByText('99.9 % available').waitFor();
  await page.getByText('The service was down').waitFor();
  const [printable] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Page to print' }).click(),
  ]);
  await printable.getByRole('heading', { name: new RegExp(name) }).waitFor();
  expect(complaints).toEqual([]);
});

it('shows its keys, its webhooks with their state, its usage and its latest refusals', async () => {
  const partner = await makeVerified();
  const { key } = await house().operator('POST', '/keys', {
    partner_id: partner.id,
    practice_group_id: 'riverside-surgery',
    label: 'reporting',
    scopes: ['practice-groups:read', 'events:read', 'webhooks:write', 'webhooks:read'],
  });
  const receiver = await startReceiver();
  const as = { key, group: 'riverside-surgery' };
  await house().send('POST', '/v1/webhooks', { ...as, body: { url: receiver.url } });
  await house().send('GET', '/v1/practice-groups', as);
  await house().send('GET', '/v1/practice-groups', { key, group: 'nowhere' });
  const { page } = await enter(`/partners/${partner.id}`, 'viewer');
  await page.clock.setSystemTime(house().clock.now());
  await page.reload();
  await page
    .getByRole('table', { name: 'Keys' })
    .getByRole('link', { name: /reporting/ })
    .waitFor();
  const webhooks = page.getByRole('table', { name: 'Webhooks' });
  await webhooks.getByRole('link', { name: receiver.url }).waitFor();
  await page.getByRole('table', { name: 'Latest refusals' }).getByText('403 forbidden').waitFor();
  const today = page.getByRole('table', { name: 'Calls by day' }).getByRole('row').last();
  await expect
    .poll(async () => (await today.innerText()).split(/\s+/).slice(-4))
    .toEqual(['2', '1', '0', '0']);
});

it('shows a viewer no button that changes anything, and the API refuses them', async () => {
  const { id } = await makeVerified();
  for (const tab of ['', '?tab=agreements', '?tab=contacts']) {
    const { page } = await enter(`/partners/${id}${tab}`, 'viewer');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    await loaded(page);
    for (const name of ['Suspend', 'Change', 'Add a contact', 'Record an agreement'])
      expect(await button(page, name).count()).toBe(0);
    expect(await page.getByRole('link', { name: /Issue/ }).count()).toBe(0);
    expect(await refusedTo(page, 'POST', `/partners/${id}/suspend`)).toBe(403);
    expect(await refusedTo(page, 'POST', '/keys')).toBe(403);
  }
});

it.each(hostileTexts)('shows a name as it was written, and runs nothing of it: %s', async (name) => {
  const partner = await makeVerified(name.slice(0, 255));
  await house().operator('POST', '/keys', {
    partner_id: partner.id,
    practice_group_id: 'riverside-surgery',
    label: name.slice(0, 100),
    scopes: ['events:read'],
  });
  const { page, complaints } = await enter(`/partners/${partner.id}`);
  await page.getByRole('heading', { name: partner.name, level: 1 }).waitFor();
  await page.getByRole('table', { name: 'Keys' }).waitFor();
  expect(await page.evaluate(() => Reflect.get(globalThis, 'stolen'))).toBeUndefined();
  expect(await barriers(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
