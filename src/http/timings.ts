/**
 * How long answers took, as a Prometheus histogram. Written by hand because this one runs for every request: in a
 * profile of a GET the library's observing and hashing of labels took 3 % of the time, more than any step of the door.
 */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Series {
  /** One for each bound, and one for what is beyond; not yet summed up. */
  counts: number[];
  sum: number;
}

export class Timings {
  readonly #name: string;
  readonly #help: string;
  readonly #operations = new Map<string, Map<number, Series>>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  observe(operation: string, status: number, seconds: number): void {
    const series = this.#operations.get(operation)?.get(status) ?? this.#begin(operation, status);
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += seconds;
  }

  /** In the text format that Prometheus reads. */
  text(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`];
    for (const [operation, statuses] of this.#operations) {
      for (const [status, { counts, sum }] of statuses) {
        const labels = `operation="${operation}",status="${status}"`;
        let total = 0;
        counts.forEach((count, bucket) => {
          total += count;
          lines.push(`${this.#name}_bucket{le="${BOUNDS[bucket] ?? '+Inf'}",${labels}} ${total}`);
        });
        lines.push(`${this.#name}_sum{${labels}} ${sum}`, `${this.#name}_count{${labels}} ${total}`);
      }
    }
    return `${lines.join('\n')}\n`;
  }

  #begin(operation: string, status: number): Series {
    const series = { counts: Array.from({ length: BOUNDS.length + 1 }, () => 0), sum: 0 };
    const statuses = this.#operations.get(operation) ?? new Map<number, Series>();
    statuses.set(status, series);
    this.#operations.set(operation, statuses);
    return series;
  }
}
