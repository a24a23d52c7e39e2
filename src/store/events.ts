import type { EventPayload } from '../contract/event-payloads.ts';
import type { EventName } from '../contract/events.ts';
import type { Page, PageQuery } from '../contract/page.ts';
import type { Transaction } from './database.ts';
import { type Keyset, readPage } from './page.ts';

export interface NewEvent {
  id: string;
  payload: EventPayload;
}

/** Who said so, an operator or the key that asked for a test event, and when. */
export interface Said {
  sourceId: string;
  acceptedAt: string;
}

/** Of test events: the only ones that hear of them. */
export type Audience = { onlyWebhookNo?: number; onlyPartnerId?: string };

/**
 * Accepts events, in the transaction of what caused them: they are there if and only if their cause is. The workers are
 * woken when it commits.
 *
 * Lists travel as lines; only the IDs of objects may hold a line break. A hundred at a time over four connections, in turns:
 * about 74,000 events a second, 53,000 with arrays or with the columns read off the JSON in SQL.
 */
export function appendEvents(
  tx: Transaction,
  { sourceId, acceptedAt }: Said,
  events: readonly NewEvent[],
  { onlyWebhookNo, onlyPartnerId }: Audience = {},
): void {
  const lines = (part: (event: NewEvent) => string) => events.map(part).join('\n');
  tx.defer(
    `WITH accepted AS (
       INSERT INTO events (id, payload, practice_group_id, event, object_id, object_hash, source_id, accepted_at,
                           only_webhook_no, only_partner_id)
       SELECT new.id, new.payload, new.practice_group_id, new.event, new.object_id,
              hashtextextended(new.object || ' ' || new.object_id, 0), $7, $8, $9, $10
         FROM unnest(string_to_array($1, E'\\n'), string_to_array($2, E'\\n'), string_to_array($3, E'\\n'),
                     string_to_array($4, E'\\n'), string_to_array($5, E'\\n'), $6::text[])
              WITH ORDINALITY AS new (id, payload, practice_group_id, event, object, object_id, place)
        ORDER BY new.place
     )
     SELECT pg_notify('porter_events', '')`,
    [
      lines(({ id }) => id),
      lines(({ payload }) => JSON.stringify(payload)),
      lines(({ payload }) => payload.practice_group_id),
      lines(({ payload }) => payload.event),
      lines(({ payload }) => payload.object),
      events.map(({ payload }) => payload.id),
      sourceId,
      acceptedAt,
      onlyWebhookNo,
      onlyPartnerId,
    ],
  );
}

export interface StoredEvent {
  id: string;
  source_id: string;
  accepted_at: string;
  test: boolean;
  /** JSON, exactly as receivers get it. */
  payload: string;
}

type EventRow = StoredEvent & { no: number };

const EVENT =
  'id, source_id, accepted_at, num_nonnulls(only_webhook_no, only_partner_id) > 0 AS test, payload';

const newestFirst: Keyset<EventRow> = { types: ['number'], keyOf: ({ no }) => [no] };

export interface EventFilter extends PageQuery {
  practice_group_id?: string | undefined;
  event?: EventName | undefined;
}

export async function listEventPage(tx: Transaction, filter: EventFilter): Promise<Page<StoredEvent>> {
  const page = await readPage(filter, newestFirst, ([before], limit) =>
    tx.query<EventRow>(
      `SELECT no, ${EVENT} FROM events
        WHERE no < coalesce($1, 9223372036854775807)
          AND ($2::text IS NULL OR practice_group_id = $2) AND ($3::text IS NULL OR event = $3)
        ORDER BY no DESC LIMIT $4`,
      [before, filter.practice_group_id, filter.event, limit],
    ),
  );
  return { ...page, data: page.data.map(({ no: _place, ...event }) => event) };
}

export function findEvent(tx: Transaction, id: string): Promise<StoredEvent | undefined> {
  return tx.first<StoredEvent>(`SELECT ${EVENT} FROM events WHERE id = $1`, [id]);
}

export interface EventDelivery {
  webhook_id: string;
  sequence: number;
  state: 'waiting' | 'due' | 'delivered' | 'failed';
}

/** How far an event has come with each webhook. A practice group has a few; the limit is a fuse, not a page. */
export function listEventDeliveries(tx: Transaction, eventId: string): Promise<EventDelivery[]> {
  return tx.query<EventDelivery>(
    `SELECT w.id AS webhook_id, d.sequence, d.state
       FROM events e JOIN deliveries d ON d.event_no = e.no JOIN webhooks w ON w.no = d.webhook_no
      WHERE e.id = $1 ORDER BY w.no LIMIT 1000`,
    [eventId],
  );
}
