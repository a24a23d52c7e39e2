import type { Stop } from '../../contract/operator/access/stops.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

/** Which practices have stopped which partners. What that means is decided where reach is: store/practices/practice-groups.ts, src/sql/events/receives_until.sql. */

/** As the practice knows it. */
export type PartnerStop = Omit<Stop, 'partner' | 'practice_group'>;

const OWN = `s.id, s.reason, s.stopped_at, s.stopped_by_name AS stopped_by, s.lifted_at, s.lifted_by_name AS lifted_by, s.lifted_reason`;
const STOP = `${OWN}, json_build_object('id', s.partner_id, 'name', p.name) AS partner,
  json_build_object('id', s.practice_group_id, 'name', coalesce(g.name, s.practice_group_id)) AS practice_group`;
const WITH_NAMES =
  'stops s JOIN partners p ON p.id = s.partner_id LEFT JOIN practice_groups g ON g.id = s.practice_group_id';

export interface StopFilter extends PageQuery {
  partner_id?: string | undefined;
  practice_group_id?: string | undefined;
  in_force?: 'true' | 'false' | undefined;
}

/** Newest first. */
export function listStopPage(tx: Transaction, filter: StopFilter) {
  const { partner_id, practice_group_id, in_force } = filter;
  return readPage(filter, byId, ([before], limit) =>
    tx.query<Stop>(
      `SELECT ${STOP} FROM ${WITH_NAMES}
        WHERE ($1::text IS NULL OR s.partner_id = $1) AND ($2::text IS NULL OR s.practice_group_id = $2)
          AND ($3::boolean IS NULL OR (s.lifted_at IS NULL) = $3) AND ($4::text IS NULL OR s.id < $4)
        ORDER BY s.id DESC LIMIT $5`,
      [partner_id, practice_group_id, in_force, before, limit],
    ),
  );
}

/** Nobody else changes it until the transaction ends. Locks first and reads then. */
export function lockStop(tx: Transaction, id: string): Promise<Stop | undefined> {
  tx.defer('SELECT FROM stops WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return tx.first<Stop>(`SELECT ${STOP} FROM ${WITH_NAMES} WHERE s.id = $1`, [id]);
}

export interface StoppedPair {
  groupId: string;
  partnerId: string;
}

/** The stop in force. Nobody else of the practice stops the partner, or lets it go on, until the transaction ends. Locks first and reads then. */
export function lockStopInForce(
  tx: Transaction,
  { groupId, partnerId }: StoppedPair,
): Promise<PartnerStop | undefined> {
  tx.defer('SELECT FROM practice_groups WHERE id = $1 FOR NO KEY UPDATE', [groupId]);
  return tx.first<PartnerStop>(
    `SELECT ${OWN} FROM stops s
      WHERE s.practice_group_id = $1 AND s.partner_id = $2 AND s.lifted_at IS NULL FOR NO KEY UPDATE`,
    [groupId, partnerId],
  );
}

/** Of one practice: the stops in force of these partners, and those that were lifted, newest first. */
export async function listStopsOf(
  tx: Transaction,
  groupId: string,
  partnerIds: readonly string[],
): Promise<(PartnerStop & { partner_id: string })[]> {
  return tx.query(
    `SELECT ${OWN}, s.partner_id FROM stops s
      WHERE s.practice_group_id = $1 AND s.partner_id = ANY ($2) ORDER BY s.id DESC`,
    [groupId, partnerIds],
  );
}

/** `by`: who does it, as a session or a token is known, and the name. */
export interface Doer {
  id: string;
  name: string;
}

export function insertStop(
  tx: Transaction,
  { groupId, partnerId }: StoppedPair,
  stop: { id: string; reason: string; at: string; by: Doer },
): void {
  tx.defer(
    `INSERT INTO stops (id, practice_group_id, partner_id, reason, stopped_at, stopped_by, stopped_by_name)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [stop.id, groupId, partnerId, stop.reason, stop.at, stop.by.id, stop.by.name],
  );
}

export function markLifted(
  tx: Transaction,
  id: string,
  { at, by, reason }: { at: string; by: Doer; reason: string | null },
): void {
  tx.defer(
    'UPDATE stops SET lifted_at = $2, lifted_by = $3, lifted_by_name = $4, lifted_reason = $5 WHERE id = $1',
    [id, at, by.id, by.name, reason],
  );
}
