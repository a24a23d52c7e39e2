import { describe, expect, it } from 'vitest';
import { afterJobReport } from '../../src/domain/practices/write-to-record.ts';

describe('a write-to-record job after a report', () => {
  it('that is queued succeeds, fails, or stays', () => {
    const job = { status: 'queued', failed_attempts: 3 } as const;
    expect(afterJobReport(job, 'succeeded')).toEqual({ status: 'succeeded', failed_attempts: 3 });
    expect(afterJobReport(job, 'failed')).toEqual({ status: 'failed', failed_attempts: 4 });
    expect(afterJobReport(job, 'failed_for_now')).toEqual({ status: 'queued', failed_attempts: 4 });
  });

  it.each(['succeeded', 'failed'] as const)('that has %s takes none', (status) => {
    for (const report of ['succeeded', 'failed', 'failed_for_now'] as const)
      expect(afterJobReport({ status, failed_attempts: 0 }, report)).toBeUndefined();
  });
});
