import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect, operatorHeaders, partnerHeaders } from '../../src/cli/connection.ts';
import { profilePath, writeProfiles } from '../../src/cli/profiles.ts';
import type { World } from '../../src/cli/world.ts';
import { formatKey } from '../../src/domain/access/api-key.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { porter } from '../support/cli.ts';

const KEY = formatKey('staging', 'a'.repeat(32));
const OTHER_KEY = formatKey('production', 'b'.repeat(32));
const TOKEN = 'pto_0123456789012345678901234567890123456789';

function someone() {
  const cwd = temporaryFolder();
  const path = profilePath({ env: {}, home: cwd });
  return {
    cwd,
    path,
    read: () => JSON.parse(readFileSync(path, 'utf8')),
    mode: (of: string) => statSync(of).mode & 0o777,
  };
}

describe('profiles', () => {
  it('profiles add keeps a key from stdin where only its owner can read it', async () => {
    const { cwd, path, read, mode } = someone();
    const line = 'profiles add staging --url https://staging.example/ --group riverside-surgery';
    const { code, stdout, stderr } = await porter(line, { cwd, stdin: `${KEY}\n` });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(KEY);
    expect(stdout).toContain(`ptr_test_…${KEY.slice(-4)}`);
    expect(read()).toEqual({
      current: 'staging',
      profiles: { staging: { url: 'https://staging.example', key: KEY, group: 'riverside-surgery' } },
    });
    expect([mode(path), mode(dirname(path))]).toEqual([0o600, 0o700]);
    expect(readdirSync(dirname(path))).toEqual(['profiles.json']);
  });

  it('profiles add takes a key from the environment, or asks without showing it', async () => {
    const { cwd, read } = someone();
    async function* open() {
      yield* await new Promise<Uint8Array[]>(() => {});
    }
    const { stderr } = await porter('profiles add a', { cwd, env: { PORTER_KEY: KEY }, stdin: open() });
    expect(stderr).toBe('Taking the API key from PORTER_KEY.\n');
    const asked: string[] = [];
    const askHidden = async (question: string) => {
      asked.push(question);
      return TOKEN;
    };
    await porter('profiles add a --operator', { cwd, terminal: true, askHidden });
    expect(asked).toEqual(['operator token (not shown): ']);
    expect(read().profiles.a).toEqual({ url: 'http://127.0.0.1:8080', key: KEY, operator_token: TOKEN });
  });

  it('profiles add takes address and practice group from the environment as well, for a new profile', async () => {
    const { cwd, read } = someone();
    const env = { PORTER_KEY: KEY, PORTER_URL: 'https://env.example/', PORTER_GROUP: 'group-env' };
    const { stderr } = await porter('profiles add a', { cwd, env });
    expect(stderr).toBe(
      'Taking the address from PORTER_URL.\nTaking the practice group from PORTER_GROUP.\nTaking the API key from PORTER_KEY.\n',
    );
    const kept = { url: 'https://env.example', key: KEY, group: 'group-env' };
    expect(read().profiles.a).toEqual(kept);

    await porter('profiles add b --url https://flag.example --group group-flag', { cwd, env });
    expect(read().profiles.b).toEqual({ url: 'https://flag.example', key: KEY, group: 'group-flag' });
    const other = {
      PORTER_URL: 'https://other.example',
      PORTER_GROUP: 'other',
      PORTER_OPERATOR_TOKEN: TOKEN,
    };
    await porter('profiles add a --operator', { cwd, env: other });
    expect(read().profiles.a).toEqual({ ...kept, operator_token: TOKEN });
  });

  it('profiles add leaves the other secret behind when a profile moves to another address', async () => {
    const { cwd, read } = someone();
    const env = { PORTER_KEY: KEY, PORTER_OPERATOR_TOKEN: TOKEN };
    await porter('profiles add a --url https://one.example --group surgery', { cwd, env });
    await porter('profiles add a --url https://one.example/ --operator', { cwd, env });
    expect(read().profiles.a).toMatchObject({ key: KEY, operator_token: TOKEN });

    const moved = await porter('profiles add a --url https://two.example', { cwd, env });
    expect(moved.stderr).toContain(
      'The operator token of this profile was for https://one.example and is forgotten.',
    );
    expect(read().profiles.a).toEqual({ url: 'https://two.example', key: KEY, group: 'surgery' });
    const back = await porter('profiles add a --url https://one.example --operator', { cwd, env });
    expect(back.stderr).toContain(
      'The API key of this profile was for https://two.example and is forgotten.',
    );
    expect(read().profiles.a).toEqual({
      url: 'https://one.example',
      operator_token: TOKEN,
      group: 'surgery',
    });
    const alone = await porter('profiles add a --url https://two.example --operator', { cwd, env });
    expect(alone.stderr).not.toContain('forgotten');
  });

  it.each([
    ['profiles add a', `${KEY.slice(0, -1)}x`, /not a whole API key/, 1],
    ['profiles add a', TOKEN, /not a whole API key/, 1],
    ['profiles add a --operator', KEY, /not a whole operator token/, 1],
    ['profiles add a', ' ', /There is no API key/, 2],
  ])('%s refuses what cannot be one, without repeating it', async (line, stdin, says, expected) => {
    const { code, stderr } = await porter(line, { stdin });
    expect(stderr).toMatch(says);
    if (stdin.trim()) expect(stderr).not.toContain(stdin);
    expect(code).toBe(expected);
  });

  it('profiles list, use and remove', async () => {
    const { cwd } = someone();
    const list = async () => (await porter('profiles list --json', { cwd })).json.data;
    expect((await porter('profiles list', { cwd })).stderr).toContain('There are no profiles');
    await porter('profiles add a --group g', { cwd, stdin: KEY });
    await porter('profiles add b', { cwd, stdin: OTHER_KEY });
    expect(await list()).toEqual([
      {
        name: 'a',
        in_use: true,
        url: 'http://127.0.0.1:8080',
        group: 'g',
        key: `ptr_test_…${KEY.slice(-4)}`,
        operator_token: null,
      },
      {
        name: 'b',
        in_use: false,
        url: 'http://127.0.0.1:8080',
        group: null,
        key: `ptr_live_…${OTHER_KEY.slice(-4)}`,
        operator_token: null,
      },
    ]);
    expect((await porter('profiles use b', { cwd })).stdout).toBe('Using profile b.\n');
    expect((await list())[1].in_use).toBe(true);
    const inUse = async () => (await list()).filter((one: { in_use: boolean }) => one.in_use);
    expect((await porter('profiles use --none --json', { cwd })).json).toEqual({ in_use: null });
    expect(await inUse()).toEqual([]);
    for (const line of ['profiles use', 'profiles use a --none'])
      expect(await porter(line, { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Give either its name or --none.'),
      });
    await porter('profiles use b', { cwd });
    expect((await porter('profiles remove b', { cwd })).code).toBe(0);
    expect(
      (await list()).map(({ name, in_use }: { name: string; in_use: boolean }) => [name, in_use]),
    ).toEqual([['a', false]]);
    expect(await porter('profiles use b', { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no profile "b"'),
    });
  });

  it('closes a file that others can read, and says so', async () => {
    const { cwd, path, mode } = someone();
    await porter('profiles add a', { cwd, stdin: KEY });
    chmodSync(path, 0o644);
    const { stderr, stdout } = await porter('profiles list', { cwd });
    expect(stderr).toContain('could be read by others');
    expect(stdout).not.toContain(KEY);
    expect(mode(path)).toBe(0o600);
    expect((await porter('profiles list', { cwd })).stderr).toBe('');
  });

  it.each([
    '{',
    'null',
    '[]',
    '{"profiles":null}',
    '{"profiles":{"a":null}}',
    '{"profiles":{"a":{"url":1}}}',
  ])('says what to do about a file with %s', async (content) => {
    const { cwd, path } = someone();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode: 0o600 });
    expect(await porter('profiles list', { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Error: .* is not JSON, or does not hold profiles\.\n {2}Mend it/),
    });
  });

  it('says so about a folder in the place of the file, and leaves it alone', async () => {
    const { cwd, path, mode } = someone();
    mkdirSync(path, { recursive: true, mode: 0o755 });
    expect(await porter('profiles list', { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Error: .* cannot be read \(it is not a file\)/),
    });
    expect(mode(path)).toBe(0o755);
  });

  it('does not follow a link, nor close what it leads to', async () => {
    const { cwd, path, mode } = someone();
    const target = join(cwd, 'target.json');
    writeFileSync(target, '{}');
    chmodSync(target, 0o644);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
    expect(await porter('profiles list', { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be read \(it is a link\)/),
    });
    expect(mode(target)).toBe(0o644);
  });

  it('closes a folder that others can read, but not what a link leads to', async () => {
    const { cwd, path, mode } = someone();
    mkdirSync(dirname(path), { recursive: true });
    chmodSync(dirname(path), 0o755);
    await porter('profiles add a', { cwd, stdin: KEY });
    expect(mode(dirname(path))).toBe(0o700);

    const other = someone();
    const target = join(other.cwd, 'target');
    mkdirSync(target);
    chmodSync(target, 0o755);
    mkdirSync(dirname(dirname(other.path)));
    symlinkSync(target, dirname(other.path));
    expect((await porter('profiles add a', { cwd: other.cwd, stdin: KEY })).code).toBe(0);
    expect([mode(target), mode(join(target, 'profiles.json'))]).toEqual([0o755, 0o600]);
  });

  it('leaves no draft behind when it cannot write', async () => {
    const { cwd, path } = someone();
    mkdirSync(path, { recursive: true });
    await expect(writeProfiles({ env: {}, home: cwd } as World, { profiles: {} })).rejects.toThrow(
      /profiles\.json cannot be written \(\w+\)/,
    );
    expect(readdirSync(dirname(path))).toEqual(['profiles.json']);
  });
});

describe('what a command calls with', () => {
  const file = {
    current: 'a',
    profiles: {
      a: { url: 'https://a.example', key: 'key-a', group: 'group-a', operator_token: 'token-a' },
      b: { url: 'https://b.example', key: 'key-b' },
    },
  };

  function world({ profiles = false, demo = false, demoUrl = '', folder = '.porter', env = {} }): World {
    const { cwd, path } = someone();
    if (profiles) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, JSON.stringify(file), { mode: 0o600 });
    }
    if (demo) {
      mkdirSync(join(cwd, folder));
      writeFileSync(join(cwd, folder, 'demo-key'), `${KEY}\n`);
      if (demoUrl) writeFileSync(join(cwd, folder, 'url'), `${demoUrl}\n`);
    }
    return { cwd, home: cwd, env } as unknown as World;
  }

  const env = {
    PORTER_URL: 'https://env.example',
    PORTER_KEY: 'key-env',
    PORTER_GROUP: 'group-env',
    PORTER_OPERATOR_TOKEN: 'token-env',
  };
  const a = { url: 'https://a.example', key: 'key-a', group: 'group-a', operatorToken: 'token-a' };
  const ofEnv = {
    url: 'https://env.example',
    key: 'key-env',
    group: 'group-env',
    operatorToken: 'token-env',
  };
  const nothing = {
    url: 'http://127.0.0.1:8080',
    key: undefined,
    group: undefined,
    operatorToken: undefined,
  };

  it.each([
    ['nothing at all', {}, {}, nothing],
    ['the profile in use', { profiles: true }, {}, a],
    ['the environment before it', { profiles: true, env }, {}, ofEnv],
    [
      'a profile that is named before the environment',
      { profiles: true, env },
      { profile: 'b' },
      { url: 'https://b.example', key: 'key-b', group: undefined, operatorToken: undefined },
    ],
    [
      'flags before all',
      { profiles: true, env },
      { url: 'https://flag.example', group: 'group-flag' },
      { ...ofEnv, url: 'https://flag.example', group: 'group-flag' },
    ],
    ['the demo world', { demo: true }, {}, { ...nothing, key: KEY, group: 'riverside-surgery' }],
    [
      'the demo world also where there is a token',
      { demo: true, env: { PORTER_OPERATOR_TOKEN: 'token-env' } },
      {},
      { ...nothing, key: KEY, group: 'riverside-surgery', operatorToken: 'token-env' },
    ],
    [
      'the demo world on another port',
      { demo: true, env: { PORTER_URL: 'http://localhost:9000' } },
      { group: 'hillview-hub' },
      { ...nothing, url: 'http://localhost:9000', key: KEY, group: 'hillview-hub' },
    ],
    [
      'the demo world where it listens',
      { demo: true, demoUrl: 'http://127.0.0.1:9000' },
      {},
      { ...nothing, url: 'http://127.0.0.1:9000', key: KEY, group: 'riverside-surgery' },
    ],
    [
      'the demo world that listens everywhere',
      { demo: true, demoUrl: 'http://0.0.0.0:9000' },
      {},
      { ...nothing, url: 'http://127.0.0.1:9000', key: KEY, group: 'riverside-surgery' },
    ],
    [
      'the demo world in another folder',
      { demo: true, demoUrl: 'http://[::1]:9000', folder: 'data', env: { PORTER_DATA_DIR: 'data' } },
      {},
      { ...nothing, url: 'http://[::1]:9000', key: KEY, group: 'riverside-surgery' },
    ],
    [
      'no demo world that is elsewhere, also for a token',
      {
        demo: true,
        demoUrl: 'https://elsewhere.example',
        env: { PORTER_OPERATOR_TOKEN: 'token-env' },
      },
      {},
      { ...nothing, key: KEY, group: 'riverside-surgery', operatorToken: 'token-env' },
    ],
    [
      'no address of the demo world for another key',
      { demo: true, demoUrl: 'http://127.0.0.1:9000', env: { PORTER_KEY: 'key-env' } },
      {},
      { ...nothing, key: 'key-env' },
    ],
    [
      'no demo key for an address elsewhere',
      { demo: true, env: { PORTER_URL: 'https://env.example' } },
      {},
      { ...nothing, url: 'https://env.example' },
    ],
    ['no demo world where there is a profile', { demo: true, profiles: true }, {}, a],
    [
      'no demo world where there is a key',
      { demo: true, env: { PORTER_KEY: 'key-env' } },
      {},
      { ...nothing, key: 'key-env' },
    ],
  ])('is %s', async (_what, surroundings, flags, expected) => {
    const theirs = world(surroundings);
    expect(await connect(theirs, flags)).toMatchObject({ ...expected, demo: expected.key === KEY });
  });

  const elsewhere = { name: 'a', url: 'https://a.example' };
  it.each([
    ['--url', {}, { url: 'https://other.example' }, elsewhere],
    [
      '--url with a profile',
      {},
      { profile: 'b', url: 'https://a.example' },
      { name: 'b', url: 'https://b.example' },
    ],
    ['PORTER_URL', { PORTER_URL: 'https://other.example' }, {}, elsewhere],
    ['another port', { PORTER_URL: 'https://a.example:444' }, {}, elsewhere],
  ])('never is a key of a profile for another address, by %s', async (_what, variables, flags, profile) => {
    const theirs = world({ profiles: true, env: variables });
    const found = await connect(theirs, flags);
    expect(found).toMatchObject({ ...nothing, url: expect.any(String), elsewhere: profile });
    for (const headers of [partnerHeaders, operatorHeaders])
      expect(() => headers(found)).toThrow(`The profile ${profile.name} is for ${profile.url}`);
  });

  it('is the demo world on this machine, whatever the profile in use is for', async () => {
    const theirs = world({ profiles: true, demo: true });
    expect(await connect(theirs, { url: 'http://127.0.0.1:8080' })).toMatchObject({ key: KEY, demo: true });
  });

  it('is still a profile where the path differs', async () => {
    const theirs = world({ profiles: true });
    expect(await connect(theirs, { url: 'https://a.example/porter' })).toMatchObject({ key: 'key-a' });
  });

  it.each(['PORTER_KEY', 'PORTER_GROUP', 'PORTER_OPERATOR_TOKEN'])(
    'is no %s with a control character, which is not repeated',
    async (variable) => {
      for (const secret of ['hush\nhush', 'hush hush', 'hush\u{1f512}']) {
        const { code, stderr } = await porter('status', { env: { ...env, [variable]: secret } });
        expect(stderr).toContain('holds a character that none can have');
        expect(stderr).not.toContain('hush');
        expect(code).toBe(2);
      }
    },
  );
});
