import type { AuditVerb } from '../../contract/audit-actions.ts';
import { eventNames } from '../../contract/event-payloads.ts';
import {
  deletePartnerWebhook as deleteAnyEndpoint,
  getPartnerWebhook as getAnyEndpoint,
  listAllWebhooks as listAllEndpoint,
  updatePartnerWebhook as updateAnyEndpoint,
} from '../../contract/operator/events/webhooks.ts';
import {
  createWebhook as createEndpoint,
  deleteWebhook as deleteEndpoint,
  getWebhook as getEndpoint,
  listWebhooks as listEndpoint,
  updateWebhook as updateEndpoint,
  type WebhookPatch,
} from '../../contract/partner/webhooks.ts';
import { Problem } from '../../contract/problems.ts';
import { naming, ruleBroken, WEBHOOKS_MAX } from '../../contract/rules.ts';
import { type PartnerPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { newSecret, secretBytes } from '../../domain/events/signature.ts';
import {
  applyWebhookPatch,
  auditable,
  inOrder,
  namesOf,
  type StoredWebhook,
} from '../../domain/events/webhook.ts';
import { newId } from '../../domain/ids.ts';
import { etagOf, ifMatchHolds } from '../../domain/practices/etag.ts';
import { refuseTarget } from '../../platform/egress/ssrf-guard.ts';
import type { AuditRecord } from '../../store/audit-append.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { wakeWorkers } from '../../store/events/deliveries.ts';
import { listReceivedGroups } from '../../store/events/deliveries-replay.ts';
import { headersOwner, insertSecret, putHeaders, secretOwner } from '../../store/events/webhook-secrets.ts';
import {
  countWebhooks,
  findAnyWebhook,
  findWebhook,
  forgetFailures,
  insertWebhook,
  listAllWebhookPage,
  listWebhookPage,
  lockAnyWebhook,
  lockWebhook,
  markWebhookDeleted,
  updateWebhookRow,
} from '../../store/events/webhooks.ts';
import { type Actor, type App, nowIso, operation } from '../app.ts';

// ---- Partners ----

export const createWebhook = operation(createEndpoint, async (app, call) => {
  const { principal, body } = call;
  refuseBadTarget(app, body.url);
  if (body.practice_group_ids) refuseUnreached(body.practice_group_ids, await receivedGroups(app, principal));
  const isForAll = body.practice_groups === 'all';
  const now = nowIso(app);
  const secret = newSecret(app.random);
  const settings = {
    id: newId('wh', app.clock.now(), app.random),
    partner_id: principal.holder.partnerId,
    practice_group_id: isForAll ? null : principal.group.id,
    practice_groups: isForAll ? ('all' as const) : null,
    practice_group_ids: body.practice_group_ids ? [...new Set(body.practice_group_ids)] : null,
    signature: body.signature ?? ('hmac' as const),
    header_names: namesOf(body.headers ?? null),
    url: body.url,
    description: body.description ?? null,
    event_types: body.event_types ? inOrder(body.event_types) : [...eventNames],
    status: 'active' as const,
    status_reason: null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  const health = {
    failures: 0,
    failing_since: null,
    last_success_at: null,
    queued: 0,
    withheld_since: null,
    withheld_reason: null,
    withheld_practice_groups: [],
  };
  await transact(app.db, principal, async (tx) => {
    if ((await countWebhooks(tx, principal, isForAll)) >= WEBHOOKS_MAX) throw ruleBroken('webhooks_max');
    const no = await insertWebhook(tx, settings);
    keepHeaders(app, tx, { ...settings, no }, body.headers);
    insertSecret(tx, no, app.sealer.seal(secretBytes(secret), secretOwner(settings.id)), now);
    tx.audit(webhookRecord(call, now, 'create', settings, null, auditable({ ...settings, no, health })));
  });
  return { body: { ...settings, health, secret } };
});

export const listWebhooks = operation(listEndpoint, async (app, { principal, query }) => {
  return { body: await transact(app.db, principal, (tx) => listWebhookPage(tx, principal, query)) };
});

export const getWebhook = operation(getEndpoint, async (app, { principal, params }) => {
  const found = await transact(app.db, principal, (tx) => findWebhook(tx, principal, params.id));
  if (!found) throw new Problem('not_found');
  return { body: found, etag: etagOf(found.version) };
});

export const updateWebhook = operation(updateEndpoint, async (app, call) => {
  const { principal, params, body: patch, ifMatch } = call;
  const received = patch.practice_group_ids ? await receivedGroups(app, principal) : [];
  const webhook = await transact(app.db, principal, async (tx) => {
    const current = await lockWebhook(tx, principal, params.id);
    if (!current) throw new Problem('not_found');
    if (!ifMatchHolds(ifMatch, etagOf(current.version))) throw new Problem('precondition_failed');
    // An address that was allowed once is not looked at again unless it changes.
    if (patch.url !== undefined && patch.url !== current.url) refuseBadTarget(app, patch.url);
    if (patch.practice_group_ids) {
      if (!current.practice_groups) throw ruleBroken('webhook_of_one_group');
      const named = new Set(current.practice_group_ids);
      const added = patch.practice_group_ids.filter((id) => !named.has(id));
      refuseUnreached(added, received);
    }
    return change(app, tx, call, current, { ...headersAt(current, patch), ...patch });
  });
  if (stopsDeliveries(patch)) await app.access.waitForNodes();
  return { body: webhook, etag: etagOf(webhook.version) };
});

/** The practice groups whose events the partner receives. */
function receivedGroups(app: App, { holder }: PartnerPrincipal): Promise<string[]> {
  return transact(app.db, SYSTEM, (tx) => listReceivedGroups(tx, holder.partnerId, nowIso(app)));
}

/** One that is misspelled would wait for ever. One that is lost later stays: its deliveries are withheld, and go on when it is back. */
function refuseUnreached(groupIds: readonly string[], received: readonly string[]): void {
  const unreached = groupIds.filter((id) => !received.includes(id));
  if (unreached.length === 0) return;
  throw ruleBroken(
    'webhook_group_unreached',
    `You receive no events of ${naming(unreached)}. Leave it out, or have a key or a network for it first: GET /v1/me lists the practice groups that you may act for.`,
  );
}

/**
 * Whether deliveries may no longer be sent as they were before the patch. The call then waits until no node has one left that is still connecting. It
 * also waits if the patch changes nothing: the patch may repeat a call whose response was lost.
 */
export function stopsDeliveries(
  patch: Pick<WebhookPatch, 'url' | 'headers' | 'signature' | 'status'>,
): boolean {
  const { url, headers, signature, status } = patch;
  return url !== undefined || headers !== undefined || signature !== undefined || status === 'paused';
}

/** The values of headers are shown to nobody: whoever may change the address must not have them sent to another host. */
function headersAt(current: StoredWebhook, { url }: WebhookPatch): Pick<WebhookPatch, 'headers'> {
  const isElsewhere = url !== undefined && URL.parse(url)?.origin !== URL.parse(current.url)?.origin;
  return isElsewhere && current.header_names.length > 0 ? { headers: null } : {};
}

/** Writes what a patch changes, with its entry, and tells the webhook as it is from then on. */
function change(
  app: App,
  tx: Transaction,
  actor: Actor,
  current: StoredWebhook,
  patch: WebhookPatch,
  reason: string | null = null,
): StoredWebhook {
  const now = nowIso(app);
  const change = applyWebhookPatch(current, patch, now, reason);
  if (change.outcome === 'unchanged') return current;
  updateWebhookRow(tx, change.next);
  keepHeaders(app, tx, current, patch.headers);
  if (change.startsAnew) {
    forgetFailures(tx, current.no);
    wakeWorkers(tx);
  }
  tx.audit(webhookRecord(actor, now, 'update', current, change.before, change.after));
  return change.next;
}

export const deleteWebhook = operation(deleteEndpoint, async (app, call) => {
  const { principal, params } = call;
  const deleted = transact(app.db, principal, async (tx) => {
    remove(app, tx, call, await lockWebhook(tx, principal, params.id));
  });
  // Also if the webhook does not exist: an earlier call may have deleted it, and its response was lost.
  await deleted.finally(() => app.access.waitForNodes());
  return { body: undefined };
});

function remove(
  app: App,
  tx: Transaction,
  call: Actor & { ifMatch?: string | undefined },
  webhook: StoredWebhook | undefined,
): void {
  if (!webhook) throw new Problem('not_found');
  if (!ifMatchHolds(call.ifMatch, etagOf(webhook.version))) throw new Problem('precondition_failed');
  const now = nowIso(app);
  markWebhookDeleted(tx, webhook, now);
  tx.audit(webhookRecord(call, now, 'delete', webhook, auditable(webhook), null));
}

/** Undefined: they stay as they are. */
function keepHeaders(
  { sealer }: App,
  tx: Transaction,
  { no, id }: Pick<StoredWebhook, 'no' | 'id'>,
  headers: Record<string, string> | null | undefined,
): void {
  if (headers === undefined) return;
  const names = namesOf(headers);
  const sent = Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const sealed = sealer.seal(Buffer.from(JSON.stringify(sent)), headersOwner(id));
  putHeaders(tx, no, names.length > 0 ? { names, sealed } : null);
}

function refuseBadTarget(app: App, url: string): void {
  const reason = refuseTarget(url, app.webhookTargets);
  if (reason !== undefined) throw ruleBroken('webhook_target_refused', reason);
}

/** Never with a secret, sealed or not. */
export function webhookRecord(
  { principal, requestId }: Actor,
  at: string,
  action: AuditVerb<'webhook'>,
  webhook: Pick<StoredWebhook, 'id' | 'practice_group_id'>,
  before: unknown,
  after: unknown,
): AuditRecord {
  return {
    at,
    principal,
    action: `webhook.${action}`,
    subject: { type: 'webhook', id: webhook.id },
    practiceGroupId: webhook.practice_group_id ?? undefined,
    requestId,
    before,
    after,
  };
}

// ---- Operators ----

export const listAllWebhooks = operation(listAllEndpoint, async (app, { principal, query }) => {
  return { body: await transact(app.db, principal, (tx) => listAllWebhookPage(tx, query)) };
});

export const getPartnerWebhook = operation(getAnyEndpoint, async (app, { principal, params }) => {
  const body = await transact(app.db, principal, (tx) => findAnyWebhook(tx, params.id));
  if (!body) throw new Problem('not_found');
  return { body, etag: etagOf(body.version) };
});

export const updatePartnerWebhook = operation(updateAnyEndpoint, async (app, call) => {
  const { principal, params, ifMatch } = call;
  const { status, reason } = call.body;
  const webhook = await transact(app.db, principal, async (tx) => {
    const current = await lockAnyWebhook(tx, params.id);
    if (!current) throw new Problem('not_found');
    if (!ifMatchHolds(ifMatch, etagOf(current.version))) throw new Problem('precondition_failed');
    if (status === current.status) return current;
    return { ...current, ...change(app, tx, call, current, { status }, statusReason(status, reason)) };
  });
  if (stopsDeliveries({ status })) await app.access.waitForNodes();
  return { body: webhook, etag: etagOf(webhook.version) };
});

export const deletePartnerWebhook = operation(deleteAnyEndpoint, async (app, call) => {
  const { principal, params } = call;
  const deleted = transact(app.db, principal, async (tx) => {
    remove(app, tx, call, await lockAnyWebhook(tx, params.id));
  });
  await deleted.finally(() => app.access.waitForNodes());
  return { body: undefined };
});

function statusReason(status: 'active' | 'paused', reason: string | undefined): string | null {
  const done = status === 'paused' ? 'paused' : 'activated';
  if (reason !== undefined) return `The operator has ${done} it: ${reason}`;
  return status === 'paused' ? 'The operator has paused it.' : null;
}
