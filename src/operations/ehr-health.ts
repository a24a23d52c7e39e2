import type {
  getEhrHealth as getEndpoint,
  reportEhrHealth as reportEndpoint,
} from '../contract/operator/ehr-health.ts';
import { Problem } from '../contract/problems.ts';
import { transact } from '../store/database.ts';
import { appendEvents } from '../store/events.ts';
import { findEhrStatus, lockEhrStatus, updateEhrStatus } from '../store/practice-groups.ts';
import { type App, nowIso, type OperatorCall } from './app.ts';
import { newEvent, saidBy } from './events.ts';

/** Speaks only on a change. The lock makes that exact: of two reports at once, the second sees what the first changed. */
export async function reportEhrHealth(app: App, call: OperatorCall<typeof reportEndpoint>) {
  const { id } = call.params;
  const { status } = call.body;
  const changed = await transact(app.db, call.principal, async (tx) => {
    const before = await lockEhrStatus(tx, id);
    if (!before) throw new Problem('not_found');
    if (before === status) return false;
    const now = nowIso(app);
    updateEhrStatus(tx, { id, status, now });
    appendEvents(tx, saidBy(app, call), [
      newEvent(app, {
        object: 'EhrHealthStatus',
        id,
        practice_group_id: id,
        event: `ehr.health_status.${status}`,
      }),
    ]);
    tx.audit({
      at: now,
      principal: call.principal,
      action: 'ehr_health.change',
      subject: { type: 'ehr_health', id },
      practiceGroupId: id,
      requestId: call.requestId,
      before: { status: before },
      after: { status },
    });
    return true;
  });
  if (changed) app.access.forget();
  return { body: { changed, status } };
}

export async function getEhrHealth(app: App, call: OperatorCall<typeof getEndpoint>) {
  const status = await transact(app.db, call.principal, (tx) => findEhrStatus(tx, call.params.id));
  if (!status) throw new Problem('not_found');
  return { body: { status } };
}
