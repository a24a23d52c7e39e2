import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Pace } from './latency.ts';
import { undisturbed } from './measure.ts';
import { startUsedPostgres } from './used-postgres.ts';

/** A database server and a receiver, for what is measured from publishing to receipt. */
export async function openPaceRig() {
  const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
  const postgres = await startUsedPostgres(folder, { shared_preload_libraries: 'pg_stat_statements' });
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
