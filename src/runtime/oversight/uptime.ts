import { type Clock, databaseTime } from '../../platform/clock.ts';
import type { Database } from '../../store/database.ts';
import { markUptime } from '../../store/oversight/usage.ts';

/** Thrice a minute, so that a beat that is late by a few seconds misses none. */
const BEAT_MS = 20_000;

/**
 * The heartbeat of a node that answers calls. A minute in which none could be written is one in which no node answered, or none could reach
 * the database: both are downtime. Returns how it is stopped.
 */
export function beat(db: Database, clock: Clock): () => void {
  let cancel = () => {};
  const next = () => {
    // What cannot be written is what is to be seen.
    markUptime(db, databaseTime(clock)).catch(() => {});
    cancel = clock.timer(BEAT_MS, next);
  };
  next();
  return () => cancel();
}
