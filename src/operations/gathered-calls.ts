import type { Input } from '../contract/endpoint.ts';
import type { reportEhrHealth } from '../contract/operator/practices/ehr-health.ts';
import type { FormSubmission } from '../contract/operator/practices/form-submissions.ts';
import type {
  createWriteToRecordJob,
  WriteToRecordJob,
} from '../contract/operator/practices/write-to-record-jobs.ts';
import type { JobReport } from '../domain/practices/write-to-record.ts';
import type { GatheredCall, Submit } from '../runtime/gathering.ts';

/** The calls that share a transaction with others, and what each is answered. */
export interface GatheredOperations {
  forms: Submit<SentForm, FormSubmission>;
  ehrReports: Submit<EhrReport, ReportedEhr>;
  newJobs: Submit<NewJob, WriteToRecordJob>;
  jobReports: Submit<ReportOnJob, WriteToRecordJob>;
}

export interface SentForm extends GatheredCall {
  groupId: string;
  typeId: string;
  id: string;
}

type EhrStatus = Input<typeof reportEhrHealth>['body']['status'];

export interface EhrReport extends GatheredCall {
  /** Of the practice group. */
  id: string;
  status: EhrStatus;
}

export interface ReportedEhr {
  changed: boolean;
  status: EhrStatus;
}

export interface NewJob extends GatheredCall {
  id: string;
  wanted: Input<typeof createWriteToRecordJob>['body'];
}

export interface ReportOnJob extends GatheredCall {
  id: string;
  outcome: JobReport;
}
