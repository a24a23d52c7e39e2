import { beforeAll, expect, it } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { HOSTILE, LONG, partnerCalled, practiceCalled } from '../support/console-world.ts';
import type { Partner } from '../support/post.ts';
import { startReceiver, status } from '../support/receiver.ts';
import type { Loose } from '../support/service.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** Was a change applied? And whom of our own do we tell of it? */

const { house, enter, tokenOf } = consoles();
const PHONE = { viewport: { width: 360, height: 780 } } as const;
const TYPE = '/v1/care-nav/submission-types/repeat-prescription';
let acme: Partner;

const latest = async (): Promise<Loose[]> => (await house().operator('GET', '/changes/latest')).data;

/** The change, once the feed has it. */
async function changed(body: object): Promise<Loose> {
  const before = (await latest()).length;
  await acme.call('PATCH', TYPE, body);
  await expect.poll(async () => (await latest()).length).toBe(before + 1);
  return (await latest())[0];
}

beforeAll(async () => {
  house().clock.advance(Date.now() - house().clock.now());
  const practice = await practiceCalled(house(), 'larkhill', LONG);
  acme = await partnerCalled(house(), HOSTILE, practice);
});

it('shows what was before and after, and is marked as applied by support', async () => {
  const { id } = await changed({ title: 'Repeat prescriptions', suspended: true });
  const { page } = await enter('/changes?state=pending', 'support');
  const row = page.getByRole('table', { name: 'Changes' }).getByRole('row').nth(1);
  await expect.poll(() => row.innerText()).toMatch(/^not answered\s+Repeat prescriptions\s+Title, Suspended/);
  await row.click();
  await page.getByRole('heading', { level: 1, name: 'Change of Repeat prescriptions' }).waitFor();
  expect(await page.getByRole('row', { name: /Title/ }).innerText()).toMatch(
    /Repeat prescription\s+Repeat prescriptions$/,
  );
  expect(
    await page
      .getByRole('row', { name: /Suspended/ })
      .getByRole('insertion')
      .innerText(),
  ).toBe('yes');
  expect(await page.getByRole('row', { name: /Title/ }).getByRole('insertion').innerText()).toBe('s');
  await page.getByRole('button', { name: 'Mark as applied' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Mark as applied' }).click();
  await page.getByText('Applied: the practice software has had it for').waitFor();
  expect(await house().operator('GET', `/changes/${id}`)).toMatchObject({ state: 'applied' });
  await expect.poll(() => page.getByRole('button', { name: /Mark as/ }).count()).toBe(0);
});

it('is rejected with a reason, which the service asks for', async () => {
  const { id } = await changed({ description: HOSTILE });
  const { page } = await enter(`/changes/${id}`, 'admin');
  await page.getByRole('button', { name: 'Mark as rejected' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Mark as rejected' }).click();
  await dialog.getByText(/at least 1/).waitFor();
  await dialog.getByLabel('Reason').fill('Closed over the holidays.');
  await dialog.getByRole('button', { name: 'Mark as rejected' }).click();
  await page.getByText('Closed over the holidays.').waitFor();
  expect(await house().operator('GET', `/changes/${id}`)).toMatchObject({
    state: 'rejected',
    reason: 'Closed over the holidays.',
  });
});

it('a viewer is offered nothing, and the API refuses the same', async () => {
  const { id } = await changed({ daily_limit: 40 });
  const { page } = await enter(`/changes/${id}`, 'viewer');
  await page.getByText('The practice software has not answered').waitFor();
  expect(await page.getByRole('button', { name: /Mark as/ }).count()).toBe(0);
  const answer = await house().send('POST', `/operator/v1/changes/${id}/applied`, {
    token: await tokenOf('viewer'),
  });
  expect(answer.status).toBe(403);
});

it('a subscription is made with a secret that is shown once, tested, paused, rotated and deleted', async () => {
  const receiver = await startReceiver();
  const { page } = await enter('/changes', 'admin');
  await page.getByRole('link', { name: 'Subscriptions' }).click();
  await page.getByRole('button', { name: 'New subscription' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('ftp://nowhere.example');
  await dialog.getByLabel('Description').fill(HOSTILE);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect
    .poll(() => dialog.getByRole('textbox', { name: 'Address' }).getAttribute('aria-invalid'))
    .toBe('true');
  expect(await dialog.getByLabel('Description').inputValue()).toBe(HOSTILE);
  await dialog.getByLabel('Address').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByText(/whsec_/).waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('Nothing was sent to it yet.').waitFor();
  await expect.poll(() => page.getByText(/whsec_/).count()).toBe(0);

  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
  await expect.poll(() => receiver.received.length).toBe(1);
  await page.getByText('The test is on its way.').waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Activate' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Activate' }).count()).toBe(0);
  await page.getByRole('button', { name: /Submission type changed/ }).click();
  await page.getByRole('list', { name: 'Attempts, newest first' }).getByText('200').first().waitFor();

  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate the secret' }).click();
  await page.getByText(/whsec_/).waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByLabel(/^Type/).fill(new URL(receiver.url).host);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is none like that.').waitFor();
});

it('of subscriptions, support and viewers see all and are offered nothing; the API refuses the same', async () => {
  const receiver = await startReceiver({ behaviour: status(500) });
  const made = await house().operator('POST', '/subscriptions', { url: receiver.url, topics: ['alerts'] });
  for (const role of ['support', 'viewer'] as const) {
    const { page } = await enter(`/subscriptions/${made.id}`, role);
    await page.getByRole('region', { name: 'About it' }).waitFor();
    for (const name of ['Send a test', 'Pause', 'Rotate the secret', 'Delete'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    const path = `/operator/v1/subscriptions/${made.id}/rotate-secret`;
    expect((await house().send('POST', path, { token: await tokenOf(role) })).status).toBe(403);
  }
});

it.each([
  ['desk', DESK],
  ['phone', PHONE],
])('keeps hostile text harmless and nobody out, at a %s, in both schemes', async (_name, size) => {
  await house().operator('POST', '/contacts', { email: 'on-call@operator.example', name: HOSTILE });
  const { id } = await changed({ title: `${HOSTILE} ${size.viewport.width}` });
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await enter('/changes', 'admin', { ...size, colorScheme });
    for (const path of ['/changes', `/changes/${id}`, '/subscriptions', '/alerts']) {
      await page.goto(`${house().url}/console${path}`);
      if (path.startsWith('/changes')) await page.getByText('onerror').first().waitFor();
      else await page.getByRole('search').waitFor();
      await loaded(page);
      expect(await page.locator('img').count()).toBe(0);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
  }
});
