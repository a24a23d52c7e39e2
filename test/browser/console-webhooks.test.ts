import { beforeAll, expect, it, vi } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { HOSTILE, LONG, logged, PATIENCE, partnerCalled, practiceCalled } from '../support/console-world.ts';
import { type Partner, publish } from '../support/post.ts';
import { ok, type Receiver, startReceiver, status } from '../support/receiver.ts';
import type { Loose } from '../support/service.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';
import { superuser } from '../support/superuser.ts';

/** "A partner says they got nothing since nine": from the first page to the cause, and to what is done about it. */

const { house, enter, tokenOf } = consoles();
const CONFIRMED = 'appointment.confirmed';
const ANSWER = `upstream is down ${HOSTILE}`;
const PHONE = { viewport: { width: 360, height: 780 } } as const;
let practice: string;
let acme: Partner;
let receiver: Receiver;
let webhook: string;

const get = (path: string): Promise<Loose> => house().operator('GET', path);
const healthOf = async (id: string) => (await get(`/webhooks/${id}`)).health;

/** A partner with a webhook, to which an event was sent. */
async function sent(name: string, behaviour = ok) {
  const partner = await partnerCalled(house(), name, practice);
  const its = await startReceiver({ behaviour });
  const { id } = await partner.call('POST', '/v1/webhooks', { url: its.url, description: HOSTILE });
  const [eventId = ''] = await publish(house(), practice, CONFIRMED);
  await vi.waitFor(() => expect(its.received.length).toBeGreaterThan(0), PATIENCE);
  return { partner, receiver: its, id: id as string, eventId };
}

beforeAll(async () => {
  // What the browser calls now is now for the service, too.
  house().clock.advance(Date.now() - house().clock.now());
  practice = await practiceCalled(house(), 'larkhill', 'Larkhill Medical Centre');
  const made = await sent('Acme Booking', status(503, {}, ANSWER));
  ({ partner: acme, receiver, id: webhook } = made);
  await vi.waitFor(async () => expect((await healthOf(webhook)).failures).toBeGreaterThan(0), PATIENCE);
});

it('leads in four clicks from the first page to the cause', async () => {
  const { page, complaints } = await enter('/', 'support');
  await page.getByRole('navigation', { name: 'Rooms' }).getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('combobox', { name: 'State' }).selectOption('failing');
  const row = page.getByRole('table', { name: 'Webhooks' }).getByRole('row', { name: /Acme Booking/ });
  expect(await row.innerText()).toMatch(/^failing\s+Acme Booking/);
  expect(await row.innerText()).toContain('Larkhill Medical Centre');
  await row.click();
  await page.getByRole('heading', { level: 1, name: /Acme Booking/ }).waitFor();
  const state = page.getByRole('region', { name: 'State' });
  await expect
    .poll(() => state.innerText())
    .toMatch(/Failing for .*Answered 503: .*1 waits, the oldest for/s);
  const attempts = page.getByRole('list', { name: 'Attempts, newest first' }).getByRole('listitem');
  expect(await attempts.first().innerText()).toContain(ANSWER);
  expect(complaints).toEqual([]);
});

it('shows attempts over time, with why they failed', async () => {
  const { page } = await enter(`/webhooks/${webhook}`, 'viewer');
  const health = page.getByRole('region', { name: 'Health' });
  await expect.poll(() => health.innerText()).toContain('answered 5xx');
  await page.getByLabel('Time', { exact: true }).selectOption('1');
  await expect.poll(() => page.url()).toContain('hours=1');
  await health.getByRole('table', { name: 'Attempts over time' }).waitFor({ state: 'attached' });
});

it('is paused with a reason that the partner sees, and activated; what waits is sent', async () => {
  const { page } = await enter(`/webhooks/${webhook}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog');
  await expect.poll(() => dialog.innerText()).toContain('1 delivery that waits now');
  await dialog.getByLabel('Reason').fill('We agreed on the phone to wait.');
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('The operator has paused it: We agreed on the phone to wait.').waitFor();
  expect(await acme.call('GET', `/v1/webhooks/${webhook}`)).toMatchObject({
    status: 'paused',
    status_reason: 'The operator has paused it: We agreed on the phone to wait.',
  });
  const delivery = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1);
  // While it is paused there is no next attempt.
  await expect.poll(() => delivery.getByRole('cell').last().innerText()).toBe('–');
  await receiver.setBehaviour(ok);
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Activate' }).count()).toBe(0);
  house().clock.advance(600_000);
  await expect.poll(async () => (await healthOf(webhook)).queued).toBe(0);
});

it('replays from one moment to another', async () => {
  const { id, receiver: its } = await sent('Replayed');
  const { page } = await enter(`/webhooks/${id}`, 'support');
  await page.getByRole('button', { name: 'Replay…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To').fill('2000-01-01T00:00');
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await dialog.getByText('Must lie before until.').waitFor();
  await dialog.getByLabel('From').fill('1999-01-01T00:00');
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await page.getByText('0 deliveries will be sent.').waitFor();
  const before = its.received.length;
  await page.getByRole('button', { name: 'Replay…' }).click();
  await page.getByRole('dialog').getByLabel('From').fill('2999-01-01T00:00');
  await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('dialog').getByText('Must not lie in the future.').waitFor();
  await page.getByRole('dialog').getByLabel('From').fill('2020-01-01T00:00');
  await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
  await page.getByText(/[1-9]\d* deliver(y|ies) will be sent\./).waitFor();
  await expect.poll(() => its.received.length).toBeGreaterThan(before);
});

it('retries all that was given up', async () => {
  const { id, receiver: its } = await sent('Given up');
  await logged(house(), id);
  // As it is left after days of failures.
  const db = await superuser(house().databaseUrl);
  await db.query(
    `UPDATE deliveries SET state = 'failed' WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
    [id],
  );
  const { page } = await enter(`/webhooks/${id}`, 'support');
  await page.getByText('It answers, and 1 delivery was given up.').waitFor();
  await page.getByRole('button', { name: 'Retry all failed' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Retry all failed' }).click();
  await logged(house(), id);
  expect(its.received).toHaveLength(2);
});

it('a delivery shows its attempts and its event, and is sent again', async () => {
  const { id, receiver: its, eventId } = await sent('Delivered');
  await logged(house(), id);
  const { page } = await enter(`/webhooks/${id}`, 'support');
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1).click();
  await page.getByRole('heading', { level: 1, name: 'Appointment confirmed' }).waitFor();
  await page.getByText('Delivered', { exact: false }).first().waitFor();
  const event = page.getByRole('link', { name: 'Appointment confirmed' });
  expect(await event.getAttribute('href')).toBe(`/console/events/${eventId}`);
  await page.getByRole('button', { name: 'Send again' }).click();
  const before = its.received.length;
  await page.getByRole('alertdialog').getByRole('button', { name: 'Send again' }).click();
  await expect.poll(() => its.received.length).toBeGreaterThan(before);
  await expect
    .poll(() =>
      page
        .getByRole('list', { name: /Attempts/ })
        .getByRole('listitem')
        .count(),
    )
    .toBe(2);
});

it('says why deliveries are withheld', async () => {
  const other = await practiceCalled(house(), 'oakfield', LONG);
  const partner = await partnerCalled(house(), 'Suspended', other);
  const its = await startReceiver({ behaviour: status(500) });
  const { id } = await partner.call('POST', '/v1/webhooks', { url: its.url });
  await publish(house(), other, CONFIRMED);
  await expect.poll(() => its.received.length).toBeGreaterThan(0);
  await house().operator('POST', `/keys/${partner.keyId}/revoke`);
  await expect
    .poll(async () => {
      house().clock.advance(60_000);
      return (await healthOf(id)).withheld_reason;
    })
    .toBe('key_revoked');
  const { page } = await enter(`/webhooks/${id}`, 'viewer');
  await page.getByText('Nothing is sent because every key of the partner').waitFor();
});

it('is deleted when its name is typed, with all that waits', async () => {
  const { id, partner } = await sent('Retired', status(500));
  const { page } = await enter(`/webhooks/${id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('alertdialog');
  await expect.poll(() => dialog.innerText()).toContain('and 1 delivery that waits is not sent any more');
  await dialog.getByRole('textbox').fill(new URL((await get(`/webhooks/${id}`)).url).host);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await expect.poll(async () => (await partner.call('GET', '/v1/webhooks')).data).toEqual([]);
});

it('a viewer sees it all and is offered nothing; the API refuses the same', async () => {
  const { page } = await enter(`/webhooks/${webhook}`, 'viewer');
  await page.getByRole('region', { name: 'About it' }).waitFor();
  for (const name of ['Pause', 'Activate', 'Replay…', 'Retry all failed', 'Delete'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  const token = await tokenOf('viewer');
  for (const [method, path, body] of [
    ['PATCH', '', { status: 'paused' }],
    ['POST', '/replay', { since: '2026-01-01T00:00:00Z' }],
    ['POST', '/retry-failed', undefined],
    ['DELETE', '', undefined],
  ] as const)
    expect(
      (await house().send(method, `/operator/v1/webhooks/${webhook}${path}`, { token, body })).status,
    ).toBe(403);
});

it('on a phone, a card has its address on a line of its own, and nothing of what there is not', async () => {
  const { id, receiver: its } = await sent('Pocket');
  await logged(house(), id);
  const { page } = await enter('/webhooks', 'viewer', PHONE);
  const card = page.getByRole('row', { name: /Pocket/ });
  const [address, partner, place] = [its.url, 'Pocket', 'Larkhill Medical Centre'].map((text) =>
    card.getByRole('cell', { name: text }),
  );
  const [whole, half, beside, all] = await Promise.all(
    [address, partner, place, card].map((one) => one?.boundingBox()),
  );
  expect(whole?.width).toBeGreaterThan((all?.width ?? 0) * 0.9);
  expect(beside?.y).toBe(half?.y);
  expect(await card.innerText()).not.toMatch(/Oldest|–/);
  await page.setViewportSize(DESK.viewport);
  await expect.poll(() => card.innerText()).toContain('–');
});

it('support may retry and replay, and neither pause nor delete; the API refuses the same', async () => {
  const { page } = await enter(`/webhooks/${webhook}`, 'support');
  await page.getByRole('button', { name: 'Replay…' }).waitFor();
  for (const name of ['Pause', 'Delete']) expect(await page.getByRole('button', { name }).count()).toBe(0);
  const token = await tokenOf('support');
  const pause = { token, body: { status: 'paused' } };
  const path = `/operator/v1/webhooks/${webhook}`;
  expect((await house().send('PATCH', path, pause)).status).toBe(403);
  expect((await house().send('DELETE', path, { token })).status).toBe(403);
});

it.each([
  ['desk', DESK],
  ['phone', PHONE],
])('keeps hostile text harmless and nobody out, at a %s, in both schemes', async (_name, size) => {
  const { id } = await sent(HOSTILE, status(500, {}, HOSTILE));
  await expect.poll(async () => (await healthOf(id)).failures).toBeGreaterThan(0);
  const [delivery] = (await get(`/deliveries?webhook_id=${id}`)).data;
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await enter('/webhooks', 'admin', { ...size, colorScheme });
    for (const path of ['/webhooks', `/webhooks/${id}`, `/deliveries/${delivery.id}`]) {
      await page.goto(`${house().url}/console${path}`);
      await page.getByText('onerror').first().waitFor();
      await loaded(page);
      expect(await page.title()).not.toBe('taken');
      expect(await page.locator('img').count()).toBe(0);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
  }
});
