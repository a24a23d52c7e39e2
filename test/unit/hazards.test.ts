import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hazardLog, hazardPage, riskOf } from '../../src/describe/hazards.ts';

/** The hazard log names the tests that show its controls, and the pages on security name tests too: each must be there. */

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

describe('the pages on security', () => {
  const known = ['unit', 'service', 'faults', 'browser'].flatMap((folder) =>
    readdirSync(join(ROOT, 'test', folder)),
  );

  it.each(['threat-model', 'security-standards', 'assurance', 'personal-data'])(
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
