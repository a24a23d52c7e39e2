import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from './exit.ts';
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
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Failure(`${path} cannot be read (${error.code}).`, 'Make it a file of your own.');
  });
  if (!handle) return { profiles: {} };
  try {
    await keepPrivate(path, (await handle.stat()).mode, world, (mode) => handle.chmod(mode));
    const read = JSON.parse(await handle.readFile('utf8')) as Partial<ProfileFile>;
    return { ...read, profiles: read.profiles ?? {} };
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Failure(`${path} is not JSON.`, 'Mend it, or remove it and add the profiles again.');
    throw error;
  } finally {
    await handle.close();
  }
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
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  if (mode & 0o077) await open(folder).then((handle) => handle.chmod(0o700).finally(() => handle.close()));
  const draft = `${path}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path).catch(async (error) => {
    await rm(draft, { force: true });
    throw error;
  });
}

/** How a key is shown: enough to tell it from others, not enough to use it. */
export function masked(secret: string): string {
  const prefix = /^(ptr_live_|ptr_test_|pto_|whsec_)/.exec(secret)?.[0] ?? '';
  return secret.length - prefix.length < 12 ? `${prefix}…` : `${prefix}…${secret.slice(-4)}`;
}

export async function readDemoKey({ cwd }: World): Promise<string | undefined> {
  const text = await readFile(join(cwd, '.porter', 'demo-key'), 'utf8').catch(() => '');
  return text.trim() || undefined;
}
