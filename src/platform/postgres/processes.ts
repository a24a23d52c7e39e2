import { setTimeout as sleep } from 'node:timers/promises';
import { type System, system } from './system.ts';

export const commandLine = (pid: number): readonly string[] => system.commandLine(pid);

/** All processes of the server with this cluster_name: the postmaster's argument, its children's title. */
export function processesOfCluster(name: string, { commandLines }: System = system): number[] {
  const isOfIt = (line: readonly string[]) =>
    line.includes(`cluster_name=${name}`) || line.join(' ').startsWith(`postgres: ${name}: `);
  return [...commandLines()].filter(([, line]) => isOfIt(line)).map(([pid]) => pid);
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
