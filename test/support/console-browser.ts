import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ManualClock } from './manual-clock.ts';
import { OPERATOR_TOKEN } from './service.ts';
import { DESK, type Reader, readers } from './site-browser.ts';

/** A service with the demo world, and the console in a real browser in front of it. */
export function consoles(env: Record<string, string> = {}, clock?: ManualClock) {
  const { house, demoKey, open } = readers(env, clock);
  /** An operator's token of this role. */
  const tokenOf = async (role: 'admin' | 'support' | 'viewer'): Promise<string> => {
    if (role === 'admin') return OPERATOR_TOKEN;
    const made = await house().operator('POST', '/operators', { name: `A ${role}`, role });
    return made.token;
  };
  return {
    house,
    demoKey,
    open,
    tokenOf,
    /** Signs in as people do, and opens the page. */
    async enter(
      path: string,
      role: 'admin' | 'support' | 'viewer' = 'admin',
      options: BrowserContextOptions = DESK,
    ): Promise<Reader> {
      const reader = await open('/console/sign-in', options);
      await reader.page.getByLabel('Operator token').fill(await tokenOf(role));
      await reader.page.getByRole('button', { name: 'Sign in' }).click();
      await reader.page.getByRole('button', { name: /Signed in as/ }).waitFor();
      // Being a stranger first is no complaint.
      reader.complaints.length = 0;
      if (path !== '/') await reader.page.goto(`${house().url}/console${path}`);
      return reader;
    },
  };
}

/** The screen is there, and nothing on it is still asked for: what is measured then is the whole. */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
}

/** What partners and practices may write where a page shows it. */
export const hostileTexts = [
  '<img src=x onerror="globalThis.stolen=1"> <script>globalThis.stolen=1</script>',
  `\u200Fבדיקה 🩺👩🏽‍⚕️ ${'long'.repeat(50)}`,
] as const;

/** The status of a change that the page itself asks for, with its session, as somebody would who found the address. */
export async function refusedTo(page: Page, method: string, path: string): Promise<number> {
  return page.evaluate(
    async ([method, path]) => {
      const headers = { 'x-porter-console': '1', 'content-type': 'application/json' };
      const body = method === 'DELETE' ? undefined : '{}';
      return (await fetch(`/operator/v1${path}`, { method: method ?? '', headers, ...(body && { body }) }))
        .status;
    },
    [method, path],
  );
}
