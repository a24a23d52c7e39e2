import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isRecord } from '../../packages/sdk/src/shape.ts';
import { Failure } from './exit.ts';
import { parseJson } from './json.ts';
import type { World } from './world.ts';

export interface Profile {
  url: string;
  key?: string;
  group?: string;
  operator_token?: string;
}

export interface ProfileFile {
  /** The profile in use. */
  current?: string;
  profiles: Record<string, Profile>;
  /** Signs what `listen` forwards; the same for all profiles, so that a local receiver needs just one. */
  listen_secret?: string;
}

export function profilePath({ env, home }: Pick<World, 'env' | 'home'>): string {
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'porter', 'profiles.json');
}

/** Reads the profiles. A file that others could read is closed to them first. */
export async function readProfiles(world: World): Promise<ProfileFile> {
  const path = profilePath(world);
  // Neither through a link, whose target may be anybody's, nor waiting for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw unreadable(path, error.code === 'ELOOP' ? 'it is a link' : error.code);
  });
  if (!handle) return { profiles: {} };
  try {
    const about = await handle.stat();
    if (!about.isFile()) throw unreadable(path, 'it is not a file');
    await keepPrivate(path, about.mode, world, (mode) => handle.chmod(mode));
    const read = parseJson(await handle.readFile('utf8'));
    if (!isProfileFile(read))
      throw new Failure(
        `${path} is not JSON, or does not hold profiles.`,
        'Mend it, or remove it and add the profiles again.',
      );
    return { ...read, profiles: read.profiles ?? {} };
  } finally {
    await handle.close();
  }
}

function unreadable(path: string, why: string | undefined): Failure {
  return new Failure(`${path} cannot be read (${why}).`, 'Make it a file of your own.');
}

function isProfileFile(value: unknown): value is Partial<ProfileFile> {
  if (!isRecord(value)) return false;
  const { current, profiles = {}, listen_secret } = value;
  return (
    isText(current) && isText(listen_secret) && isRecord(profiles) && Object.values(profiles).every(isProfile)
  );
}

function isProfile(value: unknown): boolean {
  if (!isRecord(value) || typeof value.url !== 'string') return false;
  return [value.key, value.group, value.operator_token].every(isText);
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

async function keepPrivate(
  path: string,
  mode: number,
  { stderr }: World,
  chmod: (mode: number) => Promise<void>,
): Promise<void> {
  if ((mode & 0o077) === 0) return;
  await chmod(0o600).catch(() => {
    throw new Failure(
      `${path} can be read by others and belongs to somebody else, so its keys are not used.`,
      'Remove it, or make it yours, and add the profiles again.',
    );
  });
  stderr.write(`${path} could be read by others. It is closed to them now; consider rotating its keys.\n`);
}

/** The new file takes the old one's place whole, and is never readable by others. */
export async function writeProfiles(world: World, file: ProfileFile): Promise<void> {
  const path = profilePath(world);
  const draft = `${path}.${randomUUID()}`;
  try {
    await makePrivateFolder(dirname(path));
    await writeFile(draft, `${JSON.stringify(file, null, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw new Failure(
      `${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`,
      'Check who may write to its folder, and whether the disk is full.',
    );
  }
}

async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const about = await lstat(folder);
  // What a link leads to is somebody's own arrangement.
  if (about.isDirectory() && about.mode & 0o077) await chmod(folder, 0o700);
}

/** How a key is shown: enough to tell it from others, not enough to use it. */
export function masked(secret: string): string {
  const prefix = /^(ptr_live_|ptr_test_|pto_|whsec_)/.exec(secret)?.[0] ?? '';
  return secret.length - prefix.length < 12 ? `${prefix}…` : `${prefix}…${secret.slice(-4)}`;
}

export interface Demo {
  key: string | undefined;
  keyFile: string;
  /** Where the service with this key listened when it was last started. */
  url: string | undefined;
}

/** What a service with a demo world leaves in its folder. */
export async function readDemo({ cwd, env }: Pick<World, 'cwd' | 'env'>): Promise<Demo> {
  const folder = resolve(cwd, env.PORTER_DATA_DIR || '.porter');
  const keyFile = join(folder, 'demo-key');
  const read = async (file: string) => (await readFile(file, 'utf8').catch(() => '')).trim() || undefined;
  return { key: await read(keyFile), keyFile, url: await read(join(folder, 'url')) };
}
