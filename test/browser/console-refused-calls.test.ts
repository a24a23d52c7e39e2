import type { Page } from 'playwright-core';
import { beforeAll, expect, it, vi } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { HOSTILE, PATIENCE, partnerCalled, practiceCalled } from '../support/console-world.ts';
import type { Answer } from '../support/service.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** Which check refused a call, and what would have passed? */

const { house, enter } = consoles();
const PHONE = { viewport: { width: 360, height: 780 } } as const;
const TYPE = '/v1/care-nav/submission-types/repeat-prescription';
const idOf = ({ headers }: Answer) => String(headers['x-request-id']);
/** The ID of each call. */
const calls = { scope: '', network: '', revoked: '', invalid: '' };

beforeAll(async () => {
  house().clock.advance(Date.now() - house().clock.now());
  const here = await practiceCalled(house(), 'larkhill', 'Larkhill Medical Centre');
  const elsewhere = await practiceCalled(house(), 'oakfield', HOSTILE);
  const reader = await partnerCalled(house(), 'Reader', here, { scopes: ['submission-types:read'] });
  calls.scope = idOf(await reader.send('PATCH', TYPE, { title: 'New' }));
  const acme = await partnerCalled(house(), 'Acme Booking', here, { label: HOSTILE });
  calls.network = idOf(await house().send('GET', TYPE, { key: acme.key, group: elsewhere }));
  calls.invalid = idOf(await acme.send('PATCH', TYPE, { title: '', [HOSTILE]: true }));
  const gone = await partnerCalled(house(), 'Gone', here, { label: 'Old one' });
  await house().operator('POST', `/keys/${gone.keyId}/revoke`);
  calls.revoked = idOf(await gone.send('GET', TYPE));
  await vi.waitFor(async () => expect((await house().operator('GET', '/requests')).count).toBe(4), PATIENCE);
});

const checksOf = (page: Page) => page.getByRole('list', { name: /Checks/ }).getByRole('listitem');

it('is found by its reason and partner, those with a revoked key too, and explained check by check', async () => {
  const { page, complaints } = await enter('/refused', 'viewer');
  const rows = page.getByRole('table', { name: 'Refused calls' }).getByRole('row');
  await rows.filter({ hasText: '401: the key was revoked' }).waitFor();
  await page.getByLabel('Reason').selectOption('insufficient_permissions');
  await rows.filter({ hasText: '401' }).waitFor({ state: 'detached' });
  expect(page.url()).toContain('error=insufficient_permissions');
  await rows.filter({ hasText: 'Reader' }).getByText('403').click();
  await page.getByRole('heading', { level: 1, name: `PATCH ${TYPE}` }).waitFor();
  await expect
    .poll(async () => (await checksOf(page).allInnerTexts()).map((text) => text.split('\n')[0]))
    .toEqual([
      'passed',
      'passed',
      'passed',
      'passed',
      'refused',
      'not reached',
      'not reached',
      'not reached',
    ]);
  const refused = await checksOf(page).nth(4).innerText();
  expect(refused).toContain('What would have passed: ');
  expect(refused).toContain('submission-types:write');
  expect(complaints).toEqual([]);
});

it('tells of a revoked key, of a practice out of reach, and of each field that is not valid', async () => {
  const { page } = await enter(`/refused/${calls.revoked}`, 'support');
  await page.getByText('Refused with 401: the key was revoked.').waitFor();
  await page.goto(`${house().url}/console/refused/${calls.network}`);
  await page.getByText('Refused with 403: the practice is out of reach.').waitFor();
  await page.goto(`${house().url}/console/refused/${calls.invalid}`);
  await page.getByText('Refused with 400: the call is not valid.').waitFor();
  const answer = page.getByRole('region', { name: 'What it was answered' });
  await answer.getByText('title', { exact: true }).waitFor();
  // Each field says what belongs there.
  await checksOf(page).filter({ hasText: 'The call is valid' }).getByText('title').waitFor();
  expect(await page.getByText('What would have passed').count()).toBe(0);
});

it('finds calls of a partner by a part of its name, and those with the same key', async () => {
  const { page } = await enter('/refused', 'support');
  await page.getByRole('combobox', { name: 'Partner' }).fill('acme');
  await page.getByRole('option', { name: 'Acme Booking' }).click();
  await expect.poll(() => page.url()).toContain('partner_id=');
  await expect.poll(() => page.getByRole('row').count()).toBe(3);
  await page.getByRole('button', { name: 'Any partner' }).click();
  await expect.poll(() => page.getByRole('row').count()).toBe(5);
  await page.goto(`${house().url}/console/refused/${calls.revoked}`);
  await page.getByRole('link', { name: 'what else was refused with it' }).click();
  await page
    .getByRole('search')
    .getByRole('link', { name: /Old one/ })
    .waitFor();
  expect(page.url()).toContain('?key_id=');
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
});

it('says so when a call is not known', async () => {
  const { page } = await enter('/refused/req_nothing', 'viewer');
  await page.getByText('There is nothing here').waitFor();
});

it.each([
  ['desk', DESK],
  ['phone', PHONE],
])('keeps hostile text harmless and nobody out, at a %s, in both schemes', async (_name, size) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await enter('/refused', 'viewer', { ...size, colorScheme });
    for (const path of ['/refused', `/refused/${calls.network}`, `/refused/${calls.invalid}`]) {
      await page.goto(`${house().url}/console${path}`);
      if (path !== '/refused') await page.getByText('onerror').first().waitFor();
      else await page.getByRole('row').nth(1).waitFor();
      await loaded(page);
      expect(await page.locator('img').count()).toBe(0);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
  }
});
