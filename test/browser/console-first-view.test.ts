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

const people: [string, () => Promise<Reader>, string, string][] = [
  ['an operator', () => enter('/'), '/', 'main table tbody tr'],
  [
    'somebody of a partner',
    () => comeIn({ partner: world.partners[0]?.partnerId ?? '' }),
    '/portal',
    'main table tbody tr',
  ],
  [
    'somebody of a practice',
    () => comeIn({ practice: world.practices[0] ?? '' }),
    '/my-practice',
    'main ul.reaching li',
  ],
];

it.each(people)('%s loads little until the first list', async (name, signIn, path, list) => {
  const { page } = await signIn();
  const storageState = await page.context().storageState();
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // Signed in, and nothing else in the memory of the browser.
    const { page: fresh, requests } = await open(`/console${path}`, { ...DESK, storageState });
    times.push(await fresh.evaluate(firstSight, list));
    await fresh.waitForLoadState('load');
    const files = requests.filter((one) => one.url().includes('/console/assets/'));
    const sizes = await Promise.all(files.map(async (one) => (await one.sizes()).responseBodySize));
    bytes = sizes.reduce((sum, size) => sum + size, 0);
    await fresh.context().close();
  }
  const [fastest, , median, , slowest] = times.toSorted((a, b) => a - b).map(Math.round);
  console.log(`${name}: ${bytes} bytes compressed, first list after ${median} ms (${fastest} to ${slowest})`);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
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
