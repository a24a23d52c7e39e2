import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { afterwards } from '../support/afterwards.ts';
import { consoles } from '../support/console-browser.ts';
import {
  failForAnHour,
  lookForAlerts,
  newHook,
  newNamedPartner,
  newPractice,
} from '../support/console-world.ts';
import type { Partner } from '../support/post.ts';
import { startReceiver, status } from '../support/receiver.ts';

/** The two questions by which the console is judged: each is answered within four clicks from the first page, by a viewer. */

const CLICKS_MAX = 4;
const { house, enter } = consoles();

let acme: Partner;
let reached: string;
beforeAll(async () => {
  const receiver = await startReceiver({ behaviour: status(503, {}, 'upstream booking-api timed out') });
  afterwards(() => receiver.close());
  const home = await newPractice(house(), 'Riverside Medical Centre');
  reached = await newPractice(house(), 'Larkhill Medical Centre');
  acme = await newNamedPartner(house(), 'Acme Booking', home);
  await house().operator('POST', '/networks', { name: 'Vale', practice_group_ids: [home, reached] });
  const webhookId = await newHook(acme, receiver.url);
  await failForAnHour(house(), acme, webhookId);
  await lookForAlerts(house(), webhookId);
});

/** Counts what a person does with the mouse. */
function walker() {
  let clicks = 0;
  return {
    async click(name: string, target: ReturnType<Page['getByRole']>) {
      clicks++;
      await target.click();
      console.log(`click ${clicks}: ${name}`);
    },
    clicks: () => clicks,
  };
}

it('"A partner says they got nothing since nine": the first page names the partner and the cause, one click shows the attempt', async () => {
  const { page } = await enter('/', 'viewer');
  const walk = walker();
  const cause = page.getByRole('region', { name: /the receiver answers 503/ });
  await cause.getByText('Acme Booking').first().waitFor();
  await walk.click('the webhook of Acme Booking', cause.getByRole('link', { name: /localhost/ }));
  const state = page.getByRole('region', { name: 'State' });
  await expect.poll(() => state.innerText()).toMatch(/Failing since .*503/s);
  await page.getByText('upstream booking-api timed out').first().waitFor();
  expect(walk.clicks()).toBeLessThanOrEqual(CLICKS_MAX);
});

it('"A partner says they got nothing since nine", when nobody was told yet: by the list of webhooks', async () => {
  const { page } = await enter('/', 'viewer');
  const walk = walker();
  await walk.click('Webhooks', page.getByRole('link', { name: 'Webhooks', exact: true }));
  await walk.click('the row of Acme Booking', page.getByRole('row', { name: /Acme Booking/ }).first());
  await expect
    .poll(() => page.getByRole('region', { name: 'State' }).innerText())
    .toMatch(/Failing since .*503/s);
  expect(walk.clicks()).toBeLessThanOrEqual(CLICKS_MAX);
});

it('"Which of our practices can they reach, and who let them?"', async () => {
  const { page } = await enter('/', 'viewer');
  const walk = walker();
  await walk.click('Networks', page.getByRole('link', { name: 'Networks' }));
  await walk.click('the box for a partner', page.getByRole('combobox', { name: 'Partner' }));
  await walk.click('Acme Booking', page.getByRole('option', { name: 'Acme Booking' }));
  await page.getByText('reaches 2 practices with 1 key.').waitFor();
  const list = page.getByRole('list', { name: 'Practices in reach' });
  expect(await list.innerText()).toMatch(/Riverside Medical Centre\s+by a key of its own/);
  await walk.click('Larkhill', list.getByRole('button', { name: /Larkhill Medical Centre.*through Vale/s }));
  await expect
    .poll(() => list.innerText())
    .toMatch(/With Key of Acme Booking .* of Riverside Medical Centre, through Vale: /);
  for (const what of [
    'issued the key',
    'put Larkhill Medical Centre into the network',
    'put Riverside Medical Centre into the network',
    'verified the partner',
  ])
    await list.getByText(new RegExp(`\\S+ ${what}`)).waitFor();
  expect(page.url()).toContain(`partner=${acme.partnerId}`);
  expect(page.url()).toContain(`practice=${reached}`);
  expect(walk.clicks()).toBeLessThanOrEqual(CLICKS_MAX);
});
