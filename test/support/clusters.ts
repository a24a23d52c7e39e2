import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { processesOfCluster, sendSignal, waitFor } from '../../src/platform/postgres/processes.ts';

/** Data folders with a PostgreSQL in them, for whoever ends one from outside. */

const DEADLINE_MS = 60_000;

/** The processes of the server that works in it. */
export function processesOf(dataDir: string): number[] {
  const folder = join(dataDir, 'postgres');
  if (!existsSync(folder)) return [];
  const { dev, ino } = statSync(folder, { bigint: true });
  return processesOfCluster(`porter-${dev.toString(36)}-${ino.toString(36)}`);
}

/** Kills what runs in it, and removes `folder`, which it is or is in. */
export async function removeDataDir(dataDir: string, folder = dataDir): Promise<void> {
  for (const pid of processesOf(dataDir)) sendSignal(pid, 'SIGKILL');
  if (!(await waitFor(() => processesOf(dataDir).length === 0, DEADLINE_MS)))
    throw new Error(`waited in vain until no process works in ${dataDir}`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
