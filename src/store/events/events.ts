import type { EventPayload } from '../../contract/event-payloads.ts';
import type { EventName } from '../../contract/events.ts';
import type { Page, PageQuery } from '../../contract/page.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { alone, type Database, type Transaction, transact } from '../database.ts';
import { placesOf, type Span, spanSeconds } from '../halving.ts';
import type { Keyed } from '../idempotency.ts';
import { waitForLocks } from '../lock-wait.ts';
import { type Keyset, readStretch } from '../page.ts';
import { sqlFunction } from '../sql-functions.ts';
import { where } from '../where.ts';
import { type StoredDelivery, WITHHELD_REASON } from './deliveries-read.ts';

export interface NewEvent {
  id: string;
  payload: EventPayload;
}

/** Who said so, an operator or the key that asked for a test event, and when. */
export interface Said {
  sourceId: string;
  acceptedAt: string;
  /** The trace that the call was a part of. */
  traceparent?: string | undefined;
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
  { sourceId, acceptedAt, traceparent }: Said,
  events: readonly NewEvent[],
  { onlyWebhookNo, onlyPartnerId }: Audience = {},
): void {
  const lines = (part: (event: NewEvent) => string) => events.map(part).join('\n');
  tx.defer(
    `WITH accepted AS (
       INSERT INTO events (id, payload, practice_group_id, event, object_id, object_hash, source, accepted_at,
                           only_webhook_no, only_partner_id, traceparent)
       SELECT new.id, new.payload, new.practice_group_id, new.event, new.object_id,
              hashtextextended(new.object || ' ' || new.object_id, 0), $7, $8, $9, $10, $11
         FROM unnest(string_to_array($1, E'\\n'), string_to_array($2, E'\\n'), string_to_array($3, E'\\n'),
                     string_to_array($4, E'\\n'), string_to_array($5, E'\\n'), $6::text[])
              WITH ORDINALITY AS new (id, payload, practice_group_id, event, object, object_id, place)
        ORDER BY new.place
       RETURNING no, practice_group_id
     ), queued AS (
       -- Not what is for one webhook alone: that is put into its queue at once. One by itself, as most come, takes PostgreSQL
       -- a tenth of a millisecond less if there is nothing to gather.
       INSERT INTO new_events (practice_group_id, first_no, event_nos, accepted_at)
       ${
         events.length === 1
           ? 'SELECT practice_group_id, no, ARRAY[no], $8 FROM accepted WHERE $9::integer IS NULL'
           : `SELECT practice_group_id, min(no), array_agg(no), $8 FROM accepted WHERE $9::integer IS NULL
               GROUP BY practice_group_id, no / 100`
       }
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
      traceparent,
    ],
  );
}

/** What a call accepts that brings one event: itself, and what is kept for its Idempotency-Key. */
export interface OneEvent extends NewEvent {
  sourceId: string;
  traceparent: string | undefined;
  keyed?: Pick<Keyed<unknown>, 'key' | 'bodyHash' | 'answer'> | undefined;
}

/** `cleared`: the key was used, and what was kept for it went away just now. */
export type AcceptedOne =
  | { outcome: 'accepted' | 'unknown_group' | 'cleared' }
  | { outcome: 'repeated'; bodyHash: Buffer; answer: unknown };

/** The arguments of whatever accepts events one by one, without when. */
export const EVENT_LISTS = {
  id_lines: 'text',
  payload_lines: 'text',
  group_lines: 'text',
  event_lines: 'text',
  object_lines: 'text',
  object_ids: 'text[]',
  source_lines: 'text',
  traceparents: 'text[]',
  keys: 'text[]',
  body_hashes: 'text[]',
  answers: 'text[]',
} as const;

const acceptEventsSql = sqlFunction('accept_events', { at: 'timestamptz', ...EVENT_LISTS });

export interface AcceptedRow {
  unknown: number[] | null;
  repeated: number[] | null;
  kept_hashes: (string | null)[] | null;
  kept_answers: (string | null)[] | null;
}

/** Accepts events of calls that bring one each. The transaction is theirs together; the outcome is each one's own. */
export async function acceptEvents(
  db: Database,
  at: string,
  events: readonly OneEvent[],
): Promise<AcceptedOne[]> {
  const [row] = await acceptEventsSql<AcceptedRow>(alone(db), { at, ...listsOf(events) });
  return outcomesOf(row, events);
}

/** The same, unless somebody has one of their keys for more than a moment: then nothing is done, and it is too late. */
export function acceptInPassing(
  db: Database,
  at: string,
  events: readonly OneEvent[],
): Promise<AcceptedOne[]> {
  return transact(db, SYSTEM, async (tx) => {
    waitForLocks(tx, 'briefly');
    const [row] = await acceptEventsSql<AcceptedRow>(tx, { at, ...listsOf(events) });
    waitForLocks(tx, 'as usual');
    return outcomesOf(row, events);
  });
}

export function outcomesOf(row: AcceptedRow | undefined, events: readonly OneEvent[]): AcceptedOne[] {
  const outcomes = events.map((): AcceptedOne => ({ outcome: 'accepted' }));
  for (const place of row?.unknown ?? []) outcomes[place - 1] = { outcome: 'unknown_group' };
  row?.repeated?.forEach((place, index) => {
    const [hash, answer] = [row.kept_hashes?.[index], row.kept_answers?.[index]];
    outcomes[place - 1] =
      // Of what was erased the hash is kept as an empty one, which no call has: such a key is used up.
      hash != null && answer != null
        ? { outcome: 'repeated', bodyHash: Buffer.from(hash, 'hex'), answer: JSON.parse(answer) }
        : { outcome: 'cleared' };
  });
  return outcomes;
}

/** What calls that share a transaction say of practice groups that they have locked, or something that belongs to them. */
export function appendOneByOne(tx: Transaction, at: string, events: readonly OneEvent[]): void {
  if (events.length > 0) void acceptEventsSql(tx.deferred, { at, ...listsOf(events) });
}

export function listsOf(events: readonly OneEvent[]) {
  const lines = (part: (event: OneEvent) => string) => events.map(part).join('\n');
  const ofKeyed = (part: (keyed: NonNullable<OneEvent['keyed']>) => string) =>
    events.some(({ keyed }) => keyed) ? events.map(({ keyed }) => (keyed ? part(keyed) : null)) : null;
  const isTraced = events.some(({ traceparent }) => traceparent !== undefined);
  return {
    id_lines: lines(({ id }) => id),
    payload_lines: lines(({ payload }) => JSON.stringify(payload)),
    group_lines: lines(({ payload }) => payload.practice_group_id),
    event_lines: lines(({ payload }) => payload.event),
    object_lines: lines(({ payload }) => payload.object),
    object_ids: events.map(({ payload }) => payload.id),
    source_lines: lines(({ sourceId }) => sourceId),
    traceparents: isTraced ? events.map(({ traceparent }) => traceparent ?? null) : null,
    keys: ofKeyed(({ key }) => key),
    body_hashes: ofKeyed(({ bodyHash }) => bodyHash.toString('hex')),
    answers: ofKeyed(({ answer }) => JSON.stringify(answer)),
  };
}

export interface StoredEvent {
  id: string;
  source_id: string;
  accepted_at: string;
  test: boolean;
  /** JSON, exactly as receivers get it. */
  payload: string;
}

/** `place`: among all events, or in the feed of a practice group. */
type EventRow = StoredEvent & { no: number; place: number };

const EVENT =
  'e.id, e.source AS source_id, e.accepted_at, num_nonnulls(e.only_webhook_no, e.only_partner_id) > 0 AS test, e.payload';

/** Where events are looked for, with the columns that say which. */
interface Way {
  from: string;
  /** They are in the order of this. */
  place: string;
  group: string;
  event: string;
  /** What a cursor is told as their place, if it is another. */
  told?: number;
}

/** Of an event that has no place in the feed yet. */
const UNPLACED = Number.MAX_SAFE_INTEGER;

const eventOf = (no: string) => `CROSS JOIN LATERAL (SELECT * FROM events WHERE no = ${no} OFFSET 0) AS e`;
const asAccepted: Way = { from: 'events e', place: 'e.no', group: 'e.practice_group_id', event: 'e.event' };
const inFeed: Way = {
  from: `feed ${eventOf('feed.event_no')}`,
  place: 'feed.position',
  group: 'feed.practice_group_id',
  event: 'feed.event',
};
const notInFeedYet: Way = {
  // In order before they are looked up, so that no more are looked up than wanted.
  from: `(SELECT practice_group_id, no FROM new_events CROSS JOIN LATERAL unnest(event_nos) AS no ORDER BY no DESC) AS new
         ${eventOf('new.no')}`,
  place: 'new.no',
  group: 'new.practice_group_id',
  event: 'e.event',
  told: UNPLACED,
};

const newestFirst: Keyset<EventRow> = { types: ['number', 'number'], keyOf: ({ place, no }) => [place, no] };
/** So many are looked through for one page when only some of them are wanted. */
const STRETCH = 10_000;

export interface EventFilter extends PageQuery, Span {
  practice_group_id?: string | undefined;
  event?: EventName | undefined;
}

/** The places of a way, of the practice group $1 or of all, from $2 on, each with when its event was accepted. */
const placesOn = ({ from, place, group }: Way) =>
  `SELECT ${place} AS place, extract(epoch FROM e.accepted_at)::float8 AS seconds FROM ${from}
    WHERE ${place === 'e.no' ? '$1::text IS NULL' : `${group} = $1`} AND ${place} >= $2 ORDER BY ${place}`;

/** Newest first: in the order of acceptance, or of the feed, when it is about one practice group. */
export async function listEventPage(tx: Transaction, filter: EventFilter): Promise<Page<StoredEvent>> {
  const { practice_group_id: groupId, event } = filter;
  const way = groupId === undefined ? asAccepted : inFeed;
  const { since, until } = spanSeconds(filter);
  const bounds = await placesOf(
    filter,
    async () => (await tx.first<{ place: number }>(`${placesOn(way)} DESC LIMIT 1`, [groupId, 0]))?.place,
    (from) => tx.first<{ place: number; seconds: number }>(`${placesOn(way)} LIMIT 1`, [groupId, from]),
  );
  const read = ({ from, place, told, ...way }: Way, before: number, end: number, limit: number) => {
    const { text, values } = where(
      [`${place} < ?`, before],
      // Without need, a lower bound leads PostgreSQL astray: it sorts all that lie above.
      [`${place} >= ?`, end || undefined],
      [`${way.group} = ?`, groupId],
      [`${way.event} = ?`, event],
      ['e.accepted_at >= to_timestamp(?)', since],
      ['e.accepted_at < to_timestamp(?)', until],
      // Not those for the operator's own systems.
      [`${way.group} <> ?`, groupId === undefined ? '' : undefined],
    );
    return tx.query<EventRow>(
      `SELECT e.no, ${told ?? place} AS place, ${EVENT} FROM ${from} ${text}
        ORDER BY ${place} DESC LIMIT $${values.length + 1}`,
      [...values, limit],
    );
  };
  const page = await readStretch(
    filter,
    newestFirst,
    async ([before]) => {
      if (event === undefined && groupId !== undefined) return undefined;
      const { text, values } = where(
        [`${way.place} < ?`, before ?? bounds.before ?? UNPLACED],
        [`${way.group} = ?`, groupId],
      );
      const end = await tx.first<{ place: number }>(
        `SELECT ${way.place} AS place FROM ${way === inFeed ? 'feed' : way.from} ${text}
          ORDER BY ${way.place} DESC OFFSET $${values.length + 1} LIMIT 1`,
        [...values, STRETCH - 1],
      );
      return end && end.place > (bounds.from ?? 0) ? [end.place, 0] : undefined;
    },
    async ([after, afterNo], end, limit) => {
      const before = Number(after ?? bounds.before ?? UNPLACED);
      // What is not fanned out yet comes first. Should it be so meanwhile, it is on the next page once more.
      const isFirst = groupId !== undefined && before === UNPLACED;
      const unplaced = isFirst ? await read(notInFeedYet, Number(afterNo ?? UNPLACED), 0, limit) : [];
      const placed = await read(way, before, Number(end?.[0] ?? bounds.from ?? 0), limit);
      // It may have been placed between the two.
      const seen = new Set(unplaced.map(({ no }) => no));
      return [...unplaced, ...placed.filter(({ no }) => !seen.has(no))].slice(0, limit);
    },
  );
  return { ...page, data: page.data.map(({ no: _no, place: _place, ...stored }) => stored) };
}

export function findEvent(tx: Transaction, id: string): Promise<StoredEvent | undefined> {
  return tx.first<StoredEvent>(`SELECT ${EVENT} FROM events e WHERE id = $1 AND practice_group_id <> ''`, [
    id,
  ]);
}

export type EventDelivery = Pick<StoredDelivery, 'webhook_id' | 'sequence' | 'state' | 'withheld_reason'>;

/** How far an event has come with each webhook. A practice group has a few; the limit is a fuse, not a page. */
export function listEventDeliveries(tx: Transaction, eventId: string): Promise<EventDelivery[]> {
  return tx.query<EventDelivery>(
    `SELECT w.id AS webhook_id, d.sequence, d.state, ${WITHHELD_REASON}
       FROM events e JOIN deliveries d ON d.event_no = e.no JOIN webhooks w ON w.no = d.webhook_no
      WHERE e.id = $1 ORDER BY w.no LIMIT 1000`,
    [eventId],
  );
}
