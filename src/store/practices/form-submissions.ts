import type { FormSubmission } from '../../contract/operator/practices/form-submissions.ts';
import type { OpeningHours } from '../../contract/operator/practices/practice-groups.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { StoredSubmissionType } from '../../domain/practices/submission-type.ts';
import { type IfLocked, skipping, type Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

const SUBMISSION = `id, practice_group_id, submission_type_id, local_day::text AS local_day, submitted_at,
  over_limit, suspended, outside_hours`;

type Intake = Pick<StoredSubmissionType, 'suspended' | 'in_hours' | 'out_of_hours' | 'daily_limit'>;

/** A submission type, by its practice group. */
interface TypeKey {
  groupId: string;
  typeId: string;
}

/** Locks submission types, each named once: nobody else counts a form of theirs, or changes them. Tells which it has. */
export function lockIntakes(
  tx: Transaction,
  types: readonly TypeKey[],
  ifLocked: IfLocked,
): Promise<TypeKey[]> {
  return tx.query<TypeKey>(
    `SELECT s.practice_group_id AS "groupId", s.id AS "typeId" FROM unnest($1::text[], $2::text[]) AS wanted (group_id, id)
       JOIN submission_types s ON s.practice_group_id = wanted.group_id AND s.id = wanted.id
        FOR UPDATE OF s ${skipping(ifLocked)}`,
    [types.map(({ groupId }) => groupId), types.map(({ typeId }) => typeId)],
  );
}

/** What a form is marked by: the hours of the practice, and the type with what it took on each day. */
export interface Counter extends TypeKey {
  timezone: string;
  opening_hours: OpeningHours;
  /** Null: the practice has no such type. */
  type: Intake | null;
  counts: Record<string, number> | null;
}

/**
 * Of the practices that exist. A statement of its own behind the lock: in the same one, counts would be as old as the wait is long. Both travel
 * at once, so the practice's day is not known yet; it is at least the one before the day of UTC.
 */
export function findCounters(tx: Transaction, types: readonly TypeKey[], now: string): Promise<Counter[]> {
  return tx.query<Counter>(
    `SELECT wanted.group_id AS "groupId", wanted.id AS "typeId", g.timezone, g.opening_hours, t.type, c.counts
       FROM unnest($1::text[], $2::text[]) AS wanted (group_id, id)
       JOIN LATERAL (SELECT timezone, opening_hours FROM practice_groups WHERE practice_groups.id = wanted.group_id OFFSET 0) AS g ON true
       LEFT JOIN LATERAL (
         SELECT json_build_object('suspended', s.suspended, 'in_hours', s.in_hours, 'out_of_hours', s.out_of_hours,
                  'daily_limit', s.daily_limit) AS type
           FROM submission_types s WHERE s.practice_group_id = wanted.group_id AND s.id = wanted.id
         OFFSET 0) AS t ON true
       LEFT JOIN LATERAL (
         SELECT json_object_agg(local_day, submitted) AS counts FROM form_counts
          WHERE practice_group_id = wanted.group_id AND submission_type_id = wanted.id
            AND local_day >= ($3::timestamptz AT TIME ZONE 'UTC')::date - 1
         OFFSET 0) AS c ON true`,
    [types.map(({ groupId }) => groupId), types.map(({ typeId }) => typeId), now],
  );
}

interface FormKey {
  groupId: string;
  id: string;
}

/** Which of these forms are recorded. */
export function findRecorded(tx: Transaction, forms: readonly FormKey[]): Promise<FormKey[]> {
  return tx.query<FormKey>(
    `SELECT group_id AS "groupId", id FROM unnest($1::text[], $2::text[]) AS wanted (group_id, id)
      WHERE EXISTS (SELECT FROM form_submissions f WHERE f.practice_group_id = wanted.group_id AND f.id = wanted.id OFFSET 0)`,
    [forms.map(({ groupId }) => groupId), forms.map(({ id }) => id)],
  );
}

/**
 * Writes forms and counts them, in the transaction that holds the locks on their submission types. One that is being recorded for another type at that
 * moment violates the primary key; in the order of their keys, so that of two nodes one waits.
 */
export function insertFormSubmissions(tx: Transaction, forms: readonly FormSubmission[]): void {
  if (forms.length === 0) return;
  const column = (part: keyof FormSubmission) => forms.map((form) => form[part]);
  const [groups, types, days] = [
    column('practice_group_id'),
    column('submission_type_id'),
    column('local_day'),
  ];
  tx.defer(
    `INSERT INTO form_counts (practice_group_id, submission_type_id, local_day, submitted)
     SELECT group_id, type_id, local_day, count(*) FROM unnest($1::text[], $2::text[], $3::date[]) AS form (group_id, type_id, local_day)
      GROUP BY group_id, type_id, local_day
     ON CONFLICT (practice_group_id, submission_type_id, local_day)
     DO UPDATE SET submitted = form_counts.submitted + excluded.submitted`,
    [groups, types, days],
  );
  tx.defer(
    `INSERT INTO form_submissions (practice_group_id, submission_type_id, local_day, id, submitted_at, over_limit, suspended, outside_hours)
     SELECT * FROM unnest($1::text[], $2::text[], $3::date[], $4::text[], $5::timestamptz[], $6::boolean[], $7::boolean[], $8::boolean[])
            AS form (group_id, type_id, local_day, id, submitted_at, over_limit, suspended, outside_hours)
      ORDER BY group_id, id`,
    [
      groups,
      types,
      days,
      column('id'),
      column('submitted_at'),
      column('over_limit'),
      column('suspended'),
      column('outside_hours'),
    ],
  );
}

export async function findFormSubmission(
  tx: Transaction,
  groupId: string,
  id: string,
): Promise<FormSubmission | undefined> {
  return tx.first<FormSubmission>(
    `SELECT ${SUBMISSION} FROM form_submissions WHERE practice_group_id = $1 AND id = $2`,
    [groupId, id],
  );
}

export function listFormSubmissionPage(tx: Transaction, groupId: string, query: PageQuery) {
  return readPage(query, byId, ([after], limit) => {
    return tx.query<FormSubmission>(
      `SELECT ${SUBMISSION} FROM form_submissions
        WHERE practice_group_id = $1 AND ($2::text IS NULL OR id > $2) ORDER BY id LIMIT $3`,
      [groupId, after, limit],
    );
  });
}

/** A practice's hours, and those of its submission types that were asked about, with what they took on each of the three days that it may be there. */
export interface Intakes {
  timezone: string;
  opening_hours: OpeningHours;
  types: (Intake & { id: string; counts: Record<string, number> | null })[];
}

/**
 * The whole practice in one statement. Which day it is there, the time zone says, which the statement reads as well: so it reads the counts of
 * all days that it may be anywhere. (PostgreSQL could tell, too, by its own table of time zones; forms are counted by Node's.)
 */
export async function findIntakes(
  tx: Transaction,
  groupId: string,
  typeIds: readonly string[] | undefined,
  now: string,
): Promise<Intakes | undefined> {
  return tx.first<Intakes>(
    `SELECT g.timezone, g.opening_hours, coalesce(t.types, '[]') AS types
       FROM practice_groups g
       LEFT JOIN LATERAL (
         SELECT json_agg(json_build_object('id', s.id, 'suspended', s.suspended, 'in_hours', s.in_hours,
                  'out_of_hours', s.out_of_hours, 'daily_limit', s.daily_limit, 'counts', c.counts)
                  ORDER BY s."order" NULLS LAST, s.id) AS types
           FROM submission_types s
           LEFT JOIN LATERAL (
             SELECT json_object_agg(local_day, submitted) AS counts FROM form_counts
              WHERE form_counts.practice_group_id = s.practice_group_id AND submission_type_id = s.id
                AND local_day BETWEEN ($3::timestamptz AT TIME ZONE 'UTC')::date - 1 AND ($3::timestamptz AT TIME ZONE 'UTC')::date + 1
             OFFSET 0) AS c ON true
          WHERE s.practice_group_id = g.id AND ($2::text[] IS NULL OR s.id = ANY ($2))) AS t ON true
      WHERE g.id = $1`,
    [groupId, typeIds ?? null, now],
  );
}
