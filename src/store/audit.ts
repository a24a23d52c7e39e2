import { createHash } from 'node:crypto';
import type { AuditEntry } from '../contract/operator/audit.ts';
import type { PageQuery } from '../contract/page.ts';
import type { AuditBody } from './audit-append.ts';
import type { Transaction } from './database.ts';
import { type Keyset, readPage } from './page.ts';

interface Row {
  seq: string;
  body: string;
  hash: Buffer;
}

interface Stored extends Row {
  at: Date;
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

export function listAuditEntries(tx: Transaction, filter: AuditFilter) {
  return readPage(filter, newestFirst, async ([before], limit) => {
    const rows = await tx.query<Row>(
      `SELECT seq, body, hash FROM audit_entries
        WHERE ($1::bigint IS NULL OR seq < $1)
          AND ($2::text IS NULL OR actor_id = $2)
          AND ($3::text IS NULL OR action = $3)
          AND ($4::text IS NULL OR subject_id = $4)
          AND ($5::text IS NULL OR practice_group_id = $5)
          AND ($6::timestamptz IS NULL OR at >= $6)
          AND ($7::timestamptz IS NULL OR at < $7)
        ORDER BY seq DESC LIMIT $8`,
      [
        before,
        filter.actor_id,
        filter.action,
        filter.subject_id,
        filter.practice_group_id,
        filter.since,
        filter.until,
        limit,
      ],
    );
    return rows.map(entryOf);
  });
}

export async function findAuditEntry(tx: Transaction, seq: number): Promise<AuditEntry | undefined> {
  const row = await tx.first<Row>('SELECT seq, body, hash FROM audit_entries WHERE seq = $1', [seq]);
  return row && entryOf(row);
}

function entryOf(row: Row): AuditEntry {
  return { seq: Number(row.seq), ...(JSON.parse(row.body) as AuditBody), hash: row.hash.toString('hex') };
}

export interface AuditHead {
  seq: number;
  hash: Buffer;
}

export async function readAuditHead(tx: Transaction): Promise<AuditHead> {
  const head = await tx.first<{ seq: string; hash: Buffer }>('SELECT seq, hash FROM audit_head');
  if (!head) return { seq: -1, hash: Buffer.alloc(0) };
  return { seq: Number(head.seq), hash: head.hash };
}

/** The hash before the first entry. */
export const AUDIT_ORIGIN: Buffer = createHash('sha256').update('porter').digest();

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
): Promise<ChainWalk> {
  const rows = await tx.query<Stored>(
    `SELECT seq, at, actor_id, action, subject_id, practice_group_id, body, hash FROM audit_entries
      WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3`,
    [from.seq, until, limit],
  );
  let { seq, hash } = from;
  for (const row of rows) {
    seq++;
    if (Number(row.seq) !== seq) return { entries: rows.length, hash, firstBad: seq };
    hash = createHash('sha256').update(hash).update(`${seq}:${row.body}`).digest();
    if (!hash.equals(row.hash) || !columnsAgree(row)) return { entries: rows.length, hash, firstBad: seq };
  }
  return { entries: rows.length, hash };
}

function columnsAgree(row: Stored): boolean {
  const body = JSON.parse(row.body) as AuditBody;
  return (
    body.at === row.at.toISOString() &&
    body.actor.id === row.actor_id &&
    body.action === row.action &&
    body.subject.id === row.subject_id &&
    body.practice_group_id === row.practice_group_id
  );
}
