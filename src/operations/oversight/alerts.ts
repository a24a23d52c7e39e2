import { alertKindNames, kindOf, partnerKindNames } from '../../contract/alerts.ts';
import {
  getAlert as getEndpoint,
  listAllAlerts as listAllEndpoint,
  remindOfAlert as remindEndpoint,
} from '../../contract/operator/oversight/alerts.ts';
import { listAlerts as listEndpoint } from '../../contract/partner/alerts.ts';
import { Problem } from '../../contract/problems.ts';
import type { Principal } from '../../domain/access/principal.ts';
import { presentAlert } from '../../domain/oversight/alert-words.ts';
import { transact } from '../../store/database.ts';
import { findAlert, listAlertPage } from '../../store/oversight/alerts.ts';
import { noteAgain } from '../../store/oversight/notifications.ts';
import { type App, nowIso, operation, type PartnerCall } from '../app.ts';

export const listAlerts = operation(listEndpoint, (app, { principal, query }) => {
  return listAlertsOf(app, principal, principal.holder.partnerId, query);
});

/** Of one partner, as it is told. */
export async function listAlertsOf(
  app: App,
  principal: Principal,
  partnerId: string,
  query: PartnerCall<typeof listEndpoint>['query'],
) {
  const own = { ...query, partner_id: partnerId };
  const page = await transact(app.db, principal, (tx) => listAlertPage(tx, own, partnerKindNames));
  const data = page.data.map((alert) => {
    const { partner_id: _own, ...shown } = presentAlert(alert, 'partner');
    return shown;
  });
  return { body: { ...page, data } };
}

export const listAllAlerts = operation(listAllEndpoint, async (app, { principal, query }) => {
  const page = await transact(app.db, principal, (tx) => listAlertPage(tx, query, alertKindNames));
  return { body: { ...page, data: page.data.map((alert) => presentAlert(alert, 'operator')) } };
});

export const getAlert = operation(getEndpoint, async (app, { principal, params }) => {
  const found = await transact(app.db, principal, (tx) => findAlert(tx, params.id));
  if (!found) throw new Problem('not_found');
  return { body: presentAlert(found, 'operator') };
});

/** Its contacts are told as they were when it began. */
export const remindOfAlert = operation(remindEndpoint, async (app, call) => {
  const { principal, params, requestId } = call;
  const alert = await transact(app.db, principal, async (tx) => {
    const found = await findAlert(tx, params.id);
    if (!found) throw new Problem('not_found');
    const { partner_id: partnerId } = found;
    if (found.ended_at !== null)
      throw new Problem('conflict', { message: 'The alert has ended: there is nothing to be reminded of.' });
    if (partnerId === null || kindOf(found.kind).toldTo !== 'partner')
      throw new Problem('conflict', {
        message: 'The alert concerns the operator alone: nobody else is told.',
      });
    noteAgain(tx, found.id, partnerId);
    tx.audit({
      at: nowIso(app),
      principal,
      action: 'alert.remind',
      subject: { type: 'alert', id: found.id },
      practiceGroupId: found.practice_group_id ?? undefined,
      requestId,
      before: null,
      after: { partner_id: partnerId },
    });
    return found;
  });
  return { body: presentAlert(alert, 'operator') };
});
