import { beforeAll, expect, it, vi } from 'vitest';
import { afterwards } from '../support/afterwards.ts';
import { consoles, loaded } from '../support/console-browser.ts';
import { HOSTILE, newHook, newNamedPartner, newPractice, PATIENCE } from '../support/console-world.ts';
import { publish } from '../support/post.ts';
import { ok, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** The whole life of an event: who got it, who did not, and why. */

const { house, enter } = consoles();

let fine: Receiver;
let broken: Receiver;
let eventId: string;
let practiceId: string;
beforeAll(async () => {
  fine = await startReceiver();
  broken = await startReceiver({ behaviour: status(503, {}, `upstream ${HOSTILE} timed out`) });
  afterwards(() => Promise.all([fine.close(), broken.close()]));
  practiceId = await newPractice(house(), 'Larkhill Medical Centre');
  const well = await newNamedPartner(house(), 'Well Ltd', practiceId);
  const ill = await newNamedPartner(house(), 'Ill Ltd', practiceId);
  const deaf = await newNamedPartner(house(), `Deaf ${HOSTILE}`, practiceId);
  await newHook(well, fine.url);
  await newHook(ill, broken.url);
  await deaf.call('POST', '/v1/webhooks', { url: fine.url, event_types: ['prescription.issued'] });
  [eventId = ''] = await publish(house(), practiceId, 'appointment.confirmed');
  await vi.waitFor(() => {
    expect(fine.received).toHaveLength(1);
    expect(broken.received.length).toBeGreaterThan(0);
  }, PATIENCE);
});

it('lists events, filtered in the address, and opens one', async () => {
  const { page, complaints } = await enter('/events', 'viewer');
  const row = page.getByRole('row', { name: /Appointment confirmed Larkhill Medical Centre/ });
  await row.waitFor();
  await page.getByLabel('Event', { exact: true }).selectOption('prescription.issued');
  await page.getByText('No event is like that').waitFor();
  expect(page.url()).toContain('event=prescription.issued');
  await page.goBack();
  await row.click();
  await page.getByRole('heading', { name: 'Appointment confirmed', level: 1 }).waitFor();
  expect(page.url()).toContain(`/events/${eventId}`);
  expect(complaints).toEqual([]);
});

it('tells the cause, who was sent it, who was not and why, and each attempt of the one that is opened', async () => {
  const { page, complaints } = await enter(`/events/${eventId}`, 'viewer');
  const state = page.getByRole('region', { name: 'State' });
  await expect.poll(() => state.innerText()).toMatch(/1 of 2 have it\..*Ill Ltd: .*503/s);
  const steps = await page
    .getByRole('region', { name: 'What happened' })
    .getByRole('listitem')
    .allInnerTexts();
  expect(steps.map((step) => step.split('\n')[0])).toEqual(['Cause', 'Accepted', 'Fanned out']);
  expect(steps[0]).toContain('The practice software published it.');
  expect(steps[1]).toContain('Larkhill Medical Centre');
  expect(steps[2]).toContain('To 2 webhooks of 2 partners.');
  const notSent = page.getByRole('region', { name: 'Not sent to' });
  expect(await notSent.innerText()).toContain(`Deaf ${HOSTILE}`);
  expect(await notSent.innerText()).toContain('The webhook does not subscribe to this event.');
  await page.getByRole('button', { name: /Ill Ltd/ }).click();
  const attempts = page.getByRole('list', { name: 'Attempts, newest first' });
  await expect.poll(() => attempts.innerText()).toContain(`upstream ${HOSTILE} timed out`);
  expect(page.url()).toContain('?webhook=wh_');
  expect(await page.getByRole('button', { name: /Replay|Send again/ }).count()).toBe(0);
  expect(await page.title()).not.toBe('taken');
  expect(await barriers(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('names the key that a test event was asked for with, and leads to it', async () => {
  const tester = await newNamedPartner(house(), 'Tester Ltd');
  const { event_id: id } = await tester.call('POST', '/v1/test-events', { event: 'appointment.confirmed' });
  const { page } = await enter(`/events/${id}`, 'viewer');
  await page
    .getByRole('region', { name: 'What happened' })
    .getByRole('link', { name: /^Key of Tester Ltd \(…\w{4}\)$/ })
    .click();
  await page.waitForURL(`${house().url}/console/keys/${tester.keyId}`);
});

it('replays it to who did not get it, and shows that it arrived', async () => {
  const { page } = await enter(`/events/${eventId}`, 'support');
  await broken.setBehaviour(ok);
  await page.getByRole('region', { name: 'State' }).getByRole('button', { name: 'Replay' }).click();
  const dialog = page.getByRole('alertdialog');
  expect(await dialog.innerText()).toContain('It is sent to one webhook now: Ill Ltd.');
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Everybody who was sent it has it: 2 of 2.').waitFor();
});

it('refuses a replay to a viewer, as it shows them none', async () => {
  const { page } = await enter('/events', 'viewer');
  const { data } = await house().operator('GET', '/webhooks');
  const refused = await page.evaluate(
    async ([id, event]) => {
      const ask: typeof fetch = Reflect.get(globalThis, 'fetch');
      const headers = { 'content-type': 'application/json', 'x-porter-console': '1' };
      const body = JSON.stringify({ event_ids: [event] });
      return (await ask(`/operator/v1/webhooks/${id}/replay`, { method: 'POST', headers, body })).status;
    },
    [data[0].id, eventId],
  );
  expect(refused).toBe(403);
});

it('says of an event that is not there that it is not', async () => {
  const { page } = await enter('/events/evt_unknown');
  await page.getByText('There is nothing here').waitFor();
});

it.each([360, 1920])('fits %i px in both colour schemes, and keeps nobody out', async (width) => {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const path of ['/events', `/events/${eventId}`]) {
      const { page } = await enter(path, 'viewer', {
        ...DESK,
        viewport: { width, height: 900 },
        colorScheme,
      });
      await page
        .getByText(/Larkhill/)
        .first()
        .waitFor();
      await loaded(page);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page)).toEqual([]);
    }
});
