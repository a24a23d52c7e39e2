import { randomBytes } from 'node:crypto';
import { commands } from '../../src/cli/commands/index.ts';
import { SLOW_MS } from '../../src/cli/printer.ts';
import { run } from '../../src/cli/run.ts';
import type { World } from '../../src/cli/world.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { temporaryFolder } from './afterwards.ts';
import type { Loose } from './service.ts';

/** The command line inside the test's own process, with whatever surroundings a test wants. */

export interface Surroundings extends Partial<Omit<World, 'stdin' | 'stdout' | 'stderr'>> {
  stdin?: string | AsyncIterable<Uint8Array>;
  /** Whether a person sits there. */
  terminal?: boolean;
  /** The width of the terminal in characters. */
  columns?: number;
}

export interface Running {
  ended: Promise<number>;
  stdout(): string;
  stderr(): string;
  stop(signal?: string): void;
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
  /** Stdout as JSON. */
  readonly json: Loose;
}

/** A command line as a person types it: words, some of them in quotes. */
export function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

export function start(line: string | readonly string[], surroundings: Surroundings = {}): Running {
  const { stdin = '', terminal = false, columns, ...rest } = surroundings;
  const written = { stdout: '', stderr: '' };
  const stop = new AbortController();
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY: terminal,
    ...(columns !== undefined && { columns }),
    write: (text: string) => {
      written[name] += text;
    },
  });
  const cwd = rest.cwd ?? temporaryFolder();
  const world: World = {
    env: {},
    cwd,
    home: cwd,
    version: '1.2.3',
    stdin: Object.assign(piped(stdin), { isTTY: terminal }),
    stdout: output('stdout'),
    stderr: output('stderr'),
    fetch,
    // Nobody is told that it takes long, which on a slow machine it does.
    clock: {
      ...systemClock,
      sleep: (ms) => (ms === SLOW_MS ? new Promise(() => {}) : systemClock.sleep(ms)),
    },
    random: randomBytes,
    ask: () => Promise.reject(new Error('nobody was to be asked')),
    askHidden: () => Promise.reject(new Error('nobody was to be asked')),
    stop: stop.signal,
    ...rest,
  };
  return {
    ended: run(typeof line === 'string' ? words(line) : line, world, commands),
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    stop: (signal = 'SIGINT') => stop.abort(signal),
  };
}

export async function porter(line: string | readonly string[], surroundings?: Surroundings): Promise<Ended> {
  const running = start(line, surroundings);
  const code = await running.ended;
  const stdout = running.stdout();
  return {
    code,
    stdout,
    stderr: running.stderr(),
    get json() {
      return JSON.parse(stdout);
    },
  };
}

async function* piped(input: string | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (typeof input === 'string') yield Buffer.from(input);
  else yield* input;
}
