import type { FormSubmission } from '../contract/operator/form-submissions.ts';
import type { PageQuery } from '../contract/page.ts';
import type { StoredSubmissionType } from '../domain/submission-type.ts';
import type { Transaction } from './database.ts';
import { byId, readPage } from './page.ts';

const SUBMISSION = `id, practice_group_id, submission_type_id, local_day::text AS local_day, submitted_at`;

export type Intake = Pick<StoredSubmissionType, 'suspended' | 'in_hours' | 'out_of_hours' | 'daily_limit'>;

/** What decides whether a type takes a form, locked: nobody else counts a form of this type, or changes it. */
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
    `INSERT INTO form_submissions (practice_group_id, id, submission_type_id, local_day, submitted_at)
     VALUES ($1, $2, $3, $4, $5)`,
    [
      submission.practice_group_id,
      submission.id,
      submission.submission_type_id,
      submission.local_day,
      submission.submitted_at,
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
