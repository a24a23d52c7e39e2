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
import { walk } from '../support/walks.ts';

/** The two questions by which the console is judged: each is answered within four clicks from the first page, by a viewer. */

const { house, enter } = consoles();

let acme: Partner;
let reached: string;
beforeAll(async () => {
  // What the browser calls now is now for the service, too, once the receiver has failed for an hour.
  house().clock.advance(Date.now() - 61 * 60_000 - house().clock.now());
  const receiver = await startReceiver({ behaviour: status(503, {}, 'upstream booking-api timed out') });
  afterwards(() => receiver.close());
  const home = await newPractice(house(), 'Riverside Medical Centre');
  reached = await newPractice(house(), 'Larkhill Medical Centre');
  acme = await newNamedPartner(house(), 'Acme Booking', home);
  const others = ['Downs Surgery', 'Ferry Practice', 'Ivy House Surgery', 'Kiln Lane Surgery'];
  const members = [home, reached];
  for (const name of others) members.push(await newPractice(house(), name));
  await house().operator('POST', '/networks', { name: 'Vale', practice_group_ids: members });
  const webhookId = await newHook(acme, receiver.url);
  await failForAnHour(house(), acme, webhookId);
  await lookForAlerts(house(), webhookId);
});

const WIDE = { viewport: { width: 1120, height: 700 } };

it('"A partner says they got nothing since nine": the first page names the partner and the cause, one click shows the attempt', async () => {
  const { page } = await enter('/', 'viewer', WIDE);
  const { click, see, done } = walk(page, {
    order: 1,
    person: 'Support',
    question: 'A partner says they got nothing since nine.',
  });
  const cause = page.getByRole('region', { name: /the receiver answers 503/ });
  await cause.getByText('Acme Booking').first().waitFor();
  await see('Now: what needs somebody, by its cause');
  await click(cause.getByRole('link', { name: /localhost/ }));
  const state = page.getByRole('region', { name: 'State' });
  await expect.poll(() => state.innerText()).toMatch(/Failing for .*503/s);
  await page.getByText('upstream booking-api timed out').first().waitFor();
  await see('The webhook: since when, why, what waits, what it answered');
  done();
});

it('"A partner says they got nothing since nine", when nobody was told yet: by the list of webhooks', async () => {
  const { page } = await enter('/', 'viewer', WIDE);
  const { click, see, done } = walk(page, {
    order: 2,
    person: 'Support',
    question: 'The same, before anybody was told.',
  });
  await click(page.getByRole('link', { name: 'Webhooks', exact: true }));
  // The first page has rows of this name, too, until the list has come.
  const row = page.getByRole('table', { name: 'Webhooks' }).getByRole('row', { name: /Acme Booking/ });
  await row.waitFor();
  await see('Webhooks: state, partner, what waits');
  await click(row);
  await expect
    .poll(() => page.getByRole('region', { name: 'State' }).innerText())
    .toMatch(/Failing for .*503/s);
  done();
});

it('"Which of our practices can they reach, and who let them?"', async () => {
  const { page } = await enter('/', 'viewer', WIDE);
  const { click, see, done } = walk(page, {
    order: 3,
    person: 'Operator',
    question: 'Which of our practices can they reach, and who let them?',
  });
  await click(page.getByRole('link', { name: 'Networks' }));
  await click(page.getByRole('combobox', { name: 'Partner' }));
  await click(page.getByRole('option', { name: 'Acme Booking' }));
  await page.getByText('reaches 6 practices with 1 key.').waitFor();
  await see('Networks: what a partner reaches');
  const list = page.getByRole('list', { name: 'Practices in reach' });
  await expect.poll(() => list.innerText()).toMatch(/Riverside Medical Centre\s+by a key of its own/);
  await click(list.getByRole('button', { name: /Larkhill Medical Centre.*through Vale/s }));
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
  await see('The practice: with which key, through which network, who let them');
  expect(page.url()).toContain(`partner=${acme.partnerId}`);
  expect(page.url()).toContain(`practice=${reached}`);
  done();
});
