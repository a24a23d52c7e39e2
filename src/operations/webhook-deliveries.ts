import type {
  getWebhookDelivery as getEndpoint,
  listWebhookDeliveries as listEndpoint,
  replayWebhook as replayEndpoint,
} from '../contract/partner/webhook-deliveries.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { naming, REPLAY_EVENTS_MAX, ruleBroken } from '../contract/rules.ts';
import { attemptForPartners } from '../domain/diagnosis.ts';
import { type PartnerPrincipal, type Principal, SYSTEM } from '../domain/principal.ts';
import { databaseTime } from '../platform/clock.ts';
import { transact } from '../store/database.ts';
import {
  findEventNos,
  findEventNosSince,
  mayReceive,
  type ReplayedWebhook,
  replayEvents,
} from '../store/deliveries-replay.ts';
import { findWebhook, lockWebhook } from '../store/webhooks.ts';
import { type App, nowIso, type PartnerCall } from './app.ts';
import { deliveryOf, deliveryPage, readOf } from './deliveries.ts';
import { webhookRecord } from './webhooks.ts';

export async function listWebhookDeliveries(app: App, call: PartnerCall<typeof listEndpoint>) {
  const { principal, params, query } = call;
  const body = await transact(app.db, principal, async (tx) => {
    if (!(await findWebhook(tx, principal, params.id))) throw new Problem('not_found');
    return deliveryPage(tx, { ...query, webhook_id: params.id }, attemptForPartners);
  });
  return { body, read: body.data.map(readOf) };
}

export async function getWebhookDelivery(app: App, { principal, params }: PartnerCall<typeof getEndpoint>) {
  const found = await transact(app.db, principal, async (tx) => {
    if (!(await findWebhook(tx, principal, params.id))) return undefined;
    return deliveryOf(tx, params.delivery_id, attemptForPartners);
  });
  if (found?.delivery.webhook_id !== params.id) throw new Problem('not_found');
  return { body: found.delivery, read: [readOf(found.delivery)] };
}

/** A transaction for each: the queue of the webhook is locked while it is filled, and others wait for it. */
export const CHUNK = 1_000;

export function replayWebhook(app: App, call: PartnerCall<typeof replayEndpoint>) {
  refuseFuture(app, call.body);
  return app.replays.run(call.principal.holder.partnerId, () => replay(app, call));
}

async function replay(app: App, call: PartnerCall<typeof replayEndpoint>) {
  const { principal, params, body } = call;
  await mustReceive(app, principal);
  const webhook = await transact(app.db, principal, (tx) => findWebhook(tx, principal, params.id));
  if (!webhook) throw new Problem('not_found');
  const chosen = await chooseEvents(app, principal, webhook, body);

  const now = nowIso(app);
  let count = 0;
  for (let from = 0; from < chosen.length; from += CHUNK) {
    const chunk = chosen.slice(from, from + CHUNK);
    await mustReceive(app, principal);
    count += await transact(app.db, principal, async (tx) => {
      // It may have been deleted since it was found, and then there is nobody to hear of anything.
      if (!(await lockWebhook(tx, principal, params.id))) throw new Problem('not_found');
      if (from === 0)
        tx.audit(webhookRecord(call, now, 'replay', webhook, null, { ...body, events: chosen.length }));
      return replayEvents(tx, databaseTime(app.clock), webhook.no, chunk);
    });
  }
  return { body: { count } };
}

/**
 * The door was passed before the replay waited for its turn, which may have been minutes ago: whoever has lost access since
 * hears of nothing any more, as in fan-out.
 */
async function mustReceive(app: App, { holder, group }: PartnerPrincipal): Promise<void> {
  const allowed = await transact(app.db, SYSTEM, (tx) =>
    mayReceive(tx, holder.partnerId, group.id, nowIso(app)),
  );
  if (!allowed) throw new Problem('forbidden');
}

/** The numbers of the events, in the order in which they were accepted. */
export async function chooseEvents(
  app: App,
  principal: Principal,
  webhook: ReplayedWebhook,
  { since, event_ids }: { since?: string | undefined; event_ids?: string[] | undefined },
): Promise<number[]> {
  if (event_ids) {
    const ids = [...new Set(event_ids)];
    const found = await transact(app.db, principal, (tx) => findEventNos(tx, webhook, ids));
    const known = new Set(found.map(({ id }) => id));
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length > 0)
      throw ruleBroken(
        'event_unknown',
        `${webhook.practice_group_id ? 'This practice group has' : 'There is'} no event ${naming(unknown)}.`,
      );
    return found.filter(({ wanted }) => wanted).map(({ no }) => no);
  }
  return chooseSince(app, principal, webhook, Date.parse(since ?? ''));
}

/** Far more than the moments of acceptance can be out of order in the feed. */
const STRETCH = 10_000;

/** Backwards through the feed, stretch by stretch, until one is reached that lies before the moment altogether. */
async function chooseSince(
  app: App,
  principal: Principal,
  webhook: ReplayedWebhook,
  sinceMs: number,
): Promise<number[]> {
  const chosen: number[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const stretch = await transact(app.db, principal, (tx) =>
      findEventNosSince(tx, webhook, sinceMs / 1000, before, STRETCH),
    );
    chosen.push(...stretch.nos);
    if (chosen.length > REPLAY_EVENTS_MAX) throw ruleBroken('replay_too_large');
    if (!stretch.anySince || stretch.first === null) return chosen.sort((a, b) => a - b);
    before = stretch.first;
  }
}

export function refuseFuture(app: App, { since }: { since?: string | undefined }): void {
  if (since === undefined || Date.parse(since) <= app.clock.now()) return;
  const message = 'Must not lie in the future.';
  throw new ValidationProblem([{ code: 'too_big', expected: 'string', path: ['since'], message }]);
}
