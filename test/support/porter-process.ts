import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { scratch } from './scratch.ts';
import { OPERATOR_TOKEN } from './service.ts';

/** The service as its users start it, `node src/service/main.ts`, in a process that a test may kill. */

const MAIN = fileURLToPath(import.meta.resolve('../../src/service/main.ts'));
const DEADLINE_MS = 180_000;
/** As in `npm start`: a process that is started again and again need not compile everything each time. */
export const COMPILED = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/porter', import.meta.url)),
};

/** Looks again and again until it holds; the deadline is for what never will. */
export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  ms = DEADLINE_MS,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`waited in vain: ${typeof what === 'string' ? what : what()}`);
    await pause(10);
  }
}

/** Made for this test and gone after it, with whatever PostgreSQL still runs in it. */
export function newDataDir(): string {
  const dataDir = mkdtempSync(join(scratch, 'porter-faults-'));
  onTestFinished(async () => {
    const pids = clusterPids(dataDir);
    for (const pid of pids) signal(pid, 'SIGKILL');
    await until('PostgreSQL is gone', () => pids.every((pid) => !isAlive(pid)));
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  return dataDir;
}

/** Below the range for outgoing connections, so that a client that reconnects cannot be given this port as its own. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

export interface Porter {
  process: ChildProcess;
  pid: number;
  url: string;
  /** Everything that it wrote so far. */
  output(): string;
  /** Its exit code, or the signal that ended it. */
  exited: Promise<number | string>;
  hasExited(): boolean;
}

/** `main`: of another version. */
export function spawnPorter(port: number, env: Record<string, string>, main = MAIN): Porter {
  const child = spawn(process.execPath, [main], {
    cwd: tmpdir(),
    env: {
      ...COMPILED,
      PATH: process.env.PATH,
      PORTER_PORT: String(port),
      PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN,
      PORTER_DEMO: 'off',
      PORTER_PROCESSES: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  let exit: number | string | undefined;
  const exited = new Promise<number | string>((resolve) => {
    child.once('close', (code, name) => {
      exit = code ?? name ?? 'unknown';
      resolve(exit);
    });
  });
  onTestFinished(async () => {
    if (exit === undefined) child.kill('SIGKILL');
    await exited;
  });
  return {
    process: child,
    pid: child.pid as number,
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    exited,
    hasExited: () => exit !== undefined,
  };
}

/** Starts it and waits until it can serve. */
export async function startPorter(port: number, env: Record<string, string>): Promise<Porter> {
  const porter = spawnPorter(port, env);
  await untilReady(porter);
  return porter;
}

export async function untilReady(porter: Porter): Promise<void> {
  await until(
    () => `ready: ${porter.output()}`,
    async () => {
      if (porter.hasExited()) throw new Error(`it ended: ${porter.output()}`);
      return fetch(`${porter.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
  );
}

export async function kill(porter: Porter): Promise<void> {
  porter.process.kill('SIGKILL');
  await porter.exited;
}

/** The processes of the service that run now, without its PostgreSQL. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && parentOf(pid) === parent && isAlive(pid) && runsMain(pid));
}

function runsMain(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.ts');
  } catch {
    return false;
  }
}

// ---- Its PostgreSQL ----

export function postmasterPid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  const pid = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : Number.NaN;
  return isAlive(pid) ? pid : undefined;
}

/** The postmaster and its children. */
export function clusterPids(dataDir: string): number[] {
  const postmaster = postmasterPid(dataDir);
  if (postmaster === undefined) return [];
  const children = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && parentOf(pid) === postmaster);
  return [postmaster, ...children];
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

/** A process that has ended but is not yet waited for counts as gone. */
function isAlive(pid: number): boolean {
  const state = statOf(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

function parentOf(pid: number): number {
  return Number(statOf(pid)?.[1]);
}

/** The fields of /proc/<pid>/stat after the name, which may hold anything: state, parent and so on. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return undefined;
  }
}
