import {
  getEhrHealth as getEndpoint,
  reportEhrHealth as reportEndpoint,
} from '../../contract/operator/practices/ehr-health.ts';
import { Problem } from '../../contract/problems.ts';
import { BUSY, type Decision, type Gathered } from '../../runtime/gathering.ts';
import { transact } from '../../store/database.ts';
import { appendOneByOne, type OneEvent } from '../../store/events/events.ts';
import {
  findEhrStatus,
  findEhrStatuses,
  lockEhrStatuses,
  updateEhrStatuses,
} from '../../store/practices/practice-groups.ts';
import { nowIso, operation } from '../app.ts';
import { saidOne } from '../events/events.ts';
import { ehrRecord } from '../events/published-facts.ts';
import type { EhrReport, ReportedEhr } from '../gathered-calls.ts';

/** Gathered with the reports of other calls. */
export const reportEhrHealth = operation(reportEndpoint, async (app, call) => {
  const { principal, requestId, traceparent } = call;
  const report = { id: call.params.id, status: call.body.status, principal, requestId, traceparent };
  const body = await app.gathered.ehrReports(report);
  if (body.changed) app.access.forget();
  return { body };
});

/** Speaks only on a change. The lock makes that exact: of two reports at once, the second sees what the first changed. */
export const ehrReports: Gathered<EhrReport, ReportedEhr> = {
  objectOf: ({ id }) => id,

  async carryOut(tools, tx, calls, ifLocked) {
    const ids = [...new Set(calls.map(({ id }) => id))];
    const [held, statuses] = await Promise.all([
      lockEhrStatuses(tx, ids, ifLocked),
      findEhrStatuses(tx, ids),
    ]);
    const now = nowIso(tools);
    const changed = new Map<string, EhrReport['status']>();
    const events: OneEvent[] = [];
    const decisions = calls.map((call): Decision<ReportedEhr> => {
      const { id, status } = call;
      const before = statuses.get(id);
      if (!before) return new Problem('not_found');
      if (!held.has(id)) return BUSY;
      if (before === status) return { changed: false, status };
      statuses.set(id, status);
      changed.set(id, status);
      events.push(
        saidOne(tools, call, {
          object: 'EhrHealthStatus',
          id,
          practice_group_id: id,
          event: `ehr.health_status.${status}`,
        }),
      );
      tx.audit(ehrRecord(call, now, id, before, status));
      return { changed: true, status };
    });
    updateEhrStatuses(tx, changed, now);
    appendOneByOne(tx, now, events);
    return decisions;
  },
};

export const getEhrHealth = operation(getEndpoint, async (app, call) => {
  const status = await transact(app.db, call.principal, (tx) => findEhrStatus(tx, call.params.id));
  if (!status) throw new Problem('not_found');
  return { body: { status } };
});
