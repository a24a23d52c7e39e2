import type { BrowserContextOptions } from 'playwright-core';
import { consoles } from './console-browser.ts';
import { invited } from './guest-session.ts';
import { startMailbox } from './mailbox.ts';
import type { ManualClock } from './manual-clock.ts';
import type { Loose } from './service.ts';
import { DESK, type Reader } from './site-browser.ts';

/** Whom somebody is invited for. */
export type Inviting = { partner: string } | { practice: string };

/** A service with the demo world, and a real browser in front of it, into which people come by invitation. */
export async function guests(clock?: ManualClock) {
  const mailbox = await startMailbox();
  const env = { PORTER_SMTP_URL: mailbox.url, PORTER_MAIL_FROM: 'Porter <porter@porter.example>' };
  const all = consoles(env, clock);
  let count = 0;
  return {
    ...all,
    mailbox,
    /** Comes in by the link, as people do, and opens the page. */
    async comeIn(
      whom: Inviting,
      path = '/',
      options: BrowserContextOptions = DESK,
    ): Promise<Reader & { invitation: Loose }> {
      const person = { name: 'Ada Marsh', email: `ada-${++count}@guests.example` };
      const { invitation, path: link } = await invited(all.house(), mailbox, whom, person);
      const reader = await all.open(link, options);
      await reader.page.getByRole('button', { name: 'Enter' }).click();
      await reader.page.getByRole('button', { name: /Signed in as/ }).waitFor();
      if (path !== '/') await reader.page.goto(`${all.house().url}/console${path}`);
      return { ...reader, invitation };
    },
  };
}
