import type { listPartnerUsage as listAllEndpoint } from '../contract/operator/usage.ts';
import { DAYS_DEFAULT, type listUsage as listEndpoint } from '../contract/partner/usage.ts';
import { transact } from '../store/database.ts';
import { listUsagePage } from '../store/usage.ts';
import type { App, OperatorCall, PartnerCall } from './app.ts';

const DAY_MS = 24 * 3600 * 1000;
/** The first that is written with four digits, and that PostgreSQL knows. */
const FIRST_DAY = Date.parse('0001-01-01');

export async function listUsage(app: App, { principal, query }: PartnerCall<typeof listEndpoint>) {
  // Whoever asks finds what was counted here so far.
  await app.usage.flush();
  const filter = { ...query, ...daysOf(app, query), partner_id: principal.holder.partnerId };
  return { body: await transact(app.db, principal, (tx) => listUsagePage(tx, filter)) };
}

export async function listPartnerUsage(app: App, { principal, query }: OperatorCall<typeof listAllEndpoint>) {
  await app.usage.flush();
  const filter = { ...query, ...daysOf(app, query) };
  return { body: await transact(app.db, principal, (tx) => listUsagePage(tx, filter)) };
}

function daysOf({ clock }: App, { from, to }: { from?: string | undefined; to?: string | undefined }) {
  const last = to ?? dayOf(clock.now());
  const first = Math.max(Date.parse(last) - (DAYS_DEFAULT - 1) * DAY_MS, FIRST_DAY);
  return { from: from ?? dayOf(first), to: last };
}

const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);
