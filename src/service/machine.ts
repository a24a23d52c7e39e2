import { availableParallelism, totalmem } from 'node:os';

/** What there is for the service to use. */
export interface Machine {
  cores: number;
  memoryBytes: number;
}

/** A container may use less than its machine has. */
export const thisMachine = (): Machine => ({
  cores: availableParallelism(),
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
});

/** Six doors answer more calls than one PostgreSQL takes changes, and two workers deliver what one fans out. */
const USUAL_MAX = 8;
/** One takes 300 MB under full load. */
const MEMORY_EACH = 400 * 1024 * 1024;

/** Beside a PostgreSQL on the same cores, two processes do no more than one (docs/measurements/cores.md). */
const WORTHWHILE_BESIDE_DATABASE = 3;

/** As how many processes the service runs, if nobody says. A PostgreSQL on the same machine needs a quarter of it. */
export function usualProcesses({ cores, memoryBytes }: Machine, isDatabaseHere: boolean): number {
  const free = isDatabaseHere ? Math.floor((cores * 3) / 4) : cores;
  const most = Math.max(1, Math.min(free, Math.floor(memoryBytes / MEMORY_EACH), USUAL_MAX));
  return isDatabaseHere && most < WORTHWHILE_BESIDE_DATABASE ? 1 : most;
}
