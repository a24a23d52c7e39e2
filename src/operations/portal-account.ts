import type * as contract from '../contract/portal/account.ts';
import {
  DAYS_SHOWN,
  type DayOfCalls,
  type PortalKey,
  STATUS_DAYS,
  WAYS_MAX,
} from '../contract/portal/account.ts';
import { Problem } from '../contract/problems.ts';
import { keyStatus, rateLimitOf } from '../domain/access.ts';
import { SYSTEM } from '../domain/principal.ts';
import { MINUTE_MS, uptimeOf } from '../domain/sla.ts';
import { type Transaction, transact } from '../store/database.ts';
import { findKey, findKeysById, listKeyPage, type StoredKey } from '../store/keys.ts';
import { findPartner } from '../store/partners.ts';
import {
  areDeliveriesLate,
  countForHome,
  findGroupNames,
  findWays,
  listNearPractices,
  readDaysOfCalls,
} from '../store/portal.ts';
import { readUptime } from '../store/sla.ts';
import { listAgreementsOf } from './agreements.ts';
import { type App, nowIso, type PortalCall } from './app.ts';
import { listContactsOf, updateContactOf } from './contacts.ts';
import { slaOf } from './sla.ts';

/**
 * What people of a partner see of the partner itself. Keys and practices belong to no practice group that they act for, so the service reads them
 * for whoever calls, and each of these names the partner of the session: none is taken from the call.
 */

const DAY_MS = 24 * 3600 * 1000;
const SOON_MS = 14 * DAY_MS;
const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);
const noCalls = (day: string): DayOfCalls => ({ day, ok: 0, refused: 0, rate_limited: 0, failed: 0 });

export async function getPortalHome(app: App, { principal }: PortalCall<typeof contract.getPortalHome>) {
  await app.usage.flush();
  const { id } = principal.partner;
  const now = app.clock.now();
  const soon = new Date(now + SOON_MS).toISOString();
  return transact(app.db, SYSTEM, async (tx) => {
    const [partner, of, calls] = await Promise.all([
      findPartner(tx, id),
      countForHome(tx, id, nowIso(app), soon),
      readDaysOfCalls(tx, id, firstDay(now)),
    ]);
    if (!partner) throw new Problem('not_found');
    const body = {
      partner: { id, name: partner.name, status: partner.status },
      support_contact: app.deployment.support_contact,
      keys: { active: of('keys_active'), ending: of('keys_ending') },
      webhooks: {
        active: of('webhooks_active'),
        failing: of('webhooks_failing'),
        paused: of('webhooks_paused'),
        disabled: of('webhooks_disabled'),
        withheld: of('webhooks_withheld'),
      },
      alerts_open: of('alerts_open'),
      days: everyDay(now, calls),
    };
    return { body };
  });
}

const firstDay = (now: number) => dayOf(now - (DAYS_SHOWN - 1) * DAY_MS);

function everyDay(now: number, calls: readonly DayOfCalls[]): DayOfCalls[] {
  return Array.from({ length: DAYS_SHOWN }, (_, at) => {
    const day = dayOf(now - (DAYS_SHOWN - 1 - at) * DAY_MS);
    return calls.find((one) => one.day === day) ?? noCalls(day);
  });
}

export async function listPortalKeys(
  app: App,
  { principal, query }: PortalCall<typeof contract.listPortalKeys>,
) {
  await app.usage.flush();
  const { id } = principal.partner;
  return transact(app.db, SYSTEM, async (tx) => {
    const page = await listKeyPage(tx, { ...query, partner_id: id }, nowIso(app));
    return { body: { ...page, data: await present(app, tx, id, page.data) } };
  });
}

export async function getPortalKey(
  app: App,
  { principal, params }: PortalCall<typeof contract.getPortalKey>,
) {
  await app.usage.flush();
  const { id } = principal.partner;
  const now = app.clock.now();
  return transact(app.db, SYSTEM, async (tx) => {
    const found = await findKey(tx, params.id);
    if (!found || found.partner_id !== id) throw new Problem('not_found');
    const [[key], calls] = await Promise.all([
      present(app, tx, id, [found]),
      readDaysOfCalls(tx, id, firstDay(now), [found.id]),
    ]);
    if (!key) throw new Problem('not_found');
    return { body: { ...key, days: everyDay(now, calls) } };
  });
}

async function present(
  { clock }: App,
  tx: Transaction,
  partnerId: string,
  keys: readonly StoredKey[],
): Promise<PortalKey[]> {
  const today = dayOf(clock.now());
  const ids = keys.map(({ id }) => id);
  const [names, records, calls] = await Promise.all([
    findGroupNames(
      tx,
      keys.map(({ practice_group_id }) => practice_group_id),
    ),
    findKeysById(tx, ids),
    readDaysOfCalls(tx, partnerId, today, ids),
  ]);
  return keys.map((key, at) => {
    const { practice_group_id, agreement_id: _, certificate_fingerprints: __, jwks: ___, ...shown } = key;
    const record = records[at];
    return {
      ...shown,
      status: keyStatus(key, clock.now()),
      practice_group: { id: practice_group_id, name: names.get(practice_group_id) ?? practice_group_id },
      rate_limit_per_minute: record ? rateLimitOf(record) : 0,
      today: calls.find(({ key_id, day }) => key_id === key.id && day === today) ?? noCalls(today),
    };
  });
}

export async function listPortalPractices(
  app: App,
  { principal, query }: PortalCall<typeof contract.listPortalPractices>,
) {
  const { id } = principal.partner;
  const now = nowIso(app);
  return transact(app.db, SYSTEM, async (tx) => {
    const page = await listNearPractices(tx, id, now, query);
    const groupIds = page.data.map((one) => one.id);
    const ways = Map.groupBy(await findWays(tx, id, now, groupIds), (way) => way.practice_group_id);
    const data = page.data.flatMap((practice) => {
      const found = ways.get(practice.id)?.slice(0, WAYS_MAX);
      return found ? { ...practice, ways: found } : [];
    });
    return { body: { ...page, data, count: data.length } };
  });
}

export function listPortalAgreements(
  app: App,
  { principal, query }: PortalCall<typeof contract.listPortalAgreements>,
) {
  return listAgreementsOf(app, principal, principal.partner.id, query);
}

export function getPortalSla(app: App, { principal, query }: PortalCall<typeof contract.getPortalSla>) {
  return slaOf(app, SYSTEM, principal.partner.id, query.month);
}

export function listPortalContacts(
  app: App,
  { principal, query }: PortalCall<typeof contract.listPortalContacts>,
) {
  return listContactsOf(app, principal.partner.id, query);
}

export function updatePortalContact(app: App, call: PortalCall<typeof contract.updatePortalContact>) {
  return updateContactOf(app, call, call.principal.partner.id, call.params.id, call.body);
}

export async function getPortalStatus(app: App, _call: PortalCall<typeof contract.getPortalStatus>) {
  const now = app.clock.now();
  const today = Date.parse(dayOf(now));
  const from = today - (STATUS_DAYS - 1) * DAY_MS;
  const [known, isLate] = await transact(app.db, SYSTEM, (tx) =>
    Promise.all([readUptime(tx, dayOf(from), dayOf(today + DAY_MS)), areDeliveriesLate(tx)]),
  );
  const [first] = known;
  const ran = first ? first.startsAt + first.minutes.indexOf('1') * MINUTE_MS : now;
  // The minute that is under way may still be noted.
  const until = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const days = Array.from({ length: STATUS_DAYS }, (_, at) => {
    const begins = from + at * DAY_MS;
    const uptime = uptimeOf(known, Math.max(begins, ran), Math.min(begins + DAY_MS, until));
    return { day: dayOf(begins), minutes_down: uptime.minutes_down, percent: uptime.percent };
  });
  const body = {
    environment: app.environment,
    support_contact: app.deployment.support_contact,
    checked_at: new Date(now).toISOString(),
    deliveries: isLate ? ('late' as const) : ('on_time' as const),
    days,
  };
  return { body, read: [] };
}
