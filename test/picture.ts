import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS } from './support/chromium.ts';
import { smallPng } from './support/small-png.ts';
import type { Walk } from './support/walks.ts';

/**
 * `npm run picture`: walks through the console as test/browser/*-walks.test.ts do, and puts what was seen into the picture of the README. A walk that a
 * test adds with `walk()` is in the next picture.
 */

const OUT = 'docs/console-walks.png';
const BYTES_MAX = 250_000;
const WIDTH = 1000;
/** Dots to a pixel, so that the words in the screens can be read when the picture is opened. */
const SHARPNESS = 1.5;

const folder = mkdtempSync(join(tmpdir(), 'porter-walks-'));
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'browser', 'walks'], {
  stdio: 'inherit',
  env: { ...process.env, PORTER_WALKS: folder },
});
if (status !== 0) process.exit(status ?? 1);

const walks = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name): Walk => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  // Two screens tell a walk; one that adds none to another is in the tests alone.
  .filter(({ steps }) => steps.length > 1)
  .sort((a, b) => a.order - b.order);

const screen = ({ caption, file }: Walk['steps'][number]) =>
  `<figure><img src="data:image/png;base64,${readFileSync(file).toString('base64')}"><figcaption>${caption}</figcaption></figure>`;
const row = ({ person, question, clicks, ms, steps }: Walk) =>
  `<section><h2>“${question}”</h2><p>${person}: ${clicks} ${clicks === 1 ? 'click' : 'clicks'}, answered in ${(ms / 1000).toFixed(1)} s</p><div>${steps.map(screen).join('')}</div></section>`;

const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
const page = await browser.newPage({ viewport: { width: WIDTH, height: 600 }, deviceScaleFactor: SHARPNESS });
await page.setContent(`<style>
  body { margin: 0; padding: 12px 24px 24px; background: #fff; color: #1a2228; font: 14px system-ui, sans-serif }
  h2 { margin: 12px 0 0; font-size: 17px } p { margin: 2px 0 8px; color: #4d5a63 }
  section > div { display: flex; gap: 16px } figure { flex: 1; margin: 0 }
  img { width: 100%; border: 1px solid #d5dadd; border-radius: 8px } figcaption { color: #4d5a63; font-size: 13px }
</style>${walks.map(row).join('')}`);
writeFileSync(OUT, smallPng(await page.screenshot({ fullPage: true })));
await browser.close();
rmSync(folder, { recursive: true });

const { size } = statSync(OUT);
console.log(`${OUT}: ${walks.length} walks, ${size} bytes`);
if (size > BYTES_MAX)
  throw new Error(`The picture is larger than ${BYTES_MAX} bytes: take fewer screens into it.`);
