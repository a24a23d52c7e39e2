import type { JobStatus, WriteToRecordJob } from '../contract/operator/write-to-record-jobs.ts';
import type { PageQuery } from '../contract/page.ts';
import type { Transaction } from './database.ts';
import { byId, readPage } from './page.ts';
import { where } from './where.ts';

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

export function lockJob(tx: Transaction, id: string): Promise<WriteToRecordJob | undefined> {
  return tx.first<WriteToRecordJob>(`SELECT ${JOB} FROM write_to_record_jobs WHERE id = $1 FOR UPDATE`, [id]);
}

export function insertJob(tx: Transaction, job: WriteToRecordJob): void {
  tx.defer(`INSERT INTO write_to_record_jobs (${JOB}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [
    job.id,
    job.practice_group_id,
    job.resource,
    job.resource_id,
    job.status,
    job.failed_attempts,
    job.created_at,
    job.updated_at,
  ]);
}

export function updateJob(tx: Transaction, job: WriteToRecordJob): void {
  tx.defer(
    'UPDATE write_to_record_jobs SET status = $2, failed_attempts = $3, updated_at = $4 WHERE id = $1',
    [job.id, job.status, job.failed_attempts, job.updated_at],
  );
}
