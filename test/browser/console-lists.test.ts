import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { scopeNames } from '../../src/contract/access.ts';
import { consoles } from '../support/console-browser.ts';
import { PATIENCE, practiceCalled } from '../support/console-world.ts';
import { OPERATOR_TOKEN } from '../support/service.ts';

/** Lists longer than a page of the API are shown to their end, and long ones cost the browser no more than short ones. */

const { house, demoKey, enter } = consoles({ PORTER_APPROVALS: 'keys' });

/** One more than a page holds. */
const MANY = 101;
const numbers = Array.from({ length: MANY }, (_, at) => at + 1);
async function each(make: (number: number) => Promise<unknown>): Promise<void> {
  for (const number of numbers) await make(number);
}

/** For dozens of pages, one after the other. */
const LONG_PATIENCE = { ...PATIENCE, timeout: 150_000 };

/** Goes to the end again and again, as somebody does who looks for the last one. */
async function scrollUntil(page: Page, reached: () => Promise<boolean>): Promise<void> {
  await expect
    .poll(async () => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      return reached();
    }, LONG_PATIENCE)
    .toBe(true);
}

async function showsAll(page: Page, table: string): Promise<void> {
  const rows = page.getByRole('table', { name: table }).getByRole('row');
  await expect
    .poll(async () => {
      await rows.last().scrollIntoViewIfNeeded();
      return rows.count();
    }, PATIENCE)
    // Its head is a row, too.
    .toBeGreaterThan(MANY);
}

it('operators, also those that the audit is asked about', async () => {
  await each((no) => house().operator('POST', '/operators', { name: `Operator ${no}`, role: 'viewer' }));
  const { page, complaints } = await enter('/settings');
  await showsAll(page, 'Operators');
  for (const name of ['Operator 1', 'Operator 101']) await page.getByText(name, { exact: true }).waitFor();
  await page.goto(`${house().url}/console/audit`);
  const who = page.getByRole('combobox', { name: 'Who' });
  await expect.poll(() => who.getByRole('option', { name: /^Operator \d+$/ }).count(), PATIENCE).toBe(MANY);
  expect(complaints).toEqual([]);
});

it('sessions', async () => {
  await each(async () => {
    const { status } = await house().send('POST', '/console/sign-in', { body: { token: OPERATOR_TOKEN } });
    expect(status).toBe(204);
  });
  const { page } = await enter('/settings?tab=sessions');
  await showsAll(page, 'Sessions');
});

it('approvals', async () => {
  const { data } = await house().operator('GET', '/partners');
  await each((no) =>
    house().operator('POST', '/keys', {
      partner_id: data[0].id,
      practice_group_id: 'riverside-surgery',
      scopes: scopeNames,
      label: `Key ${no}`,
    }),
  );
  const { page } = await enter('/settings?tab=approvals&status=pending');
  await showsAll(page, 'Approvals');
});

it('agreements of a partner, and networks to issue keys for', async () => {
  const { data } = await house().operator('GET', '/partners');
  const partner = `/partners/${data[0].id}`;
  await each((no) =>
    house().operator('POST', `${partner}/agreements`, {
      version: `No. ${no}`,
      signatory: 'Ada Marsh',
      signed_at: '2026-11-10T00:00:00Z',
    }),
  );
  await each((no) =>
    house().operator('POST', '/networks', { name: `Network ${no}`, practice_group_ids: ['hillview-hub'] }),
  );
  const { page } = await enter(`${partner}?tab=agreements`);
  await showsAll(page, 'Agreements');
  await page.goto(`${house().url}/console${partner}/issue-many`);
  const networks = page.getByRole('option', { name: /^Network \d+ \(1\)$/ });
  await expect.poll(() => networks.count(), PATIENCE).toBe(MANY);
});

it('forms, assignees and submission types of a practice', async () => {
  const practice = '/practice-groups/hillview-hub';
  await each((no) => house().operator('PUT', `${practice}/forms/form-${no}`, { title: `Form ${no}` }));
  await each((no) => house().operator('PUT', `${practice}/assignees/Admin/a-${no}`, { name: `Ann ${no}` }));
  await each((no) =>
    house().operator('POST', `${practice}/submission-types`, {
      id: `type-${no}`,
      pathway_id: `pathway-${no}`,
      title: `Type ${no}`,
    }),
  );
  const { page } = await enter('/practices/hillview-hub?tab=directory');
  await showsAll(page, 'Assignees');
  await showsAll(page, 'Forms');
  await page.goto(`${house().url}/console/practices/hillview-hub`);
  const types = page.getByRole('list', { name: 'Submission types' }).getByRole('listitem');
  await scrollUntil(page, async () => (await types.count()) >= MANY);
});

it('who let somebody in, when that is long ago in the audit', async () => {
  await practiceCalled(house(), 'away', 'Away');
  const { id } = await house().operator('POST', '/networks', {
    name: 'Vale',
    practice_group_ids: ['riverside-surgery', 'away'],
  });
  for (const no of numbers) await house().operator('PATCH', `/networks/${id}`, { name: `Vale ${no}` });
  const { data } = await house().operator('GET', '/keys');
  const { page } = await enter(`/networks?partner=${data[0].partner_id}&practice=away`);
  await page.getByText(/First operator put Away into the network/).waitFor();
});

const EVENTS = 3_000;
/** In sight, and twenty on either side: the rest is nowhere in the document. */
const ROWS_MAX = 120;

it('thousands of events and deliveries scroll to the last one, with no more rows in the document than in sight', async () => {
  // What the browser calls now is now for the service, too.
  house().clock.advance(Date.now() - house().clock.now());
  const call = async (method: string, path: string, body: object) =>
    (await house().send(method, path, { key: demoKey(), group: 'riverside-surgery', body })).body;
  const { id } = await call('POST', '/v1/webhooks', { url: 'https://partner.example/hook' });
  await call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' });
  for (let from = 0; from < EVENTS; from += 1_000)
    await house().operator('POST', '/events', {
      events: Array.from({ length: 1_000 }, (_, at) => ({
        object: 'Appointment',
        id: `apt-${from + at}`,
        practice_group_id: 'riverside-surgery',
        event: 'appointment.confirmed',
      })),
    });
  const { page, complaints } = await enter('/events');
  const scrollThrough = async (table: string) => {
    const rows = page.getByRole('table', { name: table }).getByRole('row');
    let most = 0;
    await scrollUntil(page, async () => {
      most = Math.max(most, await rows.count());
      return (await page.getByText('apt-0', { exact: true }).count()) > 0;
    });
    expect(most).toBeLessThanOrEqual(ROWS_MAX);
  };
  await scrollThrough('Events');
  await page.evaluate('scrollTo(0, 0)');
  await page.getByText(`apt-${EVENTS - 1}`, { exact: true }).waitFor();
  await page.goto(`${house().url}/console/webhooks/${id}`);
  await scrollThrough('Deliveries');
  expect(complaints).toEqual([]);
});
