import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensurePorterAccounts } from './accounts.ts';
import { type Cluster, cannotRun, dataFolderArguments, type Log, serverEnvironment } from './cluster.ts';
import { readIfThere } from './files.ts';
import { lastWords, logSettings, startLogOf } from './logs.ts';
import { handOver } from './own-user.ts';
import { commandLine, processesOfCluster, sendSignal, waitFor } from './processes.ts';

/** A running PostgreSQL: the pid is the postmaster's, the parent of all its processes. */
export interface Server {
  readonly pid: number;
  readonly port: number;
  readonly exited: Promise<unknown>;
}

/** Crash recovery replays at most max_wal_size (1 GB); a slow disk needs minutes for that. */
const readyWithinMs = 300_000;
const fastShutdownMs = 30_000;

/**
 * One attempt to have a ready server on the folder: adopts the one that runs (the service before us was killed, its
 * PostgreSQL was not), else clears what a dead one left and starts a new one. May be repeated after any failure.
 */
export async function startOrAdopt(
  cluster: Cluster,
  log: Log,
  signal: AbortSignal,
  fixedPort?: number,
): Promise<Server> {
  const running = findServer(cluster);
  if (running !== undefined) {
    await waitUntilReady(cluster, running, signal);
    // Not when it was started by another release, with other settings or as another user.
    const wanted = [cluster.binaries.postgres, ...serverArguments(cluster, fixedPort ?? running.port)];
    if (isHandedOver(cluster) && commandLine(running.pid).join(' ') === wanted.join(' ')) {
      await ensurePorterAccounts(cluster, running.port);
      log('adopted the PostgreSQL that was still running', { pid: running.pid, port: running.port });
      return running;
    }
    log('a PostgreSQL with other settings runs on the folder; restarting it', { pid: running.pid });
    await shutDown(cluster, running);
  }

  await clearLeftovers(cluster);
  rmSync(join(cluster.folder, 'postmaster.pid'), { force: true });
  if (cluster.runAs.uid !== undefined) handOver(cluster.folder, cluster.runAs.uid);
  const server = await spawnServer(cluster, fixedPort ?? (await freePort()));
  try {
    await waitUntilReady(cluster, server, signal);
    await ensurePorterAccounts(cluster, server.port);
  } catch (error) {
    await shutDown(cluster, server);
    throw error;
  }
  log('PostgreSQL is ready', { pid: server.pid, port: server.port });
  return server;
}

function isHandedOver({ folder, runAs }: Cluster): boolean {
  return runAs.uid === undefined || statSync(folder).uid === runAs.uid;
}

/** Fast shutdown: ends sessions, writes a checkpoint. Returns when no process of the server is left. */
export async function shutDown(cluster: Cluster, server: Server): Promise<void> {
  const gone = () => !isPostmaster(cluster, server.pid);
  const steps = [
    ['SIGINT', fastShutdownMs],
    ['SIGQUIT', 5_000], // at once, without the checkpoint; the next start recovers
    ['SIGKILL', 5_000],
  ] as const;
  for (const [signal, graceMs] of steps) {
    if (gone()) break;
    sendSignal(server.pid, signal);
    await waitFor(gone, graceMs);
  }
  await clearLeftovers(cluster);
}

/**
 * Children outlive a killed postmaster until they notice, which one busy with a query does late; while one lives no
 * new server can start ("pre-existing shared memory block"). They can do nothing useful any more.
 */
async function clearLeftovers(cluster: Cluster): Promise<void> {
  const none = () => processesOfCluster(cluster.name).length === 0;
  if (await waitFor(none, 500)) return;
  for (const pid of processesOfCluster(cluster.name)) sendSignal(pid, 'SIGKILL');
  if (!(await waitFor(none, 5_000))) {
    throw new Error(
      `processes of a dead PostgreSQL do not end: ${processesOfCluster(cluster.name).join(', ')}`,
    );
  }
}

function findServer(cluster: Cluster): Server | undefined {
  const { pid, port } = readPidFile(cluster);
  // After a crash or a reboot the pid may belong to some other program.
  if (!isPostmaster(cluster, pid)) return undefined;
  return { pid, port, exited: untilGone(cluster, pid) };
}

/** A server that is not our child has no exit event. */
async function untilGone(cluster: Cluster, pid: number): Promise<void> {
  while (isPostmaster(cluster, pid)) await sleep(100, undefined, { ref: false });
}

function isPostmaster(cluster: Cluster, pid: number): boolean {
  return commandLine(pid).includes(`cluster_name=${cluster.name}`);
}

/** postmaster.pid, by line: 1 pid, 4 port, 8 status (`starting`, `ready`, `stopping`). NaN and '' when not there. */
function readPidFile(cluster: Cluster): { pid: number; port: number; status: string } {
  const lines = (readIfThere(join(cluster.folder, 'postmaster.pid')) ?? '').split('\n');
  return {
    pid: Number.parseInt(lines[0] ?? '', 10),
    port: Number.parseInt(lines[3] ?? '', 10),
    status: lines[7]?.trim() ?? '',
  };
}

/** PostgreSQL says in postmaster.pid when it accepts connections, so trying earlier would only fill its log. */
async function waitUntilReady(cluster: Cluster, server: Server, signal: AbortSignal): Promise<void> {
  let ended = false;
  const settled = () => {
    signal.throwIfAborted();
    const { pid, status } = readPidFile(cluster);
    ended = !isPostmaster(cluster, server.pid);
    return ended || (pid === server.pid && status === 'ready');
  };
  const inTime = await waitFor(settled, readyWithinMs);
  if (ended) throw new Error(`PostgreSQL ended instead of getting ready.\n${lastWords(cluster)}`);
  if (!inTime) throw new Error(`PostgreSQL is not ready after ${readyWithinMs} ms.\n${lastWords(cluster)}`);
}

async function spawnServer(cluster: Cluster, port: number): Promise<Server> {
  const startLog = openSync(startLogOf(cluster.dataDir), 'w', 0o600);
  try {
    // Detached: its own process group, so Ctrl-C in a terminal reaches us and not it; we stop it after our last query.
    const child = spawn(cluster.binaries.postgres, serverArguments(cluster, port), {
      cwd: cluster.folder,
      env: serverEnvironment,
      detached: true,
      stdio: ['ignore', startLog, startLog],
      ...cluster.runAs,
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await once(child, 'spawn');
    child.unref();
    return { pid: Number(child.pid), port, exited };
  } catch (error) {
    throw cannotRun(cluster.binaries.postgres, error as Error);
  } finally {
    closeSync(startLog);
  }
}

function serverArguments(cluster: Cluster, port: number): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    cluster_name: cluster.name,
    max_connections: '60',
    shared_buffers: '128MB',
    huge_pages: 'off', // 128 MB gains nothing from them, and reserving them fails in some containers
    timezone: 'UTC',
    ...logSettings,
    ...cluster.settings,
    'porter.postgres_version': cluster.binaries.version, // a server of another release is not adopted
  };
  const pairs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [...dataFolderArguments, ...pairs];
}

/**
 * Below Linux's range for outgoing connections (32768 and up): inside it, a client that reconnects while the server
 * is down can be given this very port as its own, connect to itself, and so keep the server from coming back.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    if (await canListen(port)) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
