import { AFTER_ALL, decodeCursor, encodeCursor, PAGE_SIZE_DEFAULT } from '../../contract/page.ts';
import { streamPracticeLive as liveEndpoint } from '../../contract/practice/live.ts';
import {
  type ActivityKind,
  listPartnerActivity as activityEndpoint,
  getReachingPartner as getEndpoint,
  listReachingPartners as listEndpoint,
  type PartnerActivity,
  type ReachingPartner,
} from '../../contract/practice/partners.ts';
import { Problem } from '../../contract/problems.ts';
import { type PracticePrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { mergeStrands, type Strand } from '../../domain/events/timeline.ts';
import {
  readChangeStrand,
  readLogStrand,
  readReceivedStrand,
  type Whose,
} from '../../store/access/partner-activity.ts';
import {
  findPartnerOf,
  type KnownPartner,
  listKeyIdsOf,
  listPartnersOf,
  listWaysTo,
  readCallsTo,
  readReceivers,
} from '../../store/access/reaching-partners.ts';
import { listStopsOf } from '../../store/access/stops.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { type App, nowIso, operation } from '../app.ts';

/**
 * Who reaches a practice, and what they did there. Partners, keys and networks are the operator's tables, of which no row is a practice's own: who
 * reaches it is read by the service itself, and every question names the practice group of whoever asks. What a partner did there is read on behalf
 * of the practice, and of both where it is theirs together: a query that forgot one of them would find nothing of others.
 */

const DAY_MS = 24 * 3600 * 1000;

export const listReachingPartners = operation(listEndpoint, async (app, { principal, query }) => {
  const groupId = principal.practiceGroup.id;
  // Whoever looks finds what was called for here a moment ago.
  await app.accessLog.flush();
  const body = await transact(app.db, SYSTEM, async (tx) => {
    const page = await listPartnersOf(tx, groupId, nowIso(app), query);
    const found = await describe(app, tx, groupId, page.data);
    return { ...page, data: found.map(({ shown }) => shown) };
  });
  return { body };
});

const STOPS_SHOWN_MAX = 20;

export const getReachingPartner = operation(getEndpoint, async (app, { principal, params }) => {
  const groupId = principal.practiceGroup.id;
  await app.accessLog.flush();
  const [found] = await transact(app.db, SYSTEM, async (tx) => {
    const partner = await mustFind(app, tx, { groupId, partnerId: params.id });
    return describe(app, tx, groupId, [partner]);
  });
  if (!found) throw new Error('a partner was found and not described');
  const { shown, callsLastDay, lifted } = found;
  const { receivers, waiting } = await transact(app.db, together(principal, shown.partner), (tx) =>
    readReceivers(tx, groupId, shown.partner.id),
  );
  const body = {
    ...shown,
    calls_last_day: callsLastDay,
    receivers,
    deliveries_waiting: waiting,
    stops: lifted.slice(0, STOPS_SHOWN_MAX),
  };
  return { body };
});

/** Sees what is of the practice and of the partner at once. */
const together = (principal: PracticePrincipal, { id, name }: { id: string; name: string }) => ({
  ...principal,
  partner: { id, name },
});

async function mustFind(app: App, tx: Transaction, { groupId, partnerId }: Whose): Promise<KnownPartner> {
  const partner = await findPartnerOf(tx, groupId, partnerId, nowIso(app));
  if (!partner) throw new Problem('not_found');
  return partner;
}

async function describe(app: App, tx: Transaction, groupId: string, partners: readonly KnownPartner[]) {
  const ids = partners.map(({ id }) => id);
  const dayBefore = new Date(app.clock.now() - DAY_MS).toISOString();
  const [ways, calls, stops] = await Promise.all([
    listWaysTo(tx, groupId, ids, nowIso(app)),
    readCallsTo(tx, groupId, ids, dayBefore),
    listStopsOf(tx, groupId, ids),
  ]);
  return partners.map(({ id, name, isVerified }) => {
    const own = stops.filter(({ partner_id }) => partner_id === id);
    const shown: ReachingPartner = {
      partner: { id, name },
      ways: isVerified ? (ways.get(id) ?? []) : [],
      last_call_at: calls.get(id)?.lastAt ?? null,
      stop: own.find(({ lifted_at }) => lifted_at === null) ?? null,
    };
    const lifted = own.filter(({ lifted_at }) => lifted_at !== null);
    return { shown, lifted, callsLastDay: calls.get(id)?.count ?? 0 };
  });
}

/** Where each list goes on: the log by time and number, the changes by position, the feed by position and webhook. 0: it is over. */
const KEY = ['moment', 'number', 'number', 'number', 'number'] as const;
const OVER = 0;

export const listPartnerActivity = operation(activityEndpoint, async (app, { principal, params, query }) => {
  const whose = { groupId: principal.practiceGroup.id, partnerId: params.id };
  const { kind, page_size: size = PAGE_SIZE_DEFAULT } = query;
  const [logMs, logNo, change, feed, webhook] = decodeCursor(query.cursor, KEY).map((part) =>
    Number(part ?? AFTER_ALL),
  ) as [number, number, number, number, number];
  await app.accessLog.flush();
  const [partner, keyIds] = await transact(app.db, SYSTEM, (tx) =>
    Promise.all([mustFind(app, tx, whose), listKeyIdsOf(tx, whose.partnerId)]),
  );
  const log = await transact(app.db, principal, (tx) =>
    strand(isOf(kind, 'read', 'received'), [logMs, logNo], (from) =>
      readLogStrand(tx, whose, keyIds, kind, from, size),
    ),
  );
  const others = await transact(app.db, together(principal, partner), (tx) =>
    Promise.all([
      strand(isOf(kind, 'changed'), [change], (from) => readChangeStrand(tx, whose, from, size)),
      strand(isOf(kind, 'received'), [feed, webhook], (from) => readReceivedStrand(tx, whose, from, size)),
    ]),
  );
  const { items, places } = mergeStrands([log, ...others], size);
  const next = places.every((place) => place === undefined)
    ? null
    : encodeCursor([
        places[0]?.[0] ?? OVER,
        places[0]?.[1] ?? OVER,
        places[1]?.[0] ?? OVER,
        places[2]?.[0] ?? OVER,
        places[2]?.[1] ?? OVER,
      ]);
  return { body: { data: items, count: items.length, next_cursor: next } };
});

const isOf = (asked: ActivityKind | undefined, ...kinds: ActivityKind[]) =>
  asked === undefined || kinds.includes(asked);

/** One that is over, or that nobody asked for, is not looked at. */
async function strand(
  isWanted: boolean,
  from: readonly number[],
  read: (from: readonly number[]) => Promise<Strand<PartnerActivity>>,
): Promise<Strand<PartnerActivity>> {
  return isWanted && from[0] !== OVER ? read(from) : { from, found: [], end: undefined };
}

export const streamPracticeLive = operation(liveEndpoint, (app, { principal, stillAdmitted }) => {
  const { practiceGroup, invitationId: person } = principal;
  return { stream: app.live.follow({ kind: 'practice', id: practiceGroup.id, person }, stillAdmitted) };
});
