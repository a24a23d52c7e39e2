import type { Erasure } from '../../contract/operator/oversight/erasures.ts';
import type { PageQuery } from '../../contract/page.ts';
import { type Redacted, redactedEntry } from '../../domain/oversight/audit-chain.ts';
import {
  type Erasable,
  type Erasing,
  erasableSubjects,
  type FeedPlace,
  redactAuditText,
} from '../../domain/oversight/erasure.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';
import { sqlFunction } from '../sql-functions.ts';
import { where } from '../where.ts';
import { auditOrigin } from './audit.ts';

/** Takes the identifiers of one object out of what is kept, table by table. Large ones go by in stretches, each a transaction. */

export interface Target extends Erasable {
  groupId: string;
  /** The erasure's ID, which stands where the object's stood. */
  pseudonym: string;
}

const eraseEventsSql = sqlFunction('erase_events_2', {
  at: 'timestamptz',
  group_id: 'text',
  object: 'text',
  object_id: 'text',
  pseudonym: 'text',
  before_position: 'bigint',
  rows_max: 'integer',
  withdrawal: 'text',
});
const redactAccessLogSql = sqlFunction('redact_access_log_2', {
  group_id: 'text',
  object: 'text',
  object_id: 'text',
  pseudonym: 'text',
});
const redactAuditSql = sqlFunction('redact_audit', { entries: 'json' });

export interface ErasedEvents {
  next_position: number | null;
  events_erased: number;
  deliveries_erased: number;
  deliveries_withdrawn: number;
  idempotency_keys_erased: number;
  recipients: Erasure['recipients'] | null;
  places: Omit<FeedPlace, 'at'>[] | null;
}

/** So many events, or entries of the audit, are looked through in one transaction. */
const STRETCH = 5_000;

export async function eraseEvents(
  tx: Transaction,
  { groupId, object, objectId, pseudonym }: Target,
  at: string,
  beforePosition: number | null,
  withdrawal: string,
): Promise<ErasedEvents> {
  const [row] = await eraseEventsSql<ErasedEvents>(tx, {
    at,
    group_id: groupId,
    object,
    object_id: objectId,
    pseudonym,
    before_position: beforePosition,
    rows_max: STRETCH,
    withdrawal,
  });
  if (!row) throw new Error('erase_events_2 answered nothing');
  return row;
}

export async function eraseFormSubmissions(tx: Transaction, target: Target): Promise<number> {
  if (target.object !== 'FormSubmission') return 0;
  return counted(
    tx,
    'DELETE FROM form_submissions WHERE practice_group_id = $1 AND id = $2 RETURNING id',
    target.groupId,
    target.objectId,
  );
}

/** A job that is erased itself goes; one that was to write the object keeps its place. */
/** Whether a job of the practice group is to write a resource of this kind. */
export async function isWritten(tx: Transaction, groupId: string, resource: string): Promise<boolean> {
  const found = await tx.first(
    'SELECT FROM write_to_record_jobs WHERE practice_group_id = $1 AND lower(resource) = lower($2) LIMIT 1',
    [groupId, resource],
  );
  return found !== undefined;
}

export async function eraseJobs(tx: Transaction, target: Target): Promise<number> {
  if (target.object === 'WriteToRecordEntry')
    return counted(
      tx,
      'DELETE FROM write_to_record_jobs WHERE practice_group_id = $1 AND id = $2 RETURNING id',
      target.groupId,
      target.objectId,
    );
  return counted(
    tx,
    `UPDATE write_to_record_jobs SET resource_id = $4
      WHERE practice_group_id = $1 AND resource_id = $2 AND lower(resource) = lower($3) RETURNING id`,
    target.groupId,
    target.objectId,
    target.object,
    target.pseudonym,
  );
}

/** So many refused calls: they are many where a client hammers on, and each is one text to look through. */
const REFUSALS_STRETCH = 20_000;

export interface ErasedRefusals {
  count: number;
  /** Where to go on; undefined when nothing is left. */
  nextNo: number | undefined;
}

/**
 * Of a stretch of the practice group's refused calls, newest first. Where the ID stands by itself, as it is or as an address has it: one that is
 * part of a longer word is another.
 */
export async function eraseRefusals(
  tx: Transaction,
  { groupId, objectId, pseudonym }: Target,
  beforeNo: number | undefined,
): Promise<ErasedRefusals> {
  const spellings = [
    ...new Set([objectId, encodeURIComponent(objectId), JSON.stringify(objectId).slice(1, -1)]),
  ];
  const word = spellings.map((text) => text.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&')).join('|');
  const bounds = await tx.first<{ count: number; first: number | null; last: number | null }>(
    `SELECT count(*)::integer AS count, min(no) AS first, max(no) AS last
       FROM (SELECT no FROM refused_requests WHERE practice_group_id = $1 AND no < coalesce($2, 9223372036854775807)
              ORDER BY no DESC LIMIT ${REFUSALS_STRETCH}) AS stretch`,
    [groupId, beforeNo],
  );
  if (bounds?.first == null) return { count: 0, nextNo: undefined };
  const rows = await tx.query(
    `UPDATE refused_requests SET path = regexp_replace(path, $2, $3, 'g'), body = regexp_replace(body, $2, $3, 'g')
      WHERE practice_group_id = $1 AND no BETWEEN $4 AND $5 AND (path ~ $2 OR body ~ $2) RETURNING no`,
    [groupId, `(?<![[:alnum:]_-])(?:${word})(?![[:alnum:]_-])`, pseudonym, bounds.first, bounds.last],
  );
  return { count: rows.length, nextNo: bounds.count === REFUSALS_STRETCH ? bounds.first : undefined };
}

export async function eraseAccessLog(
  tx: Transaction,
  { groupId, object, objectId, pseudonym }: Target,
): Promise<{ redacted: number; recipients: Erasure['recipients'] | null }> {
  const [row] = await redactAccessLogSql<{ redacted: number; recipients: Erasure['recipients'] | null }>(tx, {
    group_id: groupId,
    object,
    object_id: objectId,
    pseudonym,
  });
  if (!row) throw new Error('redact_access_log_2 answered nothing');
  return row;
}

/**
 * A page that was being put together when the event was taken out of the feed is noted in the access log a moment later. What was read after that
 * over its place did not show it.
 */
const STILL_SHOWN = '2 seconds';

/** The partners that were shown any of these places in the feed of a practice group. */
export function feedReaders(
  tx: Transaction,
  groupId: string,
  places: readonly FeedPlace[],
): Promise<Erasure['recipients']> {
  return tx.query<Erasure['recipients'][number]>(
    `WITH places AS MATERIALIZED (
       SELECT * FROM json_to_recordset($2) AS place (position bigint, event text, at timestamptz)
     ), shown AS (
       SELECT body::json AS entry FROM access_log l
        WHERE practice_group_id = $1 AND last_position >= (SELECT min(position) FROM places)
          AND first_position <= (SELECT max(position) FROM places)
          AND EXISTS (
            SELECT FROM places p
             WHERE p.position BETWEEN l.first_position AND l.last_position
               AND (l.body::json ->> 'first_at')::timestamptz <= p.at + interval '${STILL_SHOWN}'
               AND (coalesce(json_typeof(l.body::json -> 'event_types'), 'null') = 'null'
                 OR l.body::jsonb -> 'event_types' ? p.event))
     )
     SELECT entry -> 'actor' ->> 'partner_id' AS partner_id, 0 AS deliveries, 0 AS under_way, sum((entry ->> 'count')::integer)::integer AS reads,
            max(entry ->> 'last_at') AS last_at
       FROM shown WHERE entry -> 'actor' ->> 'partner_id' IS NOT NULL GROUP BY 1`,
    [groupId, JSON.stringify(places)],
  );
}

async function counted(tx: Transaction, text: string, ...values: string[]): Promise<number> {
  return (await tx.query(text, values)).length;
}

/** One erasure at a time redacts: what it lists is how it leaves the entries. */
const REDACTING = 7_205_759_403_795;

export interface RedactedStretch {
  redacted: Redacted[];
  /** Where to go on; undefined when nothing is left. */
  nextSeq: number | undefined;
}

/** Takes the object out of a stretch of the practice group's audit entries, newest first. */
export async function redactAuditEntries(
  tx: Transaction,
  target: Target,
  beforeSeq: number,
  cell: number,
): Promise<RedactedStretch> {
  tx.defer('SELECT pg_advisory_xact_lock($1)', [REDACTING]);
  const bounds = await tx.first<{ count: number; first: number | null }>(
    `SELECT count(*)::integer AS count, min(seq) AS first
       FROM (SELECT seq FROM audit_entries WHERE practice_group_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3) AS stretch`,
    [target.groupId, beforeSeq, STRETCH],
  );
  const rows = await tx.query<{ seq: number; body: string; before: Buffer | null }>(
    `SELECT e.seq, e.body, (SELECT p.hash FROM audit_entries p WHERE p.seq = e.seq - 1) AS before FROM audit_entries e
      WHERE e.practice_group_id = $1 AND e.seq < $2 AND e.seq >= $3
        AND e.body::json -> 'subject' ->> 'type' = ANY ($4) AND strpos(e.body, $5) > 0 ORDER BY e.seq`,
    [target.groupId, beforeSeq, bounds?.first ?? 0, erasableSubjects, JSON.stringify(target.objectId)],
  );
  const changed = rows.flatMap(({ seq, body, before }) => {
    const text = redactAuditText(body, target, target.pseudonym);
    return text === undefined ? [] : [{ seq, body: text, before: before ?? auditOrigin(cell).hash }];
  });
  if (changed.length > 0)
    void redactAuditSql(tx.deferred, {
      entries: JSON.stringify(
        changed.map(({ seq, body }) => ({ seq, body, subject_id: JSON.parse(body).subject.id })),
      ),
    });
  return {
    redacted: changed.map(({ seq, before, body }) => redactedEntry(seq, before, body)),
    nextSeq: bounds?.count === STRETCH ? (bounds.first ?? undefined) : undefined,
  };
}

/** Nodes of the version before ask neither who had read nor what was under way. */
const RECIPIENTS = `(SELECT coalesce(json_agg('{"under_way": 0, "reads": 0}'::jsonb || one ORDER BY n), '[]')
                       FROM jsonb_array_elements(recipients) WITH ORDINALITY AS kept (one, n)) AS recipients`;
const ERASURE = `id, practice_group_id, object, operator_id, created_at, object_hash IS NULL AS finished, erased, ${RECIPIENTS}`;

/**
 * Writes down that an erasure begins, unless one of the same object was begun and is not finished: then that one goes on. `hashes`: of the
 * object, under each key that there is, the current one first. Returns the ID of the erasure.
 */
export async function beginErasure(
  tx: Transaction,
  erasure: Erasure,
  hashes: readonly [Buffer, ...Buffer[]],
): Promise<string> {
  const row =
    (await tx.first<{ id: string }>(
      'SELECT id FROM erasures WHERE practice_group_id = $1 AND object_hash = ANY ($2::bytea[])',
      [erasure.practice_group_id, hashes],
    )) ??
    (await tx.first<{ id: string }>(
      `INSERT INTO erasures (id, practice_group_id, object, operator_id, created_at, erased, recipients, object_hash)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (practice_group_id, object_hash) WHERE object_hash IS NOT NULL DO NOTHING RETURNING id`,
      [
        erasure.id,
        erasure.practice_group_id,
        erasure.object,
        erasure.operator_id,
        erasure.created_at,
        JSON.stringify(erasure.erased),
        JSON.stringify(erasure.recipients),
        hashes[0],
      ],
    ));
  // Without a row, the same call was made at the same time, and has begun it.
  return row?.id ?? beginErasure(tx, erasure, hashes);
}

/** As it stands; nobody else adds to it before the transaction ends. */
export async function lockErasure(tx: Transaction, id: string): Promise<Erasing> {
  const erasure = await tx.first<Erasing>(
    `SELECT ${ERASURE}, places FROM erasures WHERE id = $1 FOR UPDATE`,
    [id],
  );
  if (!erasure) throw new Error('an erasure is never removed');
  return erasure;
}

/** What it has come to. */
export function putErasure(tx: Transaction, { id, erased, recipients, places }: Erasing): void {
  tx.defer('UPDATE erasures SET erased = $2, recipients = $3, places = $4 WHERE id = $1', [
    id,
    JSON.stringify(erased),
    JSON.stringify(recipients),
    JSON.stringify(places),
  ]);
}

/** From now on nothing leads from it to the object. */
export function finishErasure(tx: Transaction, { id, erased, recipients }: Erasure): void {
  tx.defer(
    "UPDATE erasures SET erased = $2, recipients = $3, places = '[]', object_hash = NULL WHERE id = $1",
    [id, JSON.stringify(erased), JSON.stringify(recipients)],
  );
}

export function findErasure(tx: Transaction, id: string): Promise<Erasure | undefined> {
  return tx.first<Erasure>(`SELECT ${ERASURE} FROM erasures WHERE id = $1`, [id]);
}

export function listErasurePage(
  tx: Transaction,
  filter: PageQuery & { practice_group_id?: string | undefined },
) {
  return readPage(filter, byId, ([after], limit) => {
    const { text, values } = where(['id > ?', after], ['practice_group_id = ?', filter.practice_group_id]);
    return tx.query<Erasure>(
      `SELECT ${ERASURE} FROM erasures ${text} ORDER BY id LIMIT $${values.length + 1}`,
      [...values, limit],
    );
  });
}
