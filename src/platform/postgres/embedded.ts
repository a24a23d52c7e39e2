/**
 * The PostgreSQL that Porter brings along and runs itself when there is no DATABASE_URL.
 *
 * In dataDir: `lock` and `lock.pid` (whose folder this is), `postgres/` (the data, and the server's log in
 * `postgres/log/`), `postgres.password` (superuser), `porter.password` (who owns the tables) and `porter_service.password` (who runs the
 * service), `postgres-start.log`.
 *
 * PostgreSQL outlives a service that is killed, and the next service adopts it. The service outlives a PostgreSQL
 * that is killed, and starts it again. The order of things at a start:
 *   folder-lock   nobody else works on the folder, from here to the end of the process
 *   binaries      find the programs; for root, in a place that other users may read
 *   cluster       passwords; initdb if the folder is new
 *   server        adopt or start; create the role and database if they are missing (accounts)
 *   supervisor    keep it running until stop()
 */
import { resolve } from 'node:path';
import { adminUrl, porterUrl, serviceUrl } from './accounts.ts';
import { type Log, openCluster } from './cluster.ts';
import { lockFolder } from './folder-lock.ts';
import { supervise } from './supervisor.ts';

export interface EmbeddedPostgres {
  /** Logs in as `porter`, who owns the database `porter` and is no superuser. */
  readonly url: string;
  /** Logs in as `porter_service`, who owns nothing: what it may do is granted by the owner. */
  readonly serviceUrl: string;
  /** Logs in as the superuser, to the database `postgres`. */
  readonly adminUrl: string;
  /** Stops the server (fast shutdown, waits), releases the folder. Idempotent. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** PostgreSQL's data goes in a sub-folder. Made when missing. */
  dataDir: string;
  log: Log;
  /** PostgreSQL settings on top of ours. */
  settings?: Record<string, string>;
}

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  try {
    const lock = lockFolder(dataDir);
    try {
      const cluster = await openCluster(dataDir, options.settings ?? {}, options.log);
      const supervisor = await supervise(cluster, options.log);
      let stopped: Promise<void> | undefined;
      return {
        url: porterUrl(cluster, supervisor.port),
        serviceUrl: serviceUrl(cluster, supervisor.port),
        adminUrl: adminUrl(cluster, supervisor.port),
        stop() {
          stopped ??= supervisor.stop().finally(() => lock.release());
          return stopped;
        },
      };
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, dataDir);
  }
}

/** Says what to do about the file system's own refusals. */
function explained(error: NodeJS.ErrnoException, dataDir: string): Error {
  if (error.path !== undefined && !error.path.startsWith(dataDir)) return error;
  const reasons: Record<string, string> = {
    EACCES: 'no permission; give this user the folder, or set PORTER_DATA_DIR to another',
    EPERM: 'no permission; give this user the folder, or set PORTER_DATA_DIR to another',
    ENOTDIR: 'there is a file in the way; set PORTER_DATA_DIR to another path',
    ENOENT: 'it cannot be made there; set PORTER_DATA_DIR to another path',
    EROFS: 'the disk is read-only; set PORTER_DATA_DIR to a folder that can be written',
    ENOSPC: 'the disk is full; make room, or set PORTER_DATA_DIR to another disk',
    EDQUOT: 'the disk quota is used up; make room, or set PORTER_DATA_DIR to another disk',
  };
  const reason = reasons[error.code ?? ''];
  if (reason === undefined) return error;
  return new Error(`cannot use the data folder ${dataDir}: ${reason} (${error.message})`, { cause: error });
}
