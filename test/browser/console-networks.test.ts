import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { HOSTILE, newHook, newNamedPartner, newPractice } from '../support/console-world.ts';
import type { Partner } from '../support/post.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** Who reaches whom, as a picture and as a list; and before a change is saved, who would gain and who would lose. */

const { house, enter } = consoles();

let acme: Partner;
let alpha: string;
let beta: string;
let gamma: string;
let valeId: string;
beforeAll(async () => {
  alpha = await newPractice(house(), 'Alpha Surgery');
  beta = await newPractice(house(), 'Beta Surgery');
  gamma = await newPractice(house(), 'Gamma Surgery');
  const odd = await newPractice(house(), `Odd ${HOSTILE}`.padEnd(255, 'x'));
  acme = await newNamedPartner(house(), 'Acme Booking', alpha);
  const vale = await house().operator('POST', '/networks', {
    name: 'Vale',
    practice_group_ids: [alpha, beta],
  });
  valeId = vale.id;
  await newHook(
    { ...acme, call: (method, path, body) => sent(method, path, body) } as Partner,
    'https://hooks.acme.example/in',
  );
  await house().operator('POST', '/networks', {
    name: `Odd network ${HOSTILE}`,
    practice_group_ids: [gamma, odd],
  });
});

/** Acme for Beta, through the network. */
async function sent(method: string, path: string, body: unknown) {
  const answer = await house().send(method, path, { key: acme.key, group: beta, body });
  expect(answer.status).toBe(201);
  return answer.body;
}

const node = (page: Page, name: RegExp) => page.getByRole('button', { name });

it('shows networks with their practices in a picture, and the same as a list', async () => {
  const { page, complaints } = await enter('/networks', 'viewer');
  await node(page, /^Alpha Surgery, in Vale$/).waitFor();
  const list = page.getByRole('list', { name: 'Networks' });
  expect(await list.getByRole('listitem').filter({ hasText: 'Vale' }).innerText()).toMatch(
    /2 practices · everything that a key may, by keys of every partner\s+Alpha Surgery\s+Beta Surgery/,
  );
  expect(await list.innerText()).toContain(HOSTILE);
  expect(await page.getByRole('link', { name: 'New network' }).count()).toBe(0);
  expect(await page.title()).not.toBe('taken');
  expect(complaints).toEqual([]);
});

it('goes through the picture by arrow keys, and Enter tells of one practice who acts for it', async () => {
  const { page } = await enter('/networks', 'viewer');
  await node(page, /^Alpha Surgery/).focus();
  const focused = () =>
    page.evaluate(() => Reflect.get(globalThis, 'document').activeElement?.getAttribute('aria-label'));
  const first = await focused();
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp'])
    if ((await focused()) === first) await page.keyboard.press(key);
  expect(await focused()).not.toBe(first);
  await node(page, /^Beta Surgery/).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain(`practice=${beta}`);
  const told = page.getByRole('region', { name: 'Beta Surgery' });
  await expect
    .poll(() => told.innerText())
    .toMatch(/through Vale\s+everything that a key may.*\s+Alpha Surgery/);
  await page.goBack();
  await page.getByRole('list', { name: 'Networks' }).waitFor();
});

it('says before it is saved which keys and webhooks gain and lose, by name, and then does it', async () => {
  const { page, complaints } = await enter(`/networks/${valeId}`);
  await page.getByRole('button', { name: 'Remove Beta Surgery' }).click();
  await page.getByRole('combobox', { name: 'Add a practice' }).fill('gamma');
  await page.getByRole('option', { name: /Gamma Surgery/ }).click();
  await node(page, /^Gamma Surgery, joins/).waitFor();
  await node(page, /^Beta Surgery, leaves/).waitFor();
  const gains = page.getByRole('region', { name: 'Gain' });
  const losses = page.getByRole('region', { name: 'Lose' });
  await expect
    .poll(() => gains.innerText())
    .toMatch(/1 key\s.*Key of Acme Booking of Acme Booking.*Gamma Surgery: everything/s);
  expect(await losses.innerText()).toMatch(
    /1 key and 1 webhook.*hooks\.acme\.example of Acme Booking.*Beta Surgery/s,
  );
  expect((await house().operator('GET', `/networks/${valeId}`)).practice_group_ids).toEqual(
    [alpha, beta].sort(),
  );
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('alertdialog');
  expect(await dialog.innerText()).toContain('1 key gain reach. 1 key and 1 webhook lose reach.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await house().operator('GET', `/networks/${valeId}`)).practice_group_ids).toEqual(
    [alpha, gamma].sort(),
  );
  await page.getByRole('region', { name: 'If it is saved' }).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

it('names two networks of the same practice apart', async () => {
  const { page } = await enter('/networks/new');
  await page.getByLabel('Name', { exact: true }).fill('Estuary');
  await page.getByLabel('Add a practice').fill('Alpha');
  await page.getByRole('option', { name: /Alpha Surgery/ }).click();
  const names = page.locator('.picture .area text');
  await expect.poll(() => names.count()).toBe(2);
  const [one, other] = await Promise.all([0, 1].map((at) => names.nth(at).boundingBox()));
  // Their lines touch, and no more.
  expect(Math.abs((one?.y ?? 0) - (other?.y ?? 0))).toBeGreaterThan((one?.height ?? 0) * 0.7);
});

it('caps what a network lets through, and keeps the draft when the service refuses it', async () => {
  const { page } = await enter(`/networks/${valeId}`);
  await page.getByRole('checkbox', { name: 'Everything that a key may' }).uncheck();
  const ticks = page.getByRole('group', { name: 'What it lets through' });
  for (const name of [
    'Read the practice',
    'Read submission types',
    'Change submission types',
    'Read webhooks',
    'Manage webhooks',
    'Receive events',
  ])
    await ticks.getByText(name).click();
  await page.getByRole('region', { name: 'If it is saved' }).getByRole('alert').waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await ticks.getByText('Receive events').click();
  await expect
    .poll(() => page.getByRole('region', { name: 'Lose' }).innerText())
    .toContain('submission-types:write');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  expect((await house().operator('GET', `/networks/${valeId}`)).scopes).toEqual(['events:read']);
});

it('makes a network, and deletes it only by its name, saying who loses', async () => {
  const { page } = await enter('/networks');
  await page.getByRole('link', { name: 'New network' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Short-lived');
  for (const name of ['Alpha', 'Beta']) {
    await page.getByRole('combobox', { name: 'Add a practice' }).fill(name);
    await page.getByRole('option', { name: new RegExp(`${name} Surgery`) }).click();
  }
  await page.getByRole('region', { name: 'Gain' }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Short-lived', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('alertdialog');
  await expect
    .poll(() => dialog.innerText())
    .toMatch(/1 key and 1 webhook lose reach|1 key loses|1 key lose/);
  const act = dialog.getByRole('button', { name: 'Delete' });
  expect(await act.isDisabled()).toBe(true);
  await dialog.getByLabel('Type the name of the network').fill('Short-lived');
  await act.click();
  await page.getByRole('heading', { name: 'Networks', level: 1 }).waitFor();
  await loaded(page);
  await expect.poll(() => page.getByRole('link', { name: 'Short-lived' }).count()).toBe(0);
});

it('lets a viewer and support look and not change, as the API does', async () => {
  for (const role of ['viewer', 'support'] as const) {
    const { page } = await enter(`/networks/${valeId}`, role);
    await node(page, /^Alpha Surgery/).waitFor();
    expect(await page.getByRole('button', { name: /Remove|Delete|Save/ }).count()).toBe(0);
    const refused = await page.evaluate(async (id) => {
      const ask: typeof fetch = Reflect.get(globalThis, 'fetch');
      const headers = { 'content-type': 'application/json', 'x-porter-console': '1' };
      return (await ask(`/operator/v1/networks/${id}`, { method: 'DELETE', headers })).status;
    }, valeId);
    expect(refused).toBe(403);
  }
});

it.each([360, 1280, 1920])('fits %i px in both colour schemes, and keeps nobody out', async (width) => {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const path of ['/networks', `/networks?partner=${acme.partnerId}`, `/networks/${valeId}`]) {
      const options = { ...DESK, viewport: { width, height: 900 }, colorScheme };
      const { page, complaints } = await enter(path, 'admin', options);
      await node(page, /^Alpha Surgery/)
        .first()
        .waitFor();
      await loaded(page);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page)).toEqual([]);
      expect(complaints).toEqual([]);
    }
});
