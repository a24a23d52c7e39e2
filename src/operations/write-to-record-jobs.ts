import type { Read } from '../contract/endpoint.ts';
import type {
  createWriteToRecordJob as createEndpoint,
  failWriteToRecordJob as failEndpoint,
  getWriteToRecordJob as getEndpoint,
  listWriteToRecordJobs as listEndpoint,
  succeedWriteToRecordJob as succeedEndpoint,
  WriteToRecordJob,
} from '../contract/operator/write-to-record-jobs.ts';
import { Problem } from '../contract/problems.ts';
import { ruleBroken } from '../contract/rules.ts';
import { newId } from '../domain/ids.ts';
import { afterJobReport, type JobReport } from '../domain/write-to-record.ts';
import { transact } from '../store/database.ts';
import { appendEvents } from '../store/events.ts';
import { findUnknownGroups } from '../store/practice-groups.ts';
import { findJob, insertJob, listJobPage, lockJob, updateJob } from '../store/write-to-record-jobs.ts';
import { type App, newSalt, nowIso, type OperatorCall } from './app.ts';
import { newEvent, saidBy } from './events.ts';

export async function createWriteToRecordJob(app: App, call: OperatorCall<typeof createEndpoint>) {
  const now = nowIso(app);
  const job: WriteToRecordJob = {
    id: newId('wtr', app.clock.now(), app.random),
    ...call.body,
    status: 'queued',
    failed_attempts: 0,
    created_at: now,
    updated_at: now,
  };
  await transact(app.db, call.principal, async (tx) => {
    const unknown = await findUnknownGroups(tx, [job.practice_group_id]);
    if (unknown.length > 0) throw ruleBroken('practice_group_unknown');
    insertJob(tx, job);
    tx.audit({
      at: now,
      principal: call.principal,
      action: 'write_to_record_job.create',
      subject: { type: 'write_to_record_job', id: job.id },
      practiceGroupId: job.practice_group_id,
      requestId: call.requestId,
      before: null,
      after: job,
      salt: newSalt(app),
    });
  });
  return { body: job };
}

export async function succeedWriteToRecordJob(app: App, call: OperatorCall<typeof succeedEndpoint>) {
  return { body: await report(app, call, call.params.id, 'succeeded') };
}

export async function failWriteToRecordJob(app: App, call: OperatorCall<typeof failEndpoint>) {
  const outcome = call.body.permanent ? 'failed' : 'failed_for_now';
  return { body: await report(app, call, call.params.id, outcome) };
}

async function report(
  app: App,
  call: Pick<OperatorCall<typeof getEndpoint>, 'principal' | 'requestId' | 'traceparent'>,
  id: string,
  outcome: JobReport,
): Promise<WriteToRecordJob> {
  const { principal, requestId } = call;
  return transact(app.db, principal, async (tx) => {
    const before = await lockJob(tx, id);
    if (!before) throw new Problem('not_found');
    const next = afterJobReport(before, outcome);
    if (!next) throw new Problem('conflict', { message: `The job ${id} has ${before.status} already.` });
    const after: WriteToRecordJob = { ...before, ...next, updated_at: nowIso(app) };
    updateJob(tx, after);
    if (after.status !== 'queued')
      appendEvents(tx, saidBy(app, call), [
        newEvent(app, {
          object: 'WriteToRecordEntry',
          id,
          practice_group_id: after.practice_group_id,
          event: `write-to-record.${after.status}`,
          resource: after.resource,
          resource_id: after.resource_id,
        }),
      ]);
    tx.audit({
      at: after.updated_at,
      principal,
      action: outcome === 'succeeded' ? 'write_to_record_job.succeed' : 'write_to_record_job.fail',
      subject: { type: 'write_to_record_job', id },
      practiceGroupId: after.practice_group_id,
      requestId,
      before,
      after,
      salt: newSalt(app),
    });
    return after;
  });
}

export async function listWriteToRecordJobs(app: App, call: OperatorCall<typeof listEndpoint>) {
  const body = await transact(app.db, call.principal, (tx) => listJobPage(tx, call.query));
  return { body, read: body.data.flatMap(readsOf) };
}

export async function getWriteToRecordJob(app: App, call: OperatorCall<typeof getEndpoint>) {
  const body = await transact(app.db, call.principal, (tx) => findJob(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body, read: readsOf(body) };
}

/** A job shows itself and what it writes. */
function readsOf({
  practice_group_id: practiceGroupId,
  id,
  resource,
  resource_id,
}: WriteToRecordJob): Read[] {
  return [
    { practiceGroupId, object: 'WriteToRecordEntry', objectId: id },
    { practiceGroupId, object: resource, objectId: resource_id },
  ];
}
