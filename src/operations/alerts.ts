import { alertKindNames, partnerKindNames } from '../contract/alerts.ts';
import type {
  getAlert as getEndpoint,
  listAllAlerts as listAllEndpoint,
} from '../contract/operator/alerts.ts';
import type { listAlerts as listEndpoint } from '../contract/partner/alerts.ts';
import { Problem } from '../contract/problems.ts';
import { presentAlert } from '../domain/alert-words.ts';
import { findAlert, listAlertPage } from '../store/alerts.ts';
import { transact } from '../store/database.ts';
import type { App, OperatorCall, PartnerCall } from './app.ts';

export async function listAlerts(app: App, { principal, query }: PartnerCall<typeof listEndpoint>) {
  const own = { ...query, partner_id: principal.holder.partnerId };
  const page = await transact(app.db, principal, (tx) => listAlertPage(tx, own, partnerKindNames));
  const data = page.data.map((alert) => {
    const { partner_id: _own, ...shown } = presentAlert(alert, 'partner');
    return shown;
  });
  return { body: { ...page, data } };
}

export async function listAllAlerts(app: App, { principal, query }: OperatorCall<typeof listAllEndpoint>) {
  const page = await transact(app.db, principal, (tx) => listAlertPage(tx, query, alertKindNames));
  return { body: { ...page, data: page.data.map((alert) => presentAlert(alert, 'operator')) } };
}

export async function getAlert(app: App, { principal, params }: OperatorCall<typeof getEndpoint>) {
  const found = await transact(app.db, principal, (tx) => findAlert(tx, params.id));
  if (!found) throw new Problem('not_found');
  return { body: presentAlert(found, 'operator') };
}
