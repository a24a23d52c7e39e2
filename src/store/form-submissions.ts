import type { FormSubmission } from '../contract/operator/form-submissions.ts';
import type { OpeningHours } from '../contract/operator/practice-groups.ts';
import type { PageQuery } from '../contract/page.ts';
import type { StoredSubmissionType } from '../domain/submission-type.ts';
import type { Transaction } from './database.ts';
import { byId, readPage } from './page.ts';

const SUBMISSION = `id, practice_group_id, submission_type_id, local_day::text AS local_day, submitted_at,
  over_limit, suspended, outside_hours`;

export type Intake = Pick<StoredSubmissionType, 'suspended' | 'in_hours' | 'out_of_hours' | 'daily_limit'>;

/** What a form is marked by, locked: nobody else counts a form of this type, or changes it. */
export function lockIntake(tx: Transaction, groupId: string, typeId: string): Promise<Intake | undefined> {
  return tx.first<Intake>(
    `SELECT suspended, in_hours, out_of_hours, daily_limit FROM submission_types
      WHERE practice_group_id = $1 AND id = $2 FOR UPDATE`,
    [groupId, typeId],
  );
}

/** Writes the form and counts it, in the transaction that holds the lock on its submission type. */
export async function insertFormSubmission(tx: Transaction, submission: FormSubmission): Promise<void> {
  tx.defer(
    `INSERT INTO form_counts (practice_group_id, submission_type_id, local_day, submitted) VALUES ($1, $2, $3, 1)
     ON CONFLICT (practice_group_id, submission_type_id, local_day)
     DO UPDATE SET submitted = form_counts.submitted + 1`,
    [submission.practice_group_id, submission.submission_type_id, submission.local_day],
  );
  await tx.query(
    `INSERT INTO form_submissions (practice_group_id, id, submission_type_id, local_day, submitted_at, over_limit, suspended, outside_hours)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      submission.practice_group_id,
      submission.id,
      submission.submission_type_id,
      submission.local_day,
      submission.submitted_at,
      submission.over_limit,
      submission.suspended,
      submission.outside_hours,
    ],
  );
}

/** How many forms the type has taken on that day. Under the lock on the type, it stays so until the transaction ends. */
export async function countForms(
  tx: Transaction,
  groupId: string,
  typeId: string,
  localDay: string,
): Promise<number> {
  const row = await tx.first<{ submitted: number }>(
    `SELECT submitted FROM form_counts
      WHERE practice_group_id = $1 AND submission_type_id = $2 AND local_day = $3`,
    [groupId, typeId, localDay],
  );
  return row?.submitted ?? 0;
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
