import { SYSTEM } from '../../domain/access/principal.ts';
import type { ClaimedDelivery } from '../../domain/events/lane.ts';
import { type Database, transact } from '../database.ts';

/** Tells events, by their numbers, of the traces that they came from. Asked only where somebody traces: the claim costs others nothing more. */
export async function learnTraces(
  db: Database,
  events: ReadonlyMap<string, Pick<ClaimedDelivery, 'traceparent'>>,
): Promise<void> {
  if (events.size === 0) return;
  const found = await transact(db, SYSTEM, (tx) =>
    tx.query<{ no: string; traceparent: string }>(
      'SELECT no::text, traceparent FROM events WHERE no = ANY ($1::bigint[]) AND traceparent IS NOT NULL',
      [[...events.keys()]],
    ),
  );
  for (const { no, traceparent } of found) {
    const event = events.get(no);
    if (event) event.traceparent = traceparent;
  }
}
