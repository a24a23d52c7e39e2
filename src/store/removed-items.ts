import type { Transaction } from './database.ts';

/** Tombstones: what was removed, and the highest versions that it had. See `removed_items` in the migrations. */

const TABLES = {
  practice_group: { table: 'practice_groups', where: 'id = $1', version: '0' },
  form: { table: 'forms', where: 'practice_group_id = $1 AND id = $2', version: '0' },
  assignee: { table: 'assignees', where: 'practice_group_id = $1 AND id = $2 AND type = $4', version: '0' },
  submission_type: {
    table: 'submission_types',
    where: 'practice_group_id = $1 AND id = $2',
    version: 'version',
  },
} as const;

export type Kind = keyof typeof TABLES;

/** Removes the row and leaves a tombstone, which remembers what an earlier one of the same name did. */
export function bury(
  tx: Transaction,
  kind: Kind,
  { groupId, id, assigneeType = '' }: { groupId: string; id: string; assigneeType?: string },
  now: string,
): void {
  const { table, where, version } = TABLES[kind];
  tx.defer(
    `WITH gone AS (DELETE FROM ${table} WHERE ${where} RETURNING source_version, ${version} AS version)
     INSERT INTO removed_items AS known (practice_group_id, kind, assignee_type, id, source_version, version, removed_at)
     SELECT $1, '${kind}', $4, $2, source_version, version, $3::timestamptz FROM gone
     ON CONFLICT (practice_group_id, kind, assignee_type, id) DO UPDATE
        SET source_version = greatest(known.source_version, excluded.source_version),
            version = greatest(known.version, excluded.version), removed_at = excluded.removed_at`,
    [groupId, id, now, assigneeType],
  );
}

/** The version of the last submission type of this name; 0 if there never was one. */
export async function lastVersion(tx: Transaction, groupId: string, id: string): Promise<number> {
  const row = await tx.first<{ version: number }>(
    `SELECT version FROM removed_items
      WHERE practice_group_id = $1 AND kind = 'submission_type' AND assignee_type = '' AND id = $2`,
    [groupId, id],
  );
  return row?.version ?? 0;
}
