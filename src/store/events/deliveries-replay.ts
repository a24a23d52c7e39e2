import type { Transaction } from '../database.ts';
import { sqlFunction } from '../sql-functions.ts';
import { wakeWorkers } from './deliveries.ts';

const enqueueSql = sqlFunction('enqueue', {
  at: 'timestamptz',
  event_nos: 'bigint[]',
  webhook_nos: 'integer[]',
});
export const replayDeliveriesSql = sqlFunction('replay_deliveries', {
  at: 'timestamptz',
  webhook: 'integer',
  event_nos: 'bigint[]',
});
const receivesUntilSql = sqlFunction('receives_until', {
  partner: 'text',
  group_id: 'text',
  at: 'timestamptz',
});

const groupsReceivedSql = sqlFunction('groups_received', { partner: 'text', at: 'timestamptz' });

/** Puts deliveries into the queue of one webhook, outside the usual fan-out. */

/** Returns the place in the queue. */
export async function enqueueTest(
  tx: Transaction,
  at: string,
  eventId: string,
  webhookNo: number,
): Promise<number> {
  const event = await tx.first<{ no: number }>('SELECT no FROM events WHERE id = $1', [eventId]);
  if (!event) throw new Error('a test event was not accepted');
  void enqueueSql(tx.deferred, { at, event_nos: [event.no], webhook_nos: [webhookNo] });
  const row = await tx.first<{ sequence: number }>(
    'SELECT sequence FROM deliveries WHERE event_no = $1 AND webhook_no = $2',
    [event.no, webhookNo],
  );
  if (!row) throw new Error('a test event was not put into the queue');
  wakeWorkers(tx);
  return row.sequence;
}

/** Returns how many deliveries that made. `at` null: by the clock of the server. */
export async function replayEvents(
  tx: Transaction,
  at: string | null,
  webhookNo: number,
  eventNos: readonly number[],
): Promise<number> {
  const [row] = await replayDeliveriesSql<{ replay_deliveries: number }>(tx, {
    at,
    webhook: webhookNo,
    event_nos: eventNos,
  });
  wakeWorkers(tx);
  return row?.replay_deliveries ?? 0;
}

export interface NamedEvent {
  id: string;
  no: number;
  /** The webhook is to get it again. One that was not fanned out yet is on its way as it is. */
  wanted: boolean;
  groupId: string;
}

/** A webhook as far as a replay goes by it. */
export interface ReplayedWebhook {
  no: number;
  event_types: readonly string[];
}

/** In the order of acceptance. Test events are known to the one webhook that they were for. */
export function findEventNos(
  tx: Transaction,
  { no, event_types }: ReplayedWebhook,
  groupIds: readonly string[],
  ids: readonly string[],
): Promise<NamedEvent[]> {
  return tx.query<NamedEvent>(
    `SELECT id, no, practice_group_id AS "groupId",
            only_webhook_no IS NOT NULL
              OR (event = ANY ($4) AND EXISTS (SELECT FROM feed WHERE event_no = events.no)) AS wanted
       FROM events
      WHERE id = ANY ($1) AND practice_group_id = ANY ($2) AND (only_webhook_no IS NULL OR only_webhook_no = $3)
      ORDER BY no`,
    [ids, groupIds, no, event_types],
  );
}

export interface Stretch {
  nos: number[];
  /** Whether any event of the stretch, wanted or not, was accepted since. */
  anySince: boolean;
  /** The position where the stretch begins; null when it is empty. */
  first: number | null;
}

/** Moments in milliseconds; without `until`, to the end. */
export interface ReplayedSpan {
  since: number;
  until?: number | undefined;
}

/** Looks at a stretch of the feed that ends before a position: what of it the webhook wants, accepted within the span. */
export async function findEventNosOf(
  tx: Transaction,
  { event_types }: ReplayedWebhook,
  groupId: string,
  { since, until }: ReplayedSpan,
  before: number,
  limit: number,
): Promise<Stretch> {
  const row = await tx.first<{ nos: string | null; any_since: boolean | null; first: number | null }>(
    `SELECT string_agg(no::text, ',') FILTER (WHERE accepted_at >= to_timestamp($1) AND event = ANY ($2)
                                                AND ($6::float8 IS NULL OR accepted_at < to_timestamp($6))) AS nos,
            bool_or(accepted_at >= to_timestamp($1)) AS any_since, min(position) AS first
       FROM (SELECT event_no AS no, event, accepted_at, position FROM feed
              CROSS JOIN LATERAL (SELECT accepted_at FROM events WHERE no = feed.event_no OFFSET 0) AS e
              WHERE practice_group_id = $3 AND position < $4
              ORDER BY position DESC LIMIT $5) AS stretch`,
    [since / 1000, event_types, groupId, before, limit, until === undefined ? undefined : until / 1000],
  );
  return {
    nos: row?.nos?.split(',').map(Number) ?? [],
    anySince: row?.any_since ?? false,
    first: row?.first ?? null,
  };
}

/**
 * Whether a partner may hear of a practice group at this moment, as fan-out decides it: the rule of the door (`holderOf`,
 * `sharesNetworkWith`), asked of any key that the partner has.
 */
export async function mayReceive(
  tx: Transaction,
  partnerId: string,
  groupId: string,
  at: string,
): Promise<boolean> {
  const [row] = await receivesUntilSql<{ receives_until: string | null }>(tx, {
    partner: partnerId,
    group_id: groupId,
    at,
  });
  return row !== undefined && row.receives_until !== null;
}

/** The practice groups whose events it may receive at this moment. */
export async function listReceivedGroups(tx: Transaction, partnerId: string, at: string): Promise<string[]> {
  const rows = await groupsReceivedSql<{ groups_received: string }>(tx, { partner: partnerId, at });
  return rows.map(({ groups_received: id }) => id);
}

/** What was given up in a stretch of a webhook's queue, in its order. */
export interface FailedStretch {
  /** The numbers of the events. */
  nos: number[];
  /** The last place that was looked at; null: nothing lies beyond it. */
  end: number | null;
}

/**
 * So many deliveries are looked through at a time. What was given up is few among many, and has no index: with its state in one, no delivery
 * could be finished without a change of that index (migrations/0001_baseline.sql, Deliveries).
 */
const FAILED_STRETCH = 10_000;
/** And so many of them at most are sent again in one transaction, while the queue of the webhook is locked. */
const FAILED_AT_ONCE = 1_000;

/** Of these practice groups, or of test events, that were given up. What goes beyond is in the next stretch. */
export async function findFailed(
  tx: Transaction,
  webhookNo: number,
  groupIds: readonly string[],
  after: number,
): Promise<FailedStretch> {
  // The end comes first, and bounds the search: with what is cleared away in between, a stretch that was counted again would end further on.
  const last = await tx.first<{ sequence: number }>(
    `SELECT sequence FROM deliveries WHERE webhook_no = $1 AND sequence > $2 ORDER BY sequence OFFSET ${FAILED_STRETCH - 1} LIMIT 1`,
    [webhookNo, after],
  );
  const end = last?.sequence ?? null;
  const rows = await tx.query<{ no: number; sequence: number }>(
    `SELECT d.event_no AS no, d.sequence
       FROM (SELECT sequence, event_no, state FROM deliveries
              WHERE webhook_no = $1 AND sequence > $2 AND sequence <= coalesce($4::bigint, 9223372036854775807)
              ORDER BY sequence LIMIT ${FAILED_STRETCH}) AS d
      CROSS JOIN LATERAL (SELECT practice_group_id FROM events WHERE no = d.event_no OFFSET 0) AS e
      WHERE d.state = 'failed' AND e.practice_group_id = ANY ($3) ORDER BY d.sequence LIMIT ${FAILED_AT_ONCE}`,
    [webhookNo, after, groupIds, end],
  );
  return {
    nos: rows.map(({ no }) => no),
    end: rows.length === FAILED_AT_ONCE ? (rows.at(-1)?.sequence ?? null) : end,
  };
}
