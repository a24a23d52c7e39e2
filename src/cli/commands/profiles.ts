import { isWellFormedKey } from '../../domain/access/api-key.ts';
import { didYouMean } from '../../domain/oversight/nearest.ts';
import { defineCommand } from '../command.ts';
import { checkedUrl, DEFAULT_URL } from '../connection.ts';
import { Failure, UsageError } from '../exit.ts';
import type { Printer } from '../printer.ts';
import { masked, type ProfileFile, profilePath, readProfiles, writeProfiles } from '../profiles.ts';
import { readStdin, type World } from '../world.ts';

const named = [{ name: 'name', summary: 'The name of the profile.' }] as const;
const section = 'setUp' as const;
const calls = 'nobody' as const;

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

export const profileCommands = [
  defineCommand({
    name: 'profiles add',
    section,
    calls,
    summary: 'Add a profile (an address and a key under a name), or change it.',
    details:
      'The API key is taken from PORTER_KEY, read from stdin, or asked for without being shown. With --operator it is the token of an operator (PORTER_OPERATOR_TOKEN). A new profile takes its address from PORTER_URL and its practice group from PORTER_GROUP unless they are given. Run it twice for a profile that has both. A profile that moves to another address forgets the secret that is not given with it. The first profile is in use from then on. Profiles are kept in a file that only you can read.',
    arguments: named,
    options: {
      url: { value: 'url', summary: `Where the service is; ${DEFAULT_URL} unless given.` },
      group: { value: 'id', summary: 'The practice group to act for.' },
      operator: { summary: 'The secret is the token of an operator, not an API key.' },
    },
    examples: [
      'profiles add staging --url https://staging.api.porter.example --group riverside-surgery',
      'profiles add staging --operator',
    ],
    async run({ args: { name }, options, out, world }) {
      if (!NAME.test(name))
        throw new UsageError(
          `"${name}" is not a name.`,
          'Use letters, digits, dots, dashes and underscores.',
        );
      const file = await readProfiles(world);
      const known = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;
      // The secrets that a profile has are for its address. The environment does not move it, and whoever does leaves them behind.
      const taken = (what: string, variable: 'PORTER_URL' | 'PORTER_GROUP') => {
        const value = known ? undefined : world.env[variable];
        if (value) out.note(`Taking the ${what} from ${variable}.`);
        return value || undefined;
      };
      const given = options.url ?? taken('address', 'PORTER_URL');
      const url = given === undefined ? (known?.url ?? DEFAULT_URL) : checkedUrl(given);
      const group = options.group ?? taken('practice group', 'PORTER_GROUP');
      const secret = await readSecret(world, out, options.operator);
      const { key, operator_token, ...rest } = known ?? {};
      const stays = known?.url === url;
      const left = options.operator ? key && 'API key' : operator_token && 'operator token';
      if (left && !stays) out.note(`The ${left} of this profile was for ${known?.url} and is forgotten.`);
      const profile = {
        ...(stays ? known : rest),
        url,
        ...(group !== undefined && { group }),
        ...(options.operator ? { operator_token: secret } : { key: secret }),
      };
      const current = file.current ?? name;
      await writeProfiles(world, { ...file, current, profiles: { ...file.profiles, [name]: profile } });
      out.document(
        shown(name, profile, current),
        () => `Kept profile ${name} (${profile.url}, ${masked(secret)}).`,
      );
      if (current !== name)
        out.note(`The profile in use is ${current}. To change: porter profiles use ${name}`);
    },
  }),
  defineCommand({
    name: 'profiles list',
    section,
    calls,
    summary: 'List profiles; their keys are shown in part.',
    examples: ['profiles list'],
    async run({ out, world }) {
      const { current, profiles } = await readProfiles(world);
      const data = Object.entries(profiles).map(([name, profile]) => shown(name, profile, current));
      const none = `There are no profiles in ${profilePath(world)}. See \`porter profiles add --help\`.`;
      out.page(
        { data, next_cursor: null },
        [
          ['', ({ in_use }) => (in_use ? '*' : '')],
          ['NAME', ({ name }) => name],
          ['URL', ({ url }) => url],
          ['PRACTICE GROUP', ({ group }) => group],
          ['KEY', ({ key }) => key],
          ['OPERATOR TOKEN', ({ operator_token }) => operator_token],
        ],
        none,
      );
    },
  }),
  defineCommand({
    name: 'profiles use',
    section,
    calls,
    summary: 'Use this profile from now on, or none.',
    arguments: [{ ...named[0], optional: true }],
    options: { none: { summary: 'Use none: then, the demo world of this folder is found.' } },
    examples: ['profiles use staging', 'profiles use --none'],
    async run({ args: { name }, options, out, world }) {
      if ((name === undefined) !== options.none)
        throw new UsageError('Say which profile to use.', 'Give either its name or --none.');
      const { current: _, ...file } = await readProfiles(world);
      if (name !== undefined) refuseUnknown(file, name);
      await writeProfiles(world, { ...file, ...(name !== undefined && { current: name }) });
      out.document(
        { in_use: name ?? null },
        () => `Using ${name === undefined ? 'no profile' : `profile ${name}`}.`,
      );
    },
  }),
  defineCommand({
    name: 'profiles remove',
    section,
    calls,
    summary: 'Remove a profile and its keys.',
    arguments: named,
    examples: ['profiles remove staging'],
    async run({ args: { name }, out, world }) {
      const { current, ...file } = await readProfiles(world);
      refuseUnknown(file, name);
      delete file.profiles[name];
      await writeProfiles(world, { ...file, ...(current !== undefined && current !== name && { current }) });
      out.document({ removed: name }, () => `Removed profile ${name}.`);
    },
  }),
];

function shown(name: string, profile: ProfileFile['profiles'][string], current: string | undefined) {
  const { url, group = null, key, operator_token } = profile;
  return {
    name,
    in_use: name === current,
    url,
    group,
    key: key === undefined ? null : masked(key),
    operator_token: operator_token === undefined ? null : masked(operator_token),
  };
}

function refuseUnknown({ profiles }: ProfileFile, name: string): void {
  if (!Object.hasOwn(profiles, name))
    throw new Failure(
      `There is no profile "${name}".`,
      didYouMean(name, Object.keys(profiles)) ?? 'See `porter profiles list`.',
    );
}

async function readSecret(world: World, out: Printer, operator: boolean): Promise<string> {
  const [variable, what] = operator
    ? (['PORTER_OPERATOR_TOKEN', 'operator token'] as const)
    : (['PORTER_KEY', 'API key'] as const);
  const { env, stdin } = world;
  // The variable first: stdin of a script may stay open for ever.
  const known = env[variable]?.trim();
  if (known) out.note(`Taking the ${what} from ${variable}.`);
  const asked = async () =>
    stdin.isTTY ? world.askHidden(`${what} (not shown): `) : (await readStdin(world)).toString();
  const secret = known || (await asked()).trim();
  if (secret === '')
    throw new UsageError(`There is no ${what}.`, `Set ${variable}, pipe it in, or type it when asked.`);
  const looksRight = operator
    ? /^(?!ptr_)[!-~]+$/.test(secret)
    : isWellFormedKey('staging', secret) || isWellFormedKey('production', secret);
  if (!looksRight)
    throw new Failure(
      `That is not a whole ${what}: a character is missing, changed or too many.`,
      operator
        ? 'Copy it again. Tokens begin with pto_ unless chosen otherwise.'
        : 'Copy it again. Keys begin with ptr_test_ or ptr_live_.',
    );
  return secret;
}
