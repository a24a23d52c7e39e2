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
