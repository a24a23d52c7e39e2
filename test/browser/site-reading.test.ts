import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { barriers, DESK, PHONE, readers } from '../support/site-browser.ts';

/** What the scripts of the pages do for their readers. */

const { open, house, demoKey } = readers();

const GUIDE = '/docs/guides/receiving-webhooks';
const masked = () => `ptr_test_••••${demoKey().slice(-4)}`;
const withKey = (path: string) => `${path}#key=${demoKey()}&group=hillview-hub`;
const pasted = (page: Page) => page.evaluate(() => Reflect.get(globalThis, 'navigator').clipboard.readText());
const firstRequest = (page: Page) => page.locator('figure.code:has([data-fill=key])').first();

describe("the reader's key", () => {
  it('comes with the link, leaves the address bar, and is shown masked and copied whole', async () => {
    const { page } = await open(withKey(GUIDE));
    expect(page.url()).toBe(house().url + GUIDE);
    expect(await page.locator('button.reader').innerText()).toBe(masked());
    const example = firstRequest(page);
    for (const shown of [masked(), 'hillview-hub', house().url])
      expect(await example.innerText()).toContain(shown);
    expect(await page.locator('body').innerText()).not.toContain(demoKey());

    await example.getByRole('button', { name: 'Copy' }).click();
    await example.getByRole('button', { name: 'Copied' }).waitFor();
    const text = await pasted(page);
    for (const whole of [demoKey(), 'hillview-hub', house().url]) expect(text).toContain(whole);
    expect(text).not.toMatch(/••|YOUR_KEY|Copied/);
  });

  it('is whole too in what is selected and copied by hand', async () => {
    const { page } = await open(withKey(GUIDE));
    await firstRequest(page).locator('pre').selectText();
    await page.keyboard.press('Control+c');
    await expect.poll(() => pasted(page)).toContain(demoKey());
  });

  it('survives a reload and other pages, and is gone when it is cleared', async () => {
    const { page } = await open(withKey(GUIDE));
    await page.reload();
    expect(await firstRequest(page).innerText()).toContain(masked());
    await page.goto(`${house().url}/docs/guides/authentication`);
    expect(await page.locator('button.reader').innerText()).toBe(masked());
    await page.locator('button.reader').click();
    await page.getByRole('button', { name: 'Clear all' }).click();
    expect(await page.locator('button.reader').innerText()).toBe('Your key');
    await page.goto(house().url + GUIDE);
    expect(await firstRequest(page).innerText()).toContain('ptr_test_YOUR_KEY');
    expect(await firstRequest(page).innerText()).toContain('riverside-surgery');
  });

  it('can be typed in; what is no key is refused and said so', async () => {
    const { page } = await open(GUIDE);
    await page.locator('button.reader').click();
    const dialog = page.getByRole('dialog', { name: 'Your key' });
    expect(await barriers(page, 'dialog.reader')).toEqual([]);
    await dialog.getByLabel('API key').fill('ptr_test_short');
    await page.keyboard.press('Enter');
    expect(await dialog.getByRole('alert').innerText()).toContain('not a whole key');
    await dialog.getByLabel('API key').fill(demoKey());
    await dialog.getByLabel('Practice group').fill('riverside-surgery; rm -rf /');
    await page.keyboard.press('Enter');
    expect(await dialog.getByRole('alert').innerText()).toContain('practice group');
    // All that an ID may be made of.
    await dialog.getByLabel('Practice group').fill('Hill_view.hub:1~a-b');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    expect(await firstRequest(page).innerText()).toContain('Hill_view.hub:1~a-b');
  });

  it('works until the page is left in a browser that keeps nothing', async () => {
    const { page } = await open(GUIDE);
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new Error('not allowed');
        },
      });
    });
    await page.goto(`${house().url}/docs/events`);
    await page.goto(house().url + withKey(GUIDE));
    expect(await page.locator('button.reader').innerText()).toBe(masked());
    expect(await firstRequest(page).innerText()).toContain('hillview-hub');
  });

  it('from a link is only taken if it cannot be anything else', async () => {
    const { page } = await open(
      `${GUIDE}#key=${encodeURIComponent('$(touch /tmp/x)')}&group=riverside-surgery`,
    );
    expect(await page.locator('button.reader').innerText()).toBe('Your key');
    await page.goto(`${house().url}/docs/events`);
    await page.goto(`${house().url}${GUIDE}#key=${demoKey()}&group=${encodeURIComponent('`id`')}`);
    expect(await firstRequest(page).innerText()).toContain('riverside-surgery');
  });

  it('leaves the buttons beside it their size on a phone', async () => {
    const { page } = await open(`/docs#key=${demoKey()}&group=riverside-surgery`, {
      viewport: { width: 360, height: 780 },
    });
    await page.getByRole('button', { name: /Your key: ptr_test_/ }).waitFor();
    const widths = await page
      .locator('.bar button')
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().width));
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(36);
  });

  it('never leaves the browser while reading', async () => {
    const { page, requests } = await open(withKey('/docs'));
    await page.goto(house().url + GUIDE);
    await page.keyboard.press('/');
    await page.keyboard.type('webhook');
    await page.getByRole('option').first().waitFor();
    for (const request of requests)
      expect(`${request.url()} ${JSON.stringify(await request.allHeaders())}`).not.toContain(demoKey());
  });
});

describe('the search', () => {
  it.each([
    ['rate_limit_exceeded', '/docs/errors/rate_limit_exceeded'],
    ['prescription.issued', '/docs/events#prescriptionissued'],
    ['Create a webhook', '/docs/api#tag/webhooks/createWebhook'],
    ['rotating secrets', '/docs/operating/rotating-secrets'],
  ])('finds %s by the keyboard alone', async (query, target) => {
    const { page } = await open('/docs/errors');
    await page.keyboard.press('Control+k');
    await page.keyboard.type(query);
    const options = page.getByRole('option');
    await options.first().waitFor();
    const hrefs = await options.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(hrefs).toContain(target);
    for (let at = 0; at < hrefs.indexOf(target); at++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(house().url + target);
  });

  it.each([
    ['pagination', '/docs/guides/rate-limits#read-a-list-page-by-page'],
    ['sandbox', '/docs/guides/environments'],
    ['retry schedule', '/docs/guides/receiving-webhooks#when-a-delivery-fails'],
    ['IP addresses', '/docs/guides/environments#where-webhooks-come-from'],
    ['allow list', '/docs/guides/environments#where-webhooks-come-from'],
    ['whitelist', '/docs/guides/environments'],
    ['sdk', '/docs/guides/client-library'],
    ['ngrok', '/docs/guides/command-line#receive-events-on-your-machine'],
    ['tunnel', '/docs/guides/command-line#receive-events-on-your-machine'],
    ['cors', '/docs/guides/authentication#keep-it-safe'],
    ['test mode', '/docs/guides/environments'],
    ['retries', '/docs/guides/handling-errors#repeat-what-may-pass'],
    ['retry', '/docs/guides/handling-errors#repeat-what-may-pass'],
    ['rotate', '/docs/guides/authentication#rotate-a-key'],
    ['rotation', '/docs/guides/authentication#rotate-a-key'],
    ['python', '/docs/guides/python'],
    ['php', '/docs/guides/receiving-webhooks#verify-every-delivery'],
    ['dotnet', '/docs/guides/receiving-webhooks#verify-every-delivery'],
    ['golang', '/docs/guides/receiving-webhooks#verify-every-delivery'],
    ['javascript', '/docs/guides/client-library'],
  ])('finds what is called %s elsewhere', async (query, target) => {
    const { page } = await open('/docs/errors');
    await page.keyboard.press('Control+k');
    await page.keyboard.type(query);
    const options = page.getByRole('option');
    await options.first().waitFor();
    await expect
      .poll(() => options.evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute('href'))))
      .toContain(target);
  });

  it('shows guides before references, and what is for partners before what is for operators', async () => {
    const { page } = await open('/docs/errors');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('webhook');
    const places = page.locator('[role=option] small');
    await places.first().waitFor();
    const shown = await places.allInnerTexts();
    expect(shown[0]).toMatch(/^(Guides|Getting started|Tools)/);
    // Every hit that is counted can be reached, those for operators after all others.
    expect(await page.locator('dialog.search [role=status]').innerText()).toBe(`${shown.length} results`);
    expect(shown.length).toBeGreaterThan(12);
    const forOperators = shown.map((place) => /^Operat(ing|or) /.test(place));
    expect(forOperators).toEqual(forOperators.toSorted());
    expect(forOperators).toContain(true);
  });

  it('says what it found, and what is selected, to whoever listens', async () => {
    const { page } = await open('/docs/errors');
    await page.getByRole('button', { name: 'Search' }).click();
    const box = page.getByRole('combobox');
    await box.fill('webhook secret');
    await page.getByRole('option').first().waitFor();
    expect(await page.locator('dialog.search [role=status]').innerText()).toMatch(/^\d+ results$/);
    await page.keyboard.press('ArrowDown');
    expect(await box.getAttribute('aria-activedescendant')).toBe('result-1');
    expect(await page.getByRole('option', { selected: true }).getAttribute('id')).toBe('result-1');
    expect(await page.getByRole('option').first().locator('mark').count()).toBeGreaterThan(0);
    expect(await barriers(page, 'dialog.search')).toEqual([]);
    await box.fill('zzzzzz');
    await page.getByText('Nothing found').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog.search').waitFor({ state: 'hidden' });
  });
});

describe('languages', () => {
  it('the chosen one is shown everywhere, and again after a reload', async () => {
    const { page } = await open(GUIDE);
    const tabs = page.getByRole('tablist').first();
    await tabs.getByRole('tab', { name: 'TypeScript' }).focus();
    await page.keyboard.press('ArrowRight');
    const chosen = await tabs.getByRole('tab', { selected: true }).innerText();
    expect(chosen).not.toBe('TypeScript');
    await page.reload();
    expect(await tabs.getByRole('tab', { selected: true }).innerText()).toBe(chosen);
    for (const group of await page.locator('.tabs').all())
      expect(await group.getByRole('tabpanel').filter({ visible: true }).count()).toBe(1);
  });
});

describe('the colour scheme', () => {
  const ground = (page: Page) =>
    page
      .locator('body')
      .evaluate((body) => body.ownerDocument.defaultView?.getComputedStyle(body).backgroundColor);

  it("is the system's until the reader chooses, and then the reader's", async () => {
    const { page } = await open('/docs/errors', { ...DESK, colorScheme: 'dark' });
    const dark = await ground(page);
    await page.getByRole('button', { name: 'Colour scheme: system' }).click();
    await page.getByRole('button', { name: 'Colour scheme: light' }).waitFor();
    const light = await ground(page);
    expect(light).not.toBe(dark);
    await page.reload();
    expect(await ground(page)).toBe(light);
    await page.getByRole('button', { name: 'Colour scheme: light' }).click();
    expect(await ground(page)).toBe(dark);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await ground(page)).toBe(dark);
    await page.getByRole('button', { name: 'Colour scheme: dark' }).click();
    expect(await ground(page)).toBe(light);
  });
});

describe('the contents on a phone', () => {
  it('open and close by the keyboard, and take the focus along', async () => {
    const { page } = await open(GUIDE, PHONE);
    const contents = page.getByRole('navigation', { name: 'Contents' });
    const button = page.getByRole('button', { name: 'Contents' });
    expect(await contents.isVisible()).toBe(false);
    await button.focus();
    await page.keyboard.press('Enter');
    await contents.waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    await contents.locator('a:focus').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await contents.waitFor({ state: 'hidden' });
    await expect
      .poll(() => button.evaluate((element) => element === element.ownerDocument.activeElement))
      .toBe(true);
    await page.keyboard.press('Enter');
    await contents.getByRole('link', { name: 'Rate limits' }).click();
    await page.waitForURL(`${house().url}/docs/guides/rate-limits`);
    expect(await contents.isVisible()).toBe(false);
  });
});

describe('scrolling', () => {
  /** Every place that the page was at when a frame was drawn. */
  const WATCH = `
    addEventListener('scroll', () => {
      window.places = [...(window.places ?? []), scrollY];
    });`;
  const places = (page: Page) => page.evaluate<number[]>(() => Reflect.get(globalThis, 'places') ?? []);
  const top = (page: Page, id: string) =>
    page.locator(`[id="${id}"]`).evaluate((heading) => Math.abs(heading.getBoundingClientRect().top - 84));

  it('jumps to where a reader arrives, and glides from one place of the page to another', async () => {
    const { page } = await open('/docs/errors');
    await page.addInitScript(WATCH);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('prescription.issued');
    await page.locator('[role=option][href="/docs/events#prescriptionissued"]').click();
    await expect.poll(() => top(page, 'prescriptionissued').catch(() => 1000)).toBeLessThan(40);
    const arrived = await places(page);
    expect(arrived.length).toBeLessThanOrEqual(2);

    const here = await page.evaluate<number>('scrollY');
    await page.locator('.toc a[href="#order"]').click();
    await expect.poll(() => top(page, 'order')).toBeLessThan(40);
    const there = await page.evaluate<number>('scrollY');
    // However few frames a busy machine draws: a jump passes no place between.
    const between = (await places(page)).filter(
      (y) => y > Math.min(here, there) && y < Math.max(here, there),
    );
    expect(between).not.toEqual([]);
    await page.locator('html.gliding').waitFor({ state: 'detached' });
  });

  it('does not glide for those who asked for less motion', async () => {
    const { page } = await open('/docs/events', { ...DESK, reducedMotion: 'reduce' });
    await page.evaluate(WATCH);
    await page.locator('.toc a[href="#order"]').click();
    await expect.poll(() => top(page, 'order')).toBeLessThan(40);
    expect((await places(page)).length).toBeLessThanOrEqual(2);
  });
});

it('the first stop of the keyboard leads past the bar and the contents', async () => {
  const { page } = await open(GUIDE);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('main:focus').waitFor();
});
