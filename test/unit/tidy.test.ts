import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Checks the structure that ARCHITECTURE.md describes: layers, areas, and the size of folders. */

const SRC = resolve(import.meta.dirname, '../../src');

/** The layers and packages that each layer may import. `service` puts the process together and may import everything. */
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
  cli: ['contract', 'domain', 'platform', 'service', '..'],
};

const texts = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.(ts|sql)$/.test(name),
);
const files = texts.filter((name) => name.endsWith('.ts'));

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

const AREAS = ['access', 'practices', 'events', 'oversight'];
const areaOf = (path: string) =>
  dirname(path)
    .split('/')
    .find((folder) => AREAS.includes(folder));
const layerOf = (path: string) => path.split('/')[0] ?? '';
const packageOf = (target: string) =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');

/** The first cycle found, as the path that closes it. */
function cycleIn(next: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, path: string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const target of next.get(node) ?? []) {
      const cycle = visit(target, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  };
  return [...next.keys()].map((node) => visit(node, [])).find(Boolean);
}

describe('the structure', () => {
  it('has the layers that the list names', () => {
    const layers = new Set(files.map(layerOf));
    layers.delete('service');
    expect([...layers].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it('has no arrow that points the wrong way', () => {
    const wrong = imports.filter(({ file, target }) => {
      const layer = layerOf(file);
      if (layer === 'service' || target.startsWith('node:')) return false;
      const wanted = files.includes(target) ? layerOf(target) : packageOf(target);
      return wanted !== layer && !MAY_IMPORT[layer]?.includes(wanted);
    });
    expect(wrong).toEqual([]);
  });

  it('reads every import (this test is not blind)', () => {
    const words = files.flatMap((file) => readFileSync(join(SRC, file), 'utf8').match(/^import\b/gm) ?? []);
    expect(imports.length).toBeGreaterThanOrEqual(words.length);
    expect(words.length).toBeGreaterThan(200);
  });

  it('has no cycle of imports', () => {
    const next = Map.groupBy(imports, ({ file }) => file);
    const arrows = files.map((file): [string, string[]] => [
      file,
      (next.get(file) ?? []).map(({ target }) => target),
    ]);
    expect(cycleIn(new Map(arrows))).toBeUndefined();
  });

  it.each(Object.keys(MAY_IMPORT))('has no cycle between the areas of %s', (layer) => {
    const inside = imports.filter(({ file, target }) => layerOf(file) === layer && layerOf(target) === layer);
    const arrows = inside.flatMap(({ file, target }) => {
      const [from, to] = [areaOf(file), areaOf(target)];
      return from && to && from !== to ? [{ from, to }] : [];
    });
    const next = Map.groupBy(arrows, ({ from }) => from);
    expect(
      cycleIn(new Map([...next].map(([area, those]) => [area, those.map(({ to }) => to)]))),
    ).toBeUndefined();
  });

  it('reads the environment where a process begins, and nowhere else', () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(readers.toSorted()).toEqual(['cli/terminal.ts', 'service/main.ts']);
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
    const others = shared.filter(
      (files) => !files.every((file) => /^sql\/(\w+\/)?clear_\w+\.sql$/.test(file)),
    );
    expect(others.map((files) => files.toSorted())).toEqual([
      ['sql/delivery/fan_out.sql', 'sql/delivery/hand_over_event.sql', 'sql/events/erase_events_2.sql'],
    ]);
  });

  it('has at most 25 files directly in one folder', () => {
    const byFolder = Map.groupBy(texts, (file) => dirname(file));
    const crowded = [...byFolder].filter(([, inside]) => inside.length > 25).map(([folder]) => folder);
    expect(crowded).toEqual([]);
  });
});
