import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded.ts';
import type { Pace } from './latency.ts';
import { undisturbed } from './measure.ts';

/** Of 16 MB each: nearly as many as `min_wal_size` keeps. */
const WAL_SEGMENTS = 60;

/** A database server and a receiver, for what is measured from publishing to receipt. */
export async function openPaceRig() {
  const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    log: () => {},
    settings: {
      max_connections: '200',
      shared_preload_libraries: 'pg_stat_statements',
      min_wal_size: '1GB',
      max_wal_size: '2GB',
    },
  });
  await makeWalSegments(postgres.adminUrl);
  const receiver = spawn(process.execPath, ['bench/receiver.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(receiver.stdout, 'data');
  const origin = `http://127.0.0.1:${Number(port)}`;

  async function inFreshDatabase(measure: (url: string, origin: string) => Promise<Pace>): Promise<Pace> {
    const admin = new pg.Client({ connectionString: postgres.adminUrl });
    await admin.connect();
    await admin.query('CREATE DATABASE pace');
    const url = new URL(postgres.adminUrl);
    url.pathname = 'pace';
    const inside = new pg.Client({ connectionString: url.href });
    await inside.connect();
    await inside.query('CREATE EXTENSION pg_stat_statements');
    await inside.end();
    try {
      return await measure(url.href, origin);
    } finally {
      // Or the server goes on to tidy up in each of them once a minute, while the next is measured.
      await admin.query('DROP DATABASE pace WITH (FORCE)');
      await admin.end();
    }
  }

  return {
    measure: (work: (url: string, origin: string) => Promise<Pace>) =>
      undisturbed(() => inFreshDatabase(work)),
    async close(): Promise<void> {
      receiver.kill('SIGKILL');
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A server that has been up for a while uses the files of its write-ahead log again. A new one makes them one by one, and for each of them everybody waits
 * 30 to 40 ms here: the p99 would tell how much is written, and nothing else.
 */
async function makeWalSegments(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  for (let segment = 0; segment < WAL_SEGMENTS; segment++) {
    await admin.query(
      "SELECT pg_logical_emit_message(true, 'bench', 'one record, so that there is one to switch after')",
    );
    await admin.query('SELECT pg_switch_wal()');
  }
  await admin.query('CHECKPOINT');
  await admin.end();
}
