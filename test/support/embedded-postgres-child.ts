/**
 * A service reduced to its PostgreSQL, for tests that kill it: starts on the folder given, writes one line of JSON
 * ({url} or {error}) and waits for SIGTERM, at which it stops properly.
 */
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';

const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error('usage: embedded-postgres-child.ts <dataDir>');

try {
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  const keepAlive = setInterval(() => {}, 60_000);
  process.once('SIGTERM', async () => {
    await postgres.stop();
    clearInterval(keepAlive);
  });
  process.stdout.write(`${JSON.stringify({ url: postgres.url })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`);
}
