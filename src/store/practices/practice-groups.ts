import type { Scope } from '../../contract/access.ts';
import type {
  OpeningHours,
  OperatorPracticeGroup,
} from '../../contract/operator/practices/practice-groups.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { Me } from '../../contract/partner/me.ts';
import type { PracticeGroup } from '../../contract/partner/practice-groups.ts';
import type { FoundGroup } from '../../domain/access/access.ts';
import type { KeyHolder } from '../../domain/access/principal.ts';
import { USES_TOLD_MAX, type Use } from '../../domain/practices/in-use.ts';
import { type IfLocked, skipping, type Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';
import { removeWithTombstone } from './removed-items.ts';

const GROUP = `
  g.id, g.name, g.ods_code, g.timezone, g.address, g.opening_hours, coalesce(h.status, 'unknown') AS ehr_status,
  g.created_at, greatest(g.updated_at, h.changed_at) AS updated_at,
  coalesce((SELECT jsonb_agg(jsonb_build_object('id', n.id, 'name', n.name) ORDER BY n.name, n.id)
              FROM network_members m JOIN networks n ON n.id = m.network_id
             WHERE m.practice_group_id = g.id), '[]') AS networks`;

const EHR_HEALTH = 'LEFT JOIN ehr_health h ON h.practice_group_id = g.id';

/**
 * Who may act for a group at the door, and what a network lets it do (scope null: anything at all). Who may hear of it is
 * src/sql/events/receives_until.sql: the two change together.
 */
const sharesNetworkWith = (homeId: string, partnerId: string, scope: string) => `EXISTS (
  SELECT FROM network_members home JOIN network_members target USING (network_id) JOIN networks n ON n.id = network_id
   WHERE home.practice_group_id = ${homeId} AND target.practice_group_id = g.id
     AND (n.partner_ids IS NULL OR ${partnerId} = ANY (n.partner_ids))
     AND (n.scopes IS NULL OR ${scope}::text IS NULL OR ${scope} = ANY (n.scopes)))`;

/** Whether its practice has stopped the partner: then no key of it acts for the group, not even one that is tied to it. */
const isStopped = (partnerId: string) => `EXISTS (
  SELECT FROM stops s WHERE s.practice_group_id = g.id AND s.partner_id = ${partnerId} AND s.lifted_at IS NULL)`;

/** A group that somebody wants to act for, with the one that the key is tied to, and what for. */
export interface Reach {
  homeGroupId: string;
  groupId: string;
  partnerId: string;
  scope: Scope | undefined;
}

/** The door's question: the group itself if such a key may act for it, that it was stopped if that alone is in the way, nothing otherwise. */
export async function findReachableGroups(tx: Transaction, asked: readonly Reach[]): Promise<FoundGroup[]> {
  const rows = await tx.query<OperatorPracticeGroup & { place: number; is_stopped: boolean }>(
    `SELECT asked.place, ${GROUP}, EXISTS (SELECT FROM write_through t WHERE t.practice_group_id = g.id) AS writes_through,
            ${isStopped('asked.partner_id')} AS is_stopped
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS asked (home_id, id, partner_id, scope, place)
       JOIN practice_groups g ON g.id = asked.id ${EHR_HEALTH}
      WHERE asked.id = asked.home_id OR ${sharesNetworkWith('asked.home_id', 'asked.partner_id', 'asked.scope')}`,
    [
      asked.map(({ homeGroupId }) => homeGroupId),
      asked.map(({ groupId }) => groupId),
      asked.map(({ partnerId }) => partnerId),
      asked.map(({ scope }) => scope ?? null),
    ],
  );
  const found = new Map(
    rows.map(({ place, is_stopped, ...group }) => [place, is_stopped ? { stoppedBy: group } : group]),
  );
  return asked.map((_, index) => found.get(index + 1));
}

/** Every group that this key may act for, its own included, as far as networks let it read them. */
export async function listReachableGroups(tx: Transaction, holder: KeyHolder): Promise<PracticeGroup[]> {
  return tx.query<OperatorPracticeGroup>(
    `SELECT ${GROUP} FROM practice_groups g ${EHR_HEALTH}
      WHERE (g.id = $1 OR ${sharesNetworkWith('$1', '$2', '$3')}) AND NOT ${isStopped('$2')} ORDER BY g.id`,
    [holder.homeGroupId, holder.partnerId, 'practice-groups:read' satisfies Scope],
  );
}

/** The same with what the key may do in each, and through which network, the first by name. Its own comes first. */
export async function listGroupsInReach(tx: Transaction, holder: KeyHolder): Promise<Me['practice_groups']> {
  const rows = await tx.query<Omit<Me['practice_groups'][number], 'scopes'> & { granted: Scope[] | null }>(
    `SELECT g.id, g.name, way.through, way.granted
       FROM (SELECT $1::text AS id, NULL::json AS through, NULL::text[] AS granted
             UNION ALL
             SELECT target.practice_group_id, (array_agg(json_build_object('id', n.id, 'name', n.name) ORDER BY n.name, n.id))[1],
                    CASE WHEN bool_and(n.scopes IS NOT NULL) THEN array_agg(scope) END
               FROM network_members home JOIN network_members target USING (network_id) JOIN networks n ON n.id = network_id
               LEFT JOIN LATERAL unnest(n.scopes) AS scope ON true
              WHERE home.practice_group_id = $1 AND target.practice_group_id <> $1
                AND (n.partner_ids IS NULL OR $2 = ANY (n.partner_ids))
              GROUP BY target.practice_group_id) AS way
       JOIN practice_groups g USING (id) WHERE NOT ${isStopped('$2')} ORDER BY way.through IS NOT NULL, g.id`,
    [holder.homeGroupId, holder.partnerId],
  );
  const own = [...holder.scopes];
  return rows.map(({ granted, ...group }) => ({
    ...group,
    scopes: granted === null ? own : own.filter((scope) => granted.includes(scope)),
  }));
}

export function listGroups(tx: Transaction, query: PageQuery) {
  return readPage(query, byId, ([after], limit) => {
    return tx.query<OperatorPracticeGroup>(
      `SELECT ${GROUP} FROM practice_groups g ${EHR_HEALTH} WHERE $1::text IS NULL OR g.id > $1 ORDER BY g.id LIMIT $2`,
      [after, limit],
    );
  });
}

export async function findGroup(tx: Transaction, id: string): Promise<OperatorPracticeGroup | undefined> {
  return tx.first<OperatorPracticeGroup>(
    `SELECT ${GROUP} FROM practice_groups g ${EHR_HEALTH} WHERE g.id = $1`,
    [id],
  );
}

/** Locks first and reads then: a statement that waited for a lock still sees the networks from before its wait. */
export function lockGroup(tx: Transaction, id: string): Promise<OperatorPracticeGroup | undefined> {
  tx.defer('SELECT FROM practice_groups WHERE id = $1 FOR UPDATE', [id]);
  return findGroup(tx, id);
}

/** Which of these practice groups do not exist. */
export async function findUnknownGroups(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM unnest($1::text[]) AS named (id)
      WHERE NOT EXISTS (SELECT FROM practice_groups g WHERE g.id = named.id)`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Also one that was removed: what is kept of it can still be erased. */
export async function wasEverGroup(tx: Transaction, id: string): Promise<boolean> {
  const row = await tx.first(
    `SELECT id FROM practice_groups WHERE id = $1
     UNION ALL SELECT id FROM removed_items WHERE practice_group_id = $1 AND kind = 'practice_group' LIMIT 1`,
    [id],
  );
  return row !== undefined;
}

/** Nobody removes these before the transaction ends. In their order, as rows that name them are inserted. Tells which it has. */
export async function holdGroups(
  tx: Transaction,
  ids: readonly string[],
  ifLocked: IfLocked,
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM practice_groups WHERE id = ANY ($1) ORDER BY id FOR KEY SHARE ${skipping(ifLocked)}`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

type EhrStatus = PracticeGroup['ehr_status'];

export async function findEhrStatus(tx: Transaction, id: string): Promise<EhrStatus | undefined> {
  const row = await tx.first<{ ehr_status: EhrStatus }>(
    `SELECT coalesce(h.status, 'unknown') AS ehr_status FROM practice_groups g ${EHR_HEALTH} WHERE g.id = $1`,
    [id],
  );
  return row?.ehr_status;
}

/** Nobody else changes the status of these before the transaction ends. Tells which it has. */
export async function lockEhrStatuses(
  tx: Transaction,
  ids: readonly string[],
  ifLocked: IfLocked,
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM practice_groups WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE ${skipping(ifLocked)}`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Of those that exist. Behind the lock: a statement that waited for one still sees the status from before its wait. */
export async function findEhrStatuses(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, EhrStatus>> {
  const rows = await tx.query<{ id: string; ehr_status: EhrStatus }>(
    `SELECT g.id, coalesce(h.status, 'unknown') AS ehr_status FROM practice_groups g ${EHR_HEALTH} WHERE g.id = ANY ($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, ehr_status }) => [id, ehr_status]));
}

export function updateEhrStatuses(
  tx: Transaction,
  statuses: ReadonlyMap<string, EhrStatus>,
  now: string,
): void {
  if (statuses.size === 0) return;
  tx.defer(
    `INSERT INTO ehr_health (practice_group_id, status, changed_at)
     SELECT id, status, $3 FROM unnest($1::text[], $2::text[]) AS changed (id, status)
     ON CONFLICT (practice_group_id) DO UPDATE SET status = excluded.status, changed_at = excluded.changed_at`,
    [[...statuses.keys()], [...statuses.values()], now],
  );
}

export interface GroupRecord {
  id: string;
  name: string;
  ods_code: string | null;
  timezone: string;
  address: PracticeGroup['address'];
  opening_hours: OpeningHours;
  now: string;
}

export async function insertGroup(tx: Transaction, group: GroupRecord): Promise<void> {
  await tx.query(
    `INSERT INTO practice_groups (id, name, ods_code, timezone, address, opening_hours, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
    groupValues(group),
  );
}

export function updateGroup(tx: Transaction, group: GroupRecord): void {
  tx.defer(
    `UPDATE practice_groups SET name = $2, ods_code = $3, timezone = $4, address = $5, opening_hours = $6,
            updated_at = $7 WHERE id = $1`,
    groupValues(group),
  );
}

function groupValues(group: GroupRecord): unknown[] {
  return [
    group.id,
    group.name,
    group.ods_code,
    group.timezone,
    group.address && JSON.stringify(group.address),
    JSON.stringify(group.opening_hours),
    group.now,
  ];
}

/**
 * What keeps a practice group from being removed, asked under the lock on it. History does not: keys that ended, webhooks that were
 * deleted, jobs that are done, forms that were sent.
 */
export function findGroupUses(tx: Transaction, id: string, now: string): Promise<Use[]> {
  const uses = (type: string, ids: string) => `
    SELECT '${type}' AS type, count(*)::int AS count,
           coalesce((array_agg(id ORDER BY id))[1:${USES_TOLD_MAX}], '{}') AS ids FROM (${ids}) AS used (id)`;
  return tx.query<Use>(
    [
      uses(
        'key',
        `SELECT id FROM api_keys WHERE practice_group_id = $1 AND revoked_at IS NULL
            AND (expires_at IS NULL OR expires_at > $2)`,
      ),
      uses('webhook', 'SELECT id FROM webhooks WHERE practice_group_id = $1 AND deleted_at IS NULL'),
      uses('network', 'SELECT network_id FROM network_members WHERE practice_group_id = $1'),
      uses('submission_type', 'SELECT id FROM submission_types WHERE practice_group_id = $1'),
      uses('form', 'SELECT id FROM forms WHERE practice_group_id = $1'),
      uses('assignee', 'SELECT id FROM assignees WHERE practice_group_id = $1'),
      uses('write_through', 'SELECT practice_group_id FROM write_through WHERE practice_group_id = $1'),
      uses(
        'write_to_record_job',
        `SELECT id FROM write_to_record_jobs WHERE practice_group_id = $1 AND status = 'queued'`,
      ),
    ].join(' UNION ALL '),
    [id, now],
  );
}

export function deleteGroup(tx: Transaction, id: string, now: string, sourceVersion?: number | null): void {
  tx.defer('DELETE FROM ehr_health WHERE practice_group_id = $1', [id]);
  // A group that gets this ID later must not inherit the invitations.
  tx.defer(
    'UPDATE invitations SET revoked_at = $2, try_at = NULL WHERE practice_group_id = $1 AND revoked_at IS NULL',
    [id, now],
  );
  removeWithTombstone(tx, 'practice_group', [{ groupId: id, id, sourceVersion }], now);
}
