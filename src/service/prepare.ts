import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { Outage } from '../platform/outage.ts';
import { closeDatabase, type Database, openDatabase } from '../store/database.ts';
import { reasonOf, rotated } from '../store/hosts.ts';
import { type Prepared, prepareDatabase, UnreachableDatabase } from '../store/migrate.ts';

/** A failover or a restart of PostgreSQL takes less. After this time the start fails and says why. */
const TRY_MS = 60_000;
const PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;

interface Urls {
  url: string;
  ownerUrl: string | undefined;
}

interface Surroundings {
  clock: Clock;
  log: Logger;
  /** Ends the tries: the last error is thrown at once. */
  stop: AbortSignal | undefined;
}

/**
 * Prepares the database for a start. If the database is out of reach or breaks off, tries again for a minute with growing pauses. Each try begins
 * with the next of several servers: a server that was the primary may accept connections and never commit. An error that stays, such as a wrong
 * password, is thrown at once. Returns also the URL that worked.
 */
export async function prepare(
  { url, ownerUrl }: Urls,
  seed: (db: Database) => Promise<void>,
  { clock, log, stop }: Surroundings,
): Promise<Prepared & { url: string }> {
  const begun = clock.monotonic();
  for (let tries = 0; ; tries++) {
    const tried = rotated(url, tries);
    const seedOnce = ({ role }: Prepared) => onDatabase(tried, role, seed);
    try {
      const owner = ownerUrl === undefined ? undefined : rotated(ownerUrl, tries);
      const prepared = await prepareDatabase(tried, seedOnce, owner);
      if (prepared.applied.length > 0) log.info({ applied: prepared.applied }, 'migrated');
      return { ...prepared, url: tried };
    } catch (error) {
      const isPassing = error instanceof Outage || error instanceof UnreachableDatabase;
      if (!isPassing || stop?.aborted || clock.monotonic() - begun >= TRY_MS) throw error;
      const pause = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** tries);
      log.warn({ reason: reasonOf(error), pause_ms: pause }, 'the database cannot be used yet; trying again');
      await rest(clock, pause, stop);
      if (stop?.aborted) throw error;
    }
  }
}

async function onDatabase(
  url: string,
  role: string | undefined,
  work: (db: Database) => Promise<void>,
): Promise<void> {
  const db = openDatabase({ url, connectionsMax: 2, role });
  try {
    await work(db);
    await closeDatabase(db);
  } catch (error) {
    // Connections to a server that hangs do not close, and the next try must not wait for them.
    void closeDatabase(db);
    throw error;
  }
}

async function rest(clock: Clock, milliseconds: number, stop: AbortSignal | undefined): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  stop?.addEventListener('abort', () => aborted.resolve(), { once: true });
  await Promise.race([clock.sleep(milliseconds), aborted.promise]);
}
