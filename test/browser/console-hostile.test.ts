import { beforeAll, expect, it } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { type BusyWorld, busyWorld } from '../support/console-busy-world.ts';
import { OPERATOR_TOKEN } from '../support/service.ts';
import { overhang } from '../support/site-browser.ts';

/** Whatever partners, practices and receivers write is text, on every screen: it runs nothing, asks nobody and breaks no layout. */

const { house, enter } = consoles();

const SCRIPTS = `"><img src=x onerror="globalThis.stolen=1"><script>globalThis.stolen=1</script>{{7*7}}\${7*7}`;
/** Turns around what follows, is wider than it looks, and has nowhere to break. */
const ODD = `\u202E\u2066gnitset\u202C 🩺👩🏽‍⚕️ ﷽ ${'W'.repeat(60)}`;

/** There are dozens: what would never end takes longer than this, and a slow machine does not. */
const EVERY_SCREEN_MS = 600_000;

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

it.each([
  ['phone', 360],
  ['desk', 1280],
])(
  'is text on a %s',
  async (_name, width) => {
    const { page, complaints } = await enter('/', 'admin', { viewport: { width, height: 800 } });
    const broken: unknown[] = [];
    for (const path of world.paths) {
      await page.goto(`${house().url}/console${path}`);
      await loaded(page);
      const tooWide = await overhang(page);
      const seen = await page.evaluate(() => {
        const { images } = Reflect.get(globalThis, 'document');
        return { images: images.length, stolen: 'stolen' in globalThis };
      });
      if (tooWide !== 0 || seen.images > 0 || seen.stolen) broken.push([path, tooWide, seen]);
    }
    expect(broken).toEqual([]);
    expect(complaints).toEqual([]);
  },
  EVERY_SCREEN_MS,
);
