import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { request } from 'undici';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { serve } from '../../../src/service/main.ts';
import { START_LOCK } from '../../../src/store/migrate.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { COMPILED, clusterPids, signal } from '../../support/porter-process.ts';
import {
  createDatabase,
  createUpToDateDatabase,
  makeWorld,
  OPERATOR_TOKEN,
  startHarness,
} from '../../support/service.ts';

const MAIN = new URL('../../../src/service/main.ts', import.meta.url).pathname;
const ROOT = new URL('../../..', import.meta.url).pathname;
const CERT_FILE = new URL('../../support/tls/cert.pem', import.meta.url).pathname;
const KEY_FILE = new URL('../../support/tls/key.pem', import.meta.url).pathname;

interface Run {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  /** The exit code, once everything that it wrote has been read. */
  ended: Promise<number | null>;
}

/** `node src/service/main.ts` with no settings in its environment but those given, or another command that runs it. */
function run(
  env: Record<string, string>,
  [program = process.execPath, ...args]: string[] = [process.execPath, MAIN],
  cwd?: string,
): Run & { dataDir: string } {
  const folder = mkdtempSync(join(tmpdir(), 'porter-main-'));
  const dataDir = join(folder, 'data');
  const child = spawn(program, args, {
    cwd: cwd ?? folder,
    // A shell makes a group as well: a Ctrl-C goes to all its processes.
    detached: true,
    env: {
      ...COMPILED,
      PORTER_PORT: '0',
      PORTER_PROCESSES: '1',
      PORTER_DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await once(child, 'close');
    }
    for (const pid of clusterPids(dataDir)) signal(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => (output.stdout += chunk));
  child.stderr?.on('data', (chunk) => (output.stderr += chunk));
  return { child, output, dataDir, ended: once(child, 'close').then(([code]) => code) };
}

/** What `main.ts` does, without a process of its own. */
function serveHere(env: Record<string, string>) {
  const folder = temporaryFolder();
  const output = { stdout: '', stderr: '' };
  const stop = new AbortController();
  const ended = serve({
    env: { PORTER_PORT: '0', PORTER_PROCESSES: '1', PORTER_DATA_DIR: join(folder, 'data'), ...env },
    cwd: folder,
    log: (line) => (output.stdout += line),
    say: (text) => (output.stderr += text),
    isTerminal: true,
    stop: stop.signal,
  });
  const stopped = () => {
    stop.abort('SIGTERM');
    return ended;
  };
  onTestFinished(async () => void (await stopped()));
  return { output, ended, stopped };
}

async function saidOnStderr({ child, output, ended }: Run, what: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = what.exec(output.stderr);
    if (found) return found;
    const chunk = child.stderr ? once(child.stderr, 'data') : ended;
    if ((await Promise.race([chunk.then(() => 'more'), ended.then(() => 'ended')])) === 'ended')
      throw new Error(`it ended without saying ${what}: ${output.stderr}`);
  }
}

/** A start that waits for another node, which migrates until it is told to go on. */
async function heldUp(DATABASE_URL: string) {
  const other = new pg.Client({ connectionString: DATABASE_URL });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('SELECT pg_advisory_lock($1)', [START_LOCK]);
  const started = run({ DATABASE_URL });
  const waits =
    "FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
  const waiting = () => expect.poll(async () => (await other.query(`SELECT ${waits}`)).rowCount).toBe(1);
  await waiting();
  return {
    ...started,
    waiting,
    terminate: () => other.query(`SELECT pg_terminate_backend(pid) ${waits}`),
    goOn: () => other.query('SELECT pg_advisory_unlock($1)', [START_LOCK]),
  };
}

describe('node src/service/main.ts', () => {
  it('ends with code 1 and names every problem of the configuration, without a stack trace', async () => {
    const { output, ended } = run({ PORTER_PORT: 'http', PORTER_ENVIRONMENT: 'prod', DATABASE_URL: 'x' });
    expect(await ended).toBe(1);
    expect(output.stderr).toContain('Porter cannot start. The configuration is not usable:');
    for (const name of ['PORTER_PORT', 'PORTER_ENVIRONMENT', 'DATABASE_URL'])
      expect(output.stderr).toMatch(new RegExp(`^${name}: `, 'm'));
    expect(output.stderr).not.toMatch(/^ +at /m);
    expect(output.stdout).toBe('');
  });

  it('shows the first token also when it is told to stop while it starts', async () => {
    const { child, output, ended, goOn } = await heldUp(await createUpToDateDatabase());
    child.kill('SIGTERM');
    await goOn();
    expect(await ended).toBe(0);
    expect(output.stderr).toMatch(/shown until it was used once:\n {2}pto_\w+/);
  });

  it('can be stopped while it waits for another node that migrates', async () => {
    const { child, ended } = await heldUp(await createDatabase());
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('starts although its connection is terminated while it starts', async () => {
    const started = await heldUp(await createUpToDateDatabase());
    await started.terminate();
    await expect.poll(() => started.output.stdout).toContain('the database cannot be used yet; trying again');
    await started.waiting();
    await started.goOn();
    const [, url] = await saidOnStderr(started, /listens on (\S+)/);
    expect((await request(`${url}/healthz`)).statusCode).toBe(200);
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(0);
  });

  it('goes on when nobody takes its log any more', async () => {
    const porter = run({ DATABASE_URL: await createUpToDateDatabase() });
    const [, url] = await saidOnStderr(porter, /listens on (\S+)/);
    porter.child.stdout?.destroy();
    // Each refusal is a line of the log.
    for (const _ of [1, 2]) expect((await request(`${url}/v1/practice-groups`)).statusCode).toBe(401);
    await saidOnStderr(porter, /The log cannot be written \(write EPIPE\)\. Porter goes on\./);
    expect((await request(`${url}/v1/practice-groups`)).statusCode).toBe(401);
    porter.child.kill('SIGTERM');
    expect(await porter.ended).toBe(0);
    expect(porter.output.stderr.match(/cannot be written/g)).toHaveLength(1);
  });

  it('ends with code 1 when its port is taken, and says which', async () => {
    const house = await startHarness();
    const { port } = new URL(house.url);
    const { output, ended } = run({ DATABASE_URL: await createUpToDateDatabase(), PORTER_PORT: port });
    expect(await ended).toBe(1);
    expect(output.stderr).toContain(`Porter cannot start. Port ${port} of 127.0.0.1 is taken.`);
    expect(output.stderr).not.toMatch(/^ +at /m);
  });

  it.each(['1', '2'])('makes no database when its port is taken: PORTER_PROCESSES=%s', async (count) => {
    const house = await startHarness();
    const { port } = new URL(house.url);
    const { dataDir, output, ended } = run({ PORTER_PORT: port, PORTER_PROCESSES: count });
    expect(await ended).toBe(1);
    expect(output).toEqual({
      stdout: '',
      stderr: `\nPorter cannot start. Port ${port} of 127.0.0.1 is taken. Stop the program that listens there, or set PORTER_PORT to another port.\n`,
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each(['1', '2'])(
    'says "Stopped." at a Ctrl-C while it makes the database, and the next start works: PORTER_PROCESSES=%s',
    async (count) => {
      const first = run({ PORTER_PROCESSES: count });
      await expect
        .poll(() => first.output.stdout)
        .toContain('"msg":"creating the database, which takes some seconds"');
      process.kill(-(first.child.pid ?? 0), 'SIGINT');
      expect(await first.ended).toBe(0);
      expect(first.output.stderr).toBe('Stopped.\n');

      const next = run({ PORTER_PROCESSES: count, PORTER_DATA_DIR: first.dataDir });
      const [, url] = await saidOnStderr(next, /listens on (\S+)/);
      await expect.poll(async () => (await request(`${url}/readyz`)).statusCode).toBe(200);
      next.child.kill('SIGTERM');
      expect(await next.ended).toBe(0);
    },
  );

  it('stops in order when npm start gets SIGTERM', async () => {
    const npm = run(
      { PATH: process.env.PATH ?? '', DATABASE_URL: await createDatabase() },
      ['npm', 'start'],
      ROOT,
    );
    await saidOnStderr(npm, /listens on (\S+)/);
    npm.child.kill('SIGTERM');
    expect(await npm.ended).toBe(0);
    expect(npm.output.stdout).toMatch(/"msg":"stopping".*"msg":"stopped"/s);
    expect(npm.output.stderr).toMatch(/Stopped\.\n$/);
  });

  it.each([
    [
      'PORTER_HOST',
      { PORTER_HOST: '203.0.113.9' },
      'This machine has no address 203.0.113.9. Set PORTER_HOST',
    ],
    ['PORTER_HOST', { PORTER_HOST: 'nowhere.invalid' }, 'There is no host nowhere.invalid. Set PORTER_HOST'],
    [
      'PORTER_TLS_CERT',
      { PORTER_TLS_CERT: '/nowhere', PORTER_TLS_KEY: KEY_FILE },
      'PORTER_TLS_CERT cannot be read',
    ],
    [
      'PORTER_TLS_KEY',
      { PORTER_TLS_CERT: CERT_FILE, PORTER_TLS_KEY: MAIN },
      'must be a certificate and its key',
    ],
    [
      'PORTER_DATA_DIR',
      { PORTER_DATA_DIR: MAIN, DATABASE_URL: '' },
      'there is a file in the way; set PORTER_DATA_DIR',
    ],
    [
      'PORTER_DATA_DIR',
      { PORTER_DATA_DIR: '/proc/porter', DATABASE_URL: '' },
      'be made there; set PORTER_DATA_DIR',
    ],
  ])('ends with code 1 and says what is wrong with %s: %o', async (_name, env, message) => {
    const { output, ended } = serveHere({ DATABASE_URL: await createUpToDateDatabase(), ...env });
    expect(await ended).toBe(1);
    expect(output.stderr).toContain('Porter cannot start. ');
    expect(output.stderr).toContain(message);
    expect(output.stderr).not.toMatch(/^ +at /m);
  });

  it('carries no post when it cannot start', async () => {
    const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const { groupId } = await makeWorld(house);
    const event = {
      object: 'Appointment',
      id: 'apt_1',
      practice_group_id: groupId,
      event: 'appointment.confirmed',
    };
    await house.operator('POST', '/events', event);
    const { ended } = serveHere({ DATABASE_URL: house.databaseUrl, PORTER_PORT: new URL(house.url).port });
    expect(await ended).toBe(1);
    const client = new pg.Client({ connectionString: house.databaseUrl });
    await client.connect();
    const { rows } = await client.query('SELECT ARRAY[no] = event_nos AS is_new FROM events, new_events');
    await client.end();
    expect(rows).toEqual([{ is_new: true }]);
  });

  const elsewhere = (change: (url: URL) => void): string => {
    const url = new URL(inject('postgresUrl'));
    url.password = 'hunter2-secret';
    change(url);
    return url.href;
  };

  it('ends with code 1 when the database does not know the password, and says what to do without the password', async () => {
    const { output, ended } = serveHere({ DATABASE_URL: elsewhere(() => {}) });
    expect(await ended).toBe(1);
    expect(output.stderr).toMatch(/^Porter cannot start\. PostgreSQL at /m);
    expect(output.stderr).toMatch(/refused the login .*Check user and password/);
    expect(output.stderr + output.stdout).not.toContain('hunter2');
    expect(output.stderr).not.toMatch(/^ +at /m);
  });

  it('tries again while the database is out of reach, says so without the password, and can be stopped', async () => {
    const { output, stopped } = serveHere({ DATABASE_URL: elsewhere((url) => (url.port = '1')) });
    await expect.poll(() => output.stdout).toMatch(/cannot be reached .*ECONNREFUSED.*DATABASE_URL/);
    expect(await stopped()).toBe(0);
    expect(output.stderr + output.stdout).not.toContain('hunter2');
    expect(output.stderr).not.toContain('cannot start');
  });

  it('ends with code 1 when the schema is newer than the code', async () => {
    const DATABASE_URL = await createDatabase();
    const client = new pg.Client({ connectionString: DATABASE_URL });
    await client.connect();
    await client.query(
      'CREATE TABLE schema_migrations (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())',
    );
    await client.query("INSERT INTO schema_migrations VALUES ('9999_future.sql')");
    await client.end();
    const { output, ended } = serveHere({ DATABASE_URL });
    expect(await ended).toBe(1);
    expect(output.stderr).toMatch(/^Porter cannot start\. The database has migrations .*9999_future\.sql/m);
    expect(output.stderr).not.toMatch(/^ +at /m);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('serves, and at %s stops properly with code 0', async (signal) => {
    const running = run({ DATABASE_URL: await createDatabase(), PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN });
    const [, url] = await saidOnStderr(running, /listens on (\S+)[\s\S]*x-practice-group-id/);
    const answer = await request(`${url}/operator/v1/practice-groups`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    expect(answer.statusCode).toBe(200);
    expect(await answer.body.json()).toMatchObject({ count: 2 });

    running.child.kill(signal);
    expect(await running.ended).toBe(0);
    const lines = running.output.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).toEqual([
      'migrated',
      expect.stringMatching(/^the login of the service owns its tables/),
      'request',
      'stopping',
      'stopped',
    ]);
    expect(running.output.stdout).not.toMatch(/ptr_test_[0-9A-Za-z]/);
  });

  it('shows the first operator token until it was used, on the terminal and not in the log', async () => {
    const env = {
      DATABASE_URL: await createUpToDateDatabase(),
      PORTER_MASTER_KEY: randomBytes(32).toString('base64'),
    };
    const until = (one: ReturnType<typeof serveHere>, said: RegExp) =>
      expect.poll(() => one.output.stderr).toMatch(said);
    const first = serveHere(env);
    await until(first, /x-practice-group-id/);
    const [, token = ''] = /shown until it was used once:\s+(pto_\w{40})/.exec(first.output.stderr) ?? [];
    expect(token).not.toBe('');
    expect(await first.stopped()).toBe(0);
    expect(first.output.stdout).not.toContain(token);

    const second = serveHere(env);
    await until(second, /x-practice-group-id/);
    expect(second.output.stderr).toContain(token);
    const [, url] = /listens on (\S+)/.exec(second.output.stderr) ?? [];
    const { statusCode } = await request(`${url}/operator/v1/partners`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(statusCode).toBe(200);
    expect(await second.stopped()).toBe(0);

    const third = serveHere(env);
    await until(third, /x-practice-group-id/);
    expect(third.output.stderr).not.toContain('pto_');
  });
});
