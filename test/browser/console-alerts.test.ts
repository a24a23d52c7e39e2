import { beforeAll, expect, it } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { HOSTILE, lookForAlerts, partnerCalled, practiceCalled } from '../support/console-world.ts';
import type { Partner } from '../support/post.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** What needed looking after, and who is told of it? */

const { house, enter, tokenOf } = consoles();
const PHONE = { viewport: { width: 360, height: 780 } } as const;
const DAY_MS = 24 * 3_600_000;
let partner: Partner;
let alert: string;

beforeAll(async () => {
  // What the browser calls now is now for the service, too, once more than half of the life of the key is over.
  house().clock.advance(Date.now() - 3 * DAY_MS - house().clock.now());
  const practice = await practiceCalled(house(), 'larkhill', 'Larkhill Medical Centre');
  partner = await partnerCalled(house(), HOSTILE, practice, {
    label: HOSTILE,
    expires_at: new Date(house().clock.now() + 5 * DAY_MS).toISOString(),
  });
  await house().operator('POST', `/partners/${partner.partnerId}/contacts`, {
    email: 'keys@partner.example',
    name: 'Keeper of keys',
    alert_kinds: ['key_expiring'],
  });
  await house().operator('POST', `/partners/${partner.partnerId}/contacts`, {
    email: 'hooks@partner.example',
    name: 'Keeper of webhooks',
    alert_kinds: ['webhook_failing'],
  });
  house().clock.advance(3 * DAY_MS);
  await lookForAlerts(house(), partner.keyId);
  alert = (await house().operator('GET', '/alerts')).data[0].id;
});

it('is listed in words with what it is about, and leads to who is told', async () => {
  const { page } = await enter('/alerts', 'viewer');
  await page.getByLabel('Open or over').selectOption('true');
  const row = page.getByRole('table', { name: 'Alerts' }).getByRole('row').nth(1);
  await expect.poll(() => row.innerText()).toMatch(/^open\s+Key is about to expire/);
  expect(await row.getByRole('link').first().getAttribute('href')).toBe(`/console/keys/${partner.keyId}`);
  await row.getByText('Key is about to expire').click();
  const told = page.getByRole('region', { name: 'Who is told of this by e-mail' });
  await told.getByText('Keeper of keys').waitFor();
  expect(await told.getByText('Keeper of webhooks').count()).toBe(0);
  await page.goto(`${house().url}/console/alerts?open=false`);
  await page.getByText('No alert is like that.').waitFor();
});

it('says what is the matter by names, and not by IDs', async () => {
  const { page } = await enter(`/alerts/${alert}`, 'viewer');
  const state = page.getByRole('region', { name: 'State' });
  await expect
    .poll(() => state.innerText())
    .toMatch(
      /^The key .*onerror.* for Larkhill Medical Centre expires at \d+ \w+ \d{4}, [\d:]+\. Rotate the key/,
    );
  expect(await state.innerText()).not.toContain(partner.keyId);
});

it('support reminds the partner; a viewer is not offered it, and is refused', async () => {
  const { page } = await enter(`/alerts/${alert}`, 'support');
  await page.getByRole('button', { name: 'Remind the partner' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remind the partner' }).click();
  await page.getByText('They are told again.').waitFor();
  const viewer = await enter(`/alerts/${alert}`, 'viewer');
  await viewer.page.getByRole('region', { name: 'About it' }).waitFor();
  expect(await viewer.page.getByRole('button', { name: 'Remind the partner' }).count()).toBe(0);
  const token = await tokenOf('viewer');
  expect((await house().send('POST', `/operator/v1/alerts/${alert}/remind`, { token })).status).toBe(403);
});

it.each([
  ['desk', DESK],
  ['phone', PHONE],
])('keeps hostile text harmless and nobody out, at a %s, in both schemes', async (_name, size) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await enter('/alerts', 'admin', { ...size, colorScheme });
    for (const path of ['/alerts', `/alerts/${alert}`]) {
      await page.goto(`${house().url}/console${path}`);
      await page.getByText('onerror').first().waitFor();
      await loaded(page);
      expect(await page.locator('img').count()).toBe(0);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
  }
});
