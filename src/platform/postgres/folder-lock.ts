import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface FolderLock {
  release(): void;
}

const sqliteBusy = 5;

/**
 * Makes the folder if needed and takes it for this process, or throws naming who has it.
 *
 * The lock is SQLite's exclusive transaction on an empty file: a POSIX lock, so the kernel drops it when the
 * process dies, however it dies, and containers that share a volume see each other's. A pid file could promise
 * neither. Nothing else in this process may open and close `<dir>/lock`: closing any descriptor of a file drops
 * all POSIX locks that the process has on it.
 */
export function lockFolder(dir: string): FolderLock {
  makeFolder(dir);
  const lockFile = join(dir, 'lock');
  const holderFile = join(dir, 'lock.pid');

  // The timeout settles two simultaneous starts: without it each can be turned away by the other.
  const database = new DatabaseSync(lockFile, { timeout: 200 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
    throw new Error(
      `${dir}: another Porter (pid ${readHolder(holderFile)}) runs on this folder; stop it or set PORTER_DATA_DIR`,
    );
  }
  try {
    // A reader could hold us up with a shared lock, so nobody else may open the file.
    chmodSync(lockFile, 0o600);
    writeFileSync(holderFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    database.close();
    throw error;
  }

  return {
    release() {
      if (!database.isOpen) return;
      rmSync(holderFile, { force: true });
      database.close();
    },
  };
}

/** Throws the file system's own error when the folder cannot be made or written; SQLite's would not say why. */
function makeFolder(dir: string): void {
  if (!existsSync(dir)) {
    // Node's recursive mkdir calls a read-only disk "no such file", so only the parents are made that way.
    mkdirSync(dirname(dir), { recursive: true, mode: 0o700 });
    mkdirSync(dir, { mode: 0o700 });
  }
  accessSync(`${dir}/.`, constants.W_OK | constants.X_OK);
}

/** For the message only: the file may be missing for the moment between taking the lock and writing it. */
function readHolder(holderFile: string): string {
  try {
    return readFileSync(holderFile, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
