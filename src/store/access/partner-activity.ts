import { type EventName, events } from '../../contract/events.ts';
import { AFTER_ALL } from '../../contract/page.ts';
import type { ChangeState } from '../../contract/partner/changes.ts';
import type { ActivityKind, PartnerActivity } from '../../contract/practice/partners.ts';
import type { Placed, Strand } from '../../domain/events/timeline.ts';
import type { Transaction } from '../database.ts';

/**
 * What a partner read, changed and received of one practice group, from the records that there are: the access log, the changes, and the deliveries
 * along the feed. Each is looked through newest first, along the index that it has of the group, a stretch at a time: the log by time and, within
 * a moment, by number; changes and events by their positions, which are given in the order of commits, and so of times but for as long as a
 * transaction lasts.
 */

export interface Whose {
  groupId: string;
  partnerId: string;
}

const STRETCH = 2_000;
const nothingMore = { operation: null, event: null, object: null, object_id: null, title: null } as const;
const noChange = { before: null, after: null, state: null } as const;

type Found = Placed<PartnerActivity>;

function strandOf(
  from: readonly number[],
  found: Found[],
  limit: number,
  stretch: Omit<Found, 'item'> | undefined,
): Strand<PartnerActivity> {
  const last = found.length === limit ? found.at(-1) : undefined;
  return { from, found, end: last ?? stretch };
}

interface LogRow {
  no: number;
  last_at: string;
  title: string | null;
  entry: {
    kind: 'read' | 'received';
    operation: string;
    object: string | null;
    object_id: string | null;
    event?: string;
    first_at: string;
    count: number;
  };
}

/** Calls of its keys; and what it received so long ago that the deliveries are gone. */
export async function readLogStrand(
  tx: Transaction,
  { groupId, partnerId }: Whose,
  keyIds: readonly string[],
  kind: ActivityKind | undefined,
  [beforeMs = 0, beforeNo = 0]: readonly number[],
  limit: number,
): Promise<Strand<PartnerActivity>> {
  const before = beforeMs === AFTER_ALL ? 'infinity' : new Date(beforeMs).toISOString();
  const end = await tx.first<{ no: number; last_at: string }>(
    `SELECT no, last_at FROM access_log WHERE practice_group_id = $1 AND (last_at, no) < ($2, $3)
      ORDER BY last_at DESC, no DESC OFFSET $4 LIMIT 1`,
    [groupId, before, beforeNo, STRETCH - 1],
  );
  const rows = await tx.query<LogRow>(
    `SELECT l.no, l.last_at, l.body::json AS entry, t.title
       FROM (SELECT no, last_at, body, object_id FROM access_log
              WHERE practice_group_id = $1 AND (last_at, no) < ($2, $3) AND (last_at, no) >= ($4, $5)
                AND actor_id = ANY ($6)
                AND ($7::text IS NULL OR body::json ->> 'kind' = $7)
              ORDER BY last_at DESC, no DESC LIMIT $8) AS l
       LEFT JOIN submission_types t ON t.practice_group_id = $1 AND t.id = l.object_id
      ORDER BY l.last_at DESC, l.no DESC`,
    [
      groupId,
      before,
      beforeNo,
      end?.last_at ?? '-infinity',
      end?.no ?? 0,
      [partnerId, ...keyIds],
      kind,
      limit,
    ],
  );
  const placeOf = (last_at: string, no: number) => [Date.parse(last_at), no];
  const found = rows.map(({ no, last_at, title, entry }): Found => {
    const { operation, event, object, object_id, first_at, count } = entry;
    const isRead = entry.kind === 'read';
    return {
      at: last_at,
      place: placeOf(last_at, no),
      item: {
        ...noChange,
        id: `log-${no}`,
        kind: entry.kind,
        at: last_at,
        first_at,
        last_at,
        count,
        operation: isRead ? operation : null,
        event: event ?? null,
        object,
        object_id,
        title,
      },
    };
  });
  const stretch = end && { at: end.last_at, place: placeOf(end.last_at, end.no) };
  return strandOf([beforeMs, beforeNo], found, limit, stretch);
}

interface ChangeRow {
  position: number;
  id: string;
  at: string;
  object_id: string;
  state: ChangeState;
  title: string | null;
  entry: { before: unknown; after: unknown };
}

export async function readChangeStrand(
  tx: Transaction,
  { groupId, partnerId }: Whose,
  [before = 0]: readonly number[],
  limit: number,
): Promise<Strand<PartnerActivity>> {
  const end = await tx.first<{ position: number; at: string }>(
    `SELECT position, at FROM changes WHERE practice_group_id = $1 AND position < $2 ORDER BY position DESC OFFSET $3 LIMIT 1`,
    [groupId, before, STRETCH - 1],
  );
  const rows = await tx.query<ChangeRow>(
    `SELECT c.position, c.id, c.at, c.object_id, c.state, c.body::json AS entry, t.title
       FROM changes c LEFT JOIN submission_types t ON t.practice_group_id = $1 AND t.id = c.object_id
      WHERE c.practice_group_id = $1 AND c.position < $2 AND c.position >= $3 AND c.partner_id = $4
      ORDER BY c.position DESC LIMIT $5`,
    [groupId, before, end?.position ?? 0, partnerId, limit],
  );
  const found = rows.map(({ position, id, at, object_id, state, title, entry }): Found => {
    const item = { ...nothingMore, id, kind: 'changed' as const, at, first_at: at, last_at: at, count: 1 };
    const { before, after } = entry;
    return { at, place: [position], item: { ...item, object_id, title, before, after, state } };
  });
  return strandOf([before], found, limit, end && { at: end.at, place: [end.position] });
}

interface ReceivedRow {
  position: number;
  webhook_no: number;
  event_id: string;
  event: EventName;
  object_id: string;
  accepted_at: string;
  first_at: string;
  last_at: string;
  count: number;
}

/** An attempt that got as far as sending has told the receiver, whatever it answered. Told in the order in which the events came. */
export async function readReceivedStrand(
  tx: Transaction,
  { groupId, partnerId }: Whose,
  [before = 0, webhookNo = 0]: readonly number[],
  limit: number,
): Promise<Strand<PartnerActivity>> {
  const end = await tx.first<{ position: number; at: string }>(
    `SELECT f.position, e.accepted_at AS at
       FROM (SELECT position, event_no FROM feed WHERE practice_group_id = $1 AND position < $2 ORDER BY position DESC OFFSET $3 LIMIT 1) AS f
       JOIN events e ON e.no = f.event_no`,
    [groupId, before, STRETCH - 1],
  );
  const rows = await tx.query<ReceivedRow>(
    `SELECT f.position, d.webhook_no, e.id AS event_id, e.event, e.object_id, e.accepted_at, sent.first_at, sent.last_at, sent.count
       FROM (SELECT position, event_no FROM feed WHERE practice_group_id = $1 AND position <= $2 AND position >= $4 OFFSET 0) AS f
      CROSS JOIN LATERAL (SELECT webhook_no, attempts FROM deliveries WHERE event_no = f.event_no
                             AND webhook_no = ANY (ARRAY(SELECT no FROM webhooks WHERE partner_id = $5))
                             AND attempts::text <> '[]' OFFSET 0) AS d
      CROSS JOIN LATERAL (SELECT id, event, object_id, accepted_at FROM events WHERE no = f.event_no OFFSET 0) AS e
      CROSS JOIN LATERAL (SELECT min(a ->> 'at')::timestamptz AS first_at, max(a ->> 'at')::timestamptz AS last_at, count(*)::integer AS count
                            FROM json_array_elements(d.attempts) AS a
                           WHERE a ->> 'status' IS NOT NULL OR a ->> 'phase' IN ('send', 'answer')) AS sent
      WHERE sent.count > 0 AND (f.position, d.webhook_no) < ($2::bigint, $3::bigint)
      ORDER BY f.position DESC, d.webhook_no DESC LIMIT $6`,
    [groupId, before, webhookNo, end?.position ?? 0, partnerId, limit],
  );
  const found = rows.map(
    ({ position, webhook_no, event_id, event, object_id, accepted_at, first_at, last_at, count }): Found => {
      const item = {
        ...nothingMore,
        ...noChange,
        id: `${event_id}-${webhook_no}`,
        kind: 'received' as const,
      };
      const { object } = events[event];
      return {
        at: accepted_at,
        place: [position, webhook_no],
        item: { ...item, at: accepted_at, first_at, last_at, count, event, object, object_id },
      };
    },
  );
  return strandOf([before, webhookNo], found, limit, end && { at: end.at, place: [end.position, 0] });
}
