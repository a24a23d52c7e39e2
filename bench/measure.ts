import { readFileSync } from 'node:fs';
import { availableParallelism, platform } from 'node:os';

/**
 * Every figure is a ratio of two things measured in turns in one run, against a bar. Absolute numbers depend on the
 * machine and its neighbours, ratios hardly do. Nothing here is asserted: the table is for people.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 27);

interface Line {
  work: string;
  value: string;
  bar: string;
  note: string;
}

const lines: Line[] = [];

type Samples = Record<string, number[]>;

/** One round of each after the other, so that a slow moment of the machine hits all alike. The first ones warm up. */
export async function inTurns(
  works: Record<string, (round: number) => Promise<number>>,
  { rounds = ROUNDS, warmUps = 6 } = {},
): Promise<Samples> {
  const samples: Samples = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let round = 1 - warmUps; round <= rounds; round++) {
    for (const [name, work] of Object.entries(works)) {
      const measured = await work(round + warmUps);
      if (round > 0) samples[name]?.push(measured);
    }
  }
  return samples;
}

const DISTURBED = 0.01;
const TRIES = 4;

/**
 * Measures again if the hypervisor gave more than a hundredth of the processors to somebody else meanwhile (Linux counts it as steal): each of
 * its pauses takes tens of milliseconds, and a tail would tell of nothing else. Of several tries, the least disturbed one counts.
 */
export async function undisturbed<T>(work: () => Promise<T>): Promise<T> {
  const tries: { share: number; measured: T }[] = [];
  do {
    const [before, from] = [stolenMs(), performance.now()];
    const measured = await work();
    const share = (stolenMs() - before) / (performance.now() - from) / availableParallelism();
    tries.push({ share, measured });
  } while (Math.min(...tries.map(({ share }) => share)) > DISTURBED && tries.length < TRIES);
  if (tries.length > 1)
    say(`again, ${tries.map(({ share }) => `${(share * 100).toFixed(1)} %`)} were stolen`);
  return tries.reduce((best, one) => (one.share < best.share ? one : best)).measured;
}

/** Of all processors together, since the machine runs. Nothing, where nobody counts it. */
function stolenMs(): number {
  if (platform() !== 'linux') return 0;
  const TICK_MS = 10;
  return Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/)[8] ?? 0) * TICK_MS;
}

export function ratioLine(
  work: string,
  samples: Samples,
  ours: string,
  theirs: string,
  bar: string,
  unit: string,
): void {
  const [a = [], b = []] = [samples[ours], samples[theirs]];
  const ratio = median(a.map((value, round) => value / (b[round] ?? Number.NaN)));
  valueLine(work, ratio.toFixed(2), bar, `${shown(median(a))} to ${shown(median(b))} ${unit}`);
}

export function valueLine(work: string, value: string, bar: string, note: string): void {
  lines.push({ work, value, bar, note });
  say(`${work}: ${value} (${bar}; ${note})`);
}

function shown(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1);
}

export function median(values: number[]): number {
  return values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function percentile(values: number[], share: number): number {
  return (
    values.toSorted((x, y) => x - y)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
    Number.NaN
  );
}

export function say(what: string): void {
  process.stderr.write(`measuring: ${what}\n`);
}

export function print(): void {
  const rows = [
    ['work', 'ratio', 'bar', 'measured'],
    ...lines.map(({ work, value, bar, note }) => [work, value, bar, note]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    process.stdout.write(`| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`);
  }
}
