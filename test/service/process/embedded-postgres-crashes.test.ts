import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { afterwards } from '../../support/afterwards.ts';
import { processesOf } from '../../support/clusters.ts';
import {
  isAlive,
  keptRow,
  kill,
  killPostmaster,
  newDataDir,
  postmasterPid,
  query,
  readRow,
  serverLog,
  start,
  startInAnotherProcess,
  until,
  untilRowIsBack,
  usedDataDir,
  writeRow,
} from '../../support/embedded-postgres.ts';

describe('the service was killed', () => {
  it('adopts the PostgreSQL that still runs, and stops it in the end', async () => {
    const dataDir = await usedDataDir();
    const service = startInAnotherProcess(dataDir);
    const urlBefore = await service.url;
    await query(urlBefore, "update kept set word = 'committed just before'");
    await kill(service.process);
    const pid = postmasterPid(dataDir);
    expect(isAlive(pid)).toBe(true);

    const postgres = await start(dataDir);
    expect(postmasterPid(dataDir)).toBe(pid);
    expect(postgres.url).toBe(urlBefore);
    expect(await readRow(postgres.url)).toEqual([{ word: 'committed just before' }]);
    await postgres.stop();
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('copes with a PostgreSQL that was just starting', async () => {
    const dataDir = await usedDataDir();
    const service = startInAnotherProcess(dataDir);
    await until('there is a server process', () => processesOf(dataDir).length > 0);
    await kill(service.process);
    expect(await readRow((await start(dataDir)).url)).toEqual(keptRow);
  });

  it('waits for a PostgreSQL that is shutting down', async () => {
    const dataDir = await usedDataDir();
    const service = startInAnotherProcess(dataDir);
    // A smart shutdown waits for this session, so the server stays in `stopping` until we let go.
    const session = new pg.Client({ connectionString: await service.url });
    session.on('error', () => {});
    await session.connect();
    await kill(service.process);
    const pid = postmasterPid(dataDir);
    process.kill(pid, 'SIGTERM');
    await until('it is stopping', () =>
      readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').includes('stopping'),
    );
    const starting = start(dataDir);
    await until('the start has the folder', () => existsSync(join(dataDir, 'lock.pid')));
    await session.end();
    expect(await readRow((await starting).url)).toEqual(keptRow);
    expect(isAlive(pid)).toBe(false);
  });
});

describe('PostgreSQL was killed', () => {
  it('starts it again behind the same url, also while one of its old processes is busy', async () => {
    const dataDir = await usedDataDir();
    const { url } = await start(dataDir);
    // It keeps a processor busy and so does not notice that the postmaster is dead.
    const busy = 'select count(*) from generate_series(1, 1000000000000)';
    const ended = query(url, busy).catch((error: Error) => error);
    await until('the query runs', async () => {
      return (await query(url, `select from pg_stat_activity where query = '${busy}'`)).length === 1;
    });
    await killPostmaster(dataDir);
    await untilRowIsBack(url);
    expect(await ended).toBeInstanceOf(Error);
    // The second server is looked after like the first.
    await killPostmaster(dataDir);
    await untilRowIsBack(url);
  });

  it('starts it again when it was only adopted', async () => {
    const dataDir = await usedDataDir();
    const service = startInAnotherProcess(dataDir);
    await service.url;
    await kill(service.process);
    const { url } = await start(dataDir);
    await killPostmaster(dataDir);
    await untilRowIsBack(url);
  });

  it('gets the port back from a program that took it meanwhile, once that one leaves', async () => {
    const dataDir = await usedDataDir();
    const { url } = await start(dataDir);
    const intruder = createServer((socket) => socket.destroy());
    afterwards(() => void intruder.close());
    const tookPort = () =>
      new Promise<boolean>((resolve) => {
        intruder.once('error', () => resolve(false));
        intruder.listen(Number(new URL(url).port), '127.0.0.1', () => resolve(true));
      });
    await until('the intruder was faster', async () => {
      await killPostmaster(dataDir).catch(() => {});
      return tookPort();
    });
    await until('a start failed', () => serverLog(dataDir).includes('Address already in use'));
    intruder.close();
    await untilRowIsBack(url);
  });

  it('can be stopped while it tries in vain to start it again', async () => {
    const dataDir = await usedDataDir();
    const { stop } = await start(dataDir);
    writeFileSync(join(dataDir, 'postgres/postgresql.conf'), 'nonsense');
    await killPostmaster(dataDir);
    await until('a start failed', () =>
      readFileSync(join(dataDir, 'postgres-start.log'), 'utf8').includes('syntax error'),
    );
    await stop();
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('starts on a folder where both were killed and the old pid now belongs to another program', async () => {
    const dataDir = await usedDataDir();
    const service = startInAnotherProcess(dataDir);
    await service.url;
    await kill(service.process);
    await killPostmaster(dataDir);

    // The same user as the server's: PostgreSQL itself would refuse to start next to it.
    const { uid, gid } = statSync(join(dataDir, 'postgres'));
    const stranger = spawn('sleep', ['600'], process.getuid?.() === 0 ? { uid, gid } : {});
    afterwards(() => kill(stranger));
    const pidFile = join(dataDir, 'postgres/postmaster.pid');
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, String(stranger.pid)));

    expect(await readRow((await start(dataDir)).url)).toEqual(keptRow);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });
});

describe('the first start was interrupted', () => {
  it('begins again when killed in the middle of initdb', async () => {
    const dataDir = newDataDir();
    const service = startInAnotherProcess(dataDir);
    await until('initdb has written something', () => {
      if (!existsSync(dataDir)) return false;
      const draft = readdirSync(dataDir).find((name) => /^postgres\.draft-\w+$/.test(name));
      return draft !== undefined && existsSync(join(dataDir, draft, 'base/1'));
    });
    await kill(service.process);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);

    await writeRow((await start(dataDir)).url);
    expect(readdirSync(dataDir).filter((name) => name.includes('draft'))).toEqual([]);
  });

  it('goes on when killed between initdb and the first login', async () => {
    const dataDir = newDataDir();
    const service = startInAnotherProcess(dataDir);
    await until('initdb is complete', () => existsSync(join(dataDir, 'postgres')));
    await kill(service.process);
    await writeRow((await start(dataDir)).url);
  });

  it('makes up for the role, the database or the password that is missing', async () => {
    const dataDir = await usedDataDir();
    const first = await start(dataDir);
    await first.stop();
    rmSync(join(dataDir, 'porter.password'));
    const second = await start(dataDir);
    expect(new URL(second.url).password).not.toBe(new URL(first.url).password);
    expect(await readRow(second.url)).toEqual(keptRow);

    await query(second.adminUrl, 'drop database porter');
    await second.stop();
    const third = await start(dataDir);
    await query(third.adminUrl, 'drop database porter');
    await query(third.adminUrl, 'drop role porter');
    await third.stop();
    await writeRow((await start(dataDir)).url);
  });
});
