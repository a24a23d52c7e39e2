import type { OperatorEventName } from '../../contract/operator/events/subscriptions.ts';
import { alone, type Database, type Transaction } from '../database.ts';
import { sqlFunction } from '../sql-functions.ts';
import { type FannedOut, wakeWorkers } from './deliveries.ts';

/** Events for the operator's own systems. Partners never see one: they belong to no practice group. */

const fanOutToOperatorsSql = sqlFunction('fan_out_to_operators', {
  at: 'timestamptz',
  me: 'bigint',
  entries_max: 'integer',
});
const enqueueForOperatorsSql = sqlFunction('enqueue_for_operators', {
  at: 'timestamptz',
  event_nos: 'bigint[]',
  webhook_nos: 'integer[]',
});

/** Something that the operator's systems are to hear of. */
export interface Announcement {
  /** No other event has it. */
  id: string;
  event: OperatorEventName;
  /** What it is about: those about one object reach a webhook in order. */
  object: string;
  objectId: string;
  /** Sent as it is, behind `event`. */
  payload: Record<string, unknown>;
  /** Who or what said so. */
  sourceId: string;
  at: string;
}

/**
 * Announces on the topic of the event, in the transaction of what caused it: every webhook of the operator that has the topic gets it, if and only
 * if the transaction commits.
 */
export function announce(tx: Transaction, announcement: Announcement): void {
  tx.defer(
    `WITH accepted AS (${INSERT_EVENT}), queued AS (INSERT INTO new_announcements SELECT no FROM accepted)
     SELECT pg_notify('porter_changes', '')`,
    valuesOf(announcement, null),
  );
}

const INSERT_EVENT = `
  INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at, only_webhook_no)
  VALUES ($1, '', $2, $4, hashtextextended($3 || ' ' || $4, 0), $5, $6, $7, $8) RETURNING no`;

function valuesOf(
  { id, event, object, objectId, payload, sourceId, at }: Announcement,
  onlyWebhookNo: number | null,
) {
  return [id, event, object, objectId, JSON.stringify({ event, ...payload }), sourceId, at, onlyWebhookNo];
}

/** To one webhook alone, whatever its topics, and at once. Returns its place in the queue; undefined: the webhook was deleted. */
export async function announceTo(
  tx: Transaction,
  webhookNo: number,
  announcement: Announcement,
): Promise<number | undefined> {
  const event = await tx.first<{ no: number }>(INSERT_EVENT, valuesOf(announcement, webhookNo));
  if (!event) throw new Error('an announcement was not accepted');
  void enqueueForOperatorsSql(tx.deferred, {
    at: announcement.at,
    event_nos: [event.no],
    webhook_nos: [webhookNo],
  });
  const row = await tx.first<{ sequence: number }>(
    'SELECT sequence FROM deliveries WHERE event_no = $1 AND webhook_no = $2',
    [event.no, webhookNo],
  );
  wakeWorkers(tx);
  return row?.sequence;
}

/** Places changes in their feed, and puts them and what was announced into the queues of the operator's webhooks. */
export async function fanOutToOperators(
  db: Database,
  at: string | null,
  me: number,
  entriesMax: number,
): Promise<FannedOut> {
  const [row] = await fanOutToOperatorsSql<FannedOut>(alone(db), { at, me, entries_max: entriesMax });
  return row ?? { taken: 0, made: 0, more: false };
}
