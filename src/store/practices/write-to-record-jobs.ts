import type { JobStatus, WriteToRecordJob } from '../../contract/operator/practices/write-to-record-jobs.ts';
import type { PageQuery } from '../../contract/page.ts';
import { type IfLocked, skipping, type Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';
import { where } from '../where.ts';

const JOB = 'id, practice_group_id, resource, resource_id, status, failed_attempts, created_at, updated_at';

export interface JobFilter extends PageQuery {
  practice_group_id?: string | undefined;
  status?: JobStatus | undefined;
}

export function listJobPage(tx: Transaction, filter: JobFilter) {
  return readPage(filter, byId, ([after], limit) => {
    const { text, values } = where(
      ['id > ?', after],
      ['practice_group_id = ?', filter.practice_group_id],
      // Few are not, and have an index of their own.
      [filter.status === 'succeeded' ? 'status = ?' : "status = ? AND status <> 'succeeded'", filter.status],
    );
    return tx.query<WriteToRecordJob>(
      `SELECT ${JOB} FROM write_to_record_jobs ${text} ORDER BY id LIMIT $${values.length + 1}`,
      [...values, limit],
    );
  });
}

export function findJob(tx: Transaction, id: string): Promise<WriteToRecordJob | undefined> {
  return tx.first<WriteToRecordJob>(`SELECT ${JOB} FROM write_to_record_jobs WHERE id = $1`, [id]);
}

/** Nobody else reports on these before the transaction ends. Tells which it has. */
export async function lockJobs(
  tx: Transaction,
  ids: readonly string[],
  ifLocked: IfLocked,
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM write_to_record_jobs WHERE id = ANY ($1) ORDER BY id FOR UPDATE ${skipping(ifLocked)}`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Behind the lock: a statement that waited for one still sees the jobs from before its wait. */
export async function findJobs(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, WriteToRecordJob>> {
  const rows = await tx.query<WriteToRecordJob>(
    `SELECT ${JOB} FROM write_to_record_jobs WHERE id = ANY ($1)`,
    [ids],
  );
  return new Map(rows.map((job) => [job.id, job]));
}

/** In the order of their practice groups, which stay until the transaction ends (src/sql/require_practice_group.sql). */
export function insertJobs(tx: Transaction, jobs: readonly WriteToRecordJob[]): void {
  if (jobs.length === 0) return;
  const column = (part: keyof WriteToRecordJob) => jobs.map((job) => job[part]);
  tx.defer(
    `INSERT INTO write_to_record_jobs (${JOB})
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::timestamptz[], $8::timestamptz[])
            AS job (${JOB})
      ORDER BY practice_group_id, id`,
    [
      column('id'),
      column('practice_group_id'),
      column('resource'),
      column('resource_id'),
      column('status'),
      column('failed_attempts'),
      column('created_at'),
      column('updated_at'),
    ],
  );
}

export function updateJobs(tx: Transaction, jobs: readonly WriteToRecordJob[], now: string): void {
  if (jobs.length === 0) return;
  tx.defer(
    `UPDATE write_to_record_jobs j SET status = after.status, failed_attempts = after.failed_attempts, updated_at = $4
       FROM unnest($1::text[], $2::text[], $3::integer[]) AS after (id, status, failed_attempts)
      WHERE j.id = after.id`,
    [
      jobs.map(({ id }) => id),
      jobs.map(({ status }) => status),
      jobs.map(({ failed_attempts }) => failed_attempts),
      now,
    ],
  );
}
