import { beforeAll, expect, it } from 'vitest';
import { afterwards } from '../support/afterwards.ts';
import {
  failForAnHour,
  logged,
  lookForAlerts,
  newHook,
  newNamedPartner,
  newPractice,
} from '../support/console-world.ts';
import { guests } from '../support/guest-browser.ts';
import { type Partner, publish } from '../support/post.ts';
import { ok, startReceiver } from '../support/receiver.ts';
import { walk } from '../support/walks.ts';

/** The questions by which the pages of partners and practices are judged: each is answered within four clicks from the first page. */

const { house, comeIn } = await guests();
const WIDE = { viewport: { width: 1120, height: 700 } };

let acme: Partner;
beforeAll(async () => {
  // What the browser calls now is now for the service, too, once the receiver has failed for an hour.
  house().clock.advance(Date.now() - 61 * 60_000 - house().clock.now());
  const riverside = await newPractice(house(), 'Riverside Medical Centre');
  await house().operator('PUT', `/practice-groups/${riverside}/forms/form-1`, { title: 'Form' });
  await house().operator('POST', `/practice-groups/${riverside}/submission-types`, {
    id: 'repeat-prescription',
    pathway_id: 'pathway-1',
    title: 'Repeat prescription',
  });
  acme = await newNamedPartner(house(), 'Acme Booking', riverside);
  const larkhill = await newPractice(house(), 'Larkhill Medical Centre');
  await newNamedPartner(house(), 'Letterbox Health', larkhill, { scopes: ['practice-groups:read'] });
  await house().operator('POST', '/networks', { name: 'Vale', practice_group_ids: [riverside, larkhill] });

  // A receiver on this machine would do: but what came of it is told to partners of receivers at public addresses only.
  const webhookId = await newHook(acme, 'https://hooks.acme-bookings.example/porter');
  const receiver = await startReceiver({ behaviour: ok });
  afterwards(() => receiver.close());
  const told = await acme.call('POST', '/v1/webhooks', {
    url: receiver.url,
    event_types: ['appointment.cancelled'],
  });
  await failForAnHour(house(), acme, webhookId);
  await lookForAlerts(house(), webhookId);

  await acme.call('GET', '/v1/practice-groups');
  await acme.call('PATCH', '/v1/care-nav/submission-types/repeat-prescription', { suspended: true });
  await publish(house(), riverside, ['appointment.cancelled', 'a-4711']);
  await logged(house(), told.id);
});

it('"What did this partner read, change and receive?": one click, and stopping it is one more', async () => {
  const { page } = await comeIn({ practice: acme.groupId }, '/', WIDE);
  const { click, see, done } = walk(page, {
    order: 5,
    person: 'Practice',
    question: 'What did this partner read, change and receive?',
  });
  const partner = page.getByRole('link', { name: 'Acme Booking', exact: true });
  await partner.waitFor();
  await see('My practice: who reaches us, by which network, and may do what');
  await click(partner);
  const did = page.getByRole('region', { name: 'What it did' });
  for (const line of [
    'looked up your practice',
    'changed a kind of request Repeat prescription',
    'was sent: Appointment cancelled',
  ])
    await did.getByText(line).first().waitFor();
  const stop = page.getByRole('button', { name: 'Stop this partner' });
  await stop.waitFor();
  await see('The partner: what it did, day by day; and it can be stopped here');
  done();
  await stop.click();
  await page.getByRole('dialog', { name: 'Stop Acme Booking?' }).waitFor();
});

it('"My webhook gets nothing": the first page of the portal names it, one click says why and what to do', async () => {
  const { page } = await comeIn({ partner: acme.partnerId }, '/', WIDE);
  const { click, see, done } = walk(page, {
    order: 4,
    person: 'Partner',
    question: 'My webhook gets nothing.',
  });
  await page.getByText('1 webhook is failing').waitFor();
  const alert = page.getByRole('table', { name: 'Open alerts' }).getByRole('link');
  await alert.waitFor();
  await see('Home: what needs me, and what to do about it');
  await click(alert);
  const state = page.getByRole('region', { name: 'State' });
  // Without a network the DNS cannot be asked, which is told in other words.
  await expect
    .poll(() => state.innerText())
    .toMatch(/Failing for .* hooks\.acme-bookings\.example.* Check the .* 2 deliveries wait/s);
  const log = page.getByRole('table', { name: 'Deliveries' });
  await log.getByText('Appointment confirmed').first().waitFor();
  await see('The webhook: since when, why, what to do, what waits');
  done();
});
