import {
  replayPartnerWebhook as replayAnyEndpoint,
  retryFailedDeliveries as retryFailedEndpoint,
} from '../../contract/operator/events/webhooks.ts';
import {
  getWebhookDelivery as getEndpoint,
  listWebhookDeliveries as listEndpoint,
  replayWebhook as replayEndpoint,
} from '../../contract/partner/webhook-deliveries.ts';
import { Problem, ValidationProblem } from '../../contract/problems.ts';
import { naming, REPLAY_EVENTS_MAX, ruleBroken } from '../../contract/rules.ts';
import { type OperatorPrincipal, type PartnerPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { attemptForPartners, type KeptAttempt } from '../../domain/events/diagnosis.ts';
import type { StoredWebhook } from '../../domain/events/webhook.ts';
import { databaseTime } from '../../platform/clock.ts';
import type { AuditRecord } from '../../store/audit-append.ts';
import { type Transaction, transact } from '../../store/database.ts';
import {
  findEventNos,
  findEventNosOf,
  findFailed,
  listReceivedGroups,
  mayReceive,
  type ReplayedSpan,
  type ReplayedWebhook,
  replayEvents,
} from '../../store/events/deliveries-replay.ts';
import { findAnyWebhook, findWebhook, lockAnyWebhook, lockWebhook } from '../../store/events/webhooks.ts';
import { type Actor, type App, nowIso, operation } from '../app.ts';
import { deliveryOf, deliveryPage, readOf } from './deliveries.ts';
import { webhookRecord } from './webhooks.ts';

export const listWebhookDeliveries = operation(listEndpoint, async (app, call) => {
  const { principal, params, query } = call;
  const body = await transact(app.db, principal, async (tx) => {
    if (!(await findWebhook(tx, principal, params.id))) throw new Problem('not_found');
    return deliveryPage(tx, { ...query, webhook_id: params.id }, partnerView(app));
  });
  return { body, read: body.data.map(readOf) };
});

export const getWebhookDelivery = operation(getEndpoint, async (app, { principal, params }) => {
  const found = await transact(app.db, principal, async (tx) => {
    if (!(await findWebhook(tx, principal, params.id))) return undefined;
    return deliveryOf(tx, params.delivery_id, partnerView(app));
  });
  if (found?.delivery.webhook_id !== params.id) throw new Problem('not_found');
  return { body: found.delivery, read: [readOf(found.delivery)] };
});

const partnerView =
  ({ webhookTargets }: App) =>
  (kept: KeptAttempt) =>
    attemptForPartners(kept, webhookTargets === 'loopback');

/** A transaction for each: the queue of the webhook is locked while it is filled, and others wait for it. */
export const CHUNK = 1_000;

export const replayWebhook = operation(replayEndpoint, (app, call) => {
  const { principal, params, body } = call;
  const { holder, group } = principal;
  refuseFuture(app, body);
  return app.replays.run(holder.partnerId, async () => {
    await mustReceive(app, holder.partnerId, group.id, new Problem('forbidden'));
    const webhook = await transact(app.db, principal, (tx) => findWebhook(tx, principal, params.id));
    if (!webhook) throw new Problem('not_found');
    const lock = (tx: Transaction) => lockWebhook(tx, principal, params.id);
    return replay(app, {
      actor: call,
      body,
      webhook,
      groupIds: [group.id],
      lock,
      refusal: new Problem('forbidden'),
    });
  });
});

/** Of a webhook for all practice groups: of each that its partner may receive. */
export const replayPartnerWebhook = operation(replayAnyEndpoint, (app, call) => {
  const { principal, params, body } = call;
  refuseFuture(app, body);
  return app.replays.run(principal.operatorId, async () => {
    const webhook = await transact(app.db, principal, (tx) => findAnyWebhook(tx, params.id));
    if (!webhook) throw new Problem('not_found');
    const groupIds = await mustReceiveAny(app, webhook);
    const refusal = mayReceiveNone();
    const lock = (tx: Transaction) => lockAnyWebhook(tx, params.id);
    return replay(app, { actor: call, body, webhook, groupIds, lock, refusal });
  });
});

/** Of a webhook for all practice groups: what is of those that its partner may receive. */
export const retryFailedDeliveries = operation(retryFailedEndpoint, (app, call) => {
  const { principal, params } = call;
  return app.replays.run(principal.operatorId, async () => {
    const webhook = await transact(app.db, principal, (tx) => findAnyWebhook(tx, params.id));
    if (!webhook) throw new Problem('not_found');
    if (webhook.status === 'disabled')
      throw new Problem('conflict', {
        message: `The webhook ${webhook.id} is disabled, and nothing is sent to it: activate it first (PATCH /operator/v1/webhooks/${webhook.id} with status active).`,
      });
    let count = 0;
    let isTold = false;
    for (let after = 0; count < REPLAY_EVENTS_MAX; ) {
      // Asked for each part: whoever has lost access meanwhile hears of nothing any more.
      const received = await mustReceiveAny(app, webhook);
      const groupIds = received.filter((id) => webhook.practice_group_ids?.includes(id) ?? true);
      const failed = await transact(app.db, principal, (tx) => findFailed(tx, webhook.no, groupIds, after));
      if (failed.nos.length > 0)
        count += await transact(app.db, principal, async (tx) => {
          if (!(await lockAnyWebhook(tx, params.id))) throw new Problem('not_found');
          if (!isTold) tx.audit(webhookRecord(call, nowIso(app), 'retry-failed', webhook, null, {}));
          isTold = true;
          return replayEvents(tx, databaseTime(app.clock), webhook.no, failed.nos);
        });
      if (failed.end === null) return { body: { count, has_more: false } };
      after = failed.end;
    }
    return { body: { count, has_more: true } };
  });
});

async function mustReceiveAny(app: App, webhook: StoredWebhook): Promise<string[]> {
  const received = await transact(app.db, SYSTEM, (tx) =>
    listReceivedGroups(tx, webhook.partner_id, nowIso(app)),
  );
  const groupIds = received.filter((id) => id === (webhook.practice_group_id ?? id));
  if (groupIds.length > 0) return groupIds;
  throw mayReceiveNone();
}

const mayReceiveNone = () =>
  new Problem('conflict', {
    message:
      'The partner may not receive these events at present: it is not verified, has no key for the practice group, or the practice has stopped it.',
  });

interface Order {
  actor: Actor & { principal: PartnerPrincipal | OperatorPrincipal };
  body: { since?: string | undefined; until?: string | undefined; event_ids?: string[] | undefined };
  webhook: StoredWebhook;
  /** Whose events. */
  groupIds: readonly string[];
  lock: (tx: Transaction) => Promise<unknown>;
  /** If the partner loses access meanwhile. */
  refusal: Problem;
}

async function replay(app: App, order: Order) {
  const { actor, webhook, lock, refusal } = order;
  const { practice_group_ids: only } = webhook;
  const groupIds = order.groupIds.filter((id) => only === null || only.includes(id));
  const chosen = groupIds.length > 0 ? await chooseEvents(app, { ...order, groupIds }) : new Map();
  const events = [...chosen.values()].reduce((sum, nos) => sum + nos.length, 0);
  const now = nowIso(app);
  let isTold = false;
  let count = 0;
  for (const [groupId, nos] of chosen)
    for (let from = 0; from < nos.length; from += CHUNK) {
      const chunk = nos.slice(from, from + CHUNK);
      await mustReceive(app, webhook.partner_id, groupId, refusal);
      count += await transact(app.db, actor.principal, async (tx) => {
        // It may have been deleted since it was found, and then there is nobody to hear of anything.
        if (!(await lock(tx))) throw new Problem('not_found');
        if (!isTold) tx.audit(replayRecord(order, now, events));
        return replayEvents(tx, databaseTime(app.clock), webhook.no, chunk);
      });
      isTold = true;
    }
  return { body: { count } };
}

function replayRecord({ actor, body, webhook, groupIds }: Order, now: string, events: number): AuditRecord {
  return {
    ...webhookRecord(actor, now, 'replay', webhook, null, { ...body, events }),
    practiceGroupId: groupIds.length === 1 ? groupIds[0] : undefined,
  };
}

/**
 * The door was passed before the replay waited for its turn, which may have been minutes ago: whoever has lost access since
 * hears of nothing any more, as in fan-out.
 */
async function mustReceive(app: App, partnerId: string, groupId: string, refusal: Problem): Promise<void> {
  const allowed = await transact(app.db, SYSTEM, (tx) => mayReceive(tx, partnerId, groupId, nowIso(app)));
  if (!allowed) throw refusal;
}

type Chosen = Map<string, number[]>;

/** The numbers of the events, by their practice groups, in the order in which they were accepted. */
export async function chooseEvents(
  app: App,
  {
    actor,
    webhook,
    groupIds,
    body,
  }: Pick<Order, 'actor' | 'groupIds' | 'body'> & { webhook: ReplayedWebhook },
): Promise<Chosen> {
  const { principal } = actor;
  if (body.event_ids) {
    const ids = [...new Set(body.event_ids)];
    const found = await transact(app.db, principal, (tx) => findEventNos(tx, webhook, groupIds, ids));
    const known = new Set(found.map(({ id }) => id));
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length > 0)
      throw ruleBroken('event_unknown', `This practice group has no event ${naming(unknown)}.`);
    const wanted = Map.groupBy(
      found.filter((event) => event.wanted),
      ({ groupId }) => groupId,
    );
    return new Map([...wanted].map(([groupId, events]) => [groupId, events.map(({ no }) => no)]));
  }
  const chosen: Chosen = new Map();
  const span = {
    since: Date.parse(body.since ?? ''),
    until: body.until === undefined ? undefined : Date.parse(body.until),
  };
  let room = REPLAY_EVENTS_MAX;
  for (const groupId of groupIds) {
    const nos = await chooseSpan(app, principal, webhook, groupId, span, room);
    room -= nos.length;
    if (nos.length > 0) chosen.set(groupId, nos);
  }
  return chosen;
}

/** Far more than the moments of acceptance can be out of order in the feed. */
const STRETCH = 10_000;

/** Backwards through the feed, stretch by stretch, until one is reached that lies before the moment altogether. */
async function chooseSpan(
  app: App,
  principal: PartnerPrincipal | OperatorPrincipal,
  webhook: ReplayedWebhook,
  groupId: string,
  span: ReplayedSpan,
  room: number,
): Promise<number[]> {
  const chosen: number[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const stretch = await transact(app.db, principal, (tx) =>
      findEventNosOf(tx, webhook, groupId, span, before, STRETCH),
    );
    chosen.push(...stretch.nos);
    if (chosen.length > room) throw ruleBroken('replay_too_large');
    if (!stretch.anySince || stretch.first === null) return chosen.sort((a, b) => a - b);
    before = stretch.first;
  }
}

export function refuseFuture({ clock }: App, { since }: Order['body']): void {
  if (since === undefined || Date.parse(since) <= clock.now()) return;
  const message = 'Must not lie in the future.';
  throw new ValidationProblem([{ code: 'too_big', expected: 'string', path: ['since'], message }]);
}
