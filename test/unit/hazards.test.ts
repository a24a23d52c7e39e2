import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hazardLog, hazardPage, riskOf } from '../../src/describe/hazards.ts';
import { securityPage, securityStandards } from '../../src/describe/security-standards.ts';

/** The hazard log and the security standards name code and tests: each must exist. */

const ROOT = resolve(import.meta.dirname, '../..');
const text = readFileSync(join(ROOT, 'docs/safety/hazards.json'), 'utf8');
const hazards = hazardLog.parse(JSON.parse(text));

/** Whether a test file has a test of that title, as it is written there. */
function hasTest(file: string, title: string): boolean {
  const path = join(ROOT, file);
  if (!existsSync(path)) return false;
  const written = [title, title.replaceAll("'", "\\'")].flatMap((one) => [
    `'${one}'`,
    `"${one}"`,
    `\`${one}\``,
  ]);
  const source = readFileSync(path, 'utf8');
  return written.some((one) => source.includes(one));
}

describe('the hazard log', () => {
  it.each(hazards.flatMap(({ id, tests }) => tests.map(({ file, title }) => [id, file, title] as const)))(
    '%s: %s has the test "%s"',
    (_id, file, title) => {
      expect(hasTest(file, title)).toBe(true);
    },
  );

  it('finds out when a named test is gone', () => {
    expect(hasTest('test/unit/hazards.test.ts', `finds out when ${'a named test'} was renamed`)).toBe(false);
    expect(hasTest('test/unit/no-such-file.test.ts', 'finds out when a named test is gone')).toBe(false);
  });

  it('numbers each hazard once, and every control lowers the risk', () => {
    expect(new Set(hazards.map(({ id }) => id)).size).toBe(hazards.length);
    for (const { id, before, after } of hazards)
      expect([id, riskOf(after) < riskOf(before)]).toEqual([id, true]);
  });

  it('is the page that is served', () => {
    expect(readFileSync(join(ROOT, 'docs/operating/hazards.md'), 'utf8')).toBe(hazardPage(text));
  });
});

describe('the security standards', () => {
  const standardsText = readFileSync(join(ROOT, 'docs/safety/security-standards.json'), 'utf8');
  const { standards } = securityStandards.parse(JSON.parse(standardsText));
  const rows = standards.flatMap((one) => one.rows);
  const answered = rows.flatMap((row) => ('answer' in row ? [row] : []));
  const denied = rows.flatMap((row) => ('absent' in row ? [row] : []));

  const sources = ['src', 'packages/console/src', 'packages/sdk/src', 'packages/cli'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|tsx|js|sql)$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
      .map((name) => join(folder, name)),
  );
  const sourcesWith = (pattern: string) => {
    const found = new RegExp(pattern, 'i');
    return sources.filter((name) => found.test(readFileSync(join(ROOT, name), 'utf8')));
  };

  /** Whether a source has the name, written as `file#name`. */
  const hasCode = (code: string): boolean => {
    const [file = '', name] = code.split('#');
    if (!existsSync(join(ROOT, file))) return false;
    return name === undefined || new RegExp(`\\b${name}\\b`).test(readFileSync(join(ROOT, file), 'utf8'));
  };

  it.each(answered.map(({ id, code, tests }) => [id, code, tests] as const))(
    '%s names code and tests that exist',
    (_id, code, tests) => {
      expect(code.filter((one) => !hasCode(one))).toEqual([]);
      expect(tests.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
    },
  );

  it.each(denied.map(({ id, absent }) => [id, absent] as const))(
    '%s is not applicable, and no source has the feature',
    (_id, absent) => {
      expect(absent.flatMap(sourcesWith)).toEqual([]);
    },
  );

  it('finds out when code is gone, and when a denied feature exists', () => {
    expect(hasCode('src/http/session-cookie.ts#foreignCall')).toBe(true);
    expect(hasCode('src/http/session-cookie.ts#noSuchName')).toBe(false);
    expect(hasCode('src/http/no-such-file.ts')).toBe(false);
    // The page denied these once, although they existed.
    for (const feature of ['openid-client', 'jwtVerify', '__Host-', 'SameSite'])
      expect([feature, sourcesWith(feature).length > 0]).toEqual([feature, true]);
  });

  it('has every row of both lists once, and denies nothing else', () => {
    const ids = rows.map(({ id }) => id);
    const upTo = (letters: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${letters}${n + 1}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !id.startsWith('M'))).toEqual([...upTo('API', 10), ...upTo('V', 17)]);
    expect(denied.map(({ id }) => id)).toEqual(['V5', 'V17']);
  });

  it('has a row for every file that decides who comes in, and for every one that leads out', () => {
    const named = new Set(answered.flatMap(({ code }) => code.map((one) => one.split('#')[0])));
    const deciding =
      /session|cookie|csrf|admit|guests|prove|client-|oidc|sealing|ssrf|try-address|mail\.ts|tls|transport/;
    const files = ['src/http', 'src/platform', 'src/platform/egress'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { withFileTypes: true })
        .filter((one) => one.isFile() && deciding.test(one.name))
        .map((one) => join(folder, one.name)),
    );
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => !named.has(file))).toEqual([]);
  });

  it('are the page that is served', () => {
    const page = readFileSync(join(ROOT, 'docs/operating/security-standards.md'), 'utf8');
    expect(page).toBe(securityPage(standardsText));
  });
});

describe('the pages on security', () => {
  const known = ['unit', 'service', 'faults', 'browser'].flatMap((folder) =>
    readdirSync(join(ROOT, 'test', folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      basename(file),
    ),
  );

  it.each(['threat-model', 'assurance', 'personal-data'])(
    '%s names only tests and sources that exist',
    (page) => {
      const markdown = readFileSync(join(ROOT, `docs/operating/${page}.md`), 'utf8');
      const tests = [...markdown.matchAll(/`([\w-]+\.test\.ts)`/g)].map(([, name = '']) => name);
      expect(tests.length).toBeGreaterThan(2);
      expect(tests.filter((name) => !known.includes(name))).toEqual([]);
      const sources = [...markdown.matchAll(/`((?:src|examples|docs)\/[\w./-]+)`/g)].map(
        ([, name = '']) => name,
      );
      expect(sources.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    },
  );
});
