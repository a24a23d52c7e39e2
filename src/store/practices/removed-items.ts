import type { ItemKind } from '../../contract/operator/practices/import.ts';
import type { Transaction } from '../database.ts';

/** Tombstones: what was removed, and the highest versions that it had. See `removed_items` in the migrations. */

const TABLES = {
  practice_group: { table: 'practice_groups', match: 't.id = n.id', version: '0' },
  form: { table: 'forms', match: 't.practice_group_id = n.group_id AND t.id = n.id', version: '0' },
  assignee: {
    table: 'assignees',
    match: 't.practice_group_id = n.group_id AND t.type = n.assignee_type AND t.id = n.id',
    version: '0',
  },
  submission_type: {
    table: 'submission_types',
    match: 't.practice_group_id = n.group_id AND t.id = n.id',
    version: 't.version',
  },
} as const satisfies Record<ItemKind, object>;

interface Removed {
  groupId: string;
  id: string;
  assigneeType?: string;
  /** That of the source, which said that it is gone. */
  sourceVersion?: number | null | undefined;
}

/** Deletes the rows and leaves a tombstone for each. The tombstone keeps the highest versions that rows of this ID have had. */
export function removeWithTombstone(
  tx: Transaction,
  kind: ItemKind,
  removed: readonly Removed[],
  now: string,
): void {
  const { table, match, version } = TABLES[kind];
  tx.defer(
    `WITH named AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS n (group_id, assignee_type, id, source_version)
     ), gone AS (
       DELETE FROM ${table} t USING named n WHERE ${match}
       RETURNING n.group_id, n.assignee_type, n.id, t.source_version, ${version} AS version
     )
     INSERT INTO removed_items AS known (practice_group_id, kind, assignee_type, id, source_version, version, removed_at)
     SELECT n.group_id, '${kind}', n.assignee_type, n.id, greatest(n.source_version, gone.source_version),
            coalesce(gone.version, 0), $5::timestamptz
       FROM named n LEFT JOIN gone USING (group_id, assignee_type, id)
     ON CONFLICT (practice_group_id, kind, assignee_type, id) DO UPDATE
        SET source_version = greatest(known.source_version, excluded.source_version),
            version = greatest(known.version, excluded.version), removed_at = excluded.removed_at`,
    [
      removed.map(({ groupId }) => groupId),
      removed.map(({ assigneeType = '' }) => assigneeType),
      removed.map(({ id }) => id),
      removed.map(({ sourceVersion = null }) => sourceVersion),
      now,
    ],
  );
}

/**
 * A submission type that was just inserted goes on with the version of the last one of this name, if there was one. As a statement of its own: the
 * insert waits for whoever is removing that, and only what begins afterwards sees how far it had come.
 */
export function continueVersion(tx: Transaction, groupId: string, id: string): void {
  tx.defer(
    `UPDATE submission_types s SET version = r.version + 1 FROM removed_items r
      WHERE s.practice_group_id = $1 AND s.id = $2
        AND r.practice_group_id = $1 AND r.kind = 'submission_type' AND r.assignee_type = '' AND r.id = $2`,
    [groupId, id],
  );
}
