import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { freePort, until } from '../../support/porter-process.ts';
import {
  createDatabase,
  createUpToDateDatabase,
  OPERATOR_TOKEN,
  serviceForTests,
} from '../../support/service.ts';

/** `./porter` as its users start it. */

const ROOT = resolve(import.meta.dirname, '../../..');
const PORTER = join(ROOT, 'porter');

interface Process {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>;
}

function spawned(
  program: string,
  argv: readonly string[],
  env: Record<string, string> = {},
  cwd = temporaryFolder(),
): Process {
  const child = spawn(program, argv, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
  let isOver = false;
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => {
      isOver = true;
      resolve(code ?? signal ?? 'unknown');
    });
  });
  onTestFinished(async () => {
    if (!isOver) child.kill('SIGKILL');
    await ended;
  });
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, ended };
}

async function porter(argv: readonly string[], env?: Record<string, string>, cwd?: string) {
  const running = spawned(PORTER, argv, env, cwd);
  running.child.stdin?.end();
  return { code: await running.ended, stdout: running.stdout(), stderr: running.stderr() };
}

const { house: harness, world } = await serviceForTests();
const env: Record<string, string> = {
  PORTER_URL: harness.url,
  PORTER_KEY: world.key,
  PORTER_GROUP: world.groupId,
  PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN,
};

describe('./porter', () => {
  const help = () => porter(['--help']);

  it('runs from any folder and through a symlink', async () => {
    const folder = temporaryFolder();
    symlinkSync(PORTER, join(folder, 'link'));
    symlinkSync('link', join(folder, 'porter'));
    const linked = spawned(join(folder, 'porter'), ['--help']);
    expect(await linked.ended).toBe(0);
    expect(linked.stdout()).toBe((await help()).stdout);
    expect(linked.stderr()).toBe('');
  });

  it('runs with npx in the root of the package', async () => {
    const cache = temporaryFolder();
    const run = spawned(
      'npx',
      ['porter', '--help'],
      { npm_config_cache: cache, npm_config_offline: 'true' },
      ROOT,
    );
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.stdout()).toBe((await help()).stdout);
  });

  it('says what to do when its packages are not installed', async () => {
    const folder = temporaryFolder();
    copyFileSync(PORTER, join(folder, 'porter'));
    const bare = spawned(join(folder, 'porter'), ['--help']);
    expect(await bare.ended).toBe(1);
    expect(bare.stderr()).toContain(`(cd '${folder}' && npm ci)`);
  });

  it('gives data to stdout and the rest to stderr, with the exit code of the mistake', async () => {
    expect(await porter(['partners', 'list', '--json'], env)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^\{/),
    });
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const line of ['version', '--version'])
      expect(await porter([line])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(await porter(['lisen'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Did you mean'),
    });
    expect(await porter(['status'], { PORTER_URL: 'http://127.0.0.1:1' })).toMatchObject({
      code: 3,
      stdout: '',
    });
  });

  it('ends quietly when nobody reads on', async () => {
    const line = `'${PORTER}' --help | head -1; echo "after"`;
    const run = spawned('sh', ['-c', line]);
    expect(await run.ended).toBe(0);
    expect([run.stdout().split('\n').slice(1), run.stderr()]).toEqual([['after', ''], '']);

    const listener = spawned(PORTER, ['listen'], env);
    await until(
      () => listener.stderr(),
      () => listener.stderr().includes('Listening'),
    );
    listener.child.stdout?.destroy();
    const publish = () =>
      harness.operator('POST', '/events', {
        object: 'Appointment',
        id: 'a1',
        practice_group_id: env.PORTER_GROUP,
        event: 'appointment.confirmed',
      });
    // The first write may still fit into the pipe.
    await publish();
    await publish();
    expect(await listener.ended).toBe(141);
    expect(listener.stderr()).not.toMatch(/EPIPE|Error/);
  });

  it('goes on when nobody reads its notes any more', async () => {
    const folder = temporaryFolder();
    const event = (at: number) => ({
      object: 'Appointment',
      id: `epipe_${at}`,
      practice_group_id: env.PORTER_GROUP,
      event: 'appointment.confirmed',
    });
    writeFileSync(
      join(folder, 'events.json'),
      JSON.stringify(Array.from({ length: 2_001 }, (_, at) => event(at))),
    );
    const run = spawned(PORTER, ['events', 'publish', 'events.json', '--again', '--json'], env, folder);
    run.child.stderr?.destroy();
    expect(await run.ended).toBe(0);
    expect(JSON.parse(run.stdout()).event_ids).toHaveLength(2_001);
  });

  it('ends with 130 at Ctrl-C, and with 143 at SIGTERM', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const listener = spawned(PORTER, ['listen'], env);
      await until(
        () => listener.stderr(),
        () => listener.stderr().includes('Listening'),
      );
      listener.child.kill(signal);
      expect(await listener.ended).toBe(code);
    }
  });
});

describe('porter in a terminal', () => {
  /** `script` gives the command a terminal of its own. */
  const inTerminal = (line: string, extra: Record<string, string> = {}) =>
    spawned('script', ['-qec', `'${PORTER}' ${line}`, '/dev/null'], { TERM: 'xterm', ...extra });

  it('has colours, and none with NO_COLOR', async () => {
    const coloured = inTerminal('--help');
    expect(await coloured.ended).toBe(0);
    expect(coloured.stdout()).toContain('\x1b[1m');
    const plain = inTerminal('--help', { NO_COLOR: '1' });
    await plain.ended;
    expect(plain.stdout()).not.toContain('\x1b');
  });

  it('asks for a key without showing it', async () => {
    const key = formatKey('staging', 'c'.repeat(32));
    const config = temporaryFolder();
    const run = inTerminal('profiles add mine', { XDG_CONFIG_HOME: config });
    await until(
      () => run.stdout(),
      () => run.stdout().includes('API key (not shown): '),
    );
    run.child.stdin?.write(`${key}\r`);
    expect(await run.ended).toBe(0);
    expect(run.stdout()).not.toContain(key);
    expect(JSON.parse(readFileSync(join(config, 'porter/profiles.json'), 'utf8')).profiles.mine.key).toBe(
      key,
    );
  });

  it.each([
    ['Ctrl-C', '\x03', 130],
    ['Ctrl-D', '\x04', 2],
  ])('lets go of the question at %s, with nothing kept', async (_what, typed, code) => {
    const config = temporaryFolder();
    const run = inTerminal('profiles add mine', { XDG_CONFIG_HOME: config });
    await until(
      () => run.stdout(),
      () => run.stdout().includes('API key (not shown): '),
    );
    run.child.stdin?.write(typed);
    expect(await run.ended).toBe(code);
    expect(run.stdout()).not.toMatch(/ at .*:\d+|has failed/);
    expect(() => readFileSync(join(config, 'porter/profiles.json'))).toThrow('ENOENT');
  });
});

describe('porter serve and migrate', () => {
  it('migrate says what it applied, then that there is nothing to do', async () => {
    const settings = { DATABASE_URL: await createDatabase() };
    expect(await porter(['migrate'], settings)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Applied 0001_baseline\.sql/),
    });
    expect(await porter(['migrate', '--json'], settings)).toMatchObject({
      code: 0,
      stdout: '{\n  "applied": []\n}\n',
    });
  });

  it('migrate works on the embedded database, and says why it cannot', async () => {
    const folder = temporaryFolder();
    const first = await porter(['migrate'], { PORTER_DATA_DIR: 'data' }, folder);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('Applied') });
    expect(await porter(['migrate'], { DATABASE_URL: 'postgres://127.0.0.1:1/x' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Nothing was migrated\. PostgreSQL at .* cannot be reached/),
    });
    expect(await porter(['migrate'], { DATABASE_URL: 'x' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The configuration is not usable:\nDATABASE_URL'),
    });
  });

  it('serve is the service with its demo world, which the other commands find by themselves', async () => {
    const folder = temporaryFolder();
    const port = String(await freePort());
    const settings = { PORTER_PORT: port, DATABASE_URL: await createUpToDateDatabase() };
    const service = spawned(PORTER, ['serve'], settings, folder);
    await until(
      () => service.stderr(),
      () => service.stderr().includes('listens on'),
    );
    const trigger = await porter(['trigger', 'appointment.confirmed', '--json'], {}, folder);
    expect(trigger).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        `Using the demo world: http://127.0.0.1:${port}, practice group riverside-surgery.\n`,
      ),
    });
    expect(JSON.parse(trigger.stdout)).toEqual({ event_id: expect.stringMatching(/^evt_/) });
    service.child.kill('SIGINT');
    expect(await service.ended).toBe(0);
    expect(
      service
        .stdout()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(expect.arrayContaining(['stopping', 'stopped']));
  });

  it('serve ends with 1 and says what is wrong with its settings', async () => {
    expect(await porter(['serve'], { PORTER_PORT: 'http' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Porter cannot start. The configuration is not usable:\nPORTER_PORT'),
    });
  });
});
