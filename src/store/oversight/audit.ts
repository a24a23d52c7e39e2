import { createHash } from 'node:crypto';
import type { AuditEntry } from '../../contract/operator/oversight/audit.ts';
import type { PageQuery } from '../../contract/page.ts';
import {
  REDACTION,
  type Redacted,
  type Redactions,
  redactedEntry,
} from '../../domain/oversight/audit-chain.ts';
import type { AuditBody } from '../audit-append.ts';
import type { Transaction } from '../database.ts';
import { type Keyset, readStretch } from '../page.ts';
import { where } from '../where.ts';

interface Row {
  seq: number;
  body: string;
  hash: Buffer;
}

interface Stored extends Row {
  /** Seconds since the epoch with six decimals: a Date would hide a change of microseconds. */
  at: string;
  actor_id: string;
  action: string;
  subject_id: string;
  practice_group_id: string | null;
}

const newestFirst: Keyset<AuditEntry> = { types: ['number'], keyOf: (entry) => [entry.seq] };

export interface AuditFilter extends PageQuery {
  actor_id?: string | undefined;
  action?: string | undefined;
  subject_id?: string | undefined;
  practice_group_id?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** So many are looked through for one page when an actor, an action or a subject is wanted, of which no index knows. */
const STRETCH = 50_000;

export async function listAuditEntries(tx: Transaction, filter: AuditFilter) {
  const since = epochSeconds(filter.since);
  const until = epochSeconds(filter.until);
  const disorder = since === undefined && until === undefined ? 0 : await disorderSeconds(tx);
  const first = since === undefined ? undefined : await firstSeqAt(tx, since - disorder);
  const beyond = until === undefined ? undefined : await firstSeqAt(tx, until + disorder);
  const isSearch = [filter.actor_id, filter.action, filter.subject_id].some((value) => value !== undefined);
  return readStretch(
    filter,
    newestFirst,
    async ([before]) => {
      if (!isSearch || filter.practice_group_id !== undefined) return undefined;
      const bounds = await tx.first<{ lowest: number; highest: number }>(
        'SELECT min(seq) AS lowest, max(seq) AS highest FROM audit_entries',
      );
      const from = Math.min(
        Number(before ?? Number.MAX_SAFE_INTEGER),
        beyond ?? Number.MAX_SAFE_INTEGER,
        (bounds?.highest ?? 0) + 1,
      );
      const end = from - STRETCH;
      return end > (first ?? bounds?.lowest ?? 1) ? [end] : undefined;
    },
    async ([before], end, limit) => {
      const { text, values } = where(
        ['seq < ?', before],
        ['seq >= ?', end?.[0]],
        ['seq >= ?', first],
        ['seq < ?', beyond],
        ['actor_id = ?', filter.actor_id],
        ['action = ?', filter.action],
        ['subject_id = ?', filter.subject_id],
        ['practice_group_id = ?', filter.practice_group_id],
        ['at >= to_timestamp(?)', since],
        ['at < to_timestamp(?)', until],
      );
      const rows = await tx.query<Row>(
        `SELECT seq, body, hash FROM audit_entries ${text} ORDER BY seq DESC LIMIT $${values.length + 1}`,
        [...values, limit],
      );
      return rows.map(entryOf);
    },
  );
}

/** Entries are numbered as they commit, and carry the times of the nodes that wrote them: so much they are out of order at most. */
async function disorderSeconds(tx: Transaction): Promise<number> {
  const head = await tx.first<{ seconds: number }>(
    'SELECT extract(epoch FROM disorder)::float8 AS seconds FROM audit_head',
  );
  return head?.seconds ?? 0;
}

/**
 * The first entry of that moment or later, found by halving; one after the last when there is none. Where an entry is missing
 * nothing can be said. The middle is worked out apart: with arithmetic in the condition, PostgreSQL 15 does not look it up behind
 * row-level security, and read the whole trail at every step.
 */
async function firstSeqAt(tx: Transaction, seconds: number): Promise<number | undefined> {
  const row = await tx.first<{ seq: number }>(
    `WITH RECURSIVE halves AS (
       SELECT min(seq) AS low, max(seq) + 1 AS high FROM audit_entries
       UNION ALL
       SELECT CASE WHEN mid.at < to_timestamp($1) THEN mid.seq + 1 ELSE low END,
              CASE WHEN mid.at < to_timestamp($1) THEN high ELSE mid.seq END
         FROM (SELECT low, high, (low + high) / 2 AS middle FROM halves OFFSET 0) AS half
        CROSS JOIN LATERAL (SELECT seq, at FROM audit_entries WHERE seq = middle OFFSET 0) AS mid
        WHERE low < high
     )
     SELECT low AS seq FROM halves WHERE low = high`,
    [seconds],
  );
  return row?.seq;
}

/** As a number: PostgreSQL reads fewer spellings of a moment than RFC 3339 and JavaScript allow, and knows no year 0. */
function epochSeconds(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : Date.parse(moment) / 1000;
}

export async function findAuditEntry(tx: Transaction, seq: number): Promise<AuditEntry | undefined> {
  const row = await tx.first<Row>('SELECT seq, body, hash FROM audit_entries WHERE seq = $1', [seq]);
  return row && entryOf(row);
}

function entryOf(row: Row): AuditEntry {
  return { seq: row.seq, ...(JSON.parse(row.body) as AuditBody), hash: row.hash.toString('hex') };
}

/** Where the chain says that it ends, and where the entries do: both as of one moment. */
export interface AuditHead {
  cell: number;
  seq: number;
  hash: Buffer;
  first: number | undefined;
  last: number | undefined;
}

export async function readAuditHead(tx: Transaction): Promise<AuditHead | undefined> {
  const head = await tx.first<{
    cell: number;
    seq: number;
    hash: Buffer;
    first: number | null;
    last: number | null;
  }>(
    `SELECT (SELECT no FROM cell) AS cell, seq, hash, (SELECT min(seq) FROM audit_entries) AS first, (SELECT max(seq) FROM audit_entries) AS last
       FROM audit_head`,
  );
  return head && { ...head, first: head.first ?? undefined, last: head.last ?? undefined };
}

/** Where the chain of a cell begins: the number and the hash before its first entry; see src/sql/become_cell.sql. */
export function auditOrigin(cell: number): { seq: number; hash: Buffer } {
  const name = cell === 0 ? 'porter' : `porter cell ${cell}`;
  return { seq: cell * 2 ** 40, hash: createHash('sha256').update(name).digest() };
}

export interface ChainWalk {
  entries: number;
  hash: Buffer;
  firstBad?: number;
}

/** Checks a stretch of the chain that starts after `from`, and tells where it got to. */
export async function walkAuditChain(
  tx: Transaction,
  from: { seq: number; hash: Buffer },
  until: number,
  limit: number,
  redactions: Redactions,
): Promise<ChainWalk> {
  const rows = await tx.query<Stored>(
    `SELECT seq, extract(epoch FROM at)::text AS at, actor_id, action, subject_id, practice_group_id, body, hash FROM audit_entries
      WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3`,
    [from.seq, until, limit],
  );
  let { seq, hash } = from;
  for (const [place, row] of rows.entries()) {
    seq++;
    if (row.seq !== seq) return { entries: rows.length, hash, firstBad: seq };
    const before = hash;
    hash = createHash('sha256').update(before).update(`${seq}:${row.body}`).digest();
    const body = bodyThatAgrees(row);
    const isInTime = body && (timeOf(body) === row.at || (await isOfOneWith(tx, rows[place - 1], row, body)));
    if (!body || !isInTime || (!hash.equals(row.hash) && body.erased_by === undefined))
      return { entries: rows.length, hash, firstBad: seq };
    // Of a redacted entry the hash cannot be worked out any more; whether it is as its erasure left it comes out at the end.
    if (!hash.equals(row.hash)) redactions.claim(redactedEntry(seq, before, row.body));
    if (body.action === REDACTION) redactions.list((body.after as { redacted: Redacted[] }).redacted);
    hash = row.hash;
  }
  return { entries: rows.length, hash };
}

const timeOf = (body: AuditBody) => (Date.parse(body.at) / 1000).toFixed(6);
/** Longer than any transaction lasts. */
const TOGETHER_SECONDS = 60;

/**
 * Whether the entry has the time of the one before it because one transaction wrote both. Each had a time of its own in its text once, while the
 * column had that of the first: such entries are as they were written.
 */
async function isOfOneWith(
  tx: Transaction,
  known: Stored | undefined,
  { seq, at }: Stored,
  body: AuditBody,
): Promise<boolean> {
  const later = Number(timeOf(body)) - Number(at);
  if (!(later >= 0 && later < TOGETHER_SECONDS)) return false;
  const before =
    known ??
    (await tx.first<Pick<Stored, 'at'>>(
      'SELECT extract(epoch FROM at)::text AS at FROM audit_entries WHERE seq = $1',
      [seq - 1],
    ));
  return before?.at === at;
}

/** The entry, unless its columns for searching say something else; its time is judged apart. */
function bodyThatAgrees(row: Stored): AuditBody | undefined {
  try {
    const body = JSON.parse(row.body) as AuditBody;
    const agrees =
      body.actor.id === row.actor_id &&
      body.action === row.action &&
      body.subject.id === row.subject_id &&
      body.practice_group_id === row.practice_group_id;
    return agrees ? body : undefined;
  } catch {
    // A text that is no entry at all, however well it is hashed.
    return undefined;
  }
}
