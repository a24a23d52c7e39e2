import { type Clock, systemClock } from '../platform/clock.ts';
import { type Database, statement } from './database.ts';

/**
 * Now, for what cannot be undone: by the clock of this node or by PostgreSQL's, whichever is behind. One node whose clock is a
 * year ahead must not take everything for old. A test brings a clock of its own, and that alone counts.
 */
export async function cautiousNow(db: Database, clock: Clock): Promise<number> {
  if (clock !== systemClock) return clock.now();
  const [row] = await statement<{ ms: number }>(
    db,
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    [],
  );
  return Math.min(clock.now(), row?.ms ?? 0);
}
