import type { EventPayload } from '../../contract/event-payloads.ts';
import type { WriteToRecordJob } from '../../contract/operator/practices/write-to-record-jobs.ts';
import { afterJobReport } from '../../domain/practices/write-to-record.ts';
import type { Tools } from '../../runtime/gathering.ts';
import type { AuditRecord } from '../../store/audit-append.ts';
import type { Transaction } from '../../store/database.ts';
import {
  findEhrStatuses,
  lockEhrStatuses,
  updateEhrStatuses,
} from '../../store/practices/practice-groups.ts';
import { findJobs, lockJobs, updateJobs } from '../../store/practices/write-to-record-jobs.ts';
import { type Actor, newSalt, nowIso } from '../app.ts';

/**
 * Two states are kept here, and events announce their changes: the EHR status of a practice group, and write-to-record jobs. If the operator's
 * systems publish such an event themselves, the state follows it in the same transaction, and no second event is made. The rows are locked before the
 * event gets its number, as for a report. The order of the events is therefore the order of the changes.
 */

type StatePayload = Extract<EventPayload, { object: 'EhrHealthStatus' | 'WriteToRecordEntry' }>;
type EhrStatus = 'healthy' | 'unhealthy' | 'unknown';

/** Locks and reads nothing for the other events. */
export function isOfState(payload: EventPayload): payload is StatePayload {
  return payload.object === 'EhrHealthStatus' || payload.object === 'WriteToRecordEntry';
}

/** Returns whether an EHR status has changed. An event that repeats the present state changes nothing. */
export async function followEvents(
  tools: Tools,
  tx: Transaction,
  actor: Actor,
  payloads: readonly StatePayload[],
): Promise<boolean> {
  const isChanged = await followEhrHealth(tools, tx, actor, payloads);
  await followJobs(tools, tx, actor, payloads);
  return isChanged;
}

const EHR_STATUSES = {
  'ehr.health_status.healthy': 'healthy',
  'ehr.health_status.unhealthy': 'unhealthy',
} as const;

async function followEhrHealth(
  tools: Tools,
  tx: Transaction,
  actor: Actor,
  payloads: readonly StatePayload[],
): Promise<boolean> {
  const published = payloads.flatMap((one) => (one.object === 'EhrHealthStatus' ? one : []));
  if (published.length === 0) return false;
  const ids = [...new Set(published.map(({ practice_group_id }) => practice_group_id))];
  const [, statuses] = await Promise.all([lockEhrStatuses(tx, ids, 'wait'), findEhrStatuses(tx, ids)]);
  const now = nowIso(tools);
  const changed = new Map<string, EhrStatus>();
  for (const { practice_group_id: id, event } of published) {
    const [before, status] = [statuses.get(id), EHR_STATUSES[event]];
    if (!before || before === status) continue;
    statuses.set(id, status);
    changed.set(id, status);
    tx.audit(ehrRecord(actor, now, id, before, status));
  }
  updateEhrStatuses(tx, changed, now);
  return changed.size > 0;
}

/** Finishes the jobs that are open. */
async function followJobs(
  tools: Tools,
  tx: Transaction,
  actor: Actor,
  payloads: readonly StatePayload[],
): Promise<void> {
  const published = payloads.flatMap((one) => (one.object === 'WriteToRecordEntry' ? one : []));
  if (published.length === 0) return;
  const ids = [...new Set(published.map(({ id }) => id))];
  const [, jobs] = await Promise.all([lockJobs(tx, ids, 'wait'), findJobs(tx, ids)]);
  const now = nowIso(tools);
  const changed: WriteToRecordJob[] = [];
  for (const { id, practice_group_id, event } of published) {
    const before = jobs.get(id);
    if (before?.practice_group_id !== practice_group_id) continue;
    const outcome = event === 'write-to-record.succeeded' ? 'succeeded' : 'failed';
    const next = afterJobReport(before, outcome);
    if (!next) continue;
    const after = { ...before, ...next, updated_at: now };
    jobs.set(id, after);
    changed.push(after);
    tx.audit(jobRecord(tools, actor, outcome === 'succeeded' ? 'succeed' : 'fail', before, after));
  }
  updateJobs(tx, changed, now);
}

export function ehrRecord(
  { principal, requestId }: Actor,
  at: string,
  groupId: string,
  before: EhrStatus,
  after: EhrStatus,
): AuditRecord {
  return {
    at,
    principal,
    action: 'ehr_health.change',
    subject: { type: 'ehr_health', id: groupId },
    practiceGroupId: groupId,
    requestId,
    before: { status: before },
    after: { status: after },
  };
}

export function jobRecord(
  tools: Tools,
  { principal, requestId }: Actor,
  action: 'create' | 'succeed' | 'fail',
  before: WriteToRecordJob | null,
  after: WriteToRecordJob,
): AuditRecord {
  return {
    at: after.updated_at,
    principal,
    action: `write_to_record_job.${action}`,
    subject: { type: 'write_to_record_job', id: after.id },
    practiceGroupId: after.practice_group_id,
    requestId,
    before,
    after,
    salt: newSalt(tools),
  };
}
