import type { Semaphore } from '../platform/semaphore.ts';
import { gather, type Tools } from '../runtime/gathering.ts';
import type { Database } from '../store/database.ts';
import type { GatheredOperations } from './gathered-calls.ts';
import { ehrReports } from './practices/ehr-health.ts';
import { sentForms } from './practices/form-submissions.ts';
import { jobReports, newJobs } from './practices/write-to-record-jobs.ts';

/** The operations whose concurrent calls share a transaction. */
export function gatherOperations(db: Database, tools: Tools, waiting: Semaphore): GatheredOperations {
  return {
    forms: gather(db, tools, sentForms, waiting),
    ehrReports: gather(db, tools, ehrReports, waiting),
    newJobs: gather(db, tools, newJobs, waiting),
    jobReports: gather(db, tools, jobReports, waiting),
  };
}
