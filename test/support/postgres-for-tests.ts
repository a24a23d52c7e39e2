import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { commandLine } from '../../src/platform/postgres/processes.ts';
import { prepareDatabase } from '../../src/store/migrate.ts';
import { removeDataDir } from './clusters.ts';
import { scratch } from './scratch.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The superuser's url of the PostgreSQL that all test files share; each makes databases of its own in it. */
    postgresUrl: string;
    /** The name of a database that is up to date and empty, to be copied: making one anew takes twice as long. */
    upToDate: string;
  }
}

/** `TEST_DATABASE_URL`, a superuser's, takes the place of the embedded server: for running the tests on another version. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (process.env.TEST_DATABASE_URL) {
    await provide(project, process.env.TEST_DATABASE_URL);
    return async () => {};
  }
  await clearAfterTheKilled();
  const dataDir = mkdtempSync(join(scratch, `porter-tests-${process.pid}-`));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    settings: {
      max_connections: '200',
      // Its data is thrown away, so it need not survive a power cut; tests that crash a server start their own.
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      // Of several hundred databases it would look into ten each second.
      autovacuum: 'off',
      // Otherwise each of ten thousand connections loads it anew.
      shared_preload_libraries: 'plpgsql',
    },
  });
  await makeLoginsCheap(postgres.adminUrl);
  await provide(project, postgres.adminUrl);
  return async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** The server of a run that was killed goes on, and its databases may take up memory. */
async function clearAfterTheKilled(): Promise<void> {
  for (const name of readdirSync(scratch)) {
    const pid = Number(/^porter-tests-(\d+)-/.exec(name)?.[1]);
    const dataDir = join(scratch, name);
    if (
      pid &&
      commandLine(pid).length === 0 &&
      statSync(dataDir, { throwIfNoEntry: false })?.uid === process.getuid?.()
    )
      await removeDataDir(dataDir);
  }
}

/**
 * A password is hashed 4,096 times at each login, on both sides, to make guessing slow: nobody guesses here. And it is sent as it is, without
 * the exchange that keeps it from whoever listens. The superuser need not show one to the databases of tests, which is a tenth of what a connection costs.
 */
async function makeLoginsCheap(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('SET scram_iterations = 1');
  await client.query(`ALTER ROLE postgres PASSWORD '${new URL(adminUrl).password}'`);
  const { rows } = await client.query<{ file: string }>(`SELECT current_setting('hba_file') AS file`);
  const rules = "('host /^t_ postgres all trust'), ('host all all all password')";
  await client.query(`COPY (VALUES ${rules}) TO '${rows[0]?.file}'`);
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}

async function provide(project: TestProject, postgresUrl: string): Promise<void> {
  const upToDate = `up_to_date_${randomBytes(8).toString('hex')}`;
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${upToDate}`);
  await client.end();
  const url = new URL(postgresUrl);
  url.pathname = upToDate;
  await prepareDatabase(url.href, async () => {});
  project.provide('postgresUrl', postgresUrl);
  project.provide('upToDate', upToDate);
}
