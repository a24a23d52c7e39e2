import type { AuditVerb } from '../../contract/audit-actions.ts';
import type { PartnerDelivery } from '../../contract/operator/events/deliveries.ts';
import {
  createSubscription as createEndpoint,
  deleteSubscription as deleteEndpoint,
  getSubscriptionDelivery as getDeliveryEndpoint,
  getSubscription as getEndpoint,
  listSubscriptionDeliveries as listDeliveriesEndpoint,
  listSubscriptions as listEndpoint,
  type OperatorEventName,
  replaySubscription as replayEndpoint,
  rotateSubscriptionSecret as rotateEndpoint,
  type SubscriptionDelivery,
  type Topic,
  type TopicPayload,
  testSubscription as testEndpoint,
  topics,
  updateSubscription as updateEndpoint,
} from '../../contract/operator/events/subscriptions.ts';
import { LIVE_SECRETS_MAX, SECRET_OVERLAP_HOURS } from '../../contract/partner/webhooks.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken, SUBSCRIPTIONS_MAX } from '../../contract/rules.ts';
import type { OperatorPrincipal } from '../../domain/access/principal.ts';
import { shownAttempt } from '../../domain/events/diagnosis.ts';
import { newSecret, secretBytes } from '../../domain/events/signature.ts';
import {
  applySubscriptionPatch,
  auditable,
  eventsOf,
  inOrder,
  type StoredSubscription,
} from '../../domain/events/subscription.ts';
import { deliveryId, newId } from '../../domain/ids.ts';
import { presentAlert } from '../../domain/oversight/alert-words.ts';
import { noDetails } from '../../domain/oversight/alerts.ts';
import { etagOf, ifMatchHolds } from '../../domain/practices/etag.ts';
import { databaseTime } from '../../platform/clock.ts';
import { refuseTarget } from '../../platform/egress/ssrf-guard.ts';
import type { AuditRecord } from '../../store/audit-append.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { wakeWorkers } from '../../store/events/deliveries.ts';
import { replayEvents } from '../../store/events/deliveries-replay.ts';
import { announceTo } from '../../store/events/operator-events.ts';
import {
  countSubscriptions,
  findSubscription,
  insertSubscription,
  listSubscriptionPage,
  lockSubscription,
  updateSubscriptionRow,
} from '../../store/events/subscriptions.ts';
import {
  countLiveSecrets,
  expireSecrets,
  insertSecret,
  secretOwner,
} from '../../store/events/webhook-secrets.ts';
import { forgetFailures, markWebhookDeleted } from '../../store/events/webhooks.ts';
import { type App, nowIso, type OperatorCall, operation } from '../app.ts';
import { deliveryOf, deliveryPage } from './deliveries.ts';
import { CHUNK, chooseEvents, refuseFuture } from './webhook-deliveries.ts';
import { stopsDeliveries } from './webhooks.ts';

/** The operator's own webhooks. They are webhooks like those of partners, and the same engine serves them. */

export const createSubscription = operation(createEndpoint, async (app, call) => {
  const { principal, body } = call;
  refuseOperatorTarget(app, body.url);
  const now = nowIso(app);
  const secret = newSecret(app.random);
  const settings = {
    id: newId('wh', app.clock.now(), app.random),
    url: body.url,
    description: body.description ?? null,
    topics: inOrder(body.topics),
    status: 'active' as const,
    status_reason: null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  const health = { failures: 0, failing_since: null, last_success_at: null, queued: 0 };
  await transact(app.db, principal, async (tx) => {
    if ((await countSubscriptions(tx)) >= SUBSCRIPTIONS_MAX) throw ruleBroken('subscriptions_max');
    const no = await insertSubscription(tx, settings);
    insertSecret(tx, no, app.sealer.seal(secretBytes(secret), secretOwner(settings.id)), now);
    tx.audit(subscriptionRecord(call, now, 'create', settings, null, auditable({ ...settings, health })));
  });
  return { body: { ...settings, health, secret } };
});

export const listSubscriptions = operation(listEndpoint, async (app, { principal, query }) => {
  return { body: await transact(app.db, principal, (tx) => listSubscriptionPage(tx, query)) };
});

export const getSubscription = operation(getEndpoint, async (app, { principal, params }) => {
  const found = await transact(app.db, principal, (tx) => mustFind(tx, params.id));
  return { body: found, etag: etagOf(found.version) };
});

export const updateSubscription = operation(updateEndpoint, async (app, call) => {
  const { principal, params, body: patch, ifMatch } = call;
  const subscription = await transact(app.db, principal, async (tx) => {
    const current = await mustLock(tx, params.id);
    if (!ifMatchHolds(ifMatch, etagOf(current.version))) throw new Problem('precondition_failed');
    // An address that was allowed once is not looked at again unless it changes.
    if (patch.url !== undefined && patch.url !== current.url) refuseOperatorTarget(app, patch.url);
    const now = nowIso(app);
    const change = applySubscriptionPatch(current, patch, now);
    if (change.outcome === 'unchanged') return current;
    updateSubscriptionRow(tx, change.next);
    if (change.startsAnew) {
      forgetFailures(tx, current.no);
      wakeWorkers(tx);
    }
    tx.audit(subscriptionRecord(call, now, 'update', current, change.before, change.after));
    return change.next;
  });
  if (stopsDeliveries(patch)) await app.access.waitForNodes();
  return { body: subscription, etag: etagOf(subscription.version) };
});

export const deleteSubscription = operation(deleteEndpoint, async (app, call) => {
  const deleted = transact(app.db, call.principal, async (tx) => {
    const found = await mustLock(tx, call.params.id);
    if (!ifMatchHolds(call.ifMatch, etagOf(found.version))) throw new Problem('precondition_failed');
    const now = nowIso(app);
    markWebhookDeleted(tx, found, now);
    tx.audit(subscriptionRecord(call, now, 'delete', found, auditable(found), null));
  });
  await deleted.finally(() => app.access.waitForNodes());
  return { body: undefined };
});

/** Signs with a new secret at once, and along with those before until each has had its overlap. */
export const rotateSubscriptionSecret = operation(rotateEndpoint, async (app, call) => {
  const { principal, params } = call;
  const secret = newSecret(app.random);
  const until = await transact(app.db, principal, async (tx) => {
    const found = await mustLock(tx, params.id);
    const now = nowIso(app);
    const until = new Date(app.clock.now() + SECRET_OVERLAP_HOURS * 3_600_000).toISOString();
    if ((await countLiveSecrets(tx, found.no, now)) >= LIVE_SECRETS_MAX)
      throw new Problem('conflict', {
        message: `The subscription has ${LIVE_SECRETS_MAX} secrets that sign already; wait until the oldest expires.`,
      });
    expireSecrets(tx, found.no, now, until);
    insertSecret(tx, found.no, app.sealer.seal(secretBytes(secret), secretOwner(found.id)), now);
    updateSubscriptionRow(tx, { ...found, version: found.version + 1, updated_at: now });
    tx.audit(subscriptionRecord(call, now, 'rotate-secret', found, null, { previous_expires_at: until }));
    return until;
  });
  await app.access.waitForNodes();
  return { body: { id: params.id, secret, previous_secret_expires_at: until } };
});

export const testSubscription = operation(testEndpoint, async (app, call) => {
  const { principal, params, body } = call;
  const at = nowIso(app);
  const event = topics[body.topic][0];
  const id = newId('evt', app.clock.now(), app.random);
  const objectId = newId('test', app.clock.now(), app.random);
  const sequence = await transact(app.db, principal, async (tx) => {
    const found = await mustLock(tx, params.id);
    if (found.status !== 'active')
      throw new Problem('conflict', {
        message: `The subscription is ${found.status}: set its status to active first.`,
      });
    tx.audit(subscriptionRecord(call, at, 'test', found, null, { event, event_id: id }));
    const sequence = await announceTo(tx, found.no, {
      id,
      event,
      object: 'Test',
      objectId,
      payload: examplePayloads[body.topic](objectId, at),
      sourceId: principal.operatorId,
      at,
    });
    if (sequence === undefined) throw new Problem('not_found');
    return sequence;
  });
  return { body: { event_id: id, delivery_id: deliveryId(params.id, sequence, Date.parse(at)) } };
});

/** In the form of the real ones. */
const examplePayloads: { [T in Topic]: (id: string, at: string) => TopicPayload<T> } = {
  changes: (id, at) => ({
    id,
    kind: 'submission_type',
    practice_group_id: id,
    object_id: id,
    before: { suspended: false },
    after: { suspended: true },
    partner_id: id,
    key_id: id,
    request_id: null,
    state: 'pending',
    at,
  }),
  alerts: (id, at) =>
    presentAlert(
      {
        id,
        kind: 'webhook_failing',
        subject: { type: 'webhook' as const, id, name: 'hooks.partner.example' },
        partner_id: id,
        practice_group_id: id,
        partner_name: null,
        group_name: null,
        details: { ...noDetails, since: at, count: 1 },
        began_at: at,
        ended_at: null,
        ended_because: null,
      },
      'operator',
    ),
};

export const listSubscriptionDeliveries = operation(listDeliveriesEndpoint, async (app, call) => {
  const { principal, params, query } = call;
  const page = await transact(app.db, principal, async (tx) => {
    await mustFind(tx, params.id);
    return deliveryPage(tx, { ...query, webhook_id: params.id, isOfOperator: true });
  });
  return { body: { ...page, data: page.data.map(presentDelivery) } };
});

export const getSubscriptionDelivery = operation(getDeliveryEndpoint, async (app, call) => {
  const { principal, params } = call;
  const found = await transact(app.db, principal, async (tx) => {
    await mustFind(tx, params.id);
    return deliveryOf(tx, params.delivery_id, shownAttempt, true);
  });
  if (found?.delivery.webhook_id !== params.id) throw new Problem('not_found');
  return { body: presentDelivery(found.delivery) };
});

function presentDelivery({ event, ...delivery }: PartnerDelivery): SubscriptionDelivery {
  return { ...delivery, event: event as string as OperatorEventName };
}

export const replaySubscription = operation(replayEndpoint, (app, call) => {
  refuseFuture(app, call.body);
  return app.replays.run(call.principal.operatorId, () => replay(app, call));
});

async function replay(app: App, call: OperatorCall<typeof replayEndpoint>) {
  const { principal, params, body } = call;
  const found = await transact(app.db, principal, (tx) => mustFind(tx, params.id));
  const webhook = { no: found.no, event_types: eventsOf(found.topics) };
  // Their events are of no practice group.
  const groupIds = [''];
  const [chosen = []] = (await chooseEvents(app, { actor: call, webhook, groupIds, body })).values();
  const now = nowIso(app);
  let count = 0;
  for (let from = 0; from < chosen.length; from += CHUNK)
    count += await transact(app.db, principal, async (tx) => {
      // It may have been deleted since it was found.
      await mustLock(tx, params.id);
      if (from === 0)
        tx.audit(subscriptionRecord(call, now, 'replay', found, null, { ...body, events: chosen.length }));
      return replayEvents(tx, databaseTime(app.clock), found.no, chosen.slice(from, from + CHUNK));
    });
  return { body: { count } };
}

async function mustFind(tx: Transaction, id: string): Promise<StoredSubscription> {
  const found = await findSubscription(tx, id);
  if (!found) throw new Problem('not_found');
  return found;
}

async function mustLock(tx: Transaction, id: string): Promise<StoredSubscription> {
  const found = await lockSubscription(tx, id);
  if (!found) throw new Problem('not_found');
  return found;
}

export function refuseOperatorTarget(app: App, url: string): void {
  const reason = refuseTarget(url, app.operatorTargets);
  if (reason !== undefined) throw ruleBroken('webhook_target_refused', reason);
}

/** Never with a secret, sealed or not. */
function subscriptionRecord(
  { principal, requestId }: { principal: OperatorPrincipal; requestId: string },
  at: string,
  action: AuditVerb<'subscription'>,
  { id }: Pick<StoredSubscription, 'id'>,
  before: unknown,
  after: unknown,
): AuditRecord {
  return {
    at,
    principal,
    action: `subscription.${action}`,
    subject: { type: 'subscription', id },
    requestId,
    before,
    after,
  };
}
