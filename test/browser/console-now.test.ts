import { beforeAll, expect, it } from 'vitest';
import { afterwards } from '../support/afterwards.ts';
import { consoles, loaded } from '../support/console-browser.ts';
import { fail, HOSTILE, logged, lookForAlerts, newHook, newNamedPartner } from '../support/console-world.ts';
import { publish } from '../support/post.ts';
import { type Receiver, startReceiver, status } from '../support/receiver.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** What needs me? By its cause, with one next step that works; and how the service does. */

const HOUR = 61 * 60_000;
/** Somebody stays signed in while an hour passes. */
const { house, enter } = consoles({ PORTER_SESSION_IDLE_MINUTES: '120' });

async function failing(name: string, code: number): Promise<{ receiver: Receiver; webhookId: string }> {
  const receiver = await startReceiver({ behaviour: status(code) });
  afterwards(() => receiver.close());
  const partner = await newNamedPartner(house(), name);
  const webhookId = await newHook(partner, receiver.url);
  await fail(house(), partner, webhookId);
  return { receiver, webhookId };
}

let acme: Awaited<ReturnType<typeof failing>>;
beforeAll(async () => {
  acme = await failing('Acme Booking', 503);
  const odd = await failing(`Odd ${HOSTILE}`, 401);
  house().clock.advance(HOUR);
  await lookForAlerts(house(), odd.webhookId);
});

const by503 = /A webhook is failing: the receiver answers 503/;

it('groups what fails by its cause, with names, numbers and the way on', async () => {
  const { page, complaints } = await enter('/', 'viewer');
  const group = page.getByRole('region', { name: by503 });
  const line = group.getByRole('row', { name: /Acme Booking/ });
  await line.waitFor();
  const titles = await group.getByRole('columnheader').allInnerTexts();
  expect(titles).toEqual([
    'Partner',
    'About',
    'Practice',
    'Since',
    'Queued',
    'Oldest',
    'Failed attempts',
    'Next step',
  ]);
  expect(await line.getByRole('cell').allInnerTexts()).toEqual(
    expect.arrayContaining(['Acme Booking', 'Practice of Acme Booking', '2']),
  );
  const odd = page.getByRole('region', { name: /the receiver answers 401/ });
  expect(await odd.innerText()).toContain('Odd <img src=x onerror=');
  expect(await page.title()).not.toBe('taken');
  await line.getByRole('link', { name: /localhost/ }).click();
  await expect.poll(() => page.url()).toContain(`/console/webhooks/${acme.webhookId}`);
  expect(complaints).toEqual([]);
});

it('offers a viewer to look, an admin to act; the API refuses the rest', async () => {
  const viewer = await enter('/', 'viewer');
  const line = viewer.page.getByRole('row', { name: /Acme Booking/ });
  await line.getByRole('link', { name: 'Open' }).waitFor();
  expect(await viewer.page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  const refused = await viewer.page.evaluate(async (id) => {
    const ask: typeof fetch = Reflect.get(globalThis, 'fetch');
    const headers = { 'content-type': 'application/json', 'x-porter-console': '1' };
    const body = JSON.stringify({ status: 'paused' });
    return (await ask(`/operator/v1/webhooks/${id}`, { method: 'PATCH', headers, body })).status;
  }, acme.webhookId);
  expect(refused).toBe(403);

  const admin = await enter('/');
  await admin.page
    .getByRole('row', { name: /Acme Booking/ })
    .getByRole('button', { name: 'Pause' })
    .click();
  const dialog = admin.page.getByRole('dialog');
  await expect.poll(() => dialog.innerText()).toContain('2 deliveries that wait now');
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await admin.page
    .getByRole('row', { name: /Acme Booking/ })
    .getByText('Paused')
    .waitFor();
  expect((await house().operator('GET', `/webhooks/${acme.webhookId}`)).status).toBe('paused');
});

it('changes by itself when something begins or ends, over one stream', async () => {
  const { webhookId } = await failing('Latecomer Ltd', 500);
  const { page, requests } = await enter('/');
  await page.getByRole('region', { name: /the receiver answers 401/ }).waitFor();
  const late = page.getByRole('region', { name: /the receiver answers 500/ });
  expect(await late.count()).toBe(0);
  house().clock.advance(HOUR);
  await lookForAlerts(house(), webhookId);
  // What the first page showed is remembered for some seconds, for everybody who looks.
  await expect
    .poll(
      () => {
        house().clock.advance(10_000);
        return late.getByText('Latecomer Ltd').count();
      },
      { interval: 1_000 },
    )
    .toBeGreaterThan(0);
  await page.getByRole('link', { name: 'Events' }).click();
  await page.getByRole('heading', { name: 'Events' }).waitFor();
  await page.getByRole('link', { name: 'Now' }).click();
  await page.getByRole('heading', { name: 'How the service does' }).waitFor();
  expect(requests.filter((one) => one.url().endsWith('/operator/v1/live'))).toHaveLength(1);
});

it('asks who it is again when the session is over', async () => {
  const { page } = await enter('/');
  await page.getByRole('heading', { name: 'How the service does' }).waitFor();
  house().clock.advance(24 * 3_600_000);
  await page.getByLabel('Operator token').waitFor({ timeout: 60_000 });
});

it('draws four charts, each with its unit and a sentence for those who do not see it', async () => {
  const receiver = await startReceiver();
  afterwards(() => receiver.close());
  const partner = await newNamedPartner(house(), 'Well Ltd');
  const webhookId = await newHook(partner, receiver.url);
  await publish(house(), partner.groupId, 'appointment.confirmed');
  await logged(house(), webhookId);
  // Figures are by the minute.
  house().clock.advance(120_000);
  const { page } = await enter('/', 'support');
  for (const name of ['Calls by outcome', 'Deliveries by outcome', 'Delay', 'Oldest undelivered'])
    await page.getByRole('figure', { name }).waitFor();
  const deliveries = page.getByRole('figure', { name: 'Deliveries by outcome' });
  await expect.poll(() => deliveries.innerText()).toContain('attempts a minute');
  await expect
    .poll(() => deliveries.innerText())
    .toMatch(/In the last 3 hours: [1-9]\d* delivered, \d+ retried, \d+ given up\./);
  await deliveries.getByText(/^retried /).waitFor();
  await page.getByLabel('Time').selectOption('1d');
  await expect.poll(() => page.url()).toContain('span=1d');
});

it.each([768, 1024, 1280])('paints no time or button over the next column at %i px', async (width) => {
  const { page } = await enter('/', 'admin', { ...DESK, viewport: { width, height: 900 } });
  await page.getByRole('region', { name: /the receiver answers 401/ }).waitFor();
  await loaded(page);
  const beyond = await page.evaluate(() => {
    const parts = [...Reflect.get(globalThis, 'document').querySelectorAll('.rows :is(time, .button)')];
    // As long as they get.
    for (const part of parts) {
      if (part.matches('time')) part.textContent = '14 minutes ago';
      else part.textContent = 'Activate';
    }
    return parts.flatMap((part) => {
      const inner = part.getBoundingClientRect();
      const outer = (part.closest('td') ?? part).getBoundingClientRect();
      return inner.right > outer.right || inner.left < outer.left ? [part.textContent] : [];
    });
  });
  expect(beyond).toEqual([]);
});

it.each([360, 1280, 1920])('fits %i px in both colour schemes, and keeps nobody out', async (width) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await enter('/', 'viewer', {
      ...DESK,
      viewport: { width, height: 900 },
      colorScheme,
    });
    await page.getByRole('region', { name: /the receiver answers 401/ }).waitFor();
    await page.getByRole('figure', { name: 'Delay' }).waitFor();
    await loaded(page);
    expect(await overhang(page)).toBe(0);
    expect(await barriers(page, '#root')).toEqual([]);
    expect(complaints).toEqual([]);
  }
});
