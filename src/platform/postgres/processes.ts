import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The process's arguments; empty when it does not exist, or is dead and only not yet waited for by its parent. */
export function commandLine(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return text === '' ? [] : text.replace(/\0$/, '').split('\0');
  } catch {
    return [];
  }
}

/** All processes of the server with this cluster_name: the postmaster's argument, its children's title. */
export function processesOfCluster(name: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    const line = commandLine(pid);
    return line.includes(`cluster_name=${name}`) || line[0]?.startsWith(`postgres: ${name}: `) === true;
  });
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Looks every 10 ms until the condition holds; false when it still does not after the time given. */
export async function waitFor(condition: () => boolean, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}
