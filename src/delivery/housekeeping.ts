import { type Clock, databaseTime } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Database } from '../store/database.ts';
import { isOnlyLate } from '../store/database-errors.ts';
import { clearings, clearSome, type Retention } from '../store/oversight/retention.ts';

interface Housekeeping {
  db: Database;
  clock: Pick<Clock, 'databaseNow'>;
  log: Pick<Logger, 'warn'>;
  retention: Retention;
  isStopping?: () => boolean;
}

/**
 * Removes what is older than the retention time, in short transactions, so that nobody ever waits for long. One kind has its turn after the other,
 * as long as there is something of it: where the database is late with one, the others go all the same. Returns how many rows went.
 */
export async function clearAway({ db, clock, log, retention, isStopping }: Housekeeping): Promise<number> {
  let cleared = 0;
  const left = new Set(clearings);
  while (left.size > 0)
    for (const name of left) {
      if (isStopping?.()) return cleared;
      const rows = await clearSome(db, name, databaseTime(clock), retention).catch((error) => {
        if (!isOnlyLate(error)) throw error;
        log.warn({ err: error, what: name }, 'the database is late with clearing away: it is tried again');
        return 0;
      });
      cleared += rows;
      if (rows === 0) left.delete(name);
    }
  return cleared;
}
