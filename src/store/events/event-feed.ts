import { PAGE_SIZE_DEFAULT, type Page, type PageQuery } from '../../contract/page.ts';
import { Problem } from '../../contract/problems.ts';
import type { PartnerPrincipal } from '../../domain/access/principal.ts';
import {
  type FeedPlace,
  feedCursor,
  forkOf,
  isGone,
  readFeedCursor,
  type TimelinePlace,
} from '../../domain/events/feed-cursor.ts';
import { alone, type Database, type Transaction } from '../database.ts';
import { type Keyset, readStretch } from '../page.ts';
import { sqlFunction } from '../sql-functions.ts';
import { where } from '../where.ts';

const beginTimelineSql = sqlFunction('begin_timeline', { head: 'bigint' });
const placeOfTimeline = sqlFunction('place_of_timeline', { timeline: 'text' });

/**
 * The feed of a practice group, in the order of its positions. These are given one after the other and never taken back,
 * so a reader who goes on from the last one misses nothing. Only a restore or a lossy failover takes some back: then a new timeline
 * begins, and a reader whose cursor is of what was lost is told.
 */
export interface FeedPage {
  events: FeedEvent[];
  nextCursor: string;
  hasMore: boolean;
}

export interface FeedEvent extends FeedPlace {
  id: string;
  event: string;
  accepted_at: string;
  /** JSON, exactly as receivers get it. */
  payload: string;
}

/** So many are looked through for one page, so that it is quick however rare the wanted events are. */
const STRETCH = 10_000;
/** Above every position. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** The timeline in which a position was given. */
export const timelineOf = (position: string) =>
  `(SELECT id FROM feed_timelines WHERE after < ${position} ORDER BY after DESC LIMIT 1)`;

export async function readFeedPage(
  tx: Transaction,
  { group, holder }: PartnerPrincipal,
  query: PageQuery & { since?: string | undefined; event_types?: readonly string[] | undefined },
): Promise<FeedPage> {
  const size = query.page_size ?? PAGE_SIZE_DEFAULT;
  const start = readFeedCursor(query.cursor);
  const after =
    query.since === undefined ? (start?.position ?? 0) : await placeBefore(tx, group.id, query.since);
  const [bounds] = await Promise.all([
    tx.first<{ newest: number | null; stretch_end: number | null; timeline: string | null }>(
      `SELECT newest, stretch_end, ${timelineOf('coalesce(stretch_end, greatest(newest, $2))')} AS timeline
         FROM (SELECT (SELECT position FROM feed WHERE practice_group_id = $1 ORDER BY position DESC LIMIT 1) AS newest,
                      CASE WHEN $3 THEN (SELECT position FROM feed WHERE practice_group_id = $1 AND position > $2
                                          ORDER BY position OFFSET $4 LIMIT 1) END AS stretch_end OFFSET 0) AS bounds`,
      // A length that PostgreSQL knows beforehand makes it sort the whole feed of a practice that it takes for shorter.
      [group.id, after, query.event_types !== undefined, STRETCH - 1],
    ),
    start && refuseGone(tx, start),
  ]);
  const newest = Math.max(after, bounds?.newest ?? 0);
  const end = { position: bounds?.stretch_end ?? newest, timeline: bounds?.timeline ?? null };
  const rows = await tx.query<FeedEvent>(
    `SELECT id, event, accepted_at, payload, position, ${timelineOf('position')} AS timeline FROM feed
      CROSS JOIN LATERAL (SELECT id, accepted_at, payload FROM events WHERE no = feed.event_no OFFSET 0) AS e
      WHERE practice_group_id = $1 AND position > $2 AND position <= $3
        AND (only_partner_id IS NULL OR only_partner_id = $6)
        AND ($4::text[] IS NULL OR event = ANY ($4))
        AND ($7::timestamptz IS NULL OR accepted_at >= $7)
      ORDER BY position LIMIT $5`,
    [group.id, after, end.position, query.event_types, size + 1, holder.partnerId, query.since],
  );
  const events = rows.slice(0, size);
  const last = rows.length > size ? (events.at(-1) ?? end) : end;
  return { events, nextCursor: feedCursor(last), hasMore: last.position < newest };
}

/**
 * Finds the place just before the first event of a practice group that was accepted at a moment or later. Halves the feed until one place is
 * left, which takes about 40 lookups for a feed of any length. Events that are accepted within a minute may have their places in another order,
 * so the query also searches the events of the minute before.
 */
async function placeBefore(tx: Transaction, groupId: string, since: string): Promise<number> {
  const found = await tx.first<{ after: number }>(
    `WITH RECURSIVE search AS (
       SELECT moment, 0::bigint AS low, coalesce((SELECT max(position) FROM feed WHERE practice_group_id = $1), 0) AS high
         FROM unnest(ARRAY[$2::timestamptz, $2::timestamptz - interval '1 minute']) AS moment
       UNION ALL
       SELECT moment, CASE WHEN is_earlier THEN middle + 1 ELSE low END, CASE WHEN is_earlier THEN high ELSE middle END
         FROM search
        CROSS JOIN LATERAL (SELECT (low + high) / 2 AS middle OFFSET 0) AS m
        CROSS JOIN LATERAL (
          SELECT coalesce((SELECT accepted_at < moment
                             FROM (SELECT event_no FROM feed WHERE practice_group_id = $1 AND position > middle
                                    ORDER BY position LIMIT 1) AS next
                             JOIN events ON no = event_no), false) AS is_earlier OFFSET 0) AS e
        WHERE low < high),
     places AS (SELECT min(low) AS earliest, max(low) AS latest FROM search WHERE low = high)
     SELECT least(latest, (SELECT min(position) - 1
                             FROM (SELECT position, event_no FROM feed
                                    WHERE practice_group_id = $1 AND position > earliest AND position <= latest
                                    ORDER BY position DESC LIMIT $3) AS stretch
                            CROSS JOIN LATERAL (SELECT accepted_at FROM events WHERE no = event_no OFFSET 0) AS e
                            WHERE accepted_at >= $2)) AS after
       FROM places`,
    [groupId, since, STRETCH],
  );
  return found?.after ?? 0;
}

const newestFirst: Keyset<FeedPlace> = { types: ['number'], keyOf: ({ position }) => [position] };

/** The same for people, who look at the newest first. Their cursor is good for as long as they look: it needs no timeline. */
export function readLatestEvents(
  tx: Transaction,
  { group, holder }: PartnerPrincipal,
  query: PageQuery & { event?: string | undefined },
): Promise<Page<FeedEvent>> {
  return readStretch(
    query,
    newestFirst,
    async ([before]) => {
      if (query.event === undefined) return undefined;
      const end = await tx.first<{ position: number }>(
        `SELECT position FROM feed WHERE practice_group_id = $1 AND position < $2 ORDER BY position DESC OFFSET $3 LIMIT 1`,
        [group.id, before ?? NEWEST, STRETCH - 1],
      );
      return end && [end.position];
    },
    ([before], end, limit) => {
      const { text, values } = where(
        ['practice_group_id = ?', group.id],
        ['position < ?', before ?? NEWEST],
        ['position >= ?', end?.[0]],
        ['(only_partner_id IS NULL OR only_partner_id = ?)', holder.partnerId],
        ['event = ?', query.event],
      );
      return tx.query<FeedEvent>(
        `SELECT id, event, accepted_at, payload, position, NULL AS timeline FROM feed
          CROSS JOIN LATERAL (SELECT id, accepted_at, payload FROM events WHERE no = feed.event_no OFFSET 0) AS e
          ${text} ORDER BY position DESC LIMIT $${values.length + 1}`,
        [...values, limit],
      );
    },
  );
}

/** Refuses a place that was lost, with the one to go on from. */
export async function refuseGone(tx: Transaction, place: FeedPlace): Promise<void> {
  const [here] = await placeOfTimeline<TimelinePlace>(tx, { timeline: place.timeline ?? '' });
  if (!here || !isGone(place, here)) return;
  const fork = forkOf(place, here);
  const resume = await tx.first<FeedPlace>(
    `SELECT position, ${timelineOf('position')} AS timeline
       FROM (SELECT coalesce($1, (SELECT min(after) FROM feed_timelines WHERE began_at > to_timestamp($2::float8 / 1000)), 0) AS position
             OFFSET 0) AS fork`,
    'position' in fork ? [fork.position, null] : [null, fork.timelineSince],
  );
  throw new Problem('cursor_gone', {
    resume_cursor: feedCursor(resume ?? { position: 0, timeline: null }),
  });
}

/** Stands among practice groups for the feed of changes, which has its places from the same head. */
export const OF_CHANGES = '';

export interface FeedNews extends FeedPlace {
  /** Those of the groups that have something new. */
  groups: string[];
}

/** Where the feed ends at this moment, and which of the groups have something after a position. */
export async function readFeedNews(
  tx: Transaction,
  groups: readonly string[],
  after: number,
): Promise<FeedNews> {
  const news = await tx.first<FeedNews>(
    `SELECT position, ${timelineOf('position')} AS timeline,
            ARRAY(SELECT id FROM unnest($1::text[]) AS open (id)
                             WHERE CASE WHEN open.id = '${OF_CHANGES}' THEN EXISTS (SELECT FROM changes WHERE position > $2)
                                        ELSE EXISTS (SELECT FROM feed WHERE practice_group_id = open.id AND position > $2) END) AS groups
       FROM feed_head`,
    [groups, after],
  );
  return news ?? { position: after, timeline: null, groups: [] };
}

/** When a node starts: see src/sql/events/begin_timeline.sql. */
export async function beginTimeline(db: Database): Promise<void> {
  await beginTimelineSql(alone(db), { head: null });
}
