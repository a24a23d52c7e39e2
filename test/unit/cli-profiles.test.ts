import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect } from '../../src/cli/connection.ts';
import { profilePath } from '../../src/cli/profiles.ts';
import type { World } from '../../src/cli/world.ts';
import { formatKey } from '../../src/domain/api-key.ts';
import { porter, temporaryFolder } from '../support/cli.ts';

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
    await porter('profiles add a', { cwd, env: { PORTER_KEY: KEY } });
    await porter('profiles add b', { cwd, env: { PORTER_KEY: KEY }, stdin: OTHER_KEY });
    expect(read().profiles.b.key).toBe(OTHER_KEY);
    const asked: string[] = [];
    const askHidden = async (question: string) => {
      asked.push(question);
      return TOKEN;
    };
    await porter('profiles add a --operator', { cwd, terminal: true, askHidden });
    expect(asked).toEqual(['operator token (not shown): ']);
    expect(read().profiles.a).toEqual({ url: 'http://127.0.0.1:8080', key: KEY, operator_token: TOKEN });
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

  it('says what to do about a file that is not JSON', async () => {
    const { cwd, path } = someone();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '{', { mode: 0o600 });
    expect(await porter('profiles list', { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not JSON'),
    });
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

  function world({ profiles = false, demo = false, env = {} }): World {
    const { cwd, path } = someone();
    if (profiles) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, JSON.stringify(file), { mode: 0o600 });
    }
    if (demo) {
      mkdirSync(join(cwd, '.porter'));
      writeFileSync(join(cwd, '.porter', 'demo-key'), `${KEY}\n`);
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
    expect(await connect(theirs, flags)).toEqual({ ...expected, demo: expected.key === KEY });
  });
});
