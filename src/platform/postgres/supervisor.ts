import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Log } from './cluster.ts';
import { pruneLogs } from './logs.ts';
import { type Server, shutDown, startOrAdopt } from './server.ts';

/** About three seconds of trying, for what passes: a port just taken, a server that is shutting down. */
const firstStartAttempts = 6;
const steadyAfterMs = 30_000;
const pruneEveryMs = 60_000;

export interface Supervisor {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts or adopts the server, then starts it again, on the same port, whenever it dies before stop(). */
export async function supervise(cluster: Cluster, log: Log): Promise<Supervisor> {
  const stopping = new AbortController();
  let server = await firstStart(cluster, log, stopping.signal);
  const { port } = server;

  const watching = (async () => {
    for (let failures = 0; ; ) {
      const since = performance.now();
      await untilExitOrStop(server, stopping.signal);
      if (stopping.signal.aborted) return;
      log('PostgreSQL died; starting it again', { pid: server.pid });
      // Not reset by a start alone, or a server that dies right after each start would be restarted in a tight loop.
      if (performance.now() - since > steadyAfterMs) failures = 0;

      for (let next: Server | undefined; next === undefined; failures += 1) {
        if (failures > 0) await pause(failures, stopping.signal);
        if (stopping.signal.aborted) return;
        try {
          next = await startOrAdopt(cluster, log, stopping.signal, port);
          server = next;
        } catch (error) {
          if (stopping.signal.aborted) return;
          log('PostgreSQL does not start; trying again', { error: (error as Error).message });
        }
      }
    }
  })();

  const prune = () => {
    try {
      pruneLogs(cluster);
    } catch (error) {
      log('cannot remove old PostgreSQL logs', { error: (error as Error).message });
    }
  };
  prune();
  const pruning = setInterval(prune, pruneEveryMs).unref();

  return {
    port,
    async stop() {
      clearInterval(pruning);
      stopping.abort();
      await watching;
      await shutDown(cluster, server);
    },
  };
}

async function firstStart(cluster: Cluster, log: Log, signal: AbortSignal): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOrAdopt(cluster, log, signal);
    } catch (error) {
      if (attempt === firstStartAttempts) throw error;
      log('PostgreSQL does not start; trying again', { error: (error as Error).message });
      await pause(attempt, signal);
    }
  }
}

async function untilExitOrStop(server: Server, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return; // an event that was before is not told again
  const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await Promise.race([server.exited, stopped]);
}

/** Doubles from 100 ms to 5 s; ends early at stop(). */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const milliseconds = Math.min(5_000, 50 * 2 ** failures);
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
