import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { type BusyWorld, busyWorld } from '../support/console-busy-world.ts';
import { OPERATOR_TOKEN } from '../support/service.ts';
import { barriers, overCells, overhang } from '../support/site-browser.ts';

/**
 * Every screen, full of what partners, practices and receivers write: it is text, which runs nothing and asks nobody. At each width it
 * breaks no layout, and in both colour schemes it keeps nobody out.
 */

const { house, enter } = consoles();

const SCRIPTS = `"><img src=x onerror="globalThis.stolen=1"><script>globalThis.stolen=1</script>{{7*7}}\${7*7}`;
/** Runs from right to left, is wider than it looks, and has nowhere to break. */
const ODD = `\u200Fבדיקה 🩺👩🏽‍⚕️ ﷽ ${'W'.repeat(60)}`;

/** There are dozens: what would never end takes longer than this, and a slow machine does not. */
const EVERY_SCREEN_MS = 3_600_000;

let world: BusyWorld;
beforeAll(async () => {
  let count = 0;
  // Turns, so that every kind of field has each; never the same twice, as names of things differ.
  const text = (usual: string) => `${[SCRIPTS, ODD][++count % 2]} ${usual} ${count}`.slice(0, 255);
  const word = (usual: string) => text(usual).slice(0, 64);
  world = await busyWorld(house(), { text, word });
  const headers = { 'user-agent': SCRIPTS };
  await house().send('POST', '/console/sign-in', { headers, body: { token: OPERATOR_TOKEN } });
});

/** A page is read once, and its window changed. Where a scheme is named, it is judged. */
const widths = [
  [360, 'light'],
  [360, 'dark'],
  [1920, undefined],
  [1024, undefined],
  [2560, 'dark'],
  [1280, 'light'],
] as const;

it(
  'is text on every screen, which fits from a phone to a wide one',
  async () => {
    const { page, complaints, requests } = await enter('/');
    const broken: unknown[] = [];
    const titles: Record<string, number> = {};
    for (const path of world.paths) {
      requests.length = 0;
      const html = await (await page.goto(`${house().url}/console${path}`))?.text();
      await loaded(page);
      // Files that the page names are fetched together, and none has to be found in another first.
      const files = requests.map((one) => new URL(one.url()).pathname).filter((file) => file.endsWith('.js'));
      broken.push(...files.filter((file) => !html?.includes(`"${file}"`)).map((file) => [path, file]));
      const seen = await page.evaluate(() => {
        const { images } = Reflect.get(globalThis, 'document');
        return { images: images.length, stolen: 'stolen' in globalThis };
      });
      if (seen.images > 0 || seen.stolen) broken.push([path, seen]);
      titles[path] = await topOfTitle(page);
      for (const [width, colorScheme] of widths) {
        await page.setViewportSize({ width, height: 900 });
        // It is laid out anew within a moment.
        await expect.poll(() => overhang(page), { message: `${path} at ${width} px` }).toBe(0);
        broken.push(...(await overCells(page)).map((over) => [path, width, over]));
        if (!colorScheme) continue;
        await page.emulateMedia({ colorScheme });
        broken.push(...(await barriers(page)).map((barrier) => [path, width, barrier]));
      }
    }
    expect(broken).toEqual([]);
    // Whoever goes from screen to screen finds it where it was.
    expect(new Set(Object.values(titles)).size, JSON.stringify(titles)).toBe(1);
    expect(complaints).toEqual([]);
  },
  EVERY_SCREEN_MS,
);

async function topOfTitle(page: Page): Promise<number> {
  const box = await page.getByRole('heading', { level: 1 }).boundingBox();
  return Math.round(box?.y ?? Number.NaN);
}
