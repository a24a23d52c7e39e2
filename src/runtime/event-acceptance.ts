import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import { type AcceptedOne, acceptEvents, type OneEvent } from '../store/events.ts';
import type { HandOverPoint } from '../store/hand-over.ts';
import { Batcher } from './batcher.ts';

/**
 * Most events come one by one, since that is how they happen. Those of concurrent calls share a transaction: each has its own answer and
 * its own Idempotency-Key, and hears of its acceptance when the transaction has committed. A few at a time are handed over to whoever delivers on
 * this node, in the same transaction.
 */
export interface EventAcceptance {
  submit(event: OneEvent): Promise<AcceptedOne>;
}

const BATCH_MAX = 256;
const BATCHES_AT_ONCE = 2;

export function gatherEvents(db: Database, clock: Clock, handOver: HandOverPoint): EventAcceptance {
  return new Batcher<OneEvent, AcceptedOne>(
    BATCH_MAX,
    async (events) => {
      const at = new Date(clock.now()).toISOString();
      return (await handOver.accept?.(at, events)) ?? acceptEvents(db, at, events);
    },
    { atOnce: BATCHES_AT_ONCE },
  );
}
