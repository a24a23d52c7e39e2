import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { CHROMIUM, FLAGS } from './chromium.ts';
import type { ManualClock } from './manual-clock.ts';
import { type Harness, startHarness } from './service.ts';

/** A service with the demo world, and a real browser in front of it. */
export interface Readers {
  house: () => Harness;
  demoKey: () => string;
  /** A reader with a browser profile of their own, which is gone after the test. */
  open(path: string, options?: BrowserContextOptions): Promise<Reader>;
}

export interface Reader {
  page: Page;
  /** What went wrong: errors in the console, requests to anybody else. */
  complaints: string[];
  requests: Request[];
}

export const PHONE = { viewport: { width: 390, height: 844 } } as const;
export const DESK = { viewport: { width: 1280, height: 900 } } as const;

/** For a test file: starts both before its tests and stops them afterwards. */
export function readers(env: Record<string, string> = {}, clock?: ManualClock): Readers {
  let house: Harness;
  let browser: Browser;
  beforeAll(async () => {
    house = await startHarness({ env: { PORTER_DEMO: 'on', ...env }, ...(clock && { clock }) });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });
  afterAll(() => browser.close());
  return {
    house: () => house,
    demoKey: () => house.service.demoKey ?? '',
    async open(path, options = DESK) {
      const context = await browser.newContext(options);
      // Half a minute, the default, is too little for a machine that does ten other things.
      context.setDefaultTimeout(120_000);
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: house.url });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const complaints: string[] = [];
      const requests: Request[] = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        requests.push(request);
        if (!request.url().startsWith(`${house.url}/`) && !request.url().startsWith('data:'))
          complaints.push(`asked ${request.url()}`);
      });
      await page.goto(house.url + path);
      return { page, complaints, requests };
    },
  };
}

/** By how many pixels the page is wider than the screen, so that it would have to be scrolled sideways. */
export async function overhang(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = Reflect.get(globalThis, 'document').documentElement;
    return scrollWidth - clientWidth;
  });
}

/** What in a table reaches over its cell, into the next one: the titles of its column and the text. */
export async function overCells(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const document = Reflect.get(globalThis, 'document');
    const found: string[] = [];
    for (const cell of document.querySelectorAll('td, th:not(:has(.visually-hidden))')) {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const { right } = range.getBoundingClientRect();
      const over = Math.round(right - cell.getBoundingClientRect().right);
      if (over > 0)
        found.push(
          `${cell.getAttribute('data-title') ?? 'a title'}: ${cell.textContent.slice(0, 40)} by ${over} px`,
        );
    }
    return found;
  });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds that keeps people out, one line each. */
export async function barriers(page: Page, within = 'html'): Promise<string[]> {
  // Half a megabyte: once for each document.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const found = await page.evaluate<AxeResults, string>(
    (selector) => Reflect.get(globalThis, 'axe').run(selector, { resultTypes: ['violations'] }),
    within,
  );
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
    );
}
