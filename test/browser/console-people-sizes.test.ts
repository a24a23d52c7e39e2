import { expect, it } from 'vitest';
import { consoles, loaded } from '../support/console-browser.ts';
import { barriers, overhang } from '../support/site-browser.ts';

/** Partners, keys, practices, the audit and the settings on every screen, in both colour schemes. */

const { house, enter } = consoles();

const sizes = [
  ['phone', 360],
  ['desk', 1280],
  ['wide screen', 1920],
] as const;
const schemes = ['light', 'dark'] as const;

it.each(sizes.flatMap(([name, width]) => schemes.map((scheme) => [name, scheme, width] as const)))(
  'fit a %s, %s, and keep nobody out',
  async (_name, colorScheme, width) => {
    const { data: partners } = await house().operator('GET', '/partners');
    const { data: keys } = await house().operator('GET', '/keys');
    const partner = `/partners/${partners[0].id}`;
    const pages = [
      partner,
      `${partner}?tab=agreements`,
      `${partner}?tab=contacts`,
      `${partner}/issue`,
      `${partner}/issue-many`,
      '/keys',
      `/keys/${keys[0].id}`,
      '/practices',
      '/practices/riverside-surgery',
      '/practices/riverside-surgery?tab=reach',
      '/practices/riverside-surgery?tab=directory',
      '/practices/riverside-surgery?tab=told',
      '/audit',
      '/audit/1',
      '/settings',
      '/settings?tab=approvals',
      '/settings?tab=sessions',
      '/settings?tab=nodes',
      '/settings?tab=in-force',
      '/settings?tab=signing',
    ];
    const { page, complaints } = await enter('/', 'admin', { viewport: { width, height: 900 }, colorScheme });
    for (const path of pages) {
      await page.goto(`${house().url}/console${path}`);
      await loaded(page);
      expect([path, await overhang(page)]).toEqual([path, 0]);
      expect([path, await barriers(page)]).toEqual([path, []]);
    }
    expect(complaints).toEqual([]);
  },
);
