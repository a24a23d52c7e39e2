import type { PortalWay } from '../../contract/portal/account.ts';
import { listPortalEvents as listEventsEndpoint } from '../../contract/portal/events.ts';
import { streamPortalLive as liveEndpoint } from '../../contract/portal/live.ts';
import * as contract from '../../contract/portal/traffic.ts';
import { Problem } from '../../contract/problems.ts';
import { type PortalPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { diagnose } from '../../domain/events/diagnosis.ts';
import { etagOf } from '../../domain/practices/etag.ts';
import { refuseTarget } from '../../platform/egress/ssrf-guard.ts';
import { presentFeedEvent, readOfFeed } from '../../runtime/events/event-streams.ts';
import { findGroupNames } from '../../store/access/portal.ts';
import { transact } from '../../store/database.ts';
import { readLatestEvents } from '../../store/events/event-feed.ts';
import { findAnyWebhook, listAllWebhookPage, type NamedWebhook } from '../../store/events/webhooks.ts';
import { listRefusalPage } from '../../store/oversight/refusals.ts';
import { type App, operation } from '../app.ts';
import { listAlertsOf } from '../oversight/alerts.ts';
import { presentRefusal } from '../oversight/requests.ts';
import { waysOf } from './portal-account.ts';

/** The portal user's view of events, webhooks and refused requests. As in portal-account.ts, the partner always comes from the session. */

export const listPortalWebhooks = operation(
  contract.listPortalWebhooks,
  async (app, { principal, query }) => {
    const page = await transact(app.db, principal, (tx) =>
      listAllWebhookPage(tx, { ...query, partner_id: principal.partner.id }),
    );
    return { body: { ...page, data: await withWays(app, principal, page.data) } };
  },
);

export const getPortalWebhook = operation(contract.getPortalWebhook, async (app, { principal, params }) => {
  const found = await transact(app.db, principal, (tx) => findAnyWebhook(tx, params.id));
  if (!found || found.partner_id !== principal.partner.id) throw new Problem('not_found');
  const [body] = await withWays(app, principal, [found]);
  if (!body) throw new Problem('not_found');
  return { body, etag: etagOf(found.version) };
});

/** With the names of their practices, which people of a partner do not see by themselves. */
async function withWays(app: App, principal: PortalPrincipal, webhooks: readonly NamedWebhook[]) {
  const groupIds = webhooks.flatMap(({ practice_group_id }) => practice_group_id ?? []);
  const isForAll = webhooks.some(({ practice_groups }) => practice_groups === 'all');
  const [names, ways, forAll] = await Promise.all([
    transact(app.db, SYSTEM, (tx) => findGroupNames(tx, groupIds)),
    waysOf(app, principal, groupIds),
    isForAll ? waysOf(app, principal, null) : [],
  ]);
  return webhooks.map((webhook) => {
    const { practice_group_id: groupId } = webhook;
    const near = groupId ? ways.filter((way) => way.practice_group_id === groupId) : forAll;
    const practice_group_name = groupId ? (names.get(groupId) ?? groupId) : null;
    return { ...webhook, practice_group_name, way: bestOf(near) };
  });
}

/** One that changes things before one that reads; those that may not even read it are none. */
function bestOf(ways: readonly PortalWay[]): PortalWay | null {
  const may = ways.filter(({ scopes }) => scopes.includes('webhooks:read'));
  const changes = may.filter(
    ({ scopes, demands }) => scopes.includes('webhooks:write') && demands !== 'proof',
  );
  return changes[0] ?? may[0] ?? null;
}

/**
 * Dials public addresses only: a result, a failure or its time would show which ports are open where the service runs. Every other address
 * that a webhook may have gets one constant answer.
 */
export const checkPortalAddress = operation(contract.checkPortalAddress, async (app, { body: { url } }) => {
  const refused = refuseTarget(url, app.webhookTargets);
  if (refused !== undefined) return { body: { outcome: 'refused' as const, message: refused } };
  if (refuseTarget(url, 'public') !== undefined)
    return { body: { outcome: 'not_tried' as const, message: NOT_TRIED } };
  const { failure, durationMs } = await app.tryAddress(url);
  if (failure?.phase === 'address') return { body: { outcome: 'refused' as const, message: failure.detail } };
  const message = failure
    ? diagnose({ status: undefined, answer: '', durationMs, failure })
    : 'Reached. Once the webhook is created, send it a test event to see what it answers.';
  return { body: { outcome: failure ? ('not_reached' as const) : ('reached' as const), message } };
});

const NOT_TRIED =
  'A webhook on staging may have this address of the machine of the service. Only public addresses are tried: create the webhook, and send it a test event.';

/** With the key that they named, which the door has let in: they stand where it would. */
export const listPortalEvents = operation(listEventsEndpoint, async (app, { principal, query }) => {
  const page = await transact(app.db, principal, (tx) => readLatestEvents(tx, principal, query));
  const read = readOfFeed(principal, page.data.toReversed(), query.event && [query.event]);
  return { body: { ...page, data: page.data.map(presentFeedEvent) }, read };
});

export const listPortalRefusals = operation(
  contract.listPortalRefusals,
  async (app, { principal, query }) => {
    await app.refusals.flush();
    const filter = { ...query, partner_id: principal.partner.id };
    const page = await transact(app.db, principal, (tx) => listRefusalPage(tx, filter));
    const data = page.data.map(({ partner_id: _own, ...call }) => presentRefusal(call));
    return { body: { ...page, data } };
  },
);

export const listPortalAlerts = operation(contract.listPortalAlerts, (app, { principal, query }) => {
  return listAlertsOf(app, principal, principal.partner.id, query);
});

export const streamPortalLive = operation(liveEndpoint, (app, { principal, stillAdmitted }) => {
  const { partner, invitationId: person } = principal;
  return { stream: app.live.follow({ kind: 'partner', id: partner.id, person }, stillAdmitted) };
});
