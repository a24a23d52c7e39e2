import { decodeCursor, encodeCursor } from '../../contract/page.ts';

/**
 * A place in the feed, and the timeline in which that place was given: the name of a history (migrations/0004_timeline.sql). Places from before
 * there were timelines have none.
 */
export interface FeedPlace {
  position: number;
  timeline: string | null;
}

/** `name`: of the parameter or header that it was sent as. */
export function readFeedCursor(cursor: string | undefined, name?: string): FeedPlace | undefined {
  const [position, timeline] = decodeCursor(cursor, ['number', 'string?'], name);
  if (typeof position !== 'number') return undefined;
  return { position, timeline: typeof timeline === 'string' ? timeline : null };
}

export function feedCursor({ position, timeline }: FeedPlace): string {
  return encodeCursor(timeline === null ? [position] : [position, timeline]);
}

/** The stored facts about a cursor's timeline (src/sql/events/place_of_timeline.sql). */
export interface TimelinePlace {
  head: number;
  cell: number;
  known: boolean;
  until: number | null;
}

/**
 * Whether the place was lost: the feed was set back to before it. Within a timeline the end of the feed never goes back, so a place beyond it is
 * proof. A timeline that nobody knows began after the point to which the feed was set back, with everything in it. Of a practice
 * group that came from another cell, whose timelines are not known here, only the position can be looked at.
 */
export function isGone(place: FeedPlace, { head, known, until, ...here }: TimelinePlace): boolean {
  const { position, timeline } = place;
  if (position <= 0) return false;
  if (position > head) return true;
  if (timeline === null || isForeign(timeline, here.cell)) return false;
  return !known || position > (until ?? head);
}

/** Clocks of two servers differ, and what is read twice does no harm: so much earlier than a timeline began. */
const CAUTION_MS = 3_600_000;

/**
 * From where on the present history is another one than that of a place which is gone: a position, or the moment after which the first
 * timeline began that is not of the place's history. (Those that it had in common with the present one are older than its own.)
 */
export function forkOf(
  { timeline }: FeedPlace,
  { head, known, until, cell }: TimelinePlace,
): { position: number } | { timelineSince: number } {
  if (known) return { position: Math.min(head, until ?? head) };
  if (timeline !== null && isForeign(timeline, cell)) return { position: 0 };
  const [, , began = '0'] = PARTS.exec(timeline ?? '') ?? [];
  return { timelineSince: Math.max(0, Number.parseInt(began, 16) - CAUTION_MS) };
}

/** IDs of timelines are made by src/sql/events/begin_timeline.sql. */
const PARTS = /^(\d{1,3})-([0-9a-f]{1,12})-/;

function isForeign(timeline: string, cell: number): boolean {
  const [, origin] = PARTS.exec(timeline) ?? [];
  return origin !== undefined && Number(origin) !== cell;
}
