import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { STOPPED_BY_PRACTICE } from '../../src/contract/problems.ts';
import { hostileTexts, loaded } from '../support/console-browser.ts';
import { logged, newNamedPartner, practiceCalled } from '../support/console-world.ts';
import { guests } from '../support/guest-browser.ts';
import { invited } from '../support/guest-session.ts';
import { type Partner, publish } from '../support/post.ts';
import { ok, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { barriers, overhang } from '../support/site-browser.ts';

/** The pages of a practice: who reaches us, what did they do, and stop this partner; by clicking, as a practice manager would. */

const { house, mailbox, open, enter, comeIn } = await guests();
const practice = { practice: 'elm-tree' };
const REASON = `They read too much ${hostileTexts[0]}`;
let acme: Partner;
let hub: Partner;
let hostile: Partner;
let receiver: Receiver;

beforeAll(async () => {
  await practiceCalled(house(), 'elm-tree', 'Elm Tree Surgery');
  await practiceCalled(house(), 'valley-hub', 'Valley Hub');
  acme = await newNamedPartner(house(), 'Acme Booking', 'elm-tree');
  hostile = await newNamedPartner(house(), hostileTexts[1], 'elm-tree', {
    label: 'Key',
    scopes: ['practice-groups:read'],
  });
  hub = await newNamedPartner(house(), hostileTexts[0].slice(0, 60), 'valley-hub', {
    scopes: ['practice-groups:read', 'submission-types:read'],
  });
  await house().operator('POST', '/networks', {
    name: 'River <b>valley</b>',
    practice_group_ids: ['elm-tree', 'valley-hub'],
    partner_ids: [hub.partnerId],
  });
  receiver = await startReceiver();
  await receiver.setBehaviour(ok);
  const webhook = await acme.call('POST', '/v1/webhooks', { url: `${receiver.url}/hook` });
  await acme.call('GET', '/v1/practice-groups');
  await acme.call('PATCH', '/v1/care-nav/submission-types/repeat-prescription', {
    description: hostileTexts[0],
    suspended: true,
  });
  await publish(house(), 'elm-tree', ['appointment.confirmed', 'a-4711']);
  await logged(house(), webhook.id);
});

const partnerLink = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const listed = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: partnerLink(page, name) });
const isStolen = (page: Page) => page.evaluate(() => Reflect.get(globalThis, 'stolen'));

describe('somebody of a practice', () => {
  it('sees who reaches them, by which network, and what each may do, in words', async () => {
    const { page, complaints } = await comeIn(practice);
    await page.getByRole('heading', { name: 'Elm Tree Surgery', level: 1 }).waitFor();
    await page.getByText('3 partners reach your practice.').waitFor();
    const through = listed(page, hostileTexts[0].slice(0, 60));
    await through.getByText('through the network River <b>valley</b>').waitFor();
    await through.getByText('see the kinds of request that you take').waitFor();
    // No other practice is named: which key it is, is not their business.
    expect(await page.getByText('Valley Hub').count()).toBe(0);
    await listed(page, 'Acme Booking').getByText('with a key that was issued for your practice').waitFor();
    expect(await listed(page, hostileTexts[1]).getByText('change the kinds of request').count()).toBe(0);
    expect(await isStolen(page)).toBeUndefined();
    expect(await barriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('sees what a partner read, changed and was sent, and filters it', async () => {
    const { page, complaints } = await comeIn(practice);
    await partnerLink(page, 'Acme Booking').click();
    const did = page.getByRole('region', { name: 'What it did' });
    await did.getByText('was sent: Appointment confirmed').waitFor();
    await did.getByText('appointment a-4711').waitFor();
    await did.getByText('looked up your practice').waitFor();
    await did.getByText('changed a kind of request Repeat prescription').waitFor();
    await did.getByText(hostileTexts[0]).waitFor();
    expect(await isStolen(page)).toBeUndefined();
    await page.getByRole('combobox', { name: 'What it did' }).selectOption('changed');
    await expect.poll(() => did.getByText('was sent:').count()).toBe(0);
    await did.getByText('changed a kind of request').waitFor();
    expect(page.url()).toContain('kind=changed');
    await page.getByRole('button', { name: 'Show all' }).click();
    await did.getByText('was sent: Appointment confirmed').waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('stops a partner: asked once, with what happens to how many; and lets it go on', async () => {
    await receiver.setBehaviour(status(503));
    const before = receiver.received.length;
    await publish(house(), 'elm-tree', ['appointment.cancelled', 'a-1'], ['appointment.cancelled', 'a-2']);
    await expect.poll(() => receiver.received.length).toBe(before + 2);
    const { page, complaints } = await comeIn(practice);
    await partnerLink(page, 'Acme Booking').click();
    await page.getByText('It reaches your practice.').waitFor();
    await page.getByRole('button', { name: 'Stop this partner' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop Acme Booking?' });
    await dialog.getByText(/It has made \d+ calls? in the last 24 hours\./).waitFor();
    await dialog.getByText('2 messages on the way are held back').waitFor();
    expect(await barriers(page)).toEqual([]);
    // Without a reason it is refused, at the field, and nothing is lost.
    const stop = dialog.getByRole('button', { name: 'Stop this partner' });
    await stop.click();
    await dialog.getByText(/at least 1 character/).waitFor();
    expect((await acme.send('GET', '/v1/practice-groups')).status).toBe(200);
    complaints.length = 0;
    await dialog.getByLabel('Why?').fill(REASON);
    await stop.click();
    await page.getByText('You have stopped it.').waitFor();
    await page.getByText(REASON).waitFor();
    expect(await isStolen(page)).toBeUndefined();
    expect((await acme.send('GET', '/v1/practice-groups')).body.message).toBe(STOPPED_BY_PRACTICE);
    await page.goto(`${house().url}/console/my-practice`);
    await page.getByText('2 partners reach your practice. You have stopped one').waitFor();
    expect(await barriers(page)).toEqual([]);

    await partnerLink(page, 'Acme Booking').click();
    await receiver.setBehaviour(ok);
    await page.getByRole('button', { name: 'Let it go on' }).click();
    const question = page.getByRole('alertdialog', { name: 'Let Acme Booking go on?' });
    await question.getByText('2 messages that were held back are sent.').waitFor();
    await question.getByRole('button', { name: 'Let it go on' }).click();
    await page.getByText('It reaches your practice.').waitFor();
    await page.getByRole('region', { name: 'Earlier stops' }).getByText(REASON).waitFor();
    expect((await acme.send('GET', '/v1/practice-groups')).status).toBe(200);
    expect(complaints).toEqual([]);
  });

  it('of another practice sees nothing of this one', async () => {
    const { page } = await comeIn({ practice: 'valley-hub' });
    await page.getByText('1 partner reaches your practice.').waitFor();
    expect(await page.getByText('Acme Booking').count()).toBe(0);
    await page.goto(`${house().url}/console/my-practice/partners/${acme.partnerId}`);
    await page.getByText('There is nothing here').waitFor();
  });
});

describe('the operator', () => {
  it('is told, sees who stopped whom and why, and an admin lifts it with a reason', async () => {
    const { path } = await invited(house(), mailbox, practice, {
      name: 'Grace Hall',
      email: 'grace@elm.example',
    });
    const manager = await open(path);
    await manager.page.getByRole('button', { name: 'Enter' }).click();
    await partnerLink(manager.page, 'Acme Booking').click();
    await manager.page.getByRole('button', { name: 'Stop this partner' }).click();
    await manager.page.getByLabel('Why?').fill(REASON);
    await manager.page.getByRole('dialog').getByRole('button', { name: 'Stop this partner' }).click();
    await manager.page.getByText('You have stopped it.').waitFor();
    await acme.send('GET', '/v1/events');
    house().clock.advance(61_000);
    await house().service.alerts.look();

    const { page, complaints } = await enter('/');
    await page.getByRole('heading', { name: 'A practice has stopped a partner' }).waitFor();
    await page.getByRole('link', { name: 'Acme Booking' }).first().click();
    const stops = page.getByRole('region', { name: 'Partners that they have stopped' });
    await stops.getByText(REASON).waitFor();
    await stops.getByText('Grace Hall').waitFor();
    // It is not among those that reach them.
    const reach = page.getByRole('region', { name: 'Partners that reach them' });
    await reach.getByRole('row').nth(1).waitFor();
    expect(await reach.getByRole('link', { name: 'Acme Booking' }).count()).toBe(0);
    expect(await isStolen(page)).toBeUndefined();
    await page.reload();
    await stops.getByText('Grace Hall').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.goto(`${house().url}/console/partners/${acme.partnerId}`);
    await page
      .getByRole('region', { name: 'Practices that have stopped them' })
      .getByText('Elm Tree Surgery')
      .waitFor();
    await page.goto(`${house().url}/console/networks?partner=${acme.partnerId}`);
    await page.getByText('reaches 0 practices').waitFor();

    const support = await enter(`/practices/elm-tree?tab=reach`, 'support');
    await support.page.getByText('Grace Hall').waitFor();
    expect(await support.page.getByRole('button', { name: 'Lift' }).count()).toBe(0);

    await page.goto(`${house().url}/console/practices/elm-tree?tab=reach`);
    await page.getByRole('button', { name: 'Lift' }).click();
    await page.getByLabel('Reason').fill('The practice asked by telephone');
    await page.getByRole('button', { name: 'Lift the stop' }).click();
    await reach.getByRole('link', { name: 'Acme Booking' }).first().waitFor();
    expect((await acme.send('GET', '/v1/events')).status).toBe(200);
    await manager.page.reload();
    const earlier = manager.page.getByRole('region', { name: 'Earlier stops' });
    await earlier.getByText('The practice asked by telephone').first().waitFor();
    expect(complaints).toEqual([]);
  });
});

it.each([
  ['phone', 360],
  ['desk', 1280],
  ['wide screen', 1920],
])('the pages fit a %s in light and dark, and keep nobody out', async (_name, width) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await comeIn(practice, '/', {
      viewport: { width, height: 900 },
      colorScheme,
    });
    for (const path of ['', `/partners/${acme.partnerId}`, `/partners/${hostile.partnerId}`]) {
      await page.goto(`${house().url}/console/my-practice${path}`);
      await loaded(page);
      expect([path, await overhang(page)]).toEqual([path, 0]);
      expect([path, await barriers(page)]).toEqual([path, []]);
    }
    expect(complaints).toEqual([]);
  }
});
