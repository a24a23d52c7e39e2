import { didYouMean } from '../domain/oversight/nearest.ts';
import { Failure, UsageError } from './exit.ts';
import { type Demo, type Profile, readDemo, readProfiles } from './profiles.ts';
import type { World } from './world.ts';

/** Where a command calls, and as whom. */
export interface Connection {
  url: string;
  key: string | undefined;
  group: string | undefined;
  operatorToken: string | undefined;
  /** Where the secrets come from, in words for people. */
  sources: { key: string; operatorToken: string };
  /** The key is that of the demo world, which nobody asked for by name. */
  demo: boolean;
  /** A profile whose key and token are not used, because they are for another address. */
  elsewhere?: { name: string; url: string } | undefined;
  /** The profile that is used: no demo world is looked for then, also if it has no key. */
  profile?: { name: string; isNamed: boolean } | undefined;
}

export interface ConnectionFlags {
  profile?: string | undefined;
  url?: string | undefined;
  group?: string | undefined;
}

export const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEMO_GROUP = 'riverside-surgery';

/** A flag wins over a profile that is named, that over the environment, and that over the profile in use. */
export async function connect(world: World, flags: ConnectionFlags): Promise<Connection> {
  const { env } = world;
  const named = flags.profile === undefined ? undefined : await namedProfile(world, flags.profile);
  const current = named ? undefined : await currentProfile(world);
  const profile = named ?? current;
  const pick = (
    from: NamedProfile | undefined,
    field: keyof Profile,
    variable: string,
  ): string | undefined => (named ? from?.[field] : env[variable] || from?.[field]);

  const sourceOf = (variable: string) =>
    profile && (named || !env[variable]) ? `profile ${profile.name}` : variable;

  const demo = await readDemo(world);
  const usual = (!env.PORTER_KEY && demoUrl(demo)) || DEFAULT_URL;
  const url = checkedUrl(flags.url ?? pick(profile, 'url', 'PORTER_URL') ?? usual);
  // A key goes to the service that it is for, and nowhere else.
  const fits = profile && new URL(url).origin === new URL(checkedUrl(profile.url)).origin;
  const trusted = fits ? profile : undefined;
  const found: Connection = {
    url,
    key: forHeader('API key', pick(trusted, 'key', 'PORTER_KEY')),
    group: forHeader('ID of the practice group', flags.group ?? pick(trusted, 'group', 'PORTER_GROUP')),
    operatorToken: forHeader('operator token', pick(trusted, 'operator_token', 'PORTER_OPERATOR_TOKEN')),
    sources: { key: sourceOf('PORTER_KEY'), operatorToken: sourceOf('PORTER_OPERATOR_TOKEN') },
    demo: false,
    ...(profile && !fits && { elsewhere: { name: profile.name, url: profile.url } }),
    ...(trusted && { profile: { name: trusted.name, isNamed: named !== undefined } }),
  };
  return named || trusted || found.key ? found : demoWorld(demo, found);
}

/** For whoever has only just started the service: it left a key below the folder that it was started in. */
function demoWorld({ key, keyFile }: Demo, found: Connection): Connection {
  if (key === undefined || !isLoopback(found.url)) return found;
  return {
    ...found,
    key: forHeader('API key', key),
    group: found.group ?? DEMO_GROUP,
    sources: { ...found.sources, key: `the demo world (${keyFile})` },
    demo: true,
  };
}

/** An address on this machine only: whoever prepares a folder must not get the token of an operator who works in it. */
function demoUrl({ key, url = '' }: Demo): string | undefined {
  // Who listens on all addresses listens on this one too.
  const here = url.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, '//127.0.0.1');
  return key !== undefined && URL.canParse(here) && isLoopback(here) ? here : undefined;
}

type NamedProfile = Profile & { name: string };

/** The value goes into a header, which takes no other characters. The error does not repeat it: it may be a secret with a slip in it. */
function forHeader(what: string, value: string | undefined): string | undefined {
  if (value && !/^[!-~]+$/.test(value))
    throw new UsageError(
      `The ${what} holds a character that none can have, such as a blank or a line break.`,
      'Correct the environment variable or the profile that it comes from.',
    );
  return value;
}

async function namedProfile(world: World, name: string): Promise<NamedProfile> {
  const { profiles } = await readProfiles(world);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile) return { ...profile, name };
  const names = Object.keys(profiles);
  const others = names.length > 0 ? `There are: ${names.join(', ')}.` : 'Add it: porter profiles add --help';
  throw new UsageError(`There is no profile "${name}".`, didYouMean(name, names) ?? others);
}

async function currentProfile(world: World): Promise<NamedProfile | undefined> {
  const { current, profiles } = await readProfiles(world);
  const profile = current !== undefined && Object.hasOwn(profiles, current) ? profiles[current] : undefined;
  return current !== undefined && profile ? { ...profile, name: current } : undefined;
}

export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `"${text}" is not the address of a service.`,
      'It looks like https://api.example.com',
    );
  if (url.username || url.password || url.search || url.hash)
    throw new UsageError(
      `The address of ${url.host} has a user, a password, a query or a fragment in it.`,
      `Give it without them: ${url.origin}`,
    );
  if (url.protocol === 'http:' && !isLoopback(text))
    throw new UsageError(
      `${url.origin} is not https: everybody on the way could read the key.`,
      'Use the https:// address.',
    );
  return url.href.replace(/\/+$/, '');
}

export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

export function partnerHeaders(connection: Connection): Record<string, string> {
  const { group } = connection;
  const header = keyHeader(connection);
  if (!group)
    throw new Failure(
      'This needs to know which practice group to act for.',
      'Give --group <id>, or set PORTER_GROUP. Those that the key may act for: porter me',
    );
  return { ...header, 'x-practice-group-id': group };
}

export function keyHeader({ url, key, elsewhere, profile }: Connection): Record<string, string> {
  if (!key && elsewhere) throw isElsewhere(elsewhere, url, 'PORTER_KEY and PORTER_GROUP');
  if (!key)
    throw new Failure(
      'This needs an API key, and there is none.',
      [
        'Set PORTER_KEY and PORTER_GROUP, or keep both in a profile: porter profiles add --help',
        'An operator issues a key: porter keys issue --help',
        ...(isLoopback(url) ? [whereDemoIs(profile)] : []),
      ].join('\n'),
    );
  return { 'x-api-key': key };
}

function whereDemoIs(profile: Connection['profile']): string {
  if (!profile)
    return 'That of a demo world is found in the folder that its service was started in: run this there.';
  const { name, isNamed } = profile;
  return isNamed
    ? `The profile ${name} has none, and with --profile that of a demo world is not looked for.`
    : `The profile ${name} has none, and while it is in use, that of a demo world is not looked for. To use no profile: porter profiles use --none`;
}

function isElsewhere(
  { name, url: its }: { name: string; url: string },
  url: string,
  variables: string,
): UsageError {
  return new UsageError(
    `The profile ${name} is for ${its}: its keys are not sent to ${url}.`,
    `Name another profile with --profile, or set ${variables} for this address.`,
  );
}

export function operatorHeaders({ url, operatorToken, elsewhere }: Connection): Record<string, string> {
  if (!operatorToken && elsewhere) throw isElsewhere(elsewhere, url, 'PORTER_OPERATOR_TOKEN');
  if (!operatorToken)
    throw new Failure(
      'This needs the token of an operator, and there is none.',
      'The first start of the service shows one. Set PORTER_OPERATOR_TOKEN, or keep it in a profile: porter profiles add <name> --operator',
    );
  return { authorization: `Bearer ${operatorToken}` };
}
