import type { WriteThroughSettings } from '../../contract/operator/practices/write-through.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { type Database, type IfLocked, skipping, type Transaction, transact } from '../database.ts';
import { type Destination, findDestinations } from '../events/deliveries.ts';
import { replayEvents } from '../events/deliveries-replay.ts';
import { announceTo } from '../events/operator-events.ts';
import type { Sender } from '../sql-functions.ts';

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

/** What orders it with what else is told about the submission type; src/sql/delivery/fan_out_to_operators.sql. */
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

/** The versions that an update was decided on. */
export interface DecidedOn {
  rowVersion: number;
  webhookVersion: number;
}

/**
 * Notes that a change is about to be put to the practice software. Returns undefined if the change has to be decided again: another change of the
 * submission type is not settled yet, or the row or the setting has changed since it was read. The row is compared here because another change may
 * be made while this statement waits. Otherwise returns the monotonic time of a moment at which the setting was locked and had this version.
 */
export function propose(
  db: Database,
  proposal: Proposal,
  { rowVersion, webhookVersion }: DecidedOn,
  lateAfterMs: number,
  monotonic: () => number,
): Promise<number | undefined> {
  const { object, objectId } = objectOf(proposal);
  return transact(db, SYSTEM, async (tx) => {
    // A PUT or DELETE of the setting waits for this transaction, and then sees the proposal.
    tx.defer('SELECT FROM write_through WHERE practice_group_id = $1 FOR SHARE', [
      proposal.practice_group_id,
    ]);
    const [row, dropped] = await Promise.all([
      // Waits for a transaction that is removing the earlier proposal. Takes no lock on that proposal: `withdrawLate` passes over locked ones.
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
      // A statement of its own: it begins after that wait, so it sees what the other transaction has committed.
      tx.first(
        `DELETE FROM proposals p
          WHERE id = $1
            AND (EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = p.webhook_no AND ${UNTOLD}
                            AND object_hash = hashtextextended($2 || ' ' || $3, 0))
              OR NOT EXISTS (SELECT FROM submission_types s
                              WHERE s.practice_group_id = p.practice_group_id AND s.id = p.object_id AND s.version = $4)
              OR NOT EXISTS (SELECT FROM webhooks w WHERE w.no = p.webhook_no AND w.version = $5))
         RETURNING id`,
        [proposal.id, object, objectId, rowVersion, webhookVersion],
      ),
    ]);
    return row !== undefined && dropped === undefined ? monotonic() : undefined;
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

/**
 * Queues `change.withdrawn` for a change that the practice software may have applied and that was not made. Waits while a transaction has the
 * proposal locked: a node does not wait for the rollback of a transaction that could not make the change.
 */
export async function withdrawProposal(db: Database, id: string, at: string): Promise<void> {
  await transact(db, SYSTEM, (tx) => withdraw(tx, 'id = $1', id, at, 'wait'));
}

/** Withdraws the changes whose nodes are gone. Returns how many. */
export function withdrawLate(db: Database, at: string): Promise<number> {
  return transact(db, SYSTEM, (tx) =>
    withdraw(tx, '$1::text IS NULL AND late_after < clock_timestamp()', null, at, 'pass over'),
  );
}

const AT_ONCE = 100;

async function withdraw(
  tx: Transaction,
  which: string,
  id: string | null,
  at: string,
  ifLocked: IfLocked,
): Promise<number> {
  const gone = await tx.query<Proposal>(
    `DELETE FROM proposals WHERE id IN (SELECT id FROM proposals WHERE ${which} ORDER BY webhook_no LIMIT ${AT_ONCE} FOR UPDATE ${skipping(ifLocked)})
     RETURNING *`,
    [id],
  );
  for (const proposal of gone.sort((a, b) => a.webhook_no - b.webhook_no))
    await announceTo(tx, proposal.webhook_no, {
      id: `evt_${proposal.id}`,
      event: 'change.withdrawn',
      ...objectOf(proposal),
      payload: { ...proposal.payload, before: await heldNow(tx, proposal) },
      sourceId: 'porter',
      at,
    });
  return gone.length;
}

/**
 * The fields of the change as Porter holds them now; null: the submission type was deleted. An operator may have changed them since the
 * practice software was asked. The old values would then leave Porter and the software different.
 */
async function heldNow(tx: Transaction, { practice_group_id, object_id, payload }: Proposal) {
  const row = await tx.first<{ held: Record<string, unknown> }>(
    'SELECT to_json(s) AS held FROM submission_types s WHERE practice_group_id = $1 AND id = $2',
    [practice_group_id, object_id],
  );
  return row
    ? Object.fromEntries(Object.keys(payload.after as object).map((name) => [name, row.held[name]]))
    : null;
}

/**
 * Raises the versions of those submission types that have a proposal. An operator has set the locked rows to the values that they had. A proposed
 * change was decided earlier, so it must not be made later. Returns the new version of the last row that has one.
 */
export async function overruleProposals(
  sender: Sender,
  types: readonly { groupId: string; id: string }[],
): Promise<number | undefined> {
  const rows = await sender.query<{ version: number }>(
    `UPDATE submission_types s SET version = s.version + 1 FROM proposals p
      WHERE s.practice_group_id = p.practice_group_id AND s.id = p.object_id
        AND p.practice_group_id || ' ' || p.object_id = ANY ($1::text[]) RETURNING s.version`,
    [types.map(({ groupId, id }) => `${groupId} ${id}`)],
  );
  return rows.at(-1)?.version;
}
