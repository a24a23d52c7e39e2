import type { Clock } from '../../platform/clock.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import type { Database } from '../../store/database.ts';
import { isOnlyLate } from '../../store/database-errors.ts';
import { type AcceptedOne, acceptEvents, acceptInPassing, type OneEvent } from '../../store/events/events.ts';
import type { HandOverPoint } from '../../store/events/hand-over.ts';
import { Batcher } from '../batcher.ts';
import { WaitingLines } from '../waiting-lines.ts';

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

export function gatherEvents(
  db: Database,
  clock: Clock,
  handOver: HandOverPoint,
  waiting: Semaphore,
): EventAcceptance {
  const now = () => new Date(clock.now()).toISOString();
  const usual = (events: readonly OneEvent[]) => acceptEvents(db, now(), events);
  const lines = new WaitingLines<OneEvent, AcceptedOne>(BATCH_MAX, waiting, usual);
  const lineOf = ({ sourceId, keyed }: OneEvent) => `${sourceId} ${keyed?.key}`;

  const accept = async (events: readonly OneEvent[]): Promise<(AcceptedOne | Promise<AcceptedOne>)[]> => {
    const keyless = events.filter(({ keyed }) => !keyed);
    const inPassing = keyless.length < events.length ? acceptInPassing : acceptEvents;
    try {
      const at = now();
      return (await handOver.accept?.(at, events)) ?? (await inPassing(db, at, events));
    } catch (error) {
      if (keyless.length === events.length || !isOnlyLate(error)) throw error;
    }
    // Another transaction holds one of their keys and does not finish. Those with a key wait outside the batch; those without go on.
    const outcomes = keyless.length > 0 ? await usual(keyless) : [];
    const ofKeyless = new Map(keyless.map((event, place) => [event, outcomes[place]]));
    return events.map((event) => ofKeyless.get(event) ?? lines.submit(lineOf(event), event));
  };
  return new Batcher(BATCH_MAX, accept, { atOnce: BATCHES_AT_ONCE });
}
