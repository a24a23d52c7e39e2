import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { optionsOf } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands/index.ts';
import { helpText } from '../../src/cli/help.ts';
import { parse } from '../../src/cli/parse.ts';
import { Printer } from '../../src/cli/printer.ts';
import { nearest } from '../../src/domain/oversight/nearest.ts';
import { porter, start, words } from '../support/cli.ts';
import { ManualClock } from '../support/manual-clock.ts';

const names = commands.map(({ name }) => name);
const groups = [
  ...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '')),
];

describe('every command', () => {
  it.each(names)('%s has help and an example that can be parsed', (name) => {
    const command = commands.find((one) => one.name === name);
    const text = helpText(name, commands, String);
    expect(command?.summary).toMatch(/^[A-Z].*[.?]$/);
    for (const option of Object.keys(command ? optionsOf(command) : {}))
      expect(text).toContain(`--${option}`);
    for (const example of command?.examples ?? []) {
      expect(text).toContain(`porter ${example}`);
      expect(parse(words(example), commands)).toMatchObject({ kind: 'run', command: { name } });
    }
  });

  it.each(names)('%s is run by a test', (name) => {
    const folder = new URL('../service/', import.meta.url);
    const own = new URL('./', import.meta.url);
    const texts = [folder, own].flatMap((one) =>
      readdirSync(one, { recursive: true, encoding: 'utf8' })
        .filter((file) => /(^|\/)cli-/.test(file) && file !== 'cli-words.test.ts')
        .map((file) => readFileSync(new URL(file, one), 'utf8')),
    );
    expect(texts.some((text) => new RegExp(`['"\`]${name}\\b`).test(text))).toBe(true);
  });

  it('gives an option the same meaning to the parser everywhere', () => {
    const kinds = new Map<string, boolean>();
    for (const command of commands)
      for (const [name, { value }] of Object.entries(optionsOf(command))) {
        expect(kinds.get(name) ?? value !== undefined, `--${name} of ${command.name}`).toBe(
          value !== undefined,
        );
        kinds.set(name, value !== undefined);
      }
  });
});

it('suggests no other noun for one that is not known: every noun has a list', () => {
  const without = commands.filter(({ name }) => !name.startsWith('webhooks '));
  expect(() => parse(['webhooks', 'list'], without)).toThrow(
    expect.objectContaining({ hint: 'See `porter --help` for all of them.' }),
  );
});

describe('help', () => {
  it.each(['', ...groups])('"%s" names every command below it', async (group) => {
    const { code, stdout, stderr } = await porter([...words(group), '--help']);
    expect([code, stderr]).toEqual([0, '']);
    const below = names.filter((name) => group === '' || name.startsWith(`${group} `));
    for (const name of below) for (const word of name.split(' ')) expect(stdout).toContain(word);
    expect(stdout).toContain('Examples');
    // What a group is for stands before its commands, or at the top.
    expect(stdout).not.toMatch(/ {3}\(|^[a-z-]+\.$/m);
    for (const line of stdout.split('\n'))
      if (!line.startsWith('  porter ')) expect(line.length).toBeLessThanOrEqual(120);
  });

  it('is the same for `porter`, `porter help` and `porter --help`', async () => {
    const all = await Promise.all([[], ['help'], ['--help'], ['-h']].map((argv) => porter(argv)));
    expect(new Set(all.map(({ stdout }) => stdout)).size).toBe(1);
    expect(all[0]?.stdout).toContain('Exit codes');
    expect((await porter('help keys issue')).stdout).toBe((await porter('keys issue --help')).stdout);
    expect((await porter('--help --json')).json.help).toBe(all[0]?.stdout.trimEnd());
  });

  it.each(['--version', 'version'])('%s prints the version of the package', async (line) => {
    expect(await porter(line, { version: '4.5.6' })).toMatchObject({ code: 0, stdout: '4.5.6\n' });
  });
});

describe('a command line that is not right', () => {
  it.each([
    ['lisen', /no command "lisen".*\n.*Did you mean porter listen\?/],
    ['key issue', /Did you mean porter keys issue\?/],
    ['keys isue', /no command "isue".*\n.*Did you mean porter keys issue\?/],
    ['keys', /needs one of: issue, rotate, revoke, list/],
    ['frobnicate', /no command "frobnicate".*\n.*porter --help/],
    ['help frobnicate', /no command/],
    ['keys list --jsn', /no option --jsn for `porter keys list`.*\n.*Did you mean --json\?/],
    ['--bogus', /no option --bogus/],
    ['keys list --limit', /--limit needs a value/],
    ['keys list --limit 0', /not a whole number from 1/],
    ['keys list --limit 1 --limit 2', /given twice/],
    ['keys list --json=yes', /takes no value/],
    ['keys list more', /"more" is more than/],
    ['keys revoke', /<key_id> is missing/],
    ['keys issue --partner prt_1', /--group <id> is missing/],
    [
      'keys issue --partner p --group g --scopes events:reed',
      /"events:reed" is not known.*\n.*Did you mean events:read\?/,
    ],
    ['keys rotate key_1 --overlap soon', /"soon" is not a time/],
    ['trigger appointment.confirmd', /Did you mean appointment.confirmed\?/],
    ['events publish --event appointment.confirmed', /--event needs --id/],
    ['events publish a.json --event appointment.confirmed --id 1 --group g', /not both/],
    ['listen --secret abc', /--secret is not taken/],
    ['verify --secret=abc', /--secret is not taken/],
    ['listen --forward-to http://', /not an address/],
    ['status --url ftp://x', /not the address of a service/],
    ['status --url http://api.example.com', /is not https/],
    ['status --url https://me:hush@api.example.com', /^(?!.*hush).*has a user, a password/s],
    ['status --url https://api.example.com/?a=1', /a query or a fragment/],
    ['status --url https://api.example.com/#a', /a query or a fragment/],
    ['events publish --run one', /is not a run/],
    ['status --profile nobody', /no profile "nobody"/],
    ['profiles add ../x', /is not a name/],
  ])('porter %s ends with 2 and says what is wrong', async (line, says) => {
    const { code, stdout, stderr } = await porter(line, { terminal: false });
    expect(stderr).toMatch(says);
    expect([code, stdout]).toEqual([2, '']);
  });

  it('refuses a key as an option, and does not repeat it', async () => {
    const { code, stderr } = await porter('status --key ptr_test_secret');
    expect(stderr).toMatch(/--key is not taken.*list of processes/);
    expect(stderr).toContain('PORTER_KEY');
    expect(stderr).not.toContain('ptr_test_secret');
    expect(code).toBe(2);
  });

  it('is told to programs as JSON', async () => {
    const { code, stderr, stdout } = await porter('keys isue --json');
    expect(JSON.parse(stderr)).toEqual({
      error: 'usage',
      message: '`porter keys` has no command "isue".',
      hint: 'Did you mean porter keys issue?',
    });
    expect([code, stdout]).toEqual([2, '']);
  });
});

it('the nearest word is one that is near', () => {
  expect(nearest('lsit', ['list', 'create'])).toBe('list');
  expect(nearest('cre', ['list', 'create'])).toBe('create');
  expect(nearest('xyz', ['list', 'create'])).toBeUndefined();
});

it.each([
  'partners show',
  'partners verify',
  'keys revoke --yes',
  'operators revoke --yes',
  'groups show',
  'events show',
  'keys rotate',
  'deliveries retry dlv_1',
  'networks add net_1 g',
  'networks remove',
])('%s refuses an ID that would be another path, before anything is sent', async (line) => {
  const never: typeof fetch = () => Promise.reject(new Error('was sent'));
  const env = { PORTER_OPERATOR_TOKEN: 'pto_x' };
  for (const id of ['', '.', '..']) {
    const rest = line === 'networks remove' ? [id, 'g'] : [id];
    const { code, stderr } = await porter([...words(line), ...rest], { env, fetch: never });
    expect(stderr).toContain(`"${id}" is not an ID.`);
    expect(code).toBe(2);
  }
});

describe('with --json', () => {
  it('the version and a mistake of ours are JSON as well', async () => {
    expect((await porter('--version --json', { version: '4.5.6' })).json).toEqual({ version: '4.5.6' });
    const broken: typeof fetch = () => Promise.reject(new TypeError('of ours'));
    const { code, stderr } = await porter('status --json', { fetch: broken });
    expect(JSON.parse(stderr)).toEqual({ error: 'crashed', message: expect.stringContaining('of ours') });
    expect(code).toBe(1);
  });
});

describe('the terminal', () => {
  it.each([
    ['a terminal', true, {}, true],
    ['a pipe', false, {}, false],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a dumb terminal', true, { TERM: 'dumb' }, false],
  ])('%s gets colours: %s', async (_what, terminal, env, coloured) => {
    const help = await porter('--help', { terminal, env });
    const error = await porter('lisen', { terminal, env });
    for (const text of [help.stdout, error.stderr]) expect(text.includes('\x1b[')).toBe(coloured);
  });

  /** A printer whose work ends after the clock has been asked to wait so many times. */
  async function slowWork(terminal: boolean, waits: number): Promise<string> {
    let written = '';
    const output = { isTTY: terminal, write: (text: string) => (written += text) };
    const work = Promise.withResolvers<string>();
    const clock = Object.assign(new ManualClock(), {
      sleep: async () => {
        if (waits-- === 0) work.resolve('done');
        await Promise.resolve();
      },
    });
    const world = { env: {}, stdout: output, stderr: output, clock } as unknown as ConstructorParameters<
      typeof Printer
    >[0];
    expect(await new Printer(world, false).during('Working', work.promise)).toBe('done');
    return written;
  }

  it('shows nothing for what takes less than a second, then a spinner, and clears it away', async () => {
    expect(await slowWork(true, 0)).toBe('');
    const drawn = await slowWork(true, 3);
    expect(drawn).toMatch(/⠋ Working.*⠙ Working/s);
    expect(drawn.endsWith('\r\x1b[K')).toBe(true);
  });

  it('gets one plain line about it where nothing can be drawn', async () => {
    expect(await slowWork(false, 3)).toBe('Working…\n');
  });
});

it('a command that is interrupted ends with 130, and with 143 if terminated', async () => {
  const fetch = (_url: string | URL | Request, init?: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      const fail = () => reject(init?.signal?.reason);
      if (init?.signal?.aborted) fail();
      else init?.signal?.addEventListener('abort', fail);
    });
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const running = start('partners list', { env: { PORTER_OPERATOR_TOKEN: 'pto_x' }, fetch });
    running.stop(signal);
    expect(await running.ended).toBe(code);
    expect(running.stdout() + running.stderr()).toBe('');
  }
});
