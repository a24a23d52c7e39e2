/** The metrics of several processes as those of one: Prometheus text in, Prometheus text out. */

/** Gauges of which each process has a part. Of any other every process tells the same, or the worst is what matters. */
const SUMMED_GAUGES = new Set([
  'porter_database_connections',
  'porter_event_streams',
  'porter_http_connections',
  'porter_process_resident_bytes',
]);

interface Family {
  name: string;
  head: string[];
  type: string;
  /** By name and labels, as they are written. */
  samples: Map<string, number>;
}

export function mergeMetrics(texts: readonly string[]): string {
  const merged = new Map<string, Family>();
  for (const { name, head, type, samples } of texts.flatMap(readFamilies)) {
    const family = merged.get(name) ?? { name, head, type, samples: new Map<string, number>() };
    merged.set(name, family);
    const isSummed = isCounted(type) || SUMMED_GAUGES.has(name);
    for (const [series, value] of samples) {
      const known = family.samples.get(series);
      if (known === undefined) family.samples.set(series, value);
      else if (isSummed) family.samples.set(series, known + value);
      else if (Math.abs(value) > Math.abs(known)) family.samples.set(series, value);
    }
  }
  return written(merged.values());
}

/** What only ever grows. A process that ended takes it along; if it were not added to what the others count, it would seem to be counted anew. */
export function countersOf(text: string): string {
  return written(readFamilies(text).filter(({ type }) => isCounted(type)));
}

const isCounted = (type: string) => type === 'counter' || type === 'histogram';

function readFamilies(text: string): Family[] {
  const families: Family[] = [];
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind !== undefined && families.at(-1)?.name !== name)
      families.push({ name, head: [], type: 'untyped', samples: new Map() });
    const family = families.at(-1);
    if (kind !== undefined) family?.head.push(line);
    if (kind === 'TYPE' && family) family.type = rest;
    const [, series, value] = /^([^#\s].*) (\S+)$/.exec(line) ?? [];
    if (series !== undefined) family?.samples.set(series, Number(value));
  }
  return families;
}

function written(families: Iterable<Family>): string {
  const lines = Array.from(families, ({ head, samples }) => [
    ...head,
    ...Array.from(samples, ([series, value]) => `${series} ${value}`),
  ]);
  return `${lines.flat().join('\n')}\n`;
}
