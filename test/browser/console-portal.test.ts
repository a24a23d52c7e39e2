import { beforeAll, expect, it, vi } from 'vitest';
import { loaded } from '../support/console-browser.ts';
import { HOSTILE, LONG, logged, PATIENCE, partnerCalled, practiceCalled } from '../support/console-world.ts';
import { guests } from '../support/guest-browser.ts';
import { StillClock } from '../support/manual-clock.ts';
import { type Partner, publish } from '../support/post.ts';
import { ok, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** The portal: everything that people of a partner do there, by clicking. */

const { house, comeIn, enter, mailbox } = await guests(new StillClock());
const PHONE = { viewport: { width: 360, height: 780 } } as const;
const CONFIRMED = 'appointment.confirmed';
let practice: string;
let acme: Partner;
let failing: Receiver;
let webhook: string;

const portal = (path = '/', options = DESK as Parameters<typeof comeIn>[2]) =>
  comeIn({ partner: acme.partnerId }, path === '/' ? '/' : `/portal${path}`, options);

beforeAll(async () => {
  // What the browser calls now is now for the service, too.
  house().clock.advance(Date.now() - house().clock.now());
  practice = await practiceCalled(house(), 'larkhill', `Larkhill ${HOSTILE}`);
  acme = await partnerCalled(house(), `Acme ${HOSTILE}`, practice, { label: LONG.slice(0, 100) });
  failing = await startReceiver({ behaviour: status(503, {}, `down ${HOSTILE}`) });
  const made = await acme.call('POST', '/v1/webhooks', { url: failing.url, description: HOSTILE });
  webhook = made.id;
  await publish(house(), practice, CONFIRMED);
  await acme.send('PATCH', '/v1/care-nav/submission-types/no-such', { title: 'x' });
  await vi.waitFor(async () => {
    const { health } = await house().operator('GET', `/webhooks/${webhook}`);
    expect(health.failures).toBeGreaterThan(0);
  }, PATIENCE);
});

it('home says whether the integration is well, and why not', async () => {
  const { page, complaints } = await portal();
  await page.getByRole('heading', { name: 'Is my integration well?' }).waitFor();
  const state = page.getByRole('region', { name: 'State' });
  await expect.poll(() => state.innerText()).toContain('1 webhook is failing');
  await page
    .getByRole('table', { name: 'Latest refused calls' })
    .getByText(/^404: what it asks for/)
    .waitFor();
  await page.getByRole('table', { name: 'Webhooks' }).getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Delivery log' }).waitFor();
  expect(complaints).toEqual([]);
});

it('a webhook is created with a try of its address, and its secret is shown once', async () => {
  const receiver = await startReceiver({ behaviour: ok });
  const { page } = await portal('/webhooks');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create a webhook' });
  await dialog.getByLabel('Address').fill('https://10.0.0.1/');
  await dialog.getByRole('button', { name: 'Try the address' }).click();
  await dialog.getByText('not allowed').waitFor();
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog
    .getByText(/address/i)
    .first()
    .waitFor();
  await dialog.getByLabel('Address').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Try the address' }).click();
  await expect
    .poll(() => dialog.getByRole('status').first().innerText())
    .toMatch(/^not tried\s+A webhook on staging may have this address/);
  expect(receiver.received).toEqual([]);
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('heading', { name: 'Delivery log' }).waitFor();

  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await vi.waitFor(() => expect(receiver.received.length).toBe(1), PATIENCE);
  await page.getByText('The test event is on its way').waitFor();
  await logged(house(), new URL(page.url()).pathname.split('/').at(-1) ?? '');
  await page.reload();
  const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1);
  await expect.poll(() => row.innerText()).toContain('delivered');
  await row.click();
  await page.getByText(/^Delivered/).waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Send again' }).click();
  await vi.waitFor(() => expect(receiver.received.length).toBe(2), PATIENCE);
  const { data } = await house().operator('GET', '/audit?action=webhook.create');
  expect(data[0].actor).toMatchObject({ type: 'partner', name: 'Ada Marsh' });
});

it('a secret is rotated: the new one is shown once, and until when the old one signs', async () => {
  const { page } = await portal(`/webhooks/${webhook}`);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByText(/deliveries carry two signatures/).waitFor();
  expect(await barriers(page, 'main')).toEqual([]);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Rotate secret' }).waitFor();
});

it('a webhook is paused, activated, replayed and deleted', async () => {
  const receiver = await startReceiver({ behaviour: ok });
  const { id } = await acme.call('POST', '/v1/webhooks', { url: receiver.url });
  const { page } = await portal(`/webhooks/${id}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByText(/^Paused/).waitFor();
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.getByRole('button', { name: 'Replay…' }).click();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByText(/deliver(y|ies) will be sent/).waitFor();
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), PATIENCE);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('textbox').fill(new URL(receiver.url).host);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  expect((await acme.send('GET', `/v1/webhooks/${id}`)).status).toBe(404);
});

it('refused calls say what to do', async () => {
  const { page } = await portal('/refused');
  const table = page.getByRole('table', { name: 'Refused calls' });
  await table.getByRole('row').nth(1).click();
  await page.getByRole('heading', { name: 'The call' }).waitFor();
  await expect.poll(() => page.getByRole('region', { name: 'State' }).innerText()).toMatch(/^404: /);
});

it('a call that is not valid says which field is wrong, and names its key and practice', async () => {
  await acme.send('PATCH', '/v1/care-nav/submission-types/repeat-prescription', { daily_limit: -1 });
  const list = async () =>
    (await house().operator('GET', '/requests?error=validation_error')).count as number;
  await expect.poll(list, PATIENCE).toBe(1);
  const { page } = await portal('/refused?error=validation_error');
  const row = page.getByRole('table', { name: 'Refused calls' }).getByRole('row').nth(1);
  await row.getByText('daily_limit: Must be at least 0.').click();
  await page.getByRole('heading', { name: 'The call' }).waitFor();
  await expect
    .poll(() => page.getByRole('region', { name: 'State' }).innerText())
    .toBe('400: the call is not valid. daily_limit: Must be at least 0.');
  const told = page.getByRole('region', { name: 'The call' });
  await expect.poll(() => told.innerText()).toContain('Larkhill <img');
  await told.getByRole('link', { name: /Very long name/ }).waitFor();
  await page.getByRole('region', { name: 'What it was answered' }).getByText('daily_limit').waitFor();
});

it('somebody chooses what a contact is told of', async () => {
  const { page } = await portal('/alerts');
  await page.getByRole('button', { name: 'Choose' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Tell them of every alert').click();
  await dialog.getByText('A webhook was disabled').click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('table', { name: 'Contacts' }).getByText('a webhook was disabled').waitFor();
});

it('signatures are verified in five languages, as the guide has them', async () => {
  const { page } = await portal('/verify');
  const language = page.getByRole('combobox', { name: 'Language' });
  await expect
    .poll(() => language.getByRole('option').allInnerTexts())
    .toEqual(['TypeScript', 'Python', 'Shell', 'Go', 'Java']);
  await language.selectOption('Go');
  await page.getByText('package main').waitFor();
});

it('a single call is told as one', async () => {
  const { partnerId, keyId, send } = await partnerCalled(house(), 'Fen Letters', practice);
  await send('PATCH', '/v1/care-nav/submission-types/no-such', { title: 'x' });
  const { page } = await comeIn({ partner: partnerId }, `/portal/keys/${keyId}`);
  await page.getByText('1 of its calls was refused today.').waitFor();
  await page.getByText('1 call in 14 days').waitFor();
});

it('what to do about an alert is told to its end', async () => {
  const gone = await startReceiver({ behaviour: status(410) });
  const group = await practiceCalled(house(), 'kiln-lane', 'Kiln Lane Surgery');
  const quill = await partnerCalled(house(), 'Quill Dictation', group);
  const { id } = await quill.call('POST', '/v1/webhooks', { url: gone.url });
  await publish(house(), group, CONFIRMED);
  await expect.poll(async () => (await quill.call('GET', `/v1/webhooks/${id}`)).status).toBe('disabled');
  await house().service.alerts.look();
  // Wider than a phone, and narrow for a table.
  const narrow = { viewport: { width: 780, height: 900 } };
  const { page } = await comeIn({ partner: quill.partnerId }, '/portal/alerts', narrow);
  const remedy = page.getByRole('cell', { name: /^Mend the receiver/ });
  await remedy.waitFor();
  expect(await remedy.evaluate((cell) => cell.scrollHeight - cell.clientHeight)).toBe(0);
});

it('the status tells in hours and minutes how long the service was down, each on one line', async () => {
  const { page } = await portal('/status');
  const down = page.getByRole('table', { name: 'Days' }).getByText('down for').first();
  expect(await down.textContent()).toMatch(/^down for (\d+\u00a0h)?\u00a0?(\d+\u00a0min)?$/);
});

it('an operator invites a contact from the page of the partner', async () => {
  const { page } = await enter(`/partners/${acme.partnerId}?tab=contacts`, 'support');
  await page.getByRole('table', { name: 'Contacts' }).getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Contact Person');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const row = page.getByRole('table', { name: 'Invitations' }).getByRole('row', { name: /Contact Person/ });
  await row.getByText('to be sent').waitFor();
  await house().service.alerts.tell();
  expect(mailbox.messages.at(-1)?.to).toEqual(['dev@partner.example']);
  await row.getByRole('button', { name: 'Withdraw' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Withdraw' }).click();
  await row.getByText('withdrawn').waitFor();
});

it('a viewer invites nobody', async () => {
  const { page } = await enter(`/partners/${acme.partnerId}?tab=contacts`, 'viewer');
  await page.getByRole('table', { name: 'Contacts' }).waitFor();
  expect(await page.getByRole('button', { name: /Invite/ }).count()).toBe(0);
});

const pages: [string, string, RegExp][] = [
  ['home', '/', /Is my integration well/],
  ['practices', '/practices', /^Practices/],
  ['keys', '/keys', /^Keys and limits/],
  ['webhooks', '/webhooks', /^Webhooks/],
  ['events', '/events', /^Event feed/],
  ['refused calls', '/refused', /^Refused calls/],
  ['alerts', '/alerts', /^Alerts/],
  ['verify', '/verify', /^Verify signatures/],
  ['agreement', '/agreement', /^Agreement/],
  ['status', '/status', /^Service status/],
];

it.each([
  ['a phone in the dark', { ...PHONE, colorScheme: 'dark' as const }],
  ['a desk', DESK],
])('every page fits %s, and keeps nobody out', async (_name, size) => {
  const { page, complaints } = await portal('/', size);
  const all = [
    ...pages,
    ['key', `/keys/${acme.keyId}`, /Very long name/] as const,
    ['webhook', `/webhooks/${webhook}`, /localhost/] as const,
  ];
  for (const [name, path, title] of all) {
    await page.goto(`${house().url}/console/portal${path === '/' ? '' : path}`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await loaded(page);
    expect([name, await overhang(page)]).toEqual([name, 0]);
    expect([name, await barriers(page)]).toEqual([name, []]);
    const where = process.env.PORTER_SHOTS;
    if (where) await page.screenshot({ path: `${where}/${name}-${size.viewport.width}.png`, fullPage: true });
  }
  expect(
    await page.evaluate(() => [Reflect.get(globalThis, 'stolen'), Reflect.get(globalThis, 'document').title]),
  ).toEqual([undefined, expect.not.stringContaining('taken')]);
  expect(complaints).toEqual([]);
});

it('what changes is shown by itself', async () => {
  const { page } = await portal('/webhooks');
  await page.getByRole('table', { name: 'Webhooks' }).waitFor();
  await acme.call('POST', '/v1/webhooks', { url: 'https://news.partner.example/' });
  await page.getByText('https://news.partner.example/').waitFor();
});
