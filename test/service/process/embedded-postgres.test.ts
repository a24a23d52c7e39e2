import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../src/platform/postgres/processes.ts';
import { processesOf } from '../../support/clusters.ts';
import {
  isAlive,
  keptRow,
  kill,
  newDataDir,
  postmasterPid,
  query,
  readRow,
  serverLog,
  start,
  startInAnotherProcess,
  usedDataDir,
  writeRow,
} from '../../support/embedded-postgres.ts';

describe('start and stop', () => {
  it('keeps data from one start to the next, below a folder that only its owner may enter', async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    await writeRow(first.url);
    await first.stop();

    const second = await start(dataDir);
    expect(await readRow(second.url)).toEqual(keptRow);
    expect(statSync(join(dataDir, '..')).mode & 0o777).toBe(0o700);
    const owner = statSync(join(dataDir, 'postgres')).uid;
    if (process.getuid?.() === 0) expect(owner).not.toBe(0);
    else expect(owner).toBe(process.getuid?.());
  });

  it('runs as a user of its own, whom nothing else uses, and takes over what was left to nobody', async () => {
    const users = readFileSync('/etc/passwd', 'utf8');
    const isShared = (uid: number) => new RegExp(`^[^:]*:[^:]*:${uid}:`, 'm').test(users);
    const userOf = (dataDir: string) => {
      const [, uid] =
        /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${postmasterPid(dataDir)}/status`, 'utf8')) ?? [];
      return Number(uid);
    };
    const asRoot = process.getuid?.() === 0;
    const dataDir = newDataDir();
    const first = await start(dataDir);
    await writeRow(first.url);
    const user = userOf(dataDir);
    expect(isShared(user)).toBe(!asRoot);
    await first.stop();
    if (asRoot) execFileSync('chown', ['-R', 'nobody', join(dataDir, 'postgres')]);

    const second = await start(dataDir);
    expect(await readRow(second.url)).toEqual(keptRow);
    expect(userOf(dataDir)).toBe(user);
    const other = newDataDir();
    await start(other);
    expect(userOf(other) === user).toBe(!asRoot);
  });

  it('gives the service a role without special rights that owns its database', async () => {
    const { url, adminUrl } = await start(await usedDataDir());
    expect(
      await query(
        url,
        `select rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
                (select pg_get_userbyid(datdba) from pg_database where datname = current_database()) as owner
           from pg_roles where rolname = current_user`,
      ),
    ).toEqual([
      {
        rolname: 'porter',
        rolsuper: false,
        rolbypassrls: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
        owner: 'porter',
      },
    ]);
    expect(await query(adminUrl, 'select current_user as name, current_database() as database')).toEqual([
      { name: 'postgres', database: 'postgres' },
    ]);
  });

  it('listens on 127.0.0.1 only, syncs, and asks for a password', async () => {
    const { url, adminUrl } = await start(await usedDataDir());
    expect(
      await query(
        adminUrl,
        `select name, setting from pg_settings
          where name in ('listen_addresses', 'unix_socket_directories', 'fsync', 'max_connections') order by name`,
      ),
    ).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'max_connections', setting: '60' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
    expect(await query(adminUrl, 'select distinct auth_method from pg_hba_file_rules')).toEqual([
      { auth_method: 'scram-sha-256' },
    ]);
    const wrong = new URL(url);
    wrong.password = 'guess';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('keeps its passwords in files of its own, and off the command lines and the log', async () => {
    const dataDir = newDataDir();
    await start(dataDir);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    const log = serverLog(dataDir);
    for (const name of ['postgres.password', 'porter.password']) {
      const password = readFileSync(join(dataDir, name), 'utf8').trim();
      expect(password).toMatch(/^[0-9a-f]{64}$/);
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
      expect(log).not.toContain(password);
      for (const pid of processesOf(dataDir)) expect(commandLine(pid).join(' ')).not.toContain(password);
    }
  });

  it('leaves no process behind when stopped, and may be stopped twice', async () => {
    const dataDir = await usedDataDir();
    const postgres = await start(dataDir);
    expect(processesOf(dataDir).length).toBeGreaterThan(3);
    await Promise.all([postgres.stop(), postgres.stop()]);
    await postgres.stop();
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('puts PostgreSQL in a process group of its own, where Ctrl-C does not reach it', async () => {
    const dataDir = await usedDataDir();
    await start(dataDir);
    const pid = postmasterPid(dataDir);
    // After the name in brackets come state, parent and process group.
    const [, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    expect(Number(group)).toBe(pid);
  });

  it('keeps the ten newest files of the server log', async () => {
    const dataDir = await usedDataDir();
    const folder = join(dataDir, 'postgres/log');
    for (let day = 10; day < 25; day += 1)
      writeFileSync(join(folder, `postgres-202001${day}-000000.log`), '');
    await start(dataDir);
    const names = readdirSync(folder);
    expect(names).toHaveLength(10);
    expect(names).toContain('postgres-20200124-000000.log');
    expect(names).not.toContain('postgres-20200110-000000.log');
  });

  it('takes settings, and restarts a server left running with others instead of adopting it', async () => {
    const dataDir = await usedDataDir();
    const service = startInAnotherProcess(dataDir);
    await service.url;
    await kill(service.process);
    const pidBefore = postmasterPid(dataDir);

    const { url } = await start(dataDir, { max_connections: '33' });
    expect(postmasterPid(dataDir)).not.toBe(pidBefore);
    expect(isAlive(pidBefore)).toBe(false);
    expect(await query(url, 'show max_connections')).toEqual([{ max_connections: '33' }]);
    expect(await readRow(url)).toEqual(keptRow);
  });
});

describe('one service per folder', () => {
  it('refuses a second start in the same process, and does not disturb the first', async () => {
    const dataDir = await usedDataDir();
    const { url } = await start(dataDir);
    await expect(start(dataDir)).rejects.toThrow(
      `${dataDir}: another Porter (pid ${process.pid}) runs on this folder; stop it or set PORTER_DATA_DIR`,
    );
    expect(await readRow(url)).toEqual(keptRow);
    await expect(startInAnotherProcess(dataDir).url).rejects.toThrow(`another Porter (pid ${process.pid})`);
  });

  it('refuses a second start in another process, until the first has stopped', async () => {
    const dataDir = await usedDataDir();
    const service = startInAnotherProcess(dataDir);
    await service.url;
    await expect(start(dataDir)).rejects.toThrow(`another Porter (pid ${service.process.pid})`);

    const exited = once(service.process, 'exit');
    service.process.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(await readRow((await start(dataDir)).url)).toEqual(keptRow);
  });
});

describe('errors say what to do', () => {
  it('names both versions when the data is of another PostgreSQL, and lets go of the folder', async () => {
    const dataDir = await usedDataDir();
    writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '17\n');
    await expect(start(dataDir)).rejects.toThrow(
      /holds data of PostgreSQL 17, but this Porter brings PostgreSQL 18.*DATABASE_URL/,
    );
    writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '18\n');
    await start(dataDir);
  });

  it('shows what initdb wrote and where all of it is', async () => {
    const dataDir = newDataDir();
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'postgres.password'), '\0\n'); // initdb reads this as an empty password
    await expect(start(dataDir)).rejects.toThrow(
      /initdb failed in .*\.porter \(full output: .*\/initdb\.log\):\n[\s\S]*password file .* is empty/,
    );
    expect(readFileSync(join(dataDir, 'initdb.log'), 'utf8')).toContain('is empty');
  });

  it('shows what the server wrote when it does not start', async () => {
    const dataDir = await usedDataDir();
    await expect(start(dataDir, { max_connections: 'many' })).rejects.toThrow(
      /postgres-start\.log:\n[\s\S]*invalid value for parameter "max_connections": "many"/,
    );
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('names the folder that cannot be used', async () => {
    const dataDir = newDataDir();
    writeFileSync(dataDir, 'a file in the way');
    await expect(start(dataDir)).rejects.toThrow(`cannot use the data folder ${dataDir}: there is a file`);
    rmSync(dataDir);
    // Root has permission everywhere.
    if (process.getuid?.() === 0) return;
    mkdirSync(dataDir, { mode: 0o500 });
    await expect(start(dataDir)).rejects.toThrow(`cannot use the data folder ${dataDir}: no permission`);
  });

  it('asks for the superuser password file when it is lost', async () => {
    const dataDir = await usedDataDir();
    rmSync(join(dataDir, 'postgres.password'));
    await expect(start(dataDir)).rejects.toThrow(/postgres\.password is missing; restore it from a backup/);
  });
});
