import type { Transaction } from '../database.ts';

export interface QueueNumbers {
  /** Events that were accepted and not yet looked at. */
  events_new: number;
  /** Of webhooks that are sent to. */
  due: number;
  waiting: number;
  /** What waits on purpose: of webhooks that are paused, disabled or withheld. */
  held: number;
  /** Webhooks whose deliveries are withheld. */
  withheld: number;
  /** When the oldest event was accepted that an active webhook should have by now; null when there is none. */
  oldest: string | null;
  failing: { id: string; failures: number }[];
  /** Changes that the practice software has not answered, and when the oldest of them was made; null when there is none. */
  changes_pending: number;
  oldest_change: string | null;
}

/**
 * So many of each kind are counted one by one. A partner that is away for a day leaves millions, and whoever is on call wants to
 * know of them at once; the new ones beyond are told by their numbers, which some that are finished may stand between.
 */
const COUNTED_MAX = 100_000;

/** Of a lane, the first one first. */
const NEW = `FROM deliveries d
   WHERE d.webhook_no = lane.webhook_no AND d.sequence >= lane.open_from AND d.state = 'due' AND d.retry_at IS NULL
   ORDER BY d.sequence`;
const setAside = (also: string) => `FROM deliveries d
   WHERE least(d.webhook_no, 2147483647) = lane.webhook_no AND d.retry_at IS NOT NULL ${also}
   ORDER BY least(d.webhook_no, 2147483647), d.sequence`;
const SET_ASIDE = setAside('');
/** Of a webhook for all practice groups: not what is withheld of one of them. What waits stands behind an earlier one anyway. */
const SET_ASIDE_TO_SEND = setAside("AND (NOT lane.is_wide OR d.retry_at < 'infinity')");

/** The lanes there are, and of each that should be sent to the first that was not. */
const LANES = `lane AS MATERIALIZED (
    SELECT l.webhook_no, l.has_new, l.open_from, l.last_sequence, w.status = 'active' AND w.withheld_since IS NULL AS active,
           w.audience = 'partner' AS is_wide
      FROM webhook_lanes l JOIN webhooks w ON w.no = l.webhook_no WHERE w.deleted_at IS NULL),
  first AS (
    SELECT d.created_at FROM lane
     CROSS JOIN LATERAL (SELECT d.created_at ${NEW} LIMIT 1) AS d
     WHERE lane.active AND lane.has_new
    UNION ALL
    SELECT d.created_at FROM lane
     CROSS JOIN LATERAL (SELECT d.created_at ${SET_ASIDE_TO_SEND} LIMIT 1) AS d
     WHERE lane.active)`;

/** Otherwise PostgreSQL, for want of statistics, gathers and sorts a whole queue to find the first of it. */
const PINNED = "SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)";

/**
 * How many are new, and how many were set aside, in the lanes that are sent to, or in the others. What waits behind one that is
 * withheld of one practice group alone counts as waiting: nothing at hand tells it from what waits behind a failure.
 */
const depth = (name: string, which: string) => `
  ${name}_new AS (
    SELECT CASE WHEN unsent.count > ${COUNTED_MAX} THEN span.count ELSE unsent.count END AS count
      FROM (SELECT sum(last_sequence - open_from + 1) AS count FROM lane WHERE has_new AND ${which}) AS span,
           (SELECT count(*)
              FROM (SELECT FROM lane
                     CROSS JOIN LATERAL (SELECT ${NEW} LIMIT ${COUNTED_MAX + 1}) AS d
                     WHERE lane.has_new AND ${which} LIMIT ${COUNTED_MAX + 1}) AS part) AS unsent),
  ${name}_aside AS (
    SELECT count(*) AS count, count(*) FILTER (WHERE state = 'waiting') AS waiting,
           count(*) FILTER (WHERE state = 'due' AND is_withheld) AS withheld
      FROM (SELECT d.state, lane.is_wide AND d.retry_at = 'infinity' AS is_withheld FROM lane
             CROSS JOIN LATERAL (SELECT d.state, d.retry_at ${SET_ASIDE} LIMIT ${COUNTED_MAX}) AS d
             WHERE ${which} LIMIT ${COUNTED_MAX}) AS part)`;

const QUEUE_NUMBERS = `
  WITH ${LANES}, ${depth('sent', 'lane.active')}, ${depth('held', 'NOT lane.active')}
  SELECT event.count::integer AS events_new,
         (sent_new.count + sent_aside.count - sent_aside.waiting - sent_aside.withheld)::integer AS due,
         sent_aside.waiting::integer AS waiting,
         (held_new.count + held_aside.count + sent_aside.withheld)::integer AS held,
         (SELECT count(*) FROM (SELECT no FROM webhooks WHERE withheld_since IS NOT NULL AND deleted_at IS NULL
                                UNION
                                SELECT webhook_no FROM withheld_groups JOIN webhooks ON no = webhook_no WHERE deleted_at IS NULL) AS any_of_it)::integer AS withheld,
         least(event.oldest, (SELECT min(created_at) FROM first)) AS oldest,
         (SELECT count(*) FROM (SELECT FROM changes WHERE state = 'pending' LIMIT ${COUNTED_MAX}) AS part)::integer AS changes_pending,
         (SELECT at FROM changes WHERE state = 'pending' ORDER BY position LIMIT 1) AS oldest_change
    FROM (SELECT coalesce(sum(cardinality(event_nos)), 0) AS count, min(accepted_at) AS oldest FROM new_events) AS event,
         sent_new, sent_aside, held_new, held_aside`;

/** For the metrics. What waits for a paused or disabled webhook, or is withheld, waits on purpose: it is told apart, and is not late. */
export async function readQueueNumbers(tx: Transaction): Promise<QueueNumbers> {
  tx.defer(PINNED);
  const [numbers, failing] = await Promise.all([
    tx.first<Omit<QueueNumbers, 'failing'>>(QUEUE_NUMBERS),
    tx.query<{ id: string; failures: number }>(
      `SELECT w.id, l.failures FROM webhook_lanes l JOIN webhooks w ON w.no = l.webhook_no
        WHERE l.failures > 0 AND w.deleted_at IS NULL ORDER BY l.failures DESC LIMIT 100`,
    ),
  ]);
  const none = { events_new: 0, due: 0, waiting: 0, held: 0, withheld: 0, oldest: null };
  return { ...none, changes_pending: 0, oldest_change: null, ...numbers, failing };
}

/** When the oldest event was accepted that an active webhook should have by now; null when there is none. */
export async function readOldestUndelivered(tx: Transaction): Promise<string | null> {
  tx.defer(PINNED);
  const row = await tx.first<{ oldest: string | null }>(
    `WITH ${LANES} SELECT least((SELECT min(accepted_at) FROM new_events), (SELECT min(created_at) FROM first)) AS oldest`,
  );
  return row?.oldest ?? null;
}
