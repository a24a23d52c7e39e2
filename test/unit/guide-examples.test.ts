import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { roles, type Scope, scopes } from '../../src/contract/access.ts';
import { type Endpoint, scopesFor } from '../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { submissionTypePatch, submissionTypeReadOnly } from '../../src/contract/partner/submission-types.ts';
import { problemCatalogue, validationEntry } from '../../src/contract/problems.ts';
import { ruleBroken, submissionTypeRules } from '../../src/contract/rules.ts';
import { settingTopics } from '../../src/contract/settings.ts';
import { check } from '../../src/contract/validate.ts';
import { ATTEMPTS_MAX, nextStep } from '../../src/domain/events/retry.ts';
import { readConfig } from '../../src/service/config.ts';
import {
  blocksOf,
  compareJson,
  compareText,
  nameOf,
  pages,
  ROOT,
  Stand,
  textOf,
} from '../support/examples.ts';

/** What the pages say is what the contract says. That their examples work is shown where they run: `examples-*.test.ts`. */

const reference = ['docs/reference/events.md', 'docs/reference/errors.md', 'docs/reference/limits.md'];

/** The cells of the table below a header, without the marks around them. */
function tableOf(page: string, header: string): string[][] {
  const [, rows] = textOf(page).split(`${header}\n`);
  if (rows === undefined) throw new Error(`${page} has no table ${header}`);
  const lines = rows.slice(rows.indexOf('\n') + 1).split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const code = (cell = '') => /`([^`]+)`/.exec(cell)?.[1] ?? cell;
const codes = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, one]) => one);

describe('the tables of the pages', () => {
  test('scopes, with the operations that each opens', () => {
    const rows = tableOf('docs/guides/authentication.md', '| Scope | Allows | Operations |');
    const expected = Object.entries(scopes).map(([scope, allows]) => [
      scope,
      allows,
      Object.values<Endpoint>(partnerEndpoints)
        .filter((endpoint) => scopesFor(endpoint).includes(scope as Scope))
        .map(({ method, path }) => `${method} ${path}`),
    ]);
    expect(rows.map(([scope, allows, operations]) => [code(scope), allows, codes(operations)])).toEqual(
      expected,
    );
  });

  test('roles', () => {
    const rows = tableOf('docs/operating/rotating-secrets.md', '| Role | May |');
    expect(rows.map(([role, may]) => [code(role), may])).toEqual(Object.entries(roles));
  });

  test('errors, with their statuses', () => {
    const rows = tableOf('docs/guides/handling-errors.md', '| Status | `error` | Repeat it? | Do |');
    const expected = [
      validationEntry,
      ...Object.entries(problemCatalogue).map(([name, one]) => ({ code: name, ...one })),
    ];
    expect(rows.map(([status, error]) => `${status} ${code(error)}`)).toEqual(
      expected.map((one) => `${one.status} ${one.code}`),
    );
  });

  test('the rules of submission types', () => {
    const rows = tableOf('docs/guides/updating-submission-types.md', '| Rule | What holds |');
    expect(rows.map(([rule, holds]) => [code(rule), holds])).toEqual(
      submissionTypeRules.map((rule) => [rule, ruleBroken(rule).message]),
    );
  });

  test('the fields of submission types that may be null, and those that cannot be set', () => {
    const page = textOf('docs/guides/updating-submission-types.md').replaceAll('\n', ' ');
    const nullable = Object.entries(submissionTypePatch.shape)
      .filter(([, field]) => field.safeParse(null).success)
      .map(([name]) => name);
    expect(codes(/These may be null: (.*?)\. /.exec(page)?.[1]).sort()).toEqual(nullable.sort());
    expect(codes(/can be read but not set: (.*?)\. /.exec(page)?.[1])).toEqual([...submissionTypeReadOnly]);
  });

  test('settings', () => {
    const described = settingTopics.flatMap(({ settings }) => settings.map(({ name }) => name));
    const read = readConfig({}, '/').settings.map(({ name }) => name);
    expect(described.toSorted()).toEqual(read.toSorted());
  });

  test('lines of the log', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
      .join('\n');
    const rows = tableOf('docs/operating/watching.md', '| `msg` | Means |');
    const unknown = rows
      .flatMap(([messages]) => codes(messages))
      .filter((one) => !sources.includes(`'${one}'`));
    expect(unknown).toEqual([]);
  });
});

test('the pages tell the times of the retries as they are', () => {
  const unitOf = (seconds: number) =>
    seconds >= 3600 ? `${seconds / 3600} h` : seconds >= 60 ? `${seconds / 60} min` : `${seconds} s`;
  const halfway = () => Uint8Array.of(128, 0, 0);
  const refused = { status: 500, retryAfter: undefined, broken: false };
  const waits = Array.from({ length: ATTEMPTS_MAX - 1 }, (_, failed) => {
    const step = nextStep(failed + 1, refused, 0, halfway);
    return step.state === 'due' ? unitOf(step.delayMs / 1000) : step.state;
  });
  expect(textOf('docs/reference/events.md')).toContain(`| Made after | at once | ${waits.join(' | ')} |`);
  const guide = textOf('docs/guides/receiving-webhooks.md').replaceAll('\n', ' ');
  expect(guide).toContain(`${waits.slice(0, -1).join(', ')} and ${waits.at(-1)}`);
});

test.each([...pages, ...reference])('the links of %s lead somewhere', (page) => {
  const text = textOf(page);
  for (const [, link = ''] of text
    .replaceAll(/^```.*?^```$/gms, '')
    .matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [path = '', anchor] = link.split('#');
    const target = path ? join(dirname(page), path) : page;
    expect(existsSync(join(ROOT, target)), `${page}: ${link}`).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(textOf(target)), `${page}: ${link}`).toContain(anchor);
  }
});

function anchorsOf(text: string): string[] {
  return [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** For people who make no calls. */
const WITHOUT_CALLS = ['docs/guides/for-practices.md', 'docs/guides/portal.md'];

test.each([...pages, 'docs/reference/events.md'])(
  '%s begins with a title and a summary, and has something to paste',
  (page) => {
    expect(textOf(page)).toMatch(/^(?:<!--.*-->\n\n)?# [^\n]+\n\n[A-Z0-9`*][^\n]+\n/);
    const isToPaste = blocksOf(page).some(({ language, output }) => language === 'sh' && !output);
    expect(isToPaste || WITHOUT_CALLS.includes(page)).toBe(true);
  },
);

/** Each call that a page makes with curl, with the answer that is shown below it, if there is one. */
const calls = pages.flatMap((page) =>
  blocksOf(page).flatMap((block, at, all) => {
    const [, url = ''] = /(https?:\/\/127\.0\.0\.1:8080\/(?:v1|operator)[^\s'"]*)/.exec(block.code) ?? [];
    if (block.language !== 'sh' || !block.code.startsWith('curl ') || !url) return [];
    const { pathname, searchParams } = new URL(url);
    const sent = /-d '([^']*)'/.exec(block.code)?.[1];
    const method = /-X (\w+)/.exec(block.code)?.[1] ?? (sent === undefined ? 'GET' : 'POST');
    const next = all[at + 1];
    const answer = next?.output && next.language === 'json' ? next.code : undefined;
    return [{ name: nameOf(block), method, pathname, query: Object.fromEntries(searchParams), sent, answer }];
  }),
);

const endpoints: Endpoint[] = [...Object.values(partnerEndpoints), ...Object.values(operatorEndpoints)];

test.each(calls)('$name calls $method $pathname as the contract says', (call) => {
  const { method, pathname, query, sent, answer } = call;
  const endpoint = endpoints
    .filter((one) => one.method === method)
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length)
    .find(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname));
  if (!endpoint) throw new Error('No such operation.');
  const shown = answer === undefined ? undefined : JSON.parse(answer);
  const isRefusal = shown?.statusCode !== undefined;
  if (endpoint.query) expect(check(endpoint.query, query).ok).toBe(true);
  if (sent !== undefined && endpoint.body && shown?.statusCode !== 400)
    expect(check(endpoint.body, JSON.parse(sent)).ok).toBe(true);
  // Parsing drops unknown fields, so equality also shows that the answer has none.
  if (shown !== undefined && !isRefusal && endpoint.response.body)
    expect(endpoint.response.body.parse(shown)).toEqual(shown);
});

test('the pages call nearly everything that a partner can (this test is not blind)', () => {
  const called = new Set(
    calls.map(({ method, pathname }) => `${method} ${pathname.replaceAll(/_\w{25}/g, '')}`),
  );
  expect(called.size).toBeGreaterThan(25);
});

describe('files that are shown', () => {
  const shown = (language: string) =>
    pages.flatMap((page) => blocksOf(page)).filter((one) => one.language === language);

  test('the unit of systemd names what is in the repository', () => {
    const [unit, ...others] = shown('ini');
    expect(others).toEqual([]);
    const lines = unit?.code.split('\n').filter(Boolean) ?? [];
    expect(lines.filter((line) => !/^\[(Unit|Service|Install)\]$|^# |^[A-Z]\w+=/.test(line))).toEqual([]);
    expect(unit?.code).toContain('ExecStart=/usr/bin/node src/service/main.ts');
    expect(existsSync(join(ROOT, 'src/service/main.ts'))).toBe(true);
  });

  test('the part for nginx is well-formed', () => {
    const [part, ...others] = shown('nginx');
    expect(others).toEqual([]);
    expect(part?.code).toMatch(/^location \/ \{\n( {2}\w+( \S+)+;\n)+\}\n$/);
  });
});

describe('comparing an answer that is shown with the real one', () => {
  const [shown, real] = ['wh_00Vb1p8sT4kXq0ZrLw7YdNcGm', 'wh_00Vb1pBf2HhVJ5uEoK9iRtMxQ'];
  const compare = (one: unknown, other: unknown, stand = new Stand({})) => compareJson(one, other, stand, '');

  test('what varies may differ, everything else may not', () => {
    compare({ id: shown, at: '2026-11-15T08:00:00.000Z' }, { at: '2027-01-01T00:00:00.000Z', id: real });
    expect(() => compare({ status: 'active' }, { status: 'paused' })).toThrow();
    expect(() => compare({ id: shown }, { id: 'riverside-surgery' })).toThrow();
    expect(() => compare({ id: shown }, { id: shown.replace('wh_', 'evt_') })).toThrow();
    expect(() => compare({ a: 1 }, { a: 1, b: null })).toThrow();
    expect(() => compareText('r=299;t=60', 'r=298;t=60', new Stand({}), '')).toThrow();
    compareText('r=299;t=60', 'r=299;t=59', new Stand({}), '');
  });

  test('what is shown twice must be the same thing twice, and leads to the real thing in later calls', () => {
    const stand = new Stand({ ptr_test_YOUR_KEY: 'ptr_test_real' });
    compare({ id: shown }, { id: real }, stand);
    expect(stand.toReal(`/v1/webhooks/${shown} ptr_test_YOUR_KEY`)).toBe(
      `/v1/webhooks/${real} ptr_test_real`,
    );
    expect(stand.toShown(`/v1/webhooks/${real} ptr_test_real`)).toBe(
      `/v1/webhooks/${shown} ptr_test_YOUR_KEY`,
    );
    compare({ id: shown }, { id: real }, stand);
    expect(() => compare({ id: shown }, { id: real.replace('Q', 'R') }, stand)).toThrow('is shown where');
  });
});
