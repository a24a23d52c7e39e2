import type { EventName } from '../../contract/events.ts';
import type { Page, PageQuery } from '../../contract/page.ts';
import type { WithheldReason } from '../../contract/partner/webhooks.ts';
import type { KeptAttempt } from '../../domain/events/diagnosis.ts';
import type { Transaction } from '../database.ts';
import { placesOf, type Span, spanSeconds } from '../halving.ts';
import { type Keyset, readPage, readStretch } from '../page.ts';

/**
 * Deliveries as people look at them. There are millions, and every index on them slows the engine down, so lists go along
 * the indexes that it has: a webhook's queue, an event's deliveries, the feed of a practice group.
 */

export interface StoredDelivery {
  webhook_id: string;
  partner_id: string;
  practice_group_id: string;
  event_id: string;
  event: EventName;
  object_id: string;
  sequence: number;
  state: 'waiting' | 'due' | 'delivered' | 'failed';
  /** Why it is withheld, if it is: open, and its partner may not have it. */
  withheld_reason: WithheldReason | null;
  attempts: KeptAttempt[];
  retry_at: string | null;
  created_at: string;
  finished_at: string | null;
  accepted_at: string;
}

/** `major` and `minor`: its place in the list. */
type Row = StoredDelivery & { major: number; minor: number };

/** Only what is open can be withheld: all that is queued for the webhook, or what is of this practice group. */
const WITHHELD = `CASE WHEN d.state IN ('due', 'waiting') THEN coalesce(w.withheld_reason,
  CASE WHEN w.audience = 'partner' THEN (SELECT reason FROM withheld_groups g
                                          WHERE g.webhook_no = w.no AND g.practice_group_id = e.practice_group_id) END) END`;
export const WITHHELD_REASON = `${WITHHELD} AS withheld_reason`;

const COLUMNS = `w.id AS webhook_id, w.partner_id, e.practice_group_id, e.id AS event_id, e.event, e.object_id,
  d.sequence, d.state, ${WITHHELD_REASON}, d.attempts, nullif(d.retry_at, 'infinity') AS retry_at, d.created_at, d.finished_at, e.accepted_at`;

/** Of partners' webhooks unless the operator's own are asked for. */
interface OfWhom {
  isOfOperator?: boolean | undefined;
}

/** With the numbers of its webhook and its event. */
export function findDelivery(
  tx: Transaction,
  { webhookId, sequence, isOfOperator = false }: { webhookId: string; sequence: number } & OfWhom,
): Promise<(StoredDelivery & { webhook_no: number; event_no: number }) | undefined> {
  return tx.first(
    `SELECT ${COLUMNS}, d.webhook_no, d.event_no
       FROM webhooks w JOIN deliveries d ON d.webhook_no = w.no JOIN events e ON e.no = d.event_no
      WHERE w.id = $1 AND w.deleted_at IS NULL AND d.sequence = $2 AND (w.audience = 'operator') = $3`,
    [webhookId, sequence, isOfOperator],
  );
}

/** Among so many it is looked for what was tried last. */
const LOOKED_THROUGH = 1_000;

/**
 * The deliveries of a webhook that were tried last, the latest first. When something was tried is in no index: what is set aside for a
 * retry is looked through in the order in which it is due, and what is finished backwards from where the untried ones begin.
 */
export function listLastTried(tx: Transaction, webhookNo: number, limit: number): Promise<StoredDelivery[]> {
  return tx.query<StoredDelivery>(
    `SELECT ${COLUMNS}
       FROM (SELECT * FROM (
               (SELECT * FROM deliveries WHERE greatest(webhook_no, 0) = $1 AND retry_at IS NOT NULL
                 ORDER BY retry_at, sequence LIMIT ${LOOKED_THROUGH})
               UNION ALL
               (SELECT * FROM (SELECT * FROM deliveries
                                WHERE webhook_no = $1
                                  AND sequence < (SELECT open_from + ${LOOKED_THROUGH / 2} FROM webhook_lanes WHERE webhook_no = $1)
                                ORDER BY sequence DESC LIMIT ${LOOKED_THROUGH}) AS finished
                 WHERE retry_at IS NULL)) AS seen
              WHERE attempts::text <> '[]'
              ORDER BY (attempts -> -1 ->> 'at')::timestamptz DESC LIMIT $2) AS d
      CROSS JOIN LATERAL (SELECT * FROM events WHERE events.no = d.event_no OFFSET 0) AS e
      JOIN webhooks w ON w.no = d.webhook_no
      ORDER BY (d.attempts -> -1 ->> 'at')::timestamptz DESC`,
    [webhookNo, limit],
  );
}

/** `since` and `until`: when its event was accepted. */
export interface DeliveryFilter extends PageQuery, OfWhom, Span {
  partner_id?: string | undefined;
  webhook_id?: string | undefined;
  event_id?: string | undefined;
  practice_group_id?: string | undefined;
  state?: StoredDelivery['state'] | 'withheld' | undefined;
  event?: string | undefined;
}

/**
 * A way through the deliveries, newest first. Each is one index read backwards: $1 is where it begins, ($2, $3) the place
 * to go on after, $4 the last `major` of the stretch.
 */
interface Way {
  rows: string;
  /** The `major` at which a stretch of $4 + 1 ends that begins after ($2, $3). */
  end: string;
  /** The newest `major` of $1, and the first from $2 on with a moment that is not before that of its event. */
  newest: string;
  probe: string;
  /** Whether that moment is the one at which the event was accepted: else it may be far later. */
  goesByEvents: boolean;
}

/**
 * So many are looked through for one page, at most. Without that bound PostgreSQL may sort all there are: 1 to 10 s for an
 * unfiltered page among 2.5 million deliveries; with it 5 to 17 ms among 1.5 million, and 10 to 70 ms for a filtered one.
 */
const STRETCH = { unfiltered: 1_000, filtered: 10_000 };

const alongWebhook: Way = {
  rows: `SELECT d.*, d.sequence AS major, 0 AS minor FROM deliveries d
          WHERE d.webhook_no = (SELECT no FROM webhooks WHERE id = $1)
            AND d.sequence < $2 AND $3::bigint IS NOT NULL AND d.sequence >= $4
          ORDER BY d.sequence DESC`,
  end: `SELECT d.sequence AS major FROM deliveries d
         WHERE d.webhook_no = (SELECT no FROM webhooks WHERE id = $1) AND d.sequence < $2 AND $3::bigint IS NOT NULL
         ORDER BY d.sequence DESC OFFSET $4 LIMIT 1`,
  newest: `SELECT last_sequence AS place FROM webhook_lanes WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
  probe: `SELECT sequence AS place, extract(epoch FROM created_at)::float8 AS seconds FROM deliveries
           WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1) AND sequence >= $2 ORDER BY sequence LIMIT 1`,
  goesByEvents: false,
};

const alongGroup: Way = {
  rows: `SELECT d.*, feed.position AS major, d.webhook_no AS minor
           FROM feed JOIN deliveries d ON d.event_no = feed.event_no
          WHERE feed.practice_group_id = $1 AND feed.position <= $2 AND feed.position >= $4
            AND (feed.position < $2 OR d.webhook_no < $3::bigint)
          ORDER BY feed.position DESC, d.webhook_no DESC`,
  end: `SELECT position AS major FROM feed
         WHERE practice_group_id = $1 AND position < $2 AND $3::bigint IS NOT NULL
         ORDER BY position DESC OFFSET $4 LIMIT 1`,
  newest: 'SELECT position AS place FROM feed WHERE practice_group_id = $1 ORDER BY position DESC LIMIT 1',
  probe: `SELECT f.position AS place, extract(epoch FROM e.accepted_at)::float8 AS seconds
            FROM (SELECT position, event_no FROM feed WHERE practice_group_id = $1 AND position >= $2 ORDER BY position LIMIT 1) AS f
            JOIN events e ON e.no = f.event_no`,
  goesByEvents: true,
};

const alongEvents: Way = {
  rows: `SELECT d.*, d.event_no AS major, d.webhook_no AS minor FROM deliveries d
          WHERE $1::text IS NULL AND (d.event_no, d.webhook_no) < ($2::bigint, $3::bigint) AND d.event_no >= $4
          ORDER BY d.event_no DESC, d.webhook_no DESC`,
  end: `SELECT d.event_no AS major FROM deliveries d
         WHERE $1::text IS NULL AND (d.event_no, d.webhook_no) < ($2::bigint, $3::bigint)
         ORDER BY d.event_no DESC, d.webhook_no DESC OFFSET $4 LIMIT 1`,
  newest: 'SELECT no AS place FROM events WHERE $1::text IS NULL ORDER BY no DESC LIMIT 1',
  probe: `SELECT no AS place, extract(epoch FROM accepted_at)::float8 AS seconds FROM events
           WHERE $1::text IS NULL AND no >= $2 ORDER BY no LIMIT 1`,
  goesByEvents: true,
};

/** There are as many as its practice group has webhooks: no stretch is needed. */
const ofEvent = `SELECT d.*, d.event_no AS major, d.webhook_no AS minor FROM deliveries d
                  WHERE d.event_no = (SELECT no FROM events WHERE id = $1)
                    AND (d.event_no, d.webhook_no) < ($2::bigint, $3::bigint) AND d.event_no >= $4
                  ORDER BY d.event_no DESC, d.webhook_no DESC`;

/** One by one, by their numbers (OFFSET 0): left to choose, PostgreSQL held every webhook there is against the whole stretch. */
const listed = (rows: string) => `
  SELECT ${COLUMNS}, d.major, d.minor
    FROM (${rows}) AS d
   CROSS JOIN LATERAL (SELECT * FROM events WHERE events.no = d.event_no OFFSET 0) AS e
   CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE webhooks.no = d.webhook_no AND deleted_at IS NULL OFFSET 0) AS w
   WHERE ($5::text IS NULL
          OR $5 = CASE WHEN ${WITHHELD} IS NOT NULL THEN 'withheld' ELSE d.state END) AND ($6::text IS NULL OR e.event = $6)
     AND ($7::text IS NULL OR w.id = $7) AND ($8::text IS NULL OR e.practice_group_id = $8) AND (w.audience = 'operator') = $9
     AND ($11::text IS NULL OR w.partner_id = $11) AND ($12::float8 IS NULL OR e.accepted_at >= to_timestamp($12))
     AND ($13::float8 IS NULL OR e.accepted_at < to_timestamp($13))
   ORDER BY d.major DESC, d.minor DESC LIMIT $10`;

const newestFirst: Keyset<Row> = {
  types: ['number', 'number'],
  keyOf: ({ major, minor }) => [major, minor],
};

export async function listDeliveryPage(
  tx: Transaction,
  filter: DeliveryFilter,
): Promise<Page<StoredDelivery>> {
  const { way, start } = wayOf(filter);
  const { since, until } = spanSeconds(filter);
  const bounds = typeof way === 'string' ? undefined : await boundsOf(tx, way, start, filter);
  const place = ([major, minor]: readonly unknown[]) => [
    start,
    major ?? bounds?.before ?? Number.MAX_SAFE_INTEGER,
    minor ?? Number.MAX_SAFE_INTEGER,
  ];
  const read = (rows: string, after: readonly unknown[], end: number, limit: number) =>
    tx.query<Row>(listed(rows), [
      ...place(after),
      end,
      filter.state,
      filter.event,
      filter.webhook_id,
      filter.practice_group_id,
      filter.isOfOperator ?? false,
      limit,
      filter.partner_id,
      since,
      until,
    ]);

  if (typeof way === 'string')
    return readPage(filter, newestFirst, (after, limit) => read(way, after, 0, limit));
  const isFiltered = [filter.state, filter.event, filter.partner_id].some((one) => one !== undefined);
  const length = isFiltered ? STRETCH.filtered : STRETCH.unfiltered;
  return readStretch(
    filter,
    newestFirst,
    async (after) => {
      const end = await tx.first<{ major: number }>(way.end, [...place(after), length - 1]);
      // Nothing has the number 0, so this stands after all that share the last `major`.
      return end && end.major > (bounds?.from ?? 0) ? [end.major, 0] : undefined;
    },
    (after, end, limit) => read(way.rows, after, Number(end?.[0] ?? bounds?.from ?? 0), limit),
  );
}

/** Between which places a span lies; along the queue of a webhook, what was replayed stands far behind its time, so that has no end. */
async function boundsOf(tx: Transaction, way: Way, start: string | null, { since, until }: Span) {
  return placesOf(
    { since, until: way.goesByEvents ? until : undefined },
    async () => (await tx.first<{ place: number }>(way.newest, [start]))?.place,
    (place) => tx.first<{ place: number; seconds: number }>(way.probe, [start, place]),
  );
}

function wayOf({ webhook_id, event_id, practice_group_id }: DeliveryFilter): {
  way: Way | string;
  start: string | null;
} {
  if (event_id !== undefined) return { way: ofEvent, start: event_id };
  if (webhook_id !== undefined) return { way: alongWebhook, start: webhook_id };
  if (practice_group_id !== undefined) return { way: alongGroup, start: practice_group_id };
  return { way: alongEvents, start: null };
}
