import { gather, type Tools } from '../runtime/gathering.ts';
import type { Database } from '../store/database.ts';
import { ehrReports } from './ehr-health.ts';
import { sentForms } from './form-submissions.ts';
import type { GatheredOperations } from './gathered-calls.ts';
import { jobReports, newJobs } from './write-to-record-jobs.ts';

/** The operations whose concurrent calls share a transaction. */
export function gatherOperations(db: Database, tools: Tools): GatheredOperations {
  return {
    forms: gather(db, tools, sentForms),
    ehrReports: gather(db, tools, ehrReports),
    newJobs: gather(db, tools, newJobs),
    jobReports: gather(db, tools, jobReports),
  };
}
