import type { RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';

/** Everything outside that a command touches. Tests hand in their own. */
export interface World {
  env: Record<string, string | undefined>;
  /** The working folder. */
  cwd: string;
  home: string;
  /** Of the package that the command line came in. */
  version: string;
  stdin: AsyncIterable<Uint8Array> & { isTTY?: boolean };
  /** Data, and nothing else. */
  stdout: Output;
  /** Everything that is meant for a person. */
  stderr: Output;
  fetch: typeof fetch;
  clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  random: RandomBytes;
  /** Asks a person. */
  ask(question: string): Promise<string>;
  /** The same, without showing what is typed. */
  askHidden(question: string): Promise<string>;
  /** Aborted with the name of the signal when the command is to end. */
  stop: AbortSignal;
}

export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  /** The width of the terminal in characters. */
  columns?: number;
}

/** Waits, but no longer than until `signal`. */
export function pause(world: Pick<World, 'clock'>, milliseconds: number, signal: AbortSignal): Promise<void> {
  return Promise.race([world.clock.sleep(milliseconds), aborted(signal)]);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** All of it, unless the command is to end before. */
export async function readStdin({ stdin, stop }: Pick<World, 'stdin' | 'stop'>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const collect = async () => {
    for await (const chunk of stdin) chunks.push(chunk);
  };
  await Promise.race([collect(), aborted(stop)]);
  stop.throwIfAborted();
  return Buffer.concat(chunks);
}
