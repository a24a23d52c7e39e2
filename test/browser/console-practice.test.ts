import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { consoles, hostileTexts, loaded, refusedTo } from '../support/console-browser.ts';
import { logged } from '../support/console-world.ts';
import { startReceiver } from '../support/receiver.ts';
import { barriers } from '../support/site-browser.ts';

/** Practices: what they take today, who may reach them, and who was told about them. */

const { house, demoKey, enter } = consoles();

async function makePractice(name = 'Ashby Surgery') {
  const { id } = await house().operator('POST', '/practice-groups', { name });
  const path = `/practice-groups/${id}`;
  await house().operator('PUT', `${path}/forms/frm_1`, { title: 'Sick note form' });
  const type = await house().operator('POST', `${path}/submission-types`, {
    pathway_id: 'pw_1',
    title: 'Sick notes',
    daily_limit: 4,
    in_hours: true,
    out_of_hours: true,
    form_id: 'frm_1',
  });
  return { id: id as string, path, typeId: type.id as string };
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const confirm = (page: Page, name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

it('shows today’s count against the cap, and changes the cap in place, by the rules of the service', async () => {
  const { id, path, typeId } = await makePractice();
  for (let i = 0; i < 4; i++)
    await house().operator('POST', `${path}/form-submissions`, { submission_type_id: typeId });
  const { page } = await enter(`/practices/${id}`);
  await page.getByText('full for today').waitFor();
  await page.getByRole('progressbar', { name: 'Forms today for Sick notes' }).waitFor();
  await page.getByRole('button', { name: /Forms a day for Sick notes: 4/ }).click();
  const cap = page.getByRole('textbox', { name: 'Forms a day for Sick notes' });
  await cap.fill('minus one');
  await page.keyboard.press('Enter');
  await expect.poll(() => cap.getAttribute('aria-invalid')).toBe('true');
  expect(await cap.inputValue()).toBe('minus one');
  await cap.fill('10');
  await page.keyboard.press('Enter');
  await page.getByText('takes forms now').waitFor();
  const { daily_limit } = await house().operator('GET', `${path}/submission-types/${typeId}`);
  expect(daily_limit).toBe(10);
});

it('adds, changes, suspends and removes a submission type', async () => {
  const { id, path } = await makePractice();
  const { page, complaints } = await enter(`/practices/${id}`);
  await button(page, 'Add a type').click();
  await page.getByLabel('Title').fill(hostileTexts[0]);
  await page.getByLabel('Pathway ID').fill('pw_2');
  await inDialog(page, 'Add').click();
  const item = page.getByRole('listitem').filter({ hasText: 'onerror' });
  await item.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByLabel('Title').fill('Blood tests');
  await page.getByLabel('Name of that page').fill('A page without an address');
  await inDialog(page, 'Save').click();
  await page.getByText('external_url_name needs an external_url').waitFor();
  complaints.length = 0;
  await page.getByLabel('Leads to').fill('https://example.org/tests');
  await inDialog(page, 'Save').click();
  const renamed = page.getByRole('listitem').filter({ hasText: 'Blood tests' });
  await renamed.getByRole('button', { name: 'Suspend' }).click();
  await confirm(page, 'Suspend');
  await renamed.getByText('suspended').waitFor();
  await renamed.getByRole('button', { name: 'Remove' }).click();
  await page.getByLabel('Type its title').fill('Blood tests');
  await confirm(page, 'Remove');
  await renamed.waitFor({ state: 'detached' });
  expect((await house().operator('GET', `${path}/submission-types`)).data).toHaveLength(1);
  expect(complaints).toEqual([]);
});

it('adds, renames and removes forms and assignees, and says what uses one', async () => {
  const { id } = await makePractice();
  const { page } = await enter(`/practices/${id}?tab=directory`);
  const used = page.getByRole('row', { name: /Sick note form/ });
  await used.getByText('Sick notes').waitFor();
  await used.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('One submission type uses it: Sick notes').waitFor();
  await confirm(page, 'Remove');
  await page
    .getByRole('alertdialog')
    .getByRole('alert')
    .getByText(/^1 submission type: /)
    .waitFor();
  await button(page, 'Cancel').click();

  await button(page, 'Add a form').click();
  await page.getByLabel('Title').fill('Travel');
  await page.getByLabel('ID').fill('frm_travel');
  await inDialog(page, 'Add').click();
  const travel = page.getByRole('row', { name: /frm_travel/ });
  await travel.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('Title').fill('Travel vaccinations');
  await inDialog(page, 'Save').click();
  await travel.getByText('Travel vaccinations').waitFor();
  await travel.getByRole('button', { name: 'Remove' }).click();
  await confirm(page, 'Remove');
  await travel.waitFor({ state: 'detached' });

  await button(page, 'Add an assignee').click();
  await page.getByLabel('Name').fill('Back office');
  await page.getByLabel('Kind').selectOption('AdminTeam');
  await page.getByLabel('ID').fill('team_1');
  await inDialog(page, 'Add').click();
  await page
    .getByRole('row', { name: /Back office/ })
    .getByText('team', { exact: true })
    .waitFor();
});

it('changes the details, and says at the field what is wrong with the hours', async () => {
  const { id, path } = await makePractice();
  const { page } = await enter(`/practices/${id}?tab=details`);
  await button(page, 'Change').click();
  await page.getByLabel('Town').fill('Ashby');
  await page.getByLabel('Monday').fill('08:00–25:00');
  await inDialog(page, 'Save').click();
  await expect.poll(() => page.getByLabel('Monday').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Monday').fill('08:00-12:00, 13:00–18:30');
  await inDialog(page, 'Save').click();
  // Exactly: the form, which is there until it is saved, has it as its example.
  await page.getByText('08:00–12:00, 13:00–18:30', { exact: true }).waitFor();
  expect(await house().operator('GET', path)).toMatchObject({
    address: { town: 'Ashby' },
    opening_hours: {
      mon: [
        ['08:00', '12:00'],
        ['13:00', '18:30'],
      ],
    },
  });
});

it('turns write-through on with a secret shown once, and off', async () => {
  const { id } = await makePractice();
  const receiver = await startReceiver();
  const { page } = await enter(`/practices/${id}?tab=details`);
  await button(page, 'Set an address').click();
  await page.getByLabel('Address').fill(receiver.url);
  await inDialog(page, 'Save').click();
  await page
    .getByRole('region', { name: /The secret/ })
    .getByText('whsec_')
    .waitFor();
  await button(page, 'I have stored it').click();
  await page.getByText(receiver.url).waitFor();
  await button(page, 'Turn off').click();
  await confirm(page, 'Turn off');
  await page.getByText('Off: changes of partners are made at once').waitFor();
  await receiver.close();
});

it('reports that the connection to the health record is down, and shows how it was', async () => {
  const { id, path } = await makePractice();
  await house().operator('PUT', `${path}/ehr-health`, { status: 'healthy' });
  const { page } = await enter(`/practices/${id}`);
  await button(page, 'It is down').click();
  await confirm(page, 'It is down');
  await page.getByText('The connection to the health record is down.').waitFor();
  await page.getByText(/Before that: healthy/).waitFor();
  expect(await house().operator('GET', `${path}/ehr-health`)).toEqual({ status: 'unhealthy' });
});

it('tells who may reach it by name, through what, and which changes wait', async () => {
  const { data } = await house().operator('GET', '/practice-groups/hillview-hub/submission-types');
  await house().send('PATCH', `/v1/care-nav/submission-types/${data[0].id}`, {
    key: demoKey(),
    group: 'hillview-hub',
    body: { title: hostileTexts[0] },
  });
  const { page, complaints } = await enter('/practices/hillview-hub', 'viewer');
  const waiting = page.getByRole('table', { name: 'Changes waiting' });
  await waiting.getByRole('link', { name: 'Demo Partner' }).waitFor();
  await page.getByRole('link', { name: 'Who may reach them' }).click();
  const row = page.getByRole('table', { name: 'Partners that reach them' }).getByRole('row').last();
  await row.getByRole('link', { name: 'Demo Partner' }).waitFor();
  await row.getByRole('link', { name: 'Exampleton network' }).waitFor();
  await row.getByRole('link', { name: 'Riverside Surgery' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('erases an object, says who is to be told, and exports who was told', async () => {
  const receiver = await startReceiver();
  const as = { key: demoKey(), group: 'riverside-surgery' };
  const { body: webhook } = await house().send('POST', '/v1/webhooks', {
    ...as,
    body: { url: receiver.url },
  });
  await house().operator('POST', '/events', {
    object: 'Appointment',
    id: 'apt_erased',
    practice_group_id: 'riverside-surgery',
    event: 'appointment.confirmed',
  });
  await logged(house(), webhook.id);
  const { page } = await enter('/practices/riverside-surgery?tab=told&object_id=apt_erased');
  await page.getByRole('row', { name: /was sent Appointment confirmed/ }).waitFor();
  await button(page, 'Erase an object').click();
  await page.getByLabel('ID of the object').fill('apt_erased');
  await page.getByText('1 partner was told about it').waitFor();
  await confirm(page, 'Erase an object');
  await page.getByText('Tell these partners to erase it, too').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export' }).click(),
  ]);
  expect(await download.failure()).toBeNull();
  await receiver.close();
});

it('tells by its title what was called by whom it was told', async () => {
  const as = { key: demoKey(), group: 'riverside-surgery' };
  expect((await house().send('GET', '/v1/care-nav/submission-types', as)).status).toBe(200);
  await house().service.app.accessLog.flush();
  const { page } = await enter('/practices/riverside-surgery?tab=told', 'viewer');
  const row = page.getByRole('row', { name: /^Demo Partner the practice: called List submission types / });
  await row.getByTitle('listSubmissionTypes').waitFor();
});

it('adds a practice and finds it by a part of its name; a viewer can do neither more', async () => {
  const { page } = await enter('/practices');
  await button(page, 'Add a practice').click();
  await page.getByLabel('Name').fill('Zennor Surgery');
  await inDialog(page, 'Add').click();
  await page.getByRole('heading', { name: 'Zennor Surgery', level: 1 }).waitFor();
  const { id } = await makePractice();
  const viewer = (await enter('/practices', 'viewer')).page;
  await viewer.getByRole('combobox', { name: 'Find a practice' }).fill('zenn');
  expect(await button(viewer, 'Add a practice').count()).toBe(0);
  await viewer.getByRole('option', { name: /Zennor/ }).click();
  await viewer.getByRole('heading', { name: 'Zennor Surgery', level: 1 }).waitFor();
  for (const tab of ['today', 'directory', 'details', 'told']) {
    await viewer.goto(`${house().url}/console/practices/${id}?tab=${tab}`);
    await viewer.getByRole('heading', { level: 2 }).first().waitFor();
    await loaded(viewer);
    for (const name of ['Add a type', 'Add a form', 'Change', 'Remove', 'Erase an object', 'It is down'])
      expect(await button(viewer, name).count()).toBe(0);
  }
  expect(await refusedTo(viewer, 'PATCH', `/practice-groups/${id}`)).toBe(403);
  expect(await refusedTo(viewer, 'POST', '/erasures')).toBe(403);
});
