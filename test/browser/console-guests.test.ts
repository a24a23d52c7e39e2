import type { Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hostileTexts, loaded, refusedTo } from '../support/console-browser.ts';
import { newNamedPartner, newPractice } from '../support/console-world.ts';
import { guests, type Inviting } from '../support/guest-browser.ts';
import { invited } from '../support/guest-session.ts';
import { barriers, DESK, overhang } from '../support/site-browser.ts';

/** People of partners and practices in the console: how they come in, what they see, and how they leave. */

const { house, mailbox, open, enter, comeIn } = await guests();
const PHONE = { viewport: { width: 360, height: 780 } } as const;
let partner: Inviting;
let practice: Inviting;
beforeAll(async () => {
  partner = { partner: (await newNamedPartner(house(), hostileTexts[0])).partnerId };
  practice = { practice: await newPractice(house(), hostileTexts[1]) };
});

describe('the link of an invitation', () => {
  it('lets somebody in once, into their own first page, and is in the address no more', async () => {
    const person = { name: 'Grace <b>Hall</b>', email: 'grace@partner.example' };
    const { path } = await invited(house(), mailbox, partner, person);
    const { page, complaints } = await open(path);
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('button', { name: 'Signed in as Grace <b>Hall</b>' }).waitFor();
    await page.waitForURL(`${house().url}/console/portal`);
    await page.goBack();
    expect(page.url()).not.toContain('pti_');
    expect(complaints).toEqual([]);

    const second = await open(path);
    await second.page.getByRole('button', { name: 'Enter' }).click();
    await second.page
      .getByText('This link was used already, was withdrawn, or is older than three days.')
      .waitFor();
  });

  it('says when it was cut off', async () => {
    const { page } = await open('/console/enter');
    await page.getByText('The address is not whole').waitFor();
    expect(await page.getByRole('button', { name: 'Enter' }).count()).toBe(0);
  });
});

describe.each([
  ['a partner', () => partner, '/portal', '/my-practice'],
  ['a practice', () => practice, '/my-practice', '/portal'],
])('somebody of %s', (_name, whom, home, foreign) => {
  it('sees nothing of what is not theirs, and is refused it', async () => {
    const { page, complaints } = await comeIn(whom());
    await page.waitForURL(`${house().url}/console${home}`);
    await page
      .getByRole('banner')
      .getByText(hostileTexts[home === '/portal' ? 0 : 1])
      .waitFor();
    const rooms = page.getByRole('navigation', { name: 'Rooms' });
    expect(await rooms.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Paste an ID/ }).count()).toBe(0);
    await page.keyboard.press('/');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.evaluate(() => Reflect.get(globalThis, 'stolen'))).toBeUndefined();
    expect(complaints).toEqual([]);
    for (const path of ['/partners', '/audit', '/settings', foreign]) {
      await page.goto(`${house().url}/console${path}`);
      await page.getByRole('main').getByRole('heading', { name: 'There is no such page' }).waitFor();
    }
    await page.getByRole('link', { name: 'Go to your first page' }).click();
    await page.waitForURL(`${house().url}/console${home}`);
    expect(await refusedTo(page, 'POST', '/partners')).toBe(401);
  });

  it('leaves by signing out', async () => {
    const { page } = await comeIn(whom());
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('Come in by the link in your invitation').waitFor();
    await page.goto(`${house().url}/console${home}`);
    await page.getByText('Come in by the link in your invitation').waitFor();
  });

  it('is out with the next page when the invitation is withdrawn', async () => {
    const { page, invitation } = await comeIn(whom());
    await house().operator('POST', `/invitations/${invitation.id}/withdraw`);
    await page.reload();
    await page.getByText('Come in by the link in your invitation').waitFor();
  });

  it.each([
    ['phone', PHONE],
    ['desk', DESK],
  ])('finds it fits a %s in both colour schemes', async (_size, size) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await comeIn(whom(), '/', { ...size, colorScheme });
      await loaded(page);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page)).toEqual([]);
    }
  });
});

it('a page that nobody touches asks for nothing by itself, so that its session can end', async () => {
  const { page } = await comeIn(partner);
  await page.clock.install();
  // What the page asked for since the listeners are there, and what of it is not answered yet. A request that was under
  // way before ends as well, and belongs to neither.
  let begun = 0;
  const open = new Set<Request>();
  page.on('request', (request) => {
    // The stream of news stays open. It is opened again here because the clock of the page runs ahead of the service's.
    if (request.url().endsWith('/live')) return;
    begun += 1;
    open.add(request);
  });
  const end = (request: Request) => void open.delete(request);
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  await page.reload();
  await page.getByRole('button', { name: /Signed in as/ }).waitFor();
  await expect.poll(() => open.size).toBe(0);
  const loaded = begun;
  await page.clock.runFor(20_000);
  await expect.poll(() => begun).toBeGreaterThan(loaded);
  await page.clock.fastForward(6 * 60_000);
  await expect.poll(() => open.size).toBe(0);
  const asked = begun;
  await page.clock.runFor(60_000);
  expect(begun).toBe(asked);
  await page.keyboard.press('Shift');
  await expect.poll(() => begun).toBeGreaterThan(asked);
});

it('an operator finds nothing under the addresses of guests', async () => {
  const { page } = await enter('/portal');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
});
