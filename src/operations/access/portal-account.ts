import * as contract from '../../contract/portal/account.ts';
import {
  DAYS_SHOWN,
  type DayOfCalls,
  type PortalKey,
  type PortalWay,
  STATUS_DAYS,
  WAYS_MAX,
} from '../../contract/portal/account.ts';
import { Problem } from '../../contract/problems.ts';
import { keyStatus, rateLimitOf } from '../../domain/access/access.ts';
import { type PortalPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { MINUTE_MS, uptimeOf } from '../../domain/oversight/sla.ts';
import { findKey, findKeysById, listKeyPage, type StoredKey } from '../../store/access/keys.ts';
import { findPartner } from '../../store/access/partners.ts';
import {
  areDeliveriesLate,
  countForHome,
  findGroupNames,
  findWays,
  listNearPractices,
  readDaysOfCalls,
} from '../../store/access/portal.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { readUptime } from '../../store/oversight/sla.ts';
import { type App, nowIso, operation } from '../app.ts';
import { slaOf } from '../oversight/sla.ts';
import { listAgreementsOf } from './agreements.ts';
import { listContactsOf, updateContactOf } from './contacts.ts';

/**
 * What people of a partner see of the partner itself. Each of these names the partner of the session, none is taken from the call, and reads on its
 * behalf: a query that forgot the partner would find nothing of another. What belongs to nobody in particular the service reads for them, by the IDs
 * that were found so: networks, the names of practices, uptime.
 */

const DAY_MS = 24 * 3600 * 1000;
const SOON_MS = 14 * DAY_MS;
const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);
const noCalls = (day: string): DayOfCalls => ({ day, ok: 0, refused: 0, rate_limited: 0, failed: 0 });

export const getPortalHome = operation(contract.getPortalHome, async (app, { principal }) => {
  await app.usage.flush();
  const { id } = principal.partner;
  const now = app.clock.now();
  const soon = new Date(now + SOON_MS).toISOString();
  return transact(app.db, principal, async (tx) => {
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
});

const firstDay = (now: number) => dayOf(now - (DAYS_SHOWN - 1) * DAY_MS);

function everyDay(now: number, calls: readonly DayOfCalls[]): DayOfCalls[] {
  return Array.from({ length: DAYS_SHOWN }, (_, at) => {
    const day = dayOf(now - (DAYS_SHOWN - 1 - at) * DAY_MS);
    return calls.find((one) => one.day === day) ?? noCalls(day);
  });
}

export const listPortalKeys = operation(contract.listPortalKeys, async (app, { principal, query }) => {
  await app.usage.flush();
  const { id } = principal.partner;
  const page = await transact(app.db, principal, async (tx) => {
    const keys = await listKeyPage(tx, { ...query, partner_id: id }, nowIso(app));
    return { ...keys, data: await describe(app, tx, id, keys.data) };
  });
  return { body: { ...page, data: await withNames(app, page.data) } };
});

export const getPortalKey = operation(contract.getPortalKey, async (app, { principal, params }) => {
  await app.usage.flush();
  const { id } = principal.partner;
  const now = app.clock.now();
  const [described, calls] = await transact(app.db, principal, async (tx) => {
    const found = await findKey(tx, params.id);
    if (!found || found.partner_id !== id) throw new Problem('not_found');
    return Promise.all([describe(app, tx, id, [found]), readDaysOfCalls(tx, id, firstDay(now), [found.id])]);
  });
  const [key] = await withNames(app, described);
  if (!key) throw new Problem('not_found');
  return { body: { ...key, days: everyDay(now, calls) } };
});

type Described = Omit<PortalKey, 'practice_group'> & { practice_group_id: string };

async function describe(
  { clock }: App,
  tx: Transaction,
  partnerId: string,
  keys: readonly StoredKey[],
): Promise<Described[]> {
  const today = dayOf(clock.now());
  const ids = keys.map(({ id }) => id);
  const [records, calls] = await Promise.all([
    findKeysById(tx, ids),
    readDaysOfCalls(tx, partnerId, today, ids),
  ]);
  return keys.map((key, at) => {
    const { agreement_id: _, certificate_fingerprints: __, jwks: ___, ...shown } = key;
    const record = records[at];
    return {
      ...shown,
      status: keyStatus(key, clock.now()),
      rate_limit_per_minute: record ? rateLimitOf(record) : 0,
      today: calls.find(({ key_id, day }) => key_id === key.id && day === today) ?? noCalls(today),
    };
  });
}

async function withNames(app: App, keys: readonly Described[]): Promise<PortalKey[]> {
  const ids = keys.map(({ practice_group_id }) => practice_group_id);
  const names = await transact(app.db, SYSTEM, (tx) => findGroupNames(tx, ids));
  return keys.map(({ practice_group_id: id, ...key }) => ({
    ...key,
    practice_group: { id, name: names.get(id) ?? id },
  }));
}

export const listPortalPractices = operation(
  contract.listPortalPractices,
  async (app, { principal, query }) => {
    const page = await transact(app.db, SYSTEM, (tx) =>
      listNearPractices(tx, principal.partner.id, nowIso(app), query),
    );
    const groupIds = page.data.map((one) => one.id);
    const ways = Map.groupBy(await waysOf(app, principal, groupIds), (way) => way.practice_group_id);
    const data = page.data.flatMap((practice) => {
      const found = ways.get(practice.id)?.slice(0, WAYS_MAX);
      return found ? { ...practice, ways: found } : [];
    });
    return { body: { ...page, data, count: data.length } };
  },
);

/** Which networks let which key in is read by the service itself; of what it finds, keys stay that the partner sees as its own. */
export async function waysOf(
  app: App,
  principal: PortalPrincipal,
  groupIds: readonly string[] | null,
): Promise<PortalWay[]> {
  const ways = await transact(app.db, SYSTEM, (tx) =>
    findWays(tx, principal.partner.id, nowIso(app), groupIds),
  );
  const ids = [...new Set(ways.map(({ key_id }) => key_id))];
  const keys = await transact(app.db, principal, (tx) => findKeysById(tx, ids));
  const own = new Set(keys.map((key) => key?.id));
  return ways.filter(({ key_id }) => own.has(key_id));
}

export const listPortalAgreements = operation(contract.listPortalAgreements, (app, { principal, query }) => {
  return listAgreementsOf(app, principal, principal.partner.id, query);
});

export const getPortalSla = operation(contract.getPortalSla, (app, { principal, query }) => {
  return slaOf(app, principal, principal.partner.id, query.month);
});

export const listPortalContacts = operation(contract.listPortalContacts, (app, { principal, query }) => {
  return listContactsOf(app, principal, principal.partner.id, query);
});

export const updatePortalContact = operation(contract.updatePortalContact, (app, call) => {
  return updateContactOf(app, call, call.principal.partner.id, call.params.id, call.body);
});

export const getPortalStatus = operation(contract.getPortalStatus, async (app, _call) => {
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
});
