/** Folders, services in other processes and rows, for the tests that start and kill PostgreSQL servers of their own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { commandLine } from '../../src/platform/postgres/processes.ts';
import { afterFile, afterwards } from './afterwards.ts';
import { removeDataDir } from './clusters.ts';
import { scratch } from './scratch.ts';

/** A path below a folder that only we may enter: the hard case when we are root and PostgreSQL is not. */
export function newDataDir(): string {
  const parent = mkdtempSync(join(scratch, 'porter-embedded-'));
  chmodSync(parent, 0o700);
  const dataDir = join(parent, '.porter');
  afterwards(() => removeDataDir(dataDir, parent));
  return dataDir;
}

let usedFolder: string | undefined;

/** A data folder with a kept row, stopped properly. A copy: initdb takes 0.6 s each time, `cp` 0.05 s. */
export async function usedDataDir(): Promise<string> {
  if (usedFolder === undefined) {
    const folder = mkdtempSync(join(scratch, 'porter-embedded-'));
    usedFolder = folder;
    afterFile(() => {
      rmSync(folder, { recursive: true, force: true });
      usedFolder = undefined;
    });
    const postgres = await startEmbeddedPostgres({ dataDir: usedFolder, log: () => {} });
    await writeRow(postgres.url);
    await postgres.stop();
  }
  const dataDir = newDataDir();
  execFileSync('cp', ['-a', usedFolder, dataDir]);
  return dataDir;
}

export async function start(
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {}, settings });
  afterwards(() => postgres.stop());
  return postgres;
}

export interface Service {
  process: ChildProcess;
  /** Its PostgreSQL's url; rejects with the reason when it could not start. */
  url: Promise<string>;
}

const childScript = fileURLToPath(import.meta.resolve('./embedded-postgres-child.ts'));

export function startInAnotherProcess(dataDir: string): Service {
  const child = spawn(process.execPath, [childScript, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  afterwards(() => kill(child));
  const url = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const report = JSON.parse(line) as { url: string } | { error: string };
      if ('url' in report) return report.url;
      throw new Error(report.error);
    }
    throw new Error('ended without a word');
  })();
  url.catch(() => {}); // tests that kill it early do not ask
  return { process: child, url };
}

/** What the kernel does to a service that is out of memory. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export async function killPostmaster(dataDir: string): Promise<void> {
  const pid = postmasterPid(dataDir);
  process.kill(pid, 'SIGKILL');
  await until('the postmaster is dead', () => !isAlive(pid));
}

export function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
}

export function serverLog(dataDir: string): string {
  const folder = join(dataDir, 'postgres/log');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

export function isAlive(pid: number): boolean {
  return commandLine(pid).length > 0;
}

export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until: ${what}`);
    await sleep(10);
  }
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // the query fails as well
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

export const keptRow = [{ word: 'still here' }];

/** Commits a row, to be found again after whatever happens next. */
export async function writeRow(url: string): Promise<void> {
  await query(url, 'create table kept (word text)');
  await query(url, "insert into kept values ('still here')");
}

export function readRow(url: string): Promise<Record<string, unknown>[]> {
  return query(url, 'select word from kept');
}

/** For a server that is about to come back. */
export async function untilRowIsBack(url: string): Promise<void> {
  await until('the row can be read', async () => {
    const rows = await readRow(url).catch(() => []);
    return rows.length === 1;
  });
}
