import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterwards, temporaryFolder } from './afterwards.ts';
import { freePort, signal, until } from './porter-process.ts';

/**
 * A primary and its standby, made with PostgreSQL's own programs: the embedded package has no pg_basebackup. They run as `postgres` when the
 * tests run as root.
 */

const DEBIAN = '/usr/lib/postgresql';
const PASSWORD = 'replicated';

/** Whoever asks for this run and lacks the programs is told so: a failover that nobody tried is none that works. */
function programs(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'pg_basebackup')));
  if (found) return found;
  throw new Error(
    `The failover cannot be tried: there is no pg_basebackup below ${DEBIAN}. Install PostgreSQL's own programs (apt-get install postgresql), and run npm run test:faults again.`,
  );
}

function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const entry = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (!entry)
    throw new Error('PostgreSQL does not run as root, and there is no account postgres to run it as.');
  return { uid: Number(entry[1]), gid: Number(entry[2]) };
}

class ReplicaServer {
  readonly port: number;
  readonly #folder: string;
  readonly #run: (program: string, ...args: string[]) => void;

  constructor(port: number, folder: string, run: (program: string, ...args: string[]) => void) {
    this.port = port;
    this.#folder = folder;
    this.#run = run;
  }

  start(): void {
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: "''",
      fsync: 'off',
      wal_keep_size: '256MB',
      max_connections: 100,
    };
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
    this.#run(
      'pg_ctl',
      '-D',
      this.#folder,
      '-l',
      `${this.#folder}.log`,
      '-w',
      '-s',
      '-o',
      options.join(' '),
      'start',
    );
  }

  /** At once and without a word, as when a machine loses its power. */
  async kill(): Promise<void> {
    const pids = this.#processes();
    for (const pid of pids) signal(pid, 'SIGKILL');
    await until('the server is dead', () => pids.every((pid) => !existsSync(`/proc/${pid}`)));
  }

  async query(sql: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url('postgres') });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  url(database: string): string {
    return `postgres://postgres:${PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }

  #processes(): number[] {
    const file = join(this.#folder, 'postmaster.pid');
    if (!existsSync(file)) return [];
    const postmaster = Number.parseInt(readFileSync(file, 'utf8'), 10);
    const children = existsSync(`/proc/${postmaster}`)
      ? readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
          .split(' ')
          .filter(Boolean)
          .map(Number)
      : [];
    return [postmaster, ...children].filter((pid) => existsSync(`/proc/${pid}`));
  }
}

export interface Replicated {
  primary: ReplicaServer;
  standby: ReplicaServer;
  /** Names both. */
  databaseUrl: string;
}

/** `synchronous`: a commit answers when the standby has it. */
export async function startReplicated({ synchronous }: { synchronous: boolean }): Promise<Replicated> {
  const bin = programs();
  const runAs = account();
  // Others must be able to enter it: the account of the server is not ours.
  const folder = join(temporaryFolder(), 'servers');
  execFileSync('chmod', ['755', join(folder, '..')]);
  mkdirSync(folder);
  if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(folder, runAs.uid, runAs.gid);
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(bin, program), args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { PGPASSWORD: PASSWORD, LC_ALL: 'C.UTF-8' },
      ...runAs,
    });
  const server = async (name: string) => {
    const made = new ReplicaServer(await freePort(), join(folder, name), run);
    afterwards(() => made.kill());
    return made;
  };

  writeFileSync(join(folder, 'password'), PASSWORD);
  const primary = await server('primary');
  run(
    'initdb',
    '-D',
    join(folder, 'primary'),
    '-U',
    'postgres',
    `--pwfile=${join(folder, 'password')}`,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  );
  primary.start();
  await primary.query('CREATE DATABASE porter');
  const standby = await server('standby');
  const from = `host=127.0.0.1 port=${primary.port} user=postgres password=${PASSWORD}`;
  run('pg_basebackup', '-D', join(folder, 'standby'), '-d', from, '-R', '-X', 'stream', '-c', 'fast');
  standby.start();
  if (synchronous)
    for (const sql of ["ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()'])
      await primary.query(sql);
  await until('the standby follows', async () => {
    const [row] = await primary.query('SELECT sync_state FROM pg_stat_replication');
    return row?.sync_state === (synchronous ? 'sync' : 'async');
  });
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
  const databaseUrl = `postgres://postgres:${PASSWORD}@${hosts}/porter?target_session_attrs=read-write`;
  return { primary, standby, databaseUrl };
}
