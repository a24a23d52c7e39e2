import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded.ts';

/** Of 16 MB each: nearly as many as `min_wal_size` keeps. */
const WAL_SEGMENTS = 60;

/**
 * A server as it is after it has been up for a while: it uses the files of its write-ahead log again. A new one makes them one by one, and for each
 * of them everybody waits 30 to 40 ms here: a tail would tell how much is written, and nothing else.
 */
export async function startUsedPostgres(folder: string, settings: Record<string, string> = {}) {
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    log: () => {},
    settings: { max_connections: '300', min_wal_size: '1GB', max_wal_size: '2GB', ...settings },
  });
  const admin = new pg.Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  for (let segment = 0; segment < WAL_SEGMENTS; segment++) {
    await admin.query(
      "SELECT pg_logical_emit_message(true, 'bench', 'one record, so that there is one to switch after')",
    );
    await admin.query('SELECT pg_switch_wal()');
  }
  await admin.query('CHECKPOINT');
  await admin.end();
  return postgres;
}
