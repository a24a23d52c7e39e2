import type { PageQuery } from '../../contract/page.ts';
import type { SubmissionTypePatch } from '../../contract/partner/submission-types.ts';
import type { Principal } from '../../domain/access/principal.ts';
import type { StoredSubmissionType } from '../../domain/practices/submission-type.ts';
import { type AuditRecord, actorOf, auditText } from '../audit-append.ts';
import { type Transaction, tenantOf } from '../database.ts';
import { type Keyset, readPage } from '../page.ts';
import { list, type Sender, sqlFunction } from '../sql-functions.ts';

/**
 * Submission types are reached through a practice group, never by their ID alone: every function here takes the group
 * from the principal (partners) or from the path (operators), and the primary key starts with it.
 */

type Row = StoredSubmissionType & { submitted_today: number };

/** A stored submission type and how many forms it took on the day that was asked about. */
export interface Counted {
  type: StoredSubmissionType;
  submittedToday: number;
}

const COLUMNS = `
  s.practice_group_id, s.id, s.pathway_id, s.form_id, s.title, s.description, s.in_hours, s.out_of_hours,
  s.suspended, s.external_url, s.external_url_name, s.type, s.default_priority, s.daily_limit,
  s.patient_eligibility_check, s.assignee_id, s.assignee_type, s."order", s.version, s.created_at, s.updated_at,
  coalesce(c.submitted, 0) AS submitted_today`;

const COUNT_OF = (day: string) => `
  LEFT JOIN form_counts c ON c.practice_group_id = s.practice_group_id
   AND c.submission_type_id = s.id AND c.local_day = ${day}`;

/** `localDay`: today in the group's own calendar. */
export async function findSubmissionType(
  tx: Transaction,
  groupId: string,
  id: string,
  localDay: string,
): Promise<Counted | undefined> {
  const row = await tx.first<Row>(
    `SELECT ${COLUMNS} FROM submission_types s ${COUNT_OF('$3')}
      WHERE s.practice_group_id = $1 AND s.id = $2`,
    [groupId, id, localDay],
  );
  return row && countedOf(row);
}

/** After every place that there is. */
const UNORDERED = 2_147_483_648;

const inOrder: Keyset<Counted> = {
  types: ['decimal', 'string'],
  keyOf: ({ type }) => [type.order ?? UNORDERED, type.id],
};

export function listSubmissionTypePage(tx: Transaction, groupId: string, localDay: string, query: PageQuery) {
  return readPage(query, inOrder, async ([order, id], limit) => {
    const rows = await tx.query<Row>(
      `SELECT ${COLUMNS}
         FROM (SELECT * FROM submission_types
                WHERE practice_group_id = $1
                  AND (coalesce("order", ${UNORDERED}), id) > (coalesce($3::double precision, -2147483649), coalesce($4::text, ''))
                ORDER BY coalesce("order", ${UNORDERED}), id LIMIT $5) AS s
         LEFT JOIN LATERAL (SELECT submitted FROM form_counts
                             WHERE form_counts.practice_group_id = s.practice_group_id
                               AND submission_type_id = s.id AND local_day = $2 OFFSET 0) AS c ON true
        ORDER BY coalesce(s."order", ${UNORDERED}), s.id`,
      [groupId, localDay, order, id, limit],
    );
    return rows.map(countedOf);
  });
}

export interface Wanted {
  groupId: string;
  id: string;
  localDay: string;
}

/** Reads many rows at once; those that do not exist are left out. */
export async function findSubmissionTypes(tx: Transaction, wanted: readonly Wanted[]): Promise<Counted[]> {
  const rows = await tx.query<Row>(
    `SELECT ${COLUMNS}
       FROM unnest($1::text[], $2::text[], $3::date[]) AS wanted (group_id, id, local_day)
       JOIN submission_types s ON s.practice_group_id = wanted.group_id AND s.id = wanted.id
       ${COUNT_OF('wanted.local_day')}`,
    [wanted.map((one) => one.groupId), wanted.map((one) => one.id), wanted.map((one) => one.localDay)],
  );
  return rows.map(countedOf);
}

/** Nobody else changes them until the transaction ends. In the order in which they are written, so that of two nodes one waits, not both. */
export function lockSubmissionTypes(tx: Transaction, wanted: readonly Wanted[]): void {
  const sorted = wanted.toSorted((a, b) => compareKeys([a.groupId, a.id], [b.groupId, b.id]));
  tx.defer(
    `SELECT FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (group_id, id, place)
       JOIN submission_types s ON s.practice_group_id = wanted.group_id AND s.id = wanted.id
      ORDER BY wanted.place FOR NO KEY UPDATE OF s`,
    [sorted.map((one) => one.groupId), sorted.map((one) => one.id)],
  );
}

export interface DirectoryEntry {
  practice_group_id: string;
  /** Null for a form. */
  type: string | null;
  id: string;
}

/**
 * Which of these forms and assignees exist, and which assignees the rows about to be changed point to already: a
 * patch may name the assignee's type only and leave the ID as it is.
 */
export function findDirectoryEntries(
  tx: Transaction,
  wanted: readonly Wanted[],
  named: readonly { groupId: string; formId: string | null; assigneeId: string | null }[],
): Promise<DirectoryEntry[]> {
  return tx.query<DirectoryEntry>(
    `SELECT practice_group_id, NULL AS type, id FROM forms
      WHERE (practice_group_id, id) IN (SELECT * FROM unnest($3::text[], $4::text[]))
     UNION ALL
     SELECT practice_group_id, type, id FROM assignees
      WHERE (practice_group_id, id) IN (SELECT * FROM unnest($3::text[], $5::text[]))
         OR (practice_group_id, id) IN (
              SELECT s.practice_group_id, s.assignee_id FROM unnest($1::text[], $2::text[]) AS wanted (group_id, id)
                JOIN submission_types s ON s.practice_group_id = wanted.group_id AND s.id = wanted.id)`,
    [
      wanted.map((one) => one.groupId),
      wanted.map((one) => one.id),
      named.map((one) => one.groupId),
      named.map((one) => one.formId),
      named.map((one) => one.assigneeId),
    ],
  );
}

/** A row that was decided on at `oldVersion` and is now to be `next`. */
export interface Change {
  oldVersion: number;
  next: StoredSubmissionType;
  /** The fields that differ from the row as it was found. */
  changed: readonly (keyof SubmissionTypePatch)[];
  localDay: string;
  /** One for each update that led there. */
  records: readonly AuditRecord[];
}

/** What an update may set, with the types that the function takes them as. */
const UPDATABLE = {
  form_id: 'text[]',
  title: 'text[]',
  description: 'text[]',
  in_hours: 'boolean[]',
  out_of_hours: 'boolean[]',
  suspended: 'boolean[]',
  external_url: 'text[]',
  external_url_name: 'text[]',
  type: 'text[]',
  default_priority: 'text[]',
  daily_limit: 'integer[]',
  patient_eligibility_check: 'boolean[]',
  assignee_id: 'text[]',
  assignee_type: 'text[]',
  order: 'double precision[]',
} as const satisfies Record<keyof SubmissionTypePatch, string>;

const changeSubmissionTypesSql = sqlFunction('change_submission_types_2', {
  tenant: 'text',
  at: 'timestamptz',
  group_lines: 'text',
  id_lines: 'text',
  versions: 'integer[]',
  new_versions: 'integer[]',
  local_days: 'date[]',
  ...UPDATABLE,
  entry_rows: 'integer[]',
  actor_lines: 'text',
  entry_lines: 'text',
});

/**
 * Writes the changes whose row is still the version that they were decided on, with their audit entries, all in one
 * transaction. Returns each written change with its count of the day; the others must be decided again.
 */
export async function changeSubmissionTypes(
  sender: Sender,
  principals: readonly Principal[],
  at: string,
  changes: readonly Change[],
): Promise<Map<Change, number>> {
  const sorted = changes.toSorted((a, b) => compareKeys(keyOf(a.next), keyOf(b.next)));
  const records = sorted.flatMap((change) => change.records);
  const [answer] = await changeSubmissionTypesSql<Written>(sender, {
    tenant: tenantOf(principals),
    at,
    group_lines: sorted.map(({ next }) => next.practice_group_id).join('\n'),
    id_lines: sorted.map(({ next }) => next.id).join('\n'),
    versions: list(sorted, ({ oldVersion }) => oldVersion),
    new_versions: list(sorted, ({ next }) => next.version),
    local_days: list(sorted, ({ localDay }) => localDay),
    ...columnsOf(sorted),
    entry_rows: list(
      sorted.flatMap((change, row) => change.records.map(() => row + 1)),
      (row) => row,
    ),
    actor_lines: records.map(({ principal }) => actorOf(principal).id).join('\n'),
    entry_lines: records.map(auditText).join('\n'),
  });
  const { written, submitted } = answer ?? { written: null, submitted: null };
  return new Map(written?.map((place, index) => [sorted[place - 1] as Change, submitted?.[index] ?? 0]));
}

interface Written {
  /** Null when none was. */
  written: number[] | null;
  submitted: number[] | null;
}

type Columns = { [Name in keyof typeof UPDATABLE]: StoredSubmissionType[Name][] | null };

/** A column that no change touches is not written: most batches change one or two of the 15. */
function columnsOf(changes: readonly Change[]): Columns {
  const changed = new Set(changes.flatMap((change) => change.changed));
  const column = <Name extends keyof SubmissionTypePatch>(name: Name) =>
    changed.has(name) ? changes.map(({ next }) => next[name]) : null;
  const names = Object.keys(UPDATABLE) as (keyof SubmissionTypePatch)[];
  return Object.fromEntries(names.map((name) => [name, column(name)])) as Columns;
}

type Key = readonly [groupId: string, id: string];

const keyOf = ({ practice_group_id, id }: StoredSubmissionType): Key => [practice_group_id, id];

function compareKeys([groupA, a]: Key, [groupB, b]: Key): number {
  if (groupA !== groupB) return groupA < groupB ? -1 : 1;
  return a < b ? -1 : 1;
}

export async function insertSubmissionType(tx: Transaction, type: StoredSubmissionType): Promise<void> {
  await tx.query(
    'INSERT INTO submission_types SELECT * FROM json_populate_record(NULL::submission_types, $1)',
    [JSON.stringify(type)],
  );
}

/** Of a row that is locked. */
export function updateSubmissionTypeRow(tx: Transaction, type: StoredSubmissionType): void {
  const columns = [...Object.keys(UPDATABLE), 'version', 'updated_at'].map((name) => `"${name}"`).join(', ');
  tx.defer(
    `UPDATE submission_types SET (${columns}) = (SELECT ${columns} FROM json_populate_record(NULL::submission_types, $1))
      WHERE practice_group_id = $2 AND id = $3`,
    [JSON.stringify(type), type.practice_group_id, type.id],
  );
}

function countedOf({ submitted_today, ...type }: Row): Counted {
  return { type, submittedToday: submitted_today };
}
