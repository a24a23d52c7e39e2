import type { AuditAction } from '../../contract/audit-actions.ts';
import { liftStop as liftEndpoint, listStops as listEndpoint } from '../../contract/operator/access/stops.ts';
import {
  resumePartner as resumeEndpoint,
  stopPartner as stopEndpoint,
} from '../../contract/practice/partners.ts';
import { Problem } from '../../contract/problems.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { newId } from '../../domain/ids.ts';
import { stopAlert } from '../../domain/oversight/alerts.ts';
import { findPartnerOf } from '../../store/access/reaching-partners.ts';
import {
  insertStop,
  listStopPage,
  lockStop,
  lockStopInForce,
  markLifted,
  type PartnerStop,
  type StoppedPair,
} from '../../store/access/stops.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { findOlderNodes } from '../../store/events/presence.ts';
import { beginAlerts } from '../../store/oversight/alerts.ts';
import { type Actor, type App, nowIso, operation } from '../app.ts';

/**
 * A practice stops a partner, and lets it go on; an admin may do the latter for it. A stop takes access away, so it is settled as a revocation is: when
 * it has answered, no node lets a call in and no delivery begins. The operator hears of it by an alert.
 */

/** Nodes before this version of the schema would let the partner in all the same. */
const STOPS_SINCE = 2;

export const stopPartner = operation(stopEndpoint, async (app, call) => {
  const { principal, params, body } = call;
  const pair = { groupId: principal.practiceGroup.id, partnerId: params.id };
  const partner = await transact(app.db, SYSTEM, async (tx) => {
    const known = await mustKnow(app, tx, pair);
    const older = await findOlderNodes(tx, STOPS_SINCE);
    if (older.length > 0) throw new Problem('conflict', { message: NOT_EVERYWHERE });
    return known;
  });
  const stop = await transact(app.db, principal, async (tx): Promise<PartnerStop> => {
    const found = await lockStopInForce(tx, pair);
    if (found) return found;
    const at = nowIso(app);
    const made = { id: newId('stp', app.clock.now(), app.random), reason: body.reason, at };
    insertStop(tx, pair, { ...made, by: { id: principal.invitationId, name: principal.name } });
    tx.audit(record(call, at, 'partner.stop', pair, null, { stop_id: made.id, reason: made.reason }));
    return {
      id: made.id,
      reason: made.reason,
      stopped_at: at,
      stopped_by: principal.name,
      lifted_at: null,
      lifted_by: null,
      lifted_reason: null,
    };
  });
  // At once, for it may be lifted before anybody looks. Should this node die here, whoever looks finds it.
  const told = stopAlert({
    id: stop.id,
    name: partner.name,
    partnerId: partner.id,
    practiceGroupId: pair.groupId,
    since: stop.stopped_at,
  });
  const alert = { id: newId('alt', app.clock.now(), app.random), ...told };
  await transact(app.db, SYSTEM, (tx) => beginAlerts(tx, nowIso(app), [alert]));
  await app.access.settle();
  return { body: stop };
});

const NOT_EVERYWHERE =
  'The service is being upgraded, and a part of it that still works does not know stops: the partner could not be kept out everywhere. Try again in a few minutes, or ask support to suspend the partner.';

export const resumePartner = operation(resumeEndpoint, async (app, call) => {
  const { principal, params } = call;
  const pair = { groupId: principal.practiceGroup.id, partnerId: params.id };
  await transact(app.db, SYSTEM, (tx) => mustKnow(app, tx, pair));
  await transact(app.db, principal, async (tx) => {
    const stop = await lockStopInForce(tx, pair);
    if (!stop) return;
    const at = nowIso(app);
    markLifted(tx, stop.id, {
      at,
      by: { id: principal.invitationId, name: principal.name },
      reason: null,
    });
    tx.audit(record(call, at, 'partner.resume', pair, { stop_id: stop.id, reason: stop.reason }, null));
  });
  return { body: undefined };
});

/** Of a partner that it has nothing to do with, a practice learns nothing, not even that it is there. */
async function mustKnow(app: App, tx: Transaction, { groupId, partnerId }: StoppedPair) {
  const partner = await findPartnerOf(tx, groupId, partnerId, nowIso(app));
  if (!partner) throw new Problem('not_found');
  return partner;
}

export const listStops = operation(listEndpoint, async (app, { principal, query }) => {
  return { body: await transact(app.db, principal, (tx) => listStopPage(tx, query)) };
});

export const liftStop = operation(liftEndpoint, async (app, call) => {
  const { principal, params, body } = call;
  const lifted = await transact(app.db, principal, async (tx) => {
    const stop = await lockStop(tx, params.id);
    if (!stop) throw new Problem('not_found');
    if (stop.lifted_at !== null) return stop;
    const at = nowIso(app);
    const by = { id: principal.operatorId, name: principal.name };
    markLifted(tx, stop.id, { at, by, reason: body.reason });
    const pair = { groupId: stop.practice_group.id, partnerId: stop.partner.id };
    const before = { stop_id: stop.id, reason: stop.reason };
    tx.audit(record(call, at, 'partner.resume', pair, before, { reason: body.reason }));
    return { ...stop, lifted_at: at, lifted_by: by.name, lifted_reason: body.reason };
  });
  return { body: lifted };
});

function record(
  { principal, requestId }: Actor,
  at: string,
  action: AuditAction,
  { groupId, partnerId }: StoppedPair,
  before: unknown,
  after: unknown,
) {
  const subject = { type: 'partner', id: partnerId };
  return { at, principal, action, subject, practiceGroupId: groupId, requestId, before, after };
}
