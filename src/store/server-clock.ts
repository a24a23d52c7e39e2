import type { Clock } from '../platform/clock.ts';
import { type Database, statement } from './database.ts';

/**
 * Now, for what cannot be undone: by the clock of this node or by the database's, whichever is behind. One node whose clock is
 * a year ahead must not take everything for old.
 */
export async function cautiousNow(db: Database, clock: Clock): Promise<number> {
  return Math.min(clock.now(), clock.databaseNow() ?? (await serverNow(db)));
}

async function serverNow(db: Database): Promise<number> {
  const [row] = await statement<{ ms: number }>(
    db,
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    [],
  );
  return row?.ms ?? 0;
}
