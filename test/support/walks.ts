import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/**
 * Somebody's way from the first page to the answer, click by click, timed. `npm run picture` sets PORTER_WALKS to a folder: then each walk leaves
 * its screens there for the picture in the README (test/picture.ts).
 */

const CLICKS_MAX = 4;
const folder = process.env.PORTER_WALKS;

/** What a walk leaves behind. */
export interface Walk {
  /** Where it stands in the picture. */
  order: number;
  person: string;
  question: string;
  clicks: number;
  ms: number;
  steps: { caption: string; file: string }[];
}

export interface Walker {
  /** A click, and what is then to be seen. */
  click(target: Locator): Promise<void>;
  /** What is to be seen is there: a screen of the picture. */
  see(caption: string): Promise<void>;
  /** The answer is found: it took at most four clicks. */
  done(): void;
}

/** Begins on the page as it is now; `order` puts the walks of several people one below the other. */
export function walk(
  page: Page,
  { order, person, question }: Pick<Walk, 'order' | 'person' | 'question'>,
): Walker {
  let begun = performance.now();
  let ms = 0;
  let clicks = 0;
  const steps: Walk['steps'] = [];
  return {
    async click(target) {
      clicks++;
      await target.click();
    },
    async see(caption) {
      ms += performance.now() - begun;
      if (folder) {
        mkdirSync(folder, { recursive: true });
        const file = join(folder, `${order}-${steps.length}.png`);
        await page.screenshot({ path: file });
        steps.push({ caption, file });
      }
      begun = performance.now();
    },
    done() {
      expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
      const walked: Walk = { order, person, question, clicks, ms: Math.round(ms), steps };
      if (folder) writeFileSync(join(folder, `${order}.json`), JSON.stringify(walked));
    },
  };
}
