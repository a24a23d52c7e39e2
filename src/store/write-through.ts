import type { WriteThroughSettings } from '../contract/operator/write-through.ts';
import { SYSTEM } from '../domain/principal.ts';
import { type Database, type Transaction, transact } from './database.ts';
import { type Destination, findDestinations } from './deliveries.ts';
import { replayEvents } from './deliveries-replay.ts';
import { announceTo } from './operator-events.ts';

/** Practice groups that changes are written through for, and what is not settled with their software. */

type Row = Omit<WriteThroughSettings, 'health'> &
  WriteThroughSettings['health'] & { webhook_no: number; webhook_id: string; version: number };
export type StoredWriteThrough = WriteThroughSettings & Pick<Row, 'webhook_no' | 'webhook_id' | 'version'>;

/** A delivery that its software has not received. One that an earlier version has given up is no less outstanding. */
const UNTOLD = "state IN ('due', 'waiting', 'failed')";

const SETTINGS = `
  SELECT t.practice_group_id, t.webhook_no, w.id AS webhook_id, w.version, w.url, w.status, t.created_at, t.updated_at,
         l.failures, l.failing_since, l.last_success_at,
         (SELECT count(*) FROM (SELECT FROM deliveries d WHERE d.webhook_no = t.webhook_no AND d.${UNTOLD}
                                 LIMIT 1000) AS open) AS queued
    FROM write_through t JOIN webhooks w ON w.no = t.webhook_no JOIN webhook_lanes l ON l.webhook_no = w.no
   WHERE t.practice_group_id = $1`;

function settingsOf(row: Row): StoredWriteThrough {
  const { failures, failing_since, last_success_at, queued, ...settings } = row;
  return { ...settings, health: { failures, failing_since, last_success_at, queued } };
}

export async function findWriteThrough(
  tx: Transaction,
  groupId: string,
): Promise<StoredWriteThrough | undefined> {
  const row = await tx.first<Row>(SETTINGS, [groupId]);
  return row && settingsOf(row);
}

/** Nobody else changes it, and nothing is proposed, until the transaction ends. */
export function lockWriteThrough(tx: Transaction, groupId: string): Promise<StoredWriteThrough | undefined> {
  tx.defer('SELECT FROM practice_groups WHERE id = $1 FOR NO KEY UPDATE', [groupId]);
  tx.defer('SELECT FROM write_through WHERE practice_group_id = $1 FOR UPDATE', [groupId]);
  return findWriteThrough(tx, groupId);
}

export function insertWriteThrough(tx: Transaction, groupId: string, webhookNo: number, now: string): void {
  tx.defer('INSERT INTO write_through VALUES ($1, $2, $3, $3)', [groupId, webhookNo, now]);
}

export function updateWriteThrough(
  tx: Transaction,
  found: StoredWriteThrough,
  url: string,
  now: string,
): void {
  tx.defer('UPDATE write_through SET updated_at = $2 WHERE practice_group_id = $1', [
    found.practice_group_id,
    now,
  ]);
  tx.defer(
    `UPDATE webhooks SET url = $2, status = 'active', status_reason = NULL, version = version + 1, updated_at = $3 WHERE no = $1`,
    [found.webhook_no, url, now],
  );
}

/** What the software has still to be told, and waits for its next attempt or was given up by an earlier version, is sent now. */
export async function hurryUntold(tx: Transaction, at: string | null, webhookNo: number): Promise<void> {
  const rows = await tx.query<{ event_no: number }>(
    `SELECT event_no FROM deliveries WHERE webhook_no = $1 AND ${UNTOLD} ORDER BY event_no LIMIT 1000`,
    [webhookNo],
  );
  const untold = rows.map(({ event_no }) => event_no);
  if (untold.length > 0) await replayEvents(tx, at, webhookNo, untold);
}

export function deleteWriteThroughRow(tx: Transaction, groupId: string): void {
  tx.defer('DELETE FROM write_through WHERE practice_group_id = $1', [groupId]);
}

export interface Unsettled {
  /** A change was put to the software, and is neither made nor withdrawn. */
  isAsked: boolean;
  /** It has still to be told that one was withdrawn. */
  isUntold: boolean;
}

/** In one statement: what is withdrawn meanwhile is seen before or after, and not missed between the two. */
export async function findUnsettled(
  tx: Transaction,
  { practice_group_id, webhook_no }: StoredWriteThrough,
): Promise<Unsettled> {
  const row = await tx.first<Unsettled>(
    `SELECT EXISTS (SELECT FROM proposals WHERE practice_group_id = $1) AS "isAsked",
            EXISTS (SELECT FROM deliveries WHERE webhook_no = $2 AND ${UNTOLD}) AS "isUntold"`,
    [practice_group_id, webhook_no],
  );
  if (!row) throw new Error('what is unsettled was not told');
  return row;
}

// ---- Proposals ----

export interface Proposal {
  id: string;
  practice_group_id: string;
  object_id: string;
  webhook_no: number;
  payload: Record<string, unknown>;
  partner_id: string;
}

/** What orders it with what else is told about the submission type; src/sql/fan_out_to_operators.sql. */
const objectOf = ({ practice_group_id, object_id }: Proposal) => ({
  object: 'SubmissionType',
  objectId: `${practice_group_id} ${object_id}`,
});

/** Where to ask, and what signs; undefined: nothing is written through here any more. */
export async function findAsked(db: Database, groupId: string): Promise<Destination | undefined> {
  const found = await transact(db, SYSTEM, (tx) => findWriteThrough(tx, groupId));
  if (!found) return undefined;
  return (await findDestinations(db, [found.webhook_no]))[0];
}

/**
 * Notes that a change is about to be put to the practice software. False: another one of the same submission type is not settled yet, here or
 * with the software, which must hear of it first.
 */
export function propose(db: Database, proposal: Proposal, lateAfterMs: number): Promise<boolean> {
  const { object, objectId } = objectOf(proposal);
  return transact(db, SYSTEM, async (tx) => {
    // Whoever turns it off meanwhile waits, and then sees the proposal.
    tx.defer('SELECT FROM write_through WHERE practice_group_id = $1 FOR SHARE', [
      proposal.practice_group_id,
    ]);
    const [row, unheard] = await Promise.all([
      // Waits for whoever is just taking the one before away, and locks nothing of it: whoever withdraws that passes over what is locked.
      tx.first(
        `INSERT INTO proposals
         SELECT $1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 millisecond'
          WHERE EXISTS (SELECT FROM write_through WHERE practice_group_id = $2 AND webhook_no = $4)
         ON CONFLICT DO NOTHING RETURNING id`,
        [
          proposal.id,
          proposal.practice_group_id,
          proposal.object_id,
          proposal.webhook_no,
          JSON.stringify(proposal.payload),
          proposal.partner_id,
          lateAfterMs,
        ],
      ),
      // A statement of its own: only what begins after that wait sees that a withdrawal was queued.
      tx.first(
        `DELETE FROM proposals
          WHERE id = $1 AND EXISTS (SELECT FROM deliveries WHERE webhook_no = $2 AND ${UNTOLD}
                                       AND object_hash = hashtextextended($3 || ' ' || $4, 0)) RETURNING id`,
        [proposal.id, proposal.webhook_no, object, objectId],
      ),
    ]);
    return row !== undefined && unheard === undefined;
  });
}

/**
 * In the transaction that makes the change: from now on it is made, or the transaction is undone. False: it was withdrawn meanwhile, and must
 * not be made. The feed knows the change by this ID.
 */
export async function makeProposed(tx: Transaction, id: string): Promise<boolean> {
  const row = await tx.first<{ id: string }>('DELETE FROM proposals WHERE id = $1 RETURNING id', [id]);
  if (row) tx.defer("SELECT set_config('porter.change_id', $1, true)", [id]);
  return row !== undefined;
}

/** The practice software does not have it: there is nothing to take back. */
export async function dropProposal(db: Database, id: string): Promise<void> {
  await transact(db, SYSTEM, (tx) => tx.query('DELETE FROM proposals WHERE id = $1', [id]));
}

/** The practice software has it, or may have it, and it was not made: it is told so. */
export async function withdrawProposal(db: Database, id: string, at: string): Promise<void> {
  await transact(db, SYSTEM, (tx) => withdraw(tx, 'id = $1', id, at));
}

/** Those whose node is gone. Returns how many. */
export function withdrawLate(db: Database, at: string): Promise<number> {
  return transact(db, SYSTEM, (tx) =>
    withdraw(tx, '$1::text IS NULL AND late_after < clock_timestamp()', null, at),
  );
}

const AT_ONCE = 100;

async function withdraw(tx: Transaction, which: string, id: string | null, at: string): Promise<number> {
  const gone = await tx.query<Proposal>(
    `DELETE FROM proposals WHERE id IN (SELECT id FROM proposals WHERE ${which} ORDER BY webhook_no LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED)
     RETURNING *`,
    [id],
  );
  for (const proposal of gone.sort((a, b) => a.webhook_no - b.webhook_no))
    await announceTo(tx, proposal.webhook_no, {
      id: `evt_${proposal.id}`,
      event: 'change.withdrawn',
      ...objectOf(proposal),
      payload: proposal.payload,
      sourceId: 'porter',
      at,
    });
  return gone.length;
}
