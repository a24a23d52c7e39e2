import { Failure, UsageError } from './exit.ts';
import { didYouMean } from './nearest.ts';
import { type Profile, readDemoKey, readProfiles } from './profiles.ts';
import type { World } from './world.ts';

/** Where a command calls, and as whom. */
export interface Connection {
  url: string;
  key: string | undefined;
  group: string | undefined;
  operatorToken: string | undefined;
  /** The key is that of the demo world, which nobody asked for by name. */
  demo: boolean;
}

export interface ConnectionFlags {
  profile?: string | undefined;
  url?: string | undefined;
  group?: string | undefined;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEMO_GROUP = 'riverside-surgery';

/** A flag wins over a profile that is named, that over the environment, and that over the profile in use. */
export async function connect(world: World, flags: ConnectionFlags): Promise<Connection> {
  const { env } = world;
  const named = flags.profile === undefined ? undefined : await namedProfile(world, flags.profile);
  const current = named ? undefined : await currentProfile(world);
  const pick = (field: keyof Profile, variable: string): string | undefined =>
    named ? named[field] : env[variable] || current?.[field];

  const url = flags.url ?? pick('url', 'PORTER_URL') ?? DEFAULT_URL;
  const found: Connection = {
    url: checkedUrl(url),
    key: pick('key', 'PORTER_KEY'),
    group: flags.group ?? pick('group', 'PORTER_GROUP'),
    operatorToken: pick('operator_token', 'PORTER_OPERATOR_TOKEN'),
    demo: false,
  };
  return named || current || found.key ? found : demoWorld(world, found);
}

/** For whoever has only just started the service: it left a key below the folder that it was started in. */
async function demoWorld(world: World, found: Connection): Promise<Connection> {
  const key = isLoopback(found.url) ? await readDemoKey(world) : undefined;
  return key === undefined ? found : { ...found, key, group: found.group ?? DEMO_GROUP, demo: true };
}

async function namedProfile(world: World, name: string): Promise<Profile> {
  const { profiles } = await readProfiles(world);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile) return profile;
  const names = Object.keys(profiles);
  const others = names.length > 0 ? `There are: ${names.join(', ')}.` : 'Add it: porter profiles add --help';
  throw new UsageError(`There is no profile "${name}".`, didYouMean(name, names) ?? others);
}

async function currentProfile(world: World): Promise<Profile | undefined> {
  const { current, profiles } = await readProfiles(world);
  return current !== undefined && Object.hasOwn(profiles, current) ? profiles[current] : undefined;
}

export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `"${text}" is not the address of a service.`,
      'It looks like https://api.example.com',
    );
  if (url.protocol === 'http:' && !isLoopback(text))
    throw new UsageError(
      `${url.origin} is not https: everybody on the way could read the key.`,
      'Use the https:// address.',
    );
  return url.href.replace(/\/+$/, '');
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

export function partnerHeaders({ key, group }: Connection): Record<string, string> {
  if (!key)
    throw new Failure(
      'This needs an API key, and there is none.',
      'Set PORTER_KEY and PORTER_GROUP, or keep both in a profile: porter profiles add --help',
    );
  if (!group)
    throw new Failure(
      'This needs to know which practice group to act for.',
      'Give --group <id>, or set PORTER_GROUP.',
    );
  return { 'x-api-key': key, 'x-practice-group-id': group };
}

export function operatorHeaders({ operatorToken }: Connection): Record<string, string> {
  if (!operatorToken)
    throw new Failure(
      'This needs the token of an operator, and there is none.',
      'The first start of the service shows one. Set PORTER_OPERATOR_TOKEN, or keep it in a profile: porter profiles add <name> --operator',
    );
  return { authorization: `Bearer ${operatorToken}` };
}
