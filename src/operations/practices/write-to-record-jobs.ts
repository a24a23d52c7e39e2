import type { Read } from '../../contract/endpoint.ts';
import {
  createWriteToRecordJob as createEndpoint,
  failWriteToRecordJob as failEndpoint,
  getWriteToRecordJob as getEndpoint,
  listWriteToRecordJobs as listEndpoint,
  succeedWriteToRecordJob as succeedEndpoint,
  type WriteToRecordJob,
} from '../../contract/operator/practices/write-to-record-jobs.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { newId } from '../../domain/ids.ts';
import { afterJobReport, type JobReport } from '../../domain/practices/write-to-record.ts';
import { BUSY, type Decision, type Gathered } from '../../runtime/gathering.ts';
import { transact } from '../../store/database.ts';
import { appendOneByOne, type OneEvent } from '../../store/events/events.ts';
import { findUnknownGroups, holdGroups } from '../../store/practices/practice-groups.ts';
import {
  findJob,
  findJobs,
  insertJobs,
  listJobPage,
  lockJobs,
  updateJobs,
} from '../../store/practices/write-to-record-jobs.ts';
import { type App, nowIso, type OperatorCall, operation } from '../app.ts';
import { saidOne } from '../events/events.ts';
import { jobRecord } from '../events/published-facts.ts';
import type { NewJob, ReportOnJob } from '../gathered-calls.ts';

/** Gathered with those of other calls, as reports on jobs are. */
export const createWriteToRecordJob = operation(createEndpoint, async (app, call) => {
  const { body: wanted, principal, requestId, keep } = call;
  const id = newId('wtr', app.clock.now(), app.random);
  return { body: await app.gathered.newJobs({ id, wanted, principal, requestId, keep }) };
});

/** Whoever changes a practice has it locked, and all new jobs of it wait for that as one. */
export const newJobs: Gathered<NewJob, WriteToRecordJob> = {
  objectOf: ({ wanted }) => wanted.practice_group_id,

  async carryOut(tools, tx, calls, ifLocked) {
    const groups = [...new Set(calls.map(({ wanted }) => wanted.practice_group_id))];
    const [held, unknown] = await Promise.all([
      holdGroups(tx, groups, ifLocked),
      findUnknownGroups(tx, groups),
    ]);
    const now = nowIso(tools);
    const jobs: WriteToRecordJob[] = [];
    const decisions = calls.map((call): Decision<WriteToRecordJob> => {
      const group = call.wanted.practice_group_id;
      if (unknown.includes(group)) return ruleBroken('practice_group_unknown');
      if (!held.has(group)) return BUSY;
      const job: WriteToRecordJob = {
        id: call.id,
        ...call.wanted,
        status: 'queued',
        failed_attempts: 0,
        created_at: now,
        updated_at: now,
      };
      jobs.push(job);
      tx.audit(jobRecord(tools, call, 'create', null, job));
      return job;
    });
    insertJobs(tx, jobs);
    return decisions;
  },
};

export const succeedWriteToRecordJob = operation(succeedEndpoint, async (app, call) => {
  return { body: await report(app, call, 'succeeded') };
});

export const failWriteToRecordJob = operation(failEndpoint, async (app, call) => {
  return { body: await report(app, call, call.body.permanent ? 'failed' : 'failed_for_now') };
});

function report(
  app: App,
  call: Pick<OperatorCall<typeof getEndpoint>, 'params' | 'principal' | 'requestId' | 'traceparent' | 'keep'>,
  outcome: JobReport,
): Promise<WriteToRecordJob> {
  const { params, principal, requestId, traceparent, keep } = call;
  return app.gathered.jobReports({ id: params.id, outcome, principal, requestId, traceparent, keep });
}

export const jobReports: Gathered<ReportOnJob, WriteToRecordJob> = {
  objectOf: ({ id }) => id,

  async carryOut(tools, tx, calls, ifLocked) {
    const ids = [...new Set(calls.map(({ id }) => id))];
    const [held, jobs] = await Promise.all([lockJobs(tx, ids, ifLocked), findJobs(tx, ids)]);
    const now = nowIso(tools);
    const changed = new Map<string, WriteToRecordJob>();
    const events: OneEvent[] = [];
    const decisions = calls.map((call): Decision<WriteToRecordJob> => {
      const { id, outcome } = call;
      const before = jobs.get(id);
      if (!before) return new Problem('not_found');
      if (!held.has(id)) return BUSY;
      const next = afterJobReport(before, outcome);
      if (!next) return new Problem('conflict', { message: `The job ${id} has ${before.status} already.` });
      const after: WriteToRecordJob = { ...before, ...next, updated_at: now };
      jobs.set(id, after);
      changed.set(id, after);
      if (after.status !== 'queued')
        events.push(
          saidOne(tools, call, {
            object: 'WriteToRecordEntry',
            id,
            practice_group_id: after.practice_group_id,
            event: `write-to-record.${after.status}`,
            resource: after.resource,
            resource_id: after.resource_id,
          }),
        );
      tx.audit(jobRecord(tools, call, outcome === 'succeeded' ? 'succeed' : 'fail', before, after));
      return after;
    });
    updateJobs(tx, [...changed.values()], now);
    appendOneByOne(tx, now, events);
    return decisions;
  },
};

export const listWriteToRecordJobs = operation(listEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, (tx) => listJobPage(tx, call.query));
  return { body, read: body.data.flatMap(readsOf) };
});

export const getWriteToRecordJob = operation(getEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, (tx) => findJob(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body, read: readsOf(body) };
});

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
