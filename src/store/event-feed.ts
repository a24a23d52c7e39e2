import { PAGE_SIZE_DEFAULT, type PageQuery } from '../contract/page.ts';
import type { Transaction } from './database.ts';
import { decodeCursor, encodeCursor } from './page.ts';

/**
 * The feed of a practice group, in the order of its positions. These are given one after the other and never taken back,
 * so a reader who goes on from the last one misses nothing.
 */
export interface FeedPage {
  events: FeedEvent[];
  nextCursor: string;
  hasMore: boolean;
}

interface FeedEvent {
  id: string;
  accepted_at: string;
  /** JSON, exactly as receivers get it. */
  payload: string;
  position: number;
}

/** So many are looked through for one page, so that it is quick however rare the wanted events are. */
const STRETCH = 10_000;

export async function readFeedPage(
  tx: Transaction,
  groupId: string,
  query: PageQuery & { event_types?: readonly string[] | undefined },
): Promise<FeedPage> {
  const size = query.page_size ?? PAGE_SIZE_DEFAULT;
  const after = Number(decodeCursor(query.cursor, ['number'])[0] ?? 0);
  const bounds = await tx.first<{ newest: number | null; stretch_end: number | null }>(
    `SELECT (SELECT position FROM events WHERE practice_group_id = $1 AND position IS NOT NULL
              ORDER BY position DESC LIMIT 1) AS newest,
            CASE WHEN $3 THEN (SELECT position FROM events WHERE practice_group_id = $1 AND position > $2
                                ORDER BY position OFFSET ${STRETCH - 1} LIMIT 1) END AS stretch_end`,
    [groupId, after, query.event_types !== undefined],
  );
  const newest = Math.max(after, bounds?.newest ?? 0);
  const end = bounds?.stretch_end ?? newest;
  const rows = await tx.query<FeedEvent>(
    `SELECT id, accepted_at, payload, position FROM events
      WHERE practice_group_id = $1 AND position > $2 AND position <= $3 AND only_webhook_no IS NULL
        AND ($4::text[] IS NULL OR event = ANY ($4))
      ORDER BY position LIMIT $5`,
    [groupId, after, end, query.event_types, size + 1],
  );
  const events = rows.slice(0, size);
  const last = rows.length > size ? (events.at(-1)?.position ?? end) : end;
  return { events, nextCursor: encodeCursor([last]), hasMore: last < newest };
}
