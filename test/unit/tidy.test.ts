import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The plan of the house as a test: who may call whom, where the environment is read, how long a file may be. */

const SRC = resolve(import.meta.dirname, '../../src');

/** What a room may import. `main`, `processes`, `parent`, `compose`, `prepare`, `embedded`, `config`, `machine`, `sign-in-settings`, `master-key`, `settings`, `listen`, `console`, `production`, `delivering`, `demo` and `banner` stand at the entrance and may import everything. */
const MAY_IMPORT: Record<string, string[]> = {
  contract: ['zod'],
  domain: ['contract'],
  platform: [
    'pg',
    'pino',
    'undici',
    'jose',
    'nodemailer',
    'openid-client',
    '@opentelemetry/api',
    '@opentelemetry/exporter-metrics-otlp-http',
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-metrics',
    '@opentelemetry/sdk-trace',
  ],
  store: ['contract', 'domain', 'platform', 'pg'],
  runtime: ['contract', 'domain', 'store', 'platform'],
  operations: ['contract', 'domain', 'store', 'runtime', 'platform'],
  delivery: ['contract', 'domain', 'store', 'platform', 'prom-client'],
  http: [
    'contract',
    'domain',
    'runtime',
    'operations',
    'platform',
    'find-my-way',
    'fast-json-stringify',
    'fast-querystring',
    'prom-client',
  ],
  describe: ['contract', 'zod'],
  site: ['contract', 'describe', 'marked', 'highlight.js', 'minisearch', '@scalar/fastify-api-reference'],
  // What the client library does, the command line does not do again.
  cli: ['contract', 'domain', 'platform', 'entrance', '..'],
};

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

interface Import {
  file: string;
  target: string;
}

const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  const targets = [...text.matchAll(/^(?:import|export)\b[^'";]*?from\s+'([^']+)';|^import '([^']+)';/gm)];
  return targets.map(([, from, bare]) => {
    const target = from ?? bare ?? '';
    return {
      file,
      target: target.startsWith('.') ? relative(SRC, resolve(SRC, dirname(file), target)) : target,
    };
  });
});

const roomOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : 'entrance');
const packageOf = (target: string) =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');

describe('the house', () => {
  it('has the rooms of the plan', () => {
    const rooms = new Set(files.map(roomOf));
    rooms.delete('entrance');
    expect([...rooms].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it('has no arrow that points the wrong way', () => {
    const wrong = imports.filter(({ file, target }) => {
      const room = roomOf(file);
      if (room === 'entrance' || target.startsWith('node:')) return false;
      const wanted = files.includes(target) ? roomOf(target) : packageOf(target);
      return wanted !== room && !MAY_IMPORT[room]?.includes(wanted);
    });
    expect(wrong).toEqual([]);
  });

  it('reads every import (this test is not blind)', () => {
    const words = files.flatMap((file) => readFileSync(join(SRC, file), 'utf8').match(/^import\b/gm) ?? []);
    expect(imports.length).toBeGreaterThanOrEqual(words.length);
    expect(words.length).toBeGreaterThan(200);
  });

  it('has no circle of imports', () => {
    const next = new Map(files.map((file) => [file, imports.filter((one) => one.file === file)]));
    const done = new Set<string>();
    const visit = (file: string, path: string[]): string[] | undefined => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const { target } of next.get(file) ?? []) {
        const circle = files.includes(target) ? visit(target, [...path, file]) : undefined;
        if (circle) return circle;
      }
      done.add(file);
      return undefined;
    };
    expect(files.map((file) => visit(file, [])).find(Boolean)).toBeUndefined();
  });

  it('reads the environment where a process begins, and nowhere else', () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(readers.toSorted()).toEqual(['cli/terminal.ts', 'main.ts']);
  });

  it('asks for the time and for randomness in one place each', () => {
    const askers = (pattern: RegExp) =>
      files
        .filter((file) => /^(domain|operations|runtime|store|delivery|http|contract)\//.test(file))
        .filter((file) => {
          const code = readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
          return pattern.test(code);
        });
    // A connection's own `setTimeout` waits for the other side, and tells no time.
    expect(askers(/Date\.now\(|new Date\(\)|performance\.now\(|(?<!\.)setTimeout\(|setInterval\(/)).toEqual(
      [],
    );
    expect(askers(/Math\.random\(|randomBytes\(|randomUUID\(/)).toEqual([]);
  });

  it('gives each advisory lock a number of its own, shared by those alone who are to wait for each other', () => {
    const texts = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(ts|sql)$/.test(name),
    );
    const holders = new Map<string, string[]>();
    for (const file of texts)
      for (const [number] of readFileSync(join(SRC, file), 'utf8').matchAll(
        /\b7_?205_?759_?403_?\d\d\d\b/g,
      )) {
        const lock = number.replaceAll('_', '');
        holders.set(lock, [...(holders.get(lock) ?? []), file]);
      }
    const shared = [...holders.values()].filter((files) => files.length > 1);
    // Whatever clears old rows does so one at a time.
    const others = shared.filter((files) => !files.every((file) => /^sql\/clear_\w+\.sql$/.test(file)));
    expect(others.map((files) => files.toSorted())).toEqual([
      ['sql/erase_events_2.sql', 'sql/fan_out.sql', 'sql/hand_over_event.sql'],
    ]);
  });

  it('has no file that is too long to read at a sitting', () => {
    const long = files.filter((file) => readFileSync(join(SRC, file), 'utf8').split('\n').length > 400);
    expect(long).toEqual([]);
  });
});
