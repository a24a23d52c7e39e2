import type { Clock } from '../platform/clock.ts';
import { Outage } from '../platform/outage.ts';
import type { Database } from '../store/database.ts';
import { isOnlyLate } from '../store/database-errors.ts';
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
  const accept = async (events: readonly OneEvent[]): Promise<(AcceptedOne | Promise<AcceptedOne>)[]> => {
    const at = new Date(clock.now()).toISOString();
    try {
      return (await handOver.accept?.(at, events)) ?? (await acceptEvents(db, at, events));
    } catch (error) {
      // Somebody has a key that one of them came with, and stands still: that is no reason to refuse the others.
      if (events.length === 1 || !(error instanceof Outage && isOnlyLate(error.cause))) throw error;
      return eachByItsKey(db, at, events);
    }
  };
  return new Batcher(BATCH_MAX, accept, { atOnce: BATCHES_AT_ONCE });
}

/** Those without a key together, the others each alone. */
function eachByItsKey(db: Database, at: string, events: readonly OneEvent[]): Promise<AcceptedOne>[] {
  const keyless = events.filter(({ keyed }) => !keyed);
  const together = keyless.length > 0 ? acceptEvents(db, at, keyless) : Promise.resolve([]);
  return events.map(async (event) => {
    const [outcomes, place] = event.keyed
      ? [await acceptEvents(db, at, [event]), 0]
      : [await together, keyless.indexOf(event)];
    const outcome = outcomes[place];
    if (!outcome) throw new Error('an event was not answered');
    return outcome;
  });
}
