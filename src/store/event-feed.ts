import { decodeCursor, encodeCursor, PAGE_SIZE_DEFAULT, type PageQuery } from '../contract/page.ts';
import type { PartnerPrincipal } from '../domain/principal.ts';
import type { Transaction } from './database.ts';

/**
 * The feed of a practice group, in the order of its positions. These are given one after the other and never taken back,
 * so a reader who goes on from the last one misses nothing.
 */
export interface FeedPage {
  events: FeedEvent[];
  nextCursor: string;
  hasMore: boolean;
}

export interface FeedEvent {
  id: string;
  event: string;
  accepted_at: string;
  /** JSON, exactly as receivers get it. */
  payload: string;
  position: number;
}

/** So many are looked through for one page, so that it is quick however rare the wanted events are. */
const STRETCH = 10_000;

export async function readFeedPage(
  tx: Transaction,
  { group, holder }: PartnerPrincipal,
  query: PageQuery & { event_types?: readonly string[] | undefined },
): Promise<FeedPage> {
  const size = query.page_size ?? PAGE_SIZE_DEFAULT;
  const after = positionIn(query.cursor) ?? 0;
  const bounds = await tx.first<{ newest: number | null; stretch_end: number | null }>(
    `SELECT (SELECT position FROM feed WHERE practice_group_id = $1 ORDER BY position DESC LIMIT 1) AS newest,
            CASE WHEN $3 THEN (SELECT position FROM feed WHERE practice_group_id = $1 AND position > $2
                                ORDER BY position OFFSET $4 LIMIT 1) END AS stretch_end`,
    // A length that PostgreSQL knows beforehand makes it sort the whole feed of a practice that it takes for shorter.
    [group.id, after, query.event_types !== undefined, STRETCH - 1],
  );
  const newest = Math.max(after, bounds?.newest ?? 0);
  const end = bounds?.stretch_end ?? newest;
  const rows = await tx.query<FeedEvent>(
    `SELECT id, event, accepted_at, payload, position FROM feed
      CROSS JOIN LATERAL (SELECT id, accepted_at, payload FROM events WHERE no = feed.event_no OFFSET 0) AS e
      WHERE practice_group_id = $1 AND position > $2 AND position <= $3
        AND (only_partner_id IS NULL OR only_partner_id = $6)
        AND ($4::text[] IS NULL OR event = ANY ($4))
      ORDER BY position LIMIT $5`,
    [group.id, after, end, query.event_types, size + 1, holder.partnerId],
  );
  const events = rows.slice(0, size);
  const last = rows.length > size ? (events.at(-1)?.position ?? end) : end;
  return { events, nextCursor: encodeCursor([last]), hasMore: last < newest };
}

function positionIn(cursor: string | undefined, name?: string): number | undefined {
  const [position] = decodeCursor(cursor, ['number'], name);
  return typeof position === 'number' ? position : undefined;
}

/** The one that was sent, as `name`, if there is one; else that of the position. */
export function cursorAt(position: number, cursor?: string, name?: string): string {
  return encodeCursor([positionIn(cursor, name) ?? position]);
}

export interface FeedNews {
  position: number;
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
    `SELECT position, ARRAY(SELECT id FROM unnest($1::text[]) AS open (id)
                             WHERE EXISTS (SELECT FROM feed WHERE practice_group_id = open.id AND position > $2)) AS groups
       FROM feed_head`,
    [groups, after],
  );
  return news ?? { position: after, groups: [] };
}
