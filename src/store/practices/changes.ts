import type { Change } from '../../contract/operator/practices/changes.ts';
import { PAGE_SIZE_DEFAULT, type PageQuery } from '../../contract/page.ts';
import type { ChangeState, SubmissionTypeChange } from '../../contract/partner/changes.ts';
import type { PartnerPrincipal } from '../../domain/access/principal.ts';
import { type FeedPlace, feedCursor, readFeedCursor } from '../../domain/events/feed-cursor.ts';
import type { Transaction } from '../database.ts';
import { refuseGone, timelineOf } from '../events/event-feed.ts';
import { type Keyset, readStretch } from '../page.ts';

/** Changes that partners made, as the practice software reads and answers them. How they come here: src/sql/delivery/fan_out_to_operators.sql. */

const CHANGE = 'id, practice_group_id, object_id, partner_id, key_id, state, reason, at, ended_at, body';

type Row = Omit<Change, 'kind' | 'before' | 'after' | 'request_id'> & { body: string };

function changeOf<R extends Row>({ body, ...row }: R) {
  const { before, after, request_id } = JSON.parse(body) as Pick<Change, 'before' | 'after' | 'request_id'>;
  return { ...row, kind: 'submission_type' as const, before, after, request_id };
}

export interface ChangeFilter extends PageQuery {
  practice_group_id?: string | undefined;
  state?: ChangeState | undefined;
}

export type PlacedChange = Change & FeedPlace;

export interface ChangePage {
  changes: PlacedChange[];
  nextCursor: string;
  hasMore: boolean;
}

/** So many are looked through for one page, so that it is quick however rare the wanted ones are. */
const STRETCH = 10_000;

/** Texts of their own, so that each goes along its own index: all, those of a practice group, those that are pending. */
function feedTexts(isOfGroup: boolean, isPending: boolean) {
  const of = `${isOfGroup ? 'practice_group_id = $1' : '$1::text IS NULL'}${isPending ? " AND state = 'pending'" : ''}`;
  return {
    bounds: `SELECT newest, stretch_end, ${timelineOf('coalesce(stretch_end, greatest(newest, $2))')} AS timeline
       FROM (SELECT (SELECT position FROM changes WHERE ${of} ORDER BY position DESC LIMIT 1) AS newest,
                    CASE WHEN $3 THEN (SELECT position FROM changes WHERE ${of} AND position > $2
                                        ORDER BY position OFFSET $4 LIMIT 1) END AS stretch_end OFFSET 0) AS bounds`,
    rows: `SELECT ${CHANGE}, position, ${timelineOf('position')} AS timeline FROM changes
      WHERE ${of} AND position > $2 AND position <= $3 AND ($4::text IS NULL OR state = $4)
      ORDER BY position LIMIT $5`,
  };
}

/** In the order of their positions: a reader who goes on from the last one misses nothing. */
export async function readChangePage(tx: Transaction, filter: ChangeFilter): Promise<ChangePage> {
  const { practice_group_id: groupId, state, page_size: size = PAGE_SIZE_DEFAULT } = filter;
  const isPending = state === 'pending' && groupId === undefined;
  const texts = feedTexts(groupId !== undefined, isPending);
  const start = readFeedCursor(filter.cursor);
  const after = start?.position ?? 0;
  const [bounds] = await Promise.all([
    tx.first<{ newest: number | null; stretch_end: number | null; timeline: string | null }>(texts.bounds, [
      groupId,
      after,
      state !== undefined && !isPending,
      STRETCH - 1,
    ]),
    start && refuseGone(tx, start),
  ]);
  const newest = Math.max(after, bounds?.newest ?? 0);
  const end = { position: bounds?.stretch_end ?? newest, timeline: bounds?.timeline ?? null };
  const rows = await tx.query<Row & FeedPlace>(texts.rows, [groupId, after, end.position, state, size + 1]);
  const changes = rows.slice(0, size).map(changeOf);
  const last = rows.length > size ? (changes.at(-1) ?? end) : end;
  return { changes, nextCursor: feedCursor(last), hasMore: last.position < newest };
}

const ID = /^chg_([0-9a-f]{1,15})_/;

/** By the position that its ID tells, or by one that was made before it had any. */
async function readChange(tx: Transaction, id: string, lock: string): Promise<Change | undefined> {
  const [, position] = ID.exec(id) ?? [];
  const row =
    position === undefined
      ? await tx.first<Row>(`SELECT ${CHANGE} FROM changes WHERE id = $1 AND was_proposed ${lock}`, [id])
      : await tx.first<Row>(`SELECT ${CHANGE} FROM changes WHERE id = $1 AND position = $2 ${lock}`, [
          id,
          Number.parseInt(position, 16),
        ]);
  return row && changeOf(row);
}

export function findChange(tx: Transaction, id: string): Promise<Change | undefined> {
  return readChange(tx, id, '');
}

/** Nobody else says what became of it until the transaction ends. */
export function lockChange(tx: Transaction, id: string): Promise<Change | undefined> {
  return readChange(tx, id, 'FOR NO KEY UPDATE');
}

export function endChange(tx: Transaction, change: Change): void {
  const { id, practice_group_id, state, reason, ended_at } = change;
  const [, position] = ID.exec(id) ?? [];
  const where = position === undefined ? 'was_proposed' : 'practice_group_id = $5 AND position = $6';
  const place = position === undefined ? [] : [practice_group_id, Number.parseInt(position, 16)];
  tx.defer(`UPDATE changes SET state = $2, reason = $3, ended_at = $4 WHERE id = $1 AND ${where}`, [
    id,
    state,
    reason,
    ended_at,
    ...place,
  ]);
}

const latestFirst: Keyset<{ position: number }> = {
  types: ['number'],
  keyOf: ({ position }) => [position],
};

/** Newest first, along the same indexes as the feed. */
export async function listLatestChangePage(
  tx: Transaction,
  filter: ChangeFilter & { partner_id?: string | undefined },
) {
  const { practice_group_id: groupId, state, partner_id: partnerId } = filter;
  const isPending = state === 'pending' && groupId === undefined;
  const of = `${groupId !== undefined ? 'practice_group_id = $1' : '$1::text IS NULL'}${isPending ? " AND state = 'pending'" : ''}`;
  const page = await readStretch(
    filter,
    latestFirst,
    async ([before]) => {
      const end = await tx.first<{ position: number }>(
        `SELECT position FROM changes WHERE ${of} AND position < $2 ORDER BY position DESC OFFSET $3 LIMIT 1`,
        [groupId, before ?? Number.MAX_SAFE_INTEGER, STRETCH - 1],
      );
      return end && [end.position];
    },
    ([before], end, limit) =>
      tx.query<Row & { position: number }>(
        `SELECT ${CHANGE}, position FROM changes
          WHERE ${of} AND position < $2 AND position >= $3
            AND ($4::text IS NULL OR state = $4) AND ($5::text IS NULL OR partner_id = $5)
          ORDER BY position DESC LIMIT $6`,
        [groupId, before ?? Number.MAX_SAFE_INTEGER, end?.[0] ?? 0, state, partnerId, limit],
      ),
  );
  return { ...page, data: page.data.map(changeOf) };
}

type OwnRow = Omit<SubmissionTypeChange, 'request_id'> & { position: number; body: string };

/** A partner's own changes of a submission type, newest first: a practice group has few types, so its changes are looked through. */
export async function listOwnChangePage(
  tx: Transaction,
  { group, holder }: PartnerPrincipal,
  objectId: string,
  query: PageQuery,
) {
  const page = await readStretch(
    query,
    latestFirst,
    async ([before]) => {
      const end = await tx.first<{ position: number }>(
        `SELECT position FROM changes WHERE practice_group_id = $1 AND position < $2
          ORDER BY position DESC OFFSET $3 LIMIT 1`,
        [group.id, before ?? Number.MAX_SAFE_INTEGER, STRETCH - 1],
      );
      return end && [end.position];
    },
    ([before], end, limit) =>
      tx.query<OwnRow>(
        `SELECT id, state, reason, at, ended_at, position, body FROM changes
          WHERE practice_group_id = $1 AND position < $2 AND position >= $3 AND object_id = $4 AND partner_id = $5
          ORDER BY position DESC LIMIT $6`,
        [group.id, before ?? Number.MAX_SAFE_INTEGER, end?.[0] ?? 0, objectId, holder.partnerId, limit],
      ),
  );
  return { ...page, data: page.data.map(ownChangeOf) };
}

function ownChangeOf({ position: _position, body, ...change }: OwnRow): SubmissionTypeChange {
  const { request_id } = JSON.parse(body) as Pick<Change, 'request_id'>;
  return { ...change, request_id };
}
