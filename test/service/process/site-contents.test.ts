import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventNames } from '../../../src/contract/event-payloads.ts';
import { operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../../src/contract/partner/index.ts';
import { problemCatalogue } from '../../../src/contract/problems.ts';
import { entries } from '../../../src/site/contents.ts';
import { PLACEHOLDERS } from '../../../src/site/placeholders.ts';
import { operationAddress } from '../../../src/site/reference.ts';
import { startHarness } from '../../support/service.ts';

/** The contents of the site: everything is in it, and every link leads somewhere. */

const ROOT = resolve(import.meta.dirname, '../../..');
const codes = ['validation_error', ...Object.keys(problemCatalogue)];
const operations = [
  ...Object.values(partnerEndpoints).map((endpoint) => operationAddress('/docs/api', endpoint)),
  ...Object.values(operatorEndpoints).map((endpoint) => operationAddress('/docs/operator-api', endpoint)),
];

const house = await startHarness();
/** Every HTML page that can be reached from the start. */
const pages = new Map<string, string>();
/** Where each link stands. */
const links = new Map<string, string>();
const statuses = new Map<string, number>();

beforeAll(async () => {
  const waiting = ['/docs'];
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    const { status, headers, text } = await house.send('GET', path);
    statuses.set(path, status);
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    pages.set(path, text);
    for (const [, href = ''] of text.matchAll(/\shref="([^"]*)"/g)) {
      const target = new URL(href, house.url + path);
      if (target.origin !== house.url) continue;
      const link = target.pathname + target.hash;
      links.set(link, path);
      if (!statuses.has(target.pathname)) {
        statuses.set(target.pathname, 0);
        waiting.push(target.pathname);
      }
    }
  }
});

describe('the contents', () => {
  it('lead to a page each', () => {
    for (const { path } of entries) expect([path, statuses.get(path)]).toEqual([path, 200]);
  });

  it.each(['guides', 'operating'])('name every file in docs/%s', (folder) => {
    const files = readdirSync(resolve(ROOT, 'docs', folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`);
    const named = entries.flatMap(({ source }) => (source?.startsWith(`${folder}/`) ? [source] : []));
    expect(named.sort()).toEqual(files.sort());
  });

  it('every error has a page, and every event a section', () => {
    for (const code of codes) expect(statuses.get(`/docs/errors/${code}`), code).toBe(200);
    for (const name of eventNames)
      expect(pages.get('/docs/events')).toContain(`id="${name.replaceAll('.', '')}"`);
  });
});

describe('links', () => {
  it('lead to something that is served', () => {
    const dead = [...statuses].filter(([, status]) => status !== 200);
    expect(dead.map(([path, status]) => `${status} ${path} on ${links.get(path)}`)).toEqual([]);
  });

  it('with a fragment lead to something that has that ID', () => {
    const dead = [...links].filter(([link]) => {
      const { pathname, hash } = new URL(link, house.url);
      // The sections of the reference are made in the browser; those that are linked to are operations.
      if (!hash || operations.includes(link)) return false;
      return !pages.get(pathname)?.includes(` id="${decodeURIComponent(hash.slice(1))}"`);
    });
    expect(dead).toEqual([]);
  });

  it('to files of the repository name files that exist', () => {
    const named = [...pages.values()].flatMap((html) => [...html.matchAll(/data-file="([^"]+)"/g)]);
    expect(named.filter(([, file = '']) => !existsSync(resolve(ROOT, file)))).toEqual([]);
  });
});

it('no ID stands twice on a page', () => {
  for (const [path, html] of pages) {
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect([path, ids.filter((id, at) => ids.indexOf(id) !== at)]).toEqual([path, []]);
  }
});

it('every placeholder in an example that the reader sends can be filled in', () => {
  for (const { path, source } of entries.filter(({ source }) => source)) {
    const markdown = readFileSync(resolve(ROOT, 'docs', source ?? ''), 'utf8');
    const blocks = [...markdown.matchAll(/^( *)```(.*)\n([\s\S]*?)^\1```/gm)].filter(
      ([, , info]) => !/\b(output|fixed)\b/.test(info ?? ''),
    );
    for (const [name, value] of Object.entries(PLACEHOLDERS)) {
      const written = blocks.flatMap(([, , , code = '']) => [...code.matchAll(new RegExp(value, 'g'))]);
      const filled = pages.get(path)?.split(`data-fill="${name}"`) ?? [];
      expect([path, name, filled.length - 1]).toEqual([path, name, written.length]);
    }
  }
});

it('the search knows every page, error, event and operation, once', async () => {
  const { body } = await house.send('GET', '/docs/search.json');
  const urls: string[] = body.map(({ url }: { url: string }) => url);
  const expected = [
    ...entries.filter(({ source }) => source).map(({ path }) => path),
    ...codes.map((code) => `/docs/errors/${code}`),
    ...eventNames.map((name) => `/docs/events#${name.replaceAll('.', '')}`),
    ...operations,
  ];
  expect(expected.filter((url) => !urls.includes(url))).toEqual([]);
  expect(urls.filter((url, at) => urls.indexOf(url) !== at)).toEqual([]);
  for (const finding of body)
    expect(finding).toEqual({
      url: expect.any(String),
      title: expect.stringMatching(/\S/),
      place: expect.stringMatching(/\S/),
      text: expect.any(String),
      weight: expect.any(Number),
      forOperators: /^Operat(ing|or) /.test(finding.place),
    });
});
