import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import { type AcceptedOne, acceptEvents, type OneEvent } from '../store/events.ts';
import { Batcher } from './batcher.ts';

/**
 * Most events come one by one, since that is how they happen. Those of concurrent calls share a transaction: each has its own answer and
 * its own Idempotency-Key, and hears of its acceptance when the transaction has committed.
 */
export interface EventAcceptance {
  submit(event: OneEvent): Promise<AcceptedOne>;
}

const BATCH_MAX = 256;
const BATCHES_AT_ONCE = 2;

export function gatherEvents(db: Database, clock: Clock): EventAcceptance {
  return new Batcher<OneEvent, AcceptedOne>(
    BATCH_MAX,
    (events) => acceptEvents(db, new Date(clock.now()).toISOString(), events),
    { atOnce: BATCHES_AT_ONCE },
  );
}
