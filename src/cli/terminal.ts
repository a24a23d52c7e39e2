import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { systemClock } from '../platform/clock.ts';
import type { Command } from './command.ts';
import { exitCodes, UsageError } from './exit.ts';
import { run } from './run.ts';

/** The command line in a real terminal: ends the process with its exit code. `manifest` is the package.json that has its version. */
export async function runInTerminal(commands: readonly Command[], manifest: URL): Promise<never> {
  const stop = new AbortController();
  /** npx passes on a Ctrl-C that came here by itself as well: one so soon after the first is the same. */
  const SAME_MS = 1_000;
  let stoppedAt = Number.POSITIVE_INFINITY;
  for (const [signal, code] of [
    ['SIGINT', exitCodes.interrupted],
    ['SIGTERM', exitCodes.terminated],
  ] as const) {
    process.on(signal, () => {
      // Whoever presses it twice does not want to wait for anything.
      if (systemClock.monotonic() - stoppedAt > SAME_MS) process.exit(code);
      if (!stop.signal.aborted) stoppedAt = systemClock.monotonic();
      stop.abort(signal);
    });
  }

  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever reads has seen enough (`porter … | head -1`).
    if (error.code === 'EPIPE') process.exit(exitCodes.unread);
    throw error;
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    // What a command does goes on where nobody reads about it.
    if (error.code !== 'EPIPE') throw error;
  });
  const code = await run(
    process.argv.slice(2),
    {
      env: process.env,
      cwd: process.cwd(),
      home: homedir(),
      version: JSON.parse(readFileSync(manifest, 'utf8')).version,
      // Opened only by a command that reads it.
      get stdin() {
        return process.stdin;
      },
      stdout: process.stdout,
      stderr: process.stderr,
      fetch,
      clock: systemClock,
      random: randomBytes,
      ask: (question) => answerTo(question, process.stderr, stop.signal),
      askHidden: (question) => askHidden(question, stop.signal),
      stop: stop.signal,
    },
    commands,
  );
  process.exit(code);
}

async function askHidden(question: string, stop: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  return answerTo('', silent, stop, () => process.stderr.write(question)).finally(() =>
    process.stderr.write('\n'),
  );
}

/** `listening`: from then on the terminal shows nothing by itself of what is typed. */
async function answerTo(
  question: string,
  output: Writable,
  stop: AbortSignal,
  listening: () => void = () => {},
): Promise<string> {
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  listening();
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await lines.question(question, { signal: stop });
  } catch {
    throw new UsageError('Nothing was entered.', 'Run it again and answer, or see its --help.');
  } finally {
    lines.close();
  }
}
