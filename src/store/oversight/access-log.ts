import type { Scope } from '../../contract/access.ts';
import { type Endpoint, type Read, scopesFor } from '../../contract/endpoint.ts';
import { type EventName, events } from '../../contract/events.ts';
import type { AccessLogEntry } from '../../contract/operator/oversight/access-log.ts';
import {
  decodeCursor,
  encodeCursor,
  PAGE_SIZE_DEFAULT,
  type Page,
  type PageQuery,
} from '../../contract/page.ts';
import { partnerEndpoints } from '../../contract/partner/index.ts';
import { namedKeyEndpoints } from '../../contract/portal/index.ts';
import { deliveryId } from '../../domain/ids.ts';
import type { Transaction } from '../database.ts';
import { sqlFunction } from '../sql-functions.ts';
import { where } from '../where.ts';

interface Actor {
  type: 'partner' | 'operator';
  id: string;
  partner_id?: string;
  /** Of whoever of the partner acted with the key in the portal. */
  name?: string;
  session_id?: string;
}

/** Reads of one kind by one caller, as they are kept together. */
export interface AccessEntry extends Read {
  actor: Actor;
  operation: string;
  count: number;
  firstAt: number;
  lastAt: number;
}

const appendSql = sqlFunction('append_access_log', { at: 'timestamptz', entries: 'text' });

export async function appendAccessLog(
  tx: Transaction,
  at: string,
  entries: readonly AccessEntry[],
  salt: () => string,
): Promise<{ batch: number; hash: Buffer }> {
  const lines = entries.map((entry) => JSON.stringify({ ...keptEntry(entry), salt: salt() }));
  const [row] = await appendSql<{ batch: number; hash: Buffer }>(tx, { at, entries: lines.join('\n') });
  if (!row) throw new Error('append_access_log answered nothing');
  return row;
}

/** The text of an entry, without its salt. */
interface KeptEntry {
  kind: 'read' | 'received';
  actor: Actor;
  operation: string;
  practice_group_id: string | null;
  object: string | null;
  object_id: string | null;
  event_id: string | null;
  event?: string;
  /** And what the ID of the delivery is made of. */
  webhook_id?: string;
  sequence?: number;
  accepted_ms?: number;
  first_position: number | null;
  last_position: number | null;
  event_types: readonly string[] | null;
  count: number;
  first_at: string;
  last_at: string;
}

function keptEntry({ positions, ...entry }: AccessEntry): KeptEntry {
  return {
    kind: 'read',
    actor: entry.actor,
    operation: entry.operation,
    practice_group_id: entry.practiceGroupId ?? null,
    object: entry.object ?? null,
    object_id: entry.objectId ?? null,
    event_id: entry.eventId ?? null,
    first_position: positions?.first ?? null,
    last_position: positions?.last ?? null,
    event_types: positions?.eventTypes ?? null,
    count: entry.count,
    first_at: new Date(entry.firstAt).toISOString(),
    last_at: new Date(entry.lastAt).toISOString(),
  };
}

export interface AccessFilter extends PageQuery {
  practice_group_id?: string | undefined;
  object_id?: string | undefined;
  /** What was read with it; nothing is received with a key. */
  key_id?: string | undefined;
  /** What deliveries tell, and nothing of the log. */
  receivedOnly?: true;
}

/** So many events of the practice are looked through for one page, and for one key so many entries of the log. */
const STRETCH = 5_000;
/** The cursor: first along the feed, by position and, within an event, by `minor`; then along the log, by its numbers. */
const KEY = ['string', 'number', 'number'] as const;
const ALONG_FEED = 'feed';
const ALONG_LOG = 'log';
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Who was told, newest first: what was received, as the deliveries tell, and with `object_id` also what was read of it from the
 * feed; after that, what the log says. A page looks through a stretch of bounded length and no further.
 */
export async function listAccessPage(tx: Transaction, filter: AccessFilter): Promise<Page<AccessLogEntry>> {
  const size = filter.page_size ?? PAGE_SIZE_DEFAULT;
  const [phase, major, minor] = decodeCursor(filter.cursor, KEY) as [string?, number?, number?];
  const rows: AccessRow[] = [];
  const page = (next: (string | number)[] | undefined) => {
    const data = rows.slice(0, size).map(presentAccess);
    return { data, count: data.length, next_cursor: next ? encodeCursor(next) : null };
  };
  // Along the feed there is nothing that was read but of one object.
  const isAlongFeed = filter.object_id !== undefined || filter.key_id === undefined;
  if (phase !== ALONG_LOG && filter.practice_group_id !== undefined && isAlongFeed) {
    const groupId = filter.practice_group_id;
    const end = await endOfStretch(tx, groupId, major ?? LAST);
    rows.push(
      ...(await readAlongFeed(tx, groupId, filter, [major ?? LAST, minor ?? LAST], end ?? 0, size + 1)),
    );
    const last = rows[size - 1];
    if (rows.length > size && last) return page([ALONG_FEED, last.major, last.minor]);
    if (end !== undefined) return page([ALONG_FEED, end, 0]);
    if (filter.receivedOnly) return page(undefined);
  }
  const before = phase === ALONG_LOG ? (major ?? LAST) : LAST;
  const found = rows.length;
  const end = filter.key_id === undefined ? undefined : await endOfLogStretch(tx, filter, before);
  rows.push(...(await readLog(tx, filter, before, end, size + 1 - found)));
  if (rows.length <= size) return page(end === undefined ? undefined : [ALONG_LOG, end, 0]);
  return page([ALONG_LOG, found === size ? LAST : (rows[size - 1]?.major ?? 0), 0]);
}

async function endOfStretch(tx: Transaction, groupId: string, before: number): Promise<number | undefined> {
  const row = await tx.first<{ position: number }>(
    `SELECT position FROM feed WHERE practice_group_id = $1 AND position < $2 ORDER BY position DESC OFFSET $3 LIMIT 1`,
    [groupId, before, STRETCH - 1],
  );
  return row?.position;
}

const inLog = ({ practice_group_id, object_id }: AccessFilter, before: number) =>
  [
    ['practice_group_id = ?', practice_group_id],
    ['no < ?', before],
    ['object_id = ?', object_id],
  ] as const;

/** There is no index by key. */
async function endOfLogStretch(
  tx: Transaction,
  filter: AccessFilter,
  before: number,
): Promise<number | undefined> {
  const { text, values } = where(...inLog(filter, before));
  const row = await tx.first<{ no: number }>(
    `SELECT no FROM access_log ${text} ORDER BY no DESC OFFSET $${values.length + 1} LIMIT 1`,
    [...values, STRETCH - 1],
  );
  return row?.no;
}

interface AccessRow {
  major: number;
  minor: number;
  /** Of an entry of the log; a delivery has none. */
  body: string | null;
  erased_by: string | null;
  agreement_signed_at: string | null;
  through: AccessLogEntry['through'];
  practice_group_id: string | null;
  /** What follows was found along the feed. */
  event_id?: string;
  event?: EventName;
  object_id?: string;
  /** And this is of a delivery. */
  partner_id?: string | null;
  webhook_id?: string | null;
  sequence?: number | null;
  accepted_at?: string | null;
  first_at?: string | null;
  last_at?: string | null;
  count?: number | null;
}

/** The scopes that each operation of partners takes. Whoever receives, and reads the feed, needs one and the same. */
const scopesOf: Record<string, readonly Scope[]> & { deliver: readonly Scope[] } = {
  ...Object.fromEntries(
    Object.values<Endpoint>({ ...partnerEndpoints, ...namedKeyEndpoints }).map((endpoint) => [
      endpoint.operationId,
      scopesFor(endpoint),
    ]),
  ),
  deliver: ['events:read'],
};

/** An attempt that got as far as sending has told the receiver, whatever it answered. */
const SENT = `a ->> 'status' IS NOT NULL OR a ->> 'phase' IN ('send', 'answer')`;

/** Of the log's numbers, above those of all webhooks, so that both have their place within an event. */
const MINOR_OF_LOG = 2 ** 32;

function readAlongFeed(
  tx: Transaction,
  groupId: string,
  { object_id, key_id }: AccessFilter,
  [major, minor]: readonly [number, number],
  end: number,
  limit: number,
): Promise<AccessRow[]> {
  return tx.query<AccessRow>(
    `WITH told AS MATERIALIZED (
       SELECT feed.position, e.* FROM feed
        CROSS JOIN LATERAL (SELECT no, id, event, object_id, accepted_at, erased_by, payload FROM events
                             WHERE no = feed.event_no OFFSET 0) AS e
        WHERE feed.practice_group_id = $1 AND feed.position <= $2 AND feed.position >= $4
          AND ($5::text IS NULL OR e.object_id = $5 OR e.payload::json ->> 'resource_id' = $5)
     ), listed AS (
       SELECT told.position AS major, d.webhook_no::bigint AS minor, NULL AS body, told.erased_by,
              d.webhook_no, d.sequence, told.id AS event_id, told.event, told.object_id, told.accepted_at,
              sent.first_at, sent.last_at, sent.count
         FROM told
        CROSS JOIN LATERAL (SELECT webhook_no, sequence, attempts FROM deliveries WHERE event_no = told.no OFFSET 0) AS d
        CROSS JOIN LATERAL (SELECT min(a ->> 'at')::timestamptz AS first_at, max(a ->> 'at')::timestamptz AS last_at,
                                   count(*)::integer AS count
                              FROM json_array_elements(d.attempts) AS a WHERE ${SENT}) AS sent
        WHERE sent.count > 0 AND $8::text IS NULL
       UNION ALL
       SELECT told.position, ${MINOR_OF_LOG} + l.no, l.body, l.erased_by, NULL, NULL, told.id, told.event, told.object_id,
              NULL, NULL, NULL, NULL
         FROM told
        CROSS JOIN LATERAL (SELECT no, body, erased_by, actor_id FROM access_log
                             WHERE practice_group_id = $1 AND last_position >= told.position AND first_position <= told.position OFFSET 0) AS l
        WHERE $5::text IS NOT NULL AND ($8::text IS NULL OR l.actor_id = $8)
          AND (l.body::json -> 'event_types' IS NULL OR json_typeof(l.body::json -> 'event_types') = 'null'
            OR l.body::jsonb -> 'event_types' ? told.event)
     ), page AS MATERIALIZED (
       SELECT * FROM listed WHERE (major, minor) < ($2::bigint, $3::bigint) ORDER BY major DESC, minor DESC LIMIT $6
     )
     SELECT page.*, $1 AS practice_group_id, w.id AS webhook_id, p.id AS partner_id, p.agreement_signed_at,
            access_through(p.id, page.body::json -> 'actor' ->> 'id', $1,
                           coalesce(page.last_at, (page.body::json ->> 'last_at')::timestamptz), $7) AS through
       FROM page
       LEFT JOIN webhooks w ON w.no = page.webhook_no
       LEFT JOIN partners p ON p.id = coalesce(w.partner_id, page.body::json -> 'actor' ->> 'partner_id')
      ORDER BY major DESC, minor DESC`,
    [groupId, major, minor, end, object_id, limit, scopesOf.deliver, key_id],
  );
}

function readLog(
  tx: Transaction,
  filter: AccessFilter,
  before: number,
  end: number | undefined,
  limit: number,
): Promise<AccessRow[]> {
  const { text, values } = where(...inLog(filter, before), ['no >= ?', end], ['actor_id = ?', filter.key_id]);
  return tx.query<AccessRow>(
    `WITH page AS MATERIALIZED (
       SELECT no AS major, 0 AS minor, body, erased_by, practice_group_id, last_at AS ended FROM access_log ${text}
        ORDER BY no DESC LIMIT $${values.length + 1}
     )
     SELECT page.*, p.id AS partner_id, p.agreement_signed_at,
            access_through(p.id, CASE WHEN body::json ->> 'kind' = 'read' THEN body::json -> 'actor' ->> 'id' END, page.practice_group_id, ended,
                           ARRAY(SELECT json_array_elements_text($${values.length + 2}::json -> (body::json ->> 'operation')))) AS through
       FROM page LEFT JOIN partners p ON p.id = body::json -> 'actor' ->> 'partner_id' ORDER BY major DESC`,
    [...values, limit, JSON.stringify(scopesOf)],
  );
}

function presentAccess(row: AccessRow): AccessLogEntry {
  const who = {
    agreement_signed_at: row.agreement_signed_at,
    through: row.through,
    erased_by: row.erased_by,
  };
  if (row.body === null) return { ...presentReceived(row), ...who };
  const kept = JSON.parse(row.body) as KeptEntry;
  const isPartner = kept.actor.type === 'partner';
  return {
    id: row.event_id ? `acc_${row.minor - MINOR_OF_LOG}_${row.event_id}` : `acc_${row.major}`,
    kind: kept.kind,
    first_at: kept.first_at,
    last_at: kept.last_at,
    count: kept.count,
    partner_id: kept.actor.partner_id ?? null,
    key_id: isPartner && kept.kind === 'read' ? kept.actor.id : null,
    operator_id: isPartner ? null : kept.actor.id,
    person: kept.actor.name ?? null,
    practice_group_id: kept.practice_group_id,
    operation: kept.operation,
    object: kept.object ?? (row.event ? events[row.event].object : null),
    object_id: kept.object_id ?? row.object_id ?? null,
    event_id: kept.event_id ?? row.event_id ?? null,
    event: kept.event ?? row.event ?? null,
    webhook_id: kept.webhook_id ?? null,
    delivery_id: kept.webhook_id
      ? deliveryId(kept.webhook_id, kept.sequence ?? 0, kept.accepted_ms ?? 0)
      : null,
    positions:
      kept.first_position === null || kept.last_position === null
        ? null
        : { first: kept.first_position, last: kept.last_position },
    ...who,
  };
}

/** As the delivery tells. */
function presentReceived(
  row: AccessRow,
): Omit<AccessLogEntry, 'agreement_signed_at' | 'through' | 'erased_by'> {
  const { webhook_id = null, sequence, accepted_at } = row;
  const id = deliveryId(webhook_id ?? '', sequence ?? 0, Date.parse(accepted_at ?? ''));
  return {
    id,
    kind: 'received',
    first_at: row.first_at ?? '',
    last_at: row.last_at ?? '',
    count: row.count ?? 0,
    partner_id: row.partner_id ?? null,
    key_id: null,
    operator_id: null,
    person: null,
    practice_group_id: row.practice_group_id,
    operation: 'deliver',
    object: row.event ? events[row.event].object : null,
    object_id: row.object_id ?? null,
    event_id: row.event_id ?? null,
    event: row.event ?? null,
    webhook_id,
    delivery_id: id,
    positions: null,
  };
}

export interface AccessBatch {
  no: number;
  at: string;
  hash: Buffer;
  entries: { body: string; digest: Buffer; erased_by: string | null; practice_group_id: string | null }[];
}

/** Where the log begins and ends: the hash before its first batch that is kept, and that of its last. */
export async function readAccessBounds(tx: Transaction) {
  const head = await tx.first<{ cleared: number; cleared_hash: Buffer; batch: number; hash: Buffer }>(
    'SELECT cleared, cleared_hash, batch, hash FROM access_log_head',
  );
  if (!head) throw new Error('the access log has no head');
  return head;
}

export async function readBatchHash(tx: Transaction, no: number): Promise<Buffer | undefined> {
  const row = await tx.first<{ hash: Buffer }>('SELECT hash FROM access_log_batches WHERE no = $1', [no]);
  return row?.hash;
}

/** The batches after one, with their entries, in their order. */
export async function readBatches(tx: Transaction, after: number, limit: number): Promise<AccessBatch[]> {
  const batches = await tx.query<Omit<AccessBatch, 'entries'>>(
    'SELECT no, at, hash FROM access_log_batches WHERE no > $1 ORDER BY no LIMIT $2',
    [after, limit],
  );
  const rows = await tx.query<AccessBatch['entries'][number] & { batch: number }>(
    `SELECT l.batch, l.body, l.digest, l.erased_by, l.practice_group_id FROM access_log_batches b
      JOIN access_log l ON l.no >= b.first_no AND l.no < b.first_no + b.entries
      WHERE b.no > $1 AND b.no <= $2 ORDER BY l.no`,
    [after, batches.at(-1)?.no ?? after],
  );
  const byBatch = Map.groupBy(rows, ({ batch }) => batch);
  return batches.map((batch) => ({ ...batch, entries: byBatch.get(batch.no) ?? [] }));
}
