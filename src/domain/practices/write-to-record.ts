import type { JobStatus } from '../../contract/operator/practices/write-to-record-jobs.ts';

export type JobReport = 'succeeded' | 'failed' | 'failed_for_now';

interface JobState {
  status: JobStatus;
  failed_attempts: number;
}

/** queued → succeeded, or failed for good; a failure that may pass is only counted. Nothing leads back. */
export function afterJobReport(
  { status, failed_attempts }: JobState,
  report: JobReport,
): JobState | undefined {
  if (status !== 'queued') return undefined;
  return {
    status: report === 'failed_for_now' ? 'queued' : report,
    failed_attempts: report === 'succeeded' ? failed_attempts : failed_attempts + 1,
  };
}
