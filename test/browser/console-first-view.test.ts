import type { Route } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { type BusyWorld, busyWorld } from '../support/console-busy-world.ts';
import { guests } from '../support/guest-browser.ts';
import { DESK, type Reader } from '../support/site-browser.ts';

/** What each of the three people loads and waits for until they see their first list. The times are printed, and held by nobody: machines differ. */

const { house, enter, comeIn, open } = await guests();
const FIRST_LOAD_BYTES_MAX = 250_000;
const ROUNDS = 5;

let world: BusyWorld;
beforeAll(async () => {
  world = await busyWorld(house());
});

interface Person {
  name: string;
  signIn: () => Promise<Reader>;
  path: string;
  /** Of which the first entry is the first that there is to see. */
  list: string;
  /** What the first page shows. */
  calls: string[];
}

const people: Person[] = [
  {
    name: 'an operator',
    signIn: () => enter('/'),
    path: '/',
    list: 'main table tbody tr',
    calls: ['/operator/v1/attention', '/operator/v1/figures'],
  },
  {
    name: 'somebody of a partner',
    signIn: () => comeIn({ partner: world.partners[0]?.partnerId ?? '' }),
    path: '/portal',
    list: 'main table tbody tr',
    calls: ['/portal/v1/home', '/portal/v1/alerts', '/portal/v1/webhooks', '/portal/v1/requests'],
  },
  {
    name: 'somebody of a practice',
    signIn: () => comeIn({ practice: world.practices[0] ?? '' }),
    path: '/my-practice',
    list: 'main ul.reaching li',
    calls: ['/practice/v1/partners'],
  },
];

it.each(people)('$name loads little until the first list, and all of it at once', async (person) => {
  const { name, signIn, path, list } = person;
  const { page } = await signIn();
  const storageState = await page.context().storageState();
  const times: number[] = [];
  let bytes = 0;
  const notNamed = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    // Signed in, and nothing else in the memory of the browser.
    const { page: fresh, requests } = await open(`/console${path}`, { ...DESK, storageState });
    times.push(await fresh.evaluate(firstSight, list));
    await fresh.waitForLoadState('load');
    const files = requests.filter((one) => one.url().includes('/console/assets/'));
    const sizes = await Promise.all(files.map(async (one) => (await one.sizes()).responseBodySize));
    bytes = sizes.reduce((sum, size) => sum + size, 0);
    const html = (await (await requests[0]?.response())?.text()) ?? '';
    for (const file of files.map((one) => new URL(one.url()).pathname))
      if (!html.includes(`"${file}"`)) notNamed.add(file);
    await fresh.context().close();
  }
  const [fastest, , median, , slowest] = times.toSorted((a, b) => a - b).map(Math.round);
  console.log(`${name}: ${bytes} bytes compressed, first list after ${median} ms (${fastest} to ${slowest})`);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
  // What the page does not name is found only when another file has been read.
  expect([...notNamed]).toEqual([]);
});

it.each(people)('$name waits for no answer but the one who they are', async ({ signIn, path, calls }) => {
  const { page } = await signIn();
  const scripts: Route[] = [];
  // Nothing of the API is answered, and the script comes when it is let through.
  await page.route(/\/v1\//, () => undefined);
  await page.route(/\/assets\/main-\w+\.js$/, (route) => void scripts.push(route));
  const whoIsThere = page.waitForRequest(/\/console\/me$/);
  await page.goto(`${house().url}/console${path}`, { waitUntil: 'commit' });
  await whoIsThere;
  await expect.poll(() => scripts.length).toBe(1);
  const asked = calls.map((call) => page.waitForRequest((one) => new URL(one.url()).pathname === call));
  await scripts[0]?.continue();
  await Promise.all(asked);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

/** Since the navigation began, in milliseconds. Runs in the page. */
function firstSight(selector: string): Promise<number> {
  const { document, performance, requestAnimationFrame } = globalThis as never as {
    document: { querySelector(selector: string): unknown };
    performance: { now(): number };
    requestAnimationFrame(next: () => void): void;
  };
  return new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(selector)) requestAnimationFrame(() => resolve(performance.now()));
      else requestAnimationFrame(look);
    };
    look();
  });
}
