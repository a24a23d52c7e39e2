import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Binaries, findBinaries } from './binaries.ts';
import { readIfThere, syncFolder, writeSecretFile } from './files.ts';
import { namedUser, ownUserId } from './own-user.ts';
import { system } from './system.ts';

export type Log = (message: string, fields?: Record<string, unknown>) => void;

/** A data folder that is initialised and of our version, and what it takes to run a server on it. */
export interface Cluster {
  readonly dataDir: string;
  /** PostgreSQL's own folder inside dataDir. */
  readonly folder: string;
  /**
   * PostgreSQL's cluster_name. It shows in the title of each of the server's processes, which is how we know them
   * again: root in a container may not look at another user's /proc/<pid>/cwd, but titles are public.
   */
  readonly name: string;
  readonly binaries: Binaries;
  readonly runAs: RunAs;
  readonly passwords: { readonly postgres: string; readonly porter: string; readonly porter_service: string };
  readonly settings: Readonly<Record<string, string>>;
}

/** Whom the programs run as, as options of `spawn`; empty: whoever we are. */
type RunAs = { uid: number; gid: number } | Record<string, never>;

const draftPrefix = 'postgres.draft-';

export async function openCluster(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  log: Log,
): Promise<Cluster> {
  const binaries = findBinaries();
  const folder = join(dataDir, 'postgres');
  const isNew = !existsSync(folder);
  if (!isNew) assertOurMajorVersion(folder, binaries);

  const passwords = {
    postgres: secret(join(dataDir, 'postgres.password'), isNew),
    porter: secret(join(dataDir, 'porter.password'), true),
    porter_service: secret(join(dataDir, 'porter_service.password'), true),
  };
  const runAs = chooseUser(dataDir, folder);
  removeDrafts(dataDir);
  if (isNew) {
    log('creating the database, which takes some seconds', { folder });
    await initialise(
      dataDir,
      folder,
      binaries,
      runAs.uid === undefined ? {} : namedUser(),
      passwords.postgres,
    );
    removeDrafts(dataDir);
  }

  const { dev, ino } = statSync(folder, { bigint: true });
  const name = `porter-${dev.toString(36)}-${ino.toString(36)}`;
  return { dataDir, folder, name, binaries, runAs, passwords, settings };
}

function assertOurMajorVersion(folder: string, binaries: Binaries): void {
  const found = readIfThere(join(folder, 'PG_VERSION'))?.trim();
  if (found === binaries.major) return;
  if (found === undefined) {
    throw new Error(`${folder} is not a PostgreSQL data folder (no PG_VERSION); move it away or restore it`);
  }
  throw new Error(
    `${folder} holds data of PostgreSQL ${found}, but this Porter brings PostgreSQL ${binaries.major}, which cannot ` +
      'read it. Either go back to the Porter release that wrote it; or export the data from there with pg_dump, move ' +
      'the folder away, start this release and import it; or set DATABASE_URL to a server that you upgrade yourself.',
  );
}

/** The password kept in this file; made at the first start, and before anything uses it. */
function secret(file: string, mayMake: boolean): string {
  const kept = readIfThere(file)?.trim();
  if (kept) return kept;
  if (!mayMake) throw new Error(`${file} is missing; restore it from a backup of the data folder`);
  const made = randomBytes(32).toString('hex');
  writeSecretFile(file, `${made}\n`);
  return made;
}

/** PostgreSQL refuses to run as root. A folder that an ordinary user began stays that user's; one of `nobody` is handed over. */
function chooseUser(dataDir: string, folder: string): RunAs {
  if (process.getuid?.() !== 0) return {};
  if (!system.hasUsersToSpare)
    throw new Error('PostgreSQL must not run as root: run Porter as an ordinary user, or set DATABASE_URL');
  if (existsSync(folder)) {
    const { uid, gid } = statSync(folder);
    if (uid !== 0 && uid !== namedUser().uid) return { uid, gid };
  }
  const uid = ownUserId(dataDir);
  return { uid, gid: uid };
}

/**
 * What interrupted first starts left. The initdb of one killed just now may still be writing, then its draft stays
 * until the next call: drafts have names of their own and hinder nobody.
 */
function removeDrafts(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(draftPrefix)) continue;
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    }
  }
}

/** Initialises in a folder of another name and renames it when complete, so `folder` exists whole or not at all. */
async function initialise(
  dataDir: string,
  folder: string,
  binaries: Binaries,
  runAs: RunAs,
  password: string,
): Promise<void> {
  const draft = mkdtempSync(join(dataDir, draftPrefix));
  if (runAs.uid !== undefined) chownSync(draft, runAs.uid, runAs.gid);
  try {
    const { status, output } = await runInitdb(draft, binaries, runAs, password);
    if (status !== 0) {
      const logFile = join(dataDir, 'initdb.log');
      writeFileSync(logFile, output, { mode: 0o600 });
      const lastLines = output.trim().split('\n').slice(-10).join('\n');
      throw new Error(`PostgreSQL's initdb failed in ${dataDir} (full output: ${logFile}):\n${lastLines}`);
    }
    renameSync(draft, folder);
    syncFolder(dataDir);
  } catch (error) {
    removeDrafts(dataDir);
    throw error;
  }
}

async function runInitdb(
  draft: string,
  binaries: Binaries,
  runAs: RunAs,
  password: string,
): Promise<{ status: number | null; output: string }> {
  // The password goes through an open file without a name: not on the command line, and readable by initdb's user
  // although that user may not enter dataDir.
  const passwordFile = `${draft}.password`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (runAs.uid !== undefined) chownSync(passwordFile, runAs.uid, runAs.gid);
  const passwordDescriptor = openSync(passwordFile, 'r');
  unlinkSync(passwordFile);

  const options = [
    '--username=postgres',
    `--pwfile=${system.thirdDescriptor}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
  try {
    // Output goes through pipes: when we are killed, initdb dies of the broken pipe at its next message.
    const initdb = spawn(binaries.initdb, [...options, ...dataFolderArguments], {
      cwd: draft,
      env: serverEnvironment,
      stdio: ['ignore', 'pipe', 'pipe', passwordDescriptor],
      ...runAs,
    });
    let output = '';
    initdb.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    initdb.stderr?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    const status = await new Promise<number | null>((resolve, reject) => {
      initdb.once('error', (error) => reject(cannotRun(binaries.initdb, error)));
      initdb.once('close', resolve);
    });
    return { status, output };
  } finally {
    closeSync(passwordDescriptor);
  }
}

/** The data folder is given as "where you stand", so that data may live below a folder of mode 0700. */
export const dataFolderArguments: readonly string[] = ['-D', system.dataFolder];

/** Nothing of ours: PGPORT, PGOPTIONS, LC_ALL and the like would change what the programs do. */
export const serverEnvironment: NodeJS.ProcessEnv = { PATH: '/usr/bin:/bin', TZ: 'UTC' };

export function cannotRun(program: string, error: Error): Error {
  return new Error(
    `cannot run ${program} (${error.message}). It needs glibc (so not Alpine), a disk that allows programs, and, for ` +
      'root, the right to switch to another user. Set DATABASE_URL to use a PostgreSQL of yours instead.',
    { cause: error },
  );
}
