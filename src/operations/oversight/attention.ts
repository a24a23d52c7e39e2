import {
  ATTENTION_ITEMS_MAX,
  type AttentionItem,
  type AttentionKind,
  getAttention as endpoint,
} from '../../contract/operator/oversight/attention.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { attemptsFailed, messageOf, plain, webhookOf } from '../../domain/oversight/alert-words.ts';
import { kindOfWebhook } from '../../domain/oversight/alerts.ts';
import { actionOf, causeOf, groupRaised, type Raised } from '../../domain/oversight/attention.ts';
import { remembered } from '../../platform/remembered.ts';
import { type Database, type Transaction, transact } from '../../store/database.ts';
import {
  type CountedAlert,
  type Failing,
  type GivenUp,
  listOpenAlerts,
  type PendingApproval,
  readFailing,
  readGivenUp,
  readLastAttempts,
  readPendingApprovals,
  readQueues,
  type WebhookQueue,
} from '../../store/oversight/attention.ts';
import { type App, operation } from '../app.ts';

const DAY_MS = 24 * 3600 * 1000;
/** One that is started again, or has a bad moment, is well again by then. */
const FAILING_MS = 5 * 60 * 1000;

/** A thousand consoles that ask at once are one question. */
const looks = new WeakMap<Database, () => ReturnType<typeof lookAround>>();

/** The same for every reader. It names no object of a patient. */
export const getAttention = operation(endpoint, async (app, _call) => {
  const look = looks.get(app.db) ?? remembered(app.clock, () => lookAround(app));
  looks.set(app.db, look);
  return { body: await look() };
});

async function lookAround({ db, clock }: App) {
  const now = clock.now();
  const at = new Date(now).toISOString();
  const data = await transact(db, SYSTEM, async (tx) => {
    const [alerts, failing, givenUp, approvals] = await Promise.all([
      listOpenAlerts(tx),
      readFailing(tx, new Date(now - FAILING_MS).toISOString()),
      readGivenUp(tx, new Date(now - DAY_MS).toISOString()),
      readPendingApprovals(tx, at),
    ]);
    const counts = new Map<AttentionKind, number>(alerts.map(({ kind, of_kind }) => [kind, of_kind]));
    const causes = await causesOf(tx, [
      ...alerts.filter(({ kind }) => aboutWebhooks.includes(kind)).map(({ subject }) => subject.id),
      ...failing.map(({ id }) => id),
    ]);
    const groups = groupRaised(
      [
        ...alerts.map((alert) => ofAlert(alert, causes.get(alert.subject.id) ?? null)),
        ...failing.map((one) => ofFailing(one, causes.get(one.id) ?? null)),
        ...givenUp.map(ofGivenUp),
        ...approvals.map(ofApproval),
      ],
      counts,
    );
    const queues = await queuesOf(
      tx,
      groups.flatMap(({ items }) => items),
    );
    return groups.map((group) => ({ ...group, items: group.items.map((item) => withQueue(item, queues)) }));
  });
  return { data, count: data.reduce((sum, { count }) => sum + count, 0), at };
}

const aboutWebhooks: readonly AttentionKind[] = ['webhook_failing', 'webhook_disabled'];

async function causesOf(tx: Transaction, webhookIds: readonly string[]): Promise<Map<string, string | null>> {
  const attempts = webhookIds.length === 0 ? [] : await readLastAttempts(tx, webhookIds);
  return new Map(attempts.map(({ id, attempt }) => [id, causeOf(attempt)]));
}

async function queuesOf(
  tx: Transaction,
  items: readonly AttentionItem[],
): Promise<Map<string, WebhookQueue>> {
  const ids = items.filter(({ subject }) => hasQueue(subject.type)).map(({ subject }) => subject.id);
  const queues = ids.length === 0 ? [] : await readQueues(tx, ids.slice(0, QUEUES_MAX));
  return new Map(queues.map((queue) => [queue.id, queue]));
}

const hasQueue = (type: AttentionItem['subject']['type']) =>
  type === 'webhook' || type === 'subscription' || type === 'write_through';

/** A queue that is looked at costs up to a thousand rows of an index. */
const QUEUES_MAX = 4 * ATTENTION_ITEMS_MAX;

function withQueue(item: AttentionItem, queues: ReadonlyMap<string, WebhookQueue>): AttentionItem {
  const queue = hasQueue(item.subject.type) ? queues.get(item.subject.id) : undefined;
  if (!queue) return item;
  const { failures, queued, oldest_at } = queue;
  return { ...item, queued, oldest_at, count: item.count === null ? null : Math.max(item.count, failures) };
}

const nothingMore = { until: null, usual: null, queued: null, oldest_at: null };

const named = (id: string | null, name: string | null) =>
  id === null ? null : { id, name: plain(name ?? id) };

function ofAlert(alert: CountedAlert, cause: string | null): Raised {
  const { kind, subject, partner_id, partner_name, practice_group_id, group_name, details } = alert;
  const { since, until, count, usual } = details;
  const item = {
    ...nothingMore,
    subject: { ...subject, name: plain(subject.name) },
    alert_id: alert.id,
    partner: named(partner_id, partner_name),
    practice_group: named(practice_group_id, group_name),
    since: since ?? (until === null ? alert.began_at : null),
    until,
    count,
    usual,
    message: messageOf(alert, 'operator'),
    action: stepFor(kind, subject.type),
  };
  return { kind, cause, item };
}

/** Software of the operator is not paused, but mended. */
const stepFor = (kind: AttentionKind, type: AttentionItem['subject']['type']) =>
  type === 'subscription' || type === 'write_through' ? 'open' : actionOf(kind);

/** A webhook that no alert tells of. */
function ofWebhook(
  kind: AttentionKind,
  one: Failing | GivenUp,
  count: number,
  told: (name: string) => string,
) {
  const host = URL.parse(one.url)?.host ?? '';
  const type = kindOfWebhook(one.partner_id, one.practice_group_id);
  return {
    ...nothingMore,
    subject: { type, id: one.id, name: host },
    alert_id: null,
    partner: named(one.partner_id, one.partner_name),
    practice_group: named(one.practice_group_id, one.group_name),
    since: one.since,
    count,
    message: told(`${webhookOf(type)} ${one.id} (${plain(host)})`),
    action: stepFor(kind, type),
  };
}

function ofFailing(one: Failing, cause: string | null): Raised {
  const kind = 'webhook_failing';
  const told = (webhook: string) =>
    `No delivery to ${webhook} has succeeded since ${one.since}; ${attemptsFailed(one.failures)}.`;
  return { kind, cause, item: ofWebhook(kind, one, one.failures, told) };
}

function ofGivenUp(one: GivenUp): Raised {
  const kind = 'deliveries_given_up';
  const told = (webhook: string) =>
    `${one.count === 1 ? `1 delivery to ${webhook} was` : `${one.count} deliveries to ${webhook} were`} given up since ${one.since}, and it receives again.`;
  return { kind, cause: null, item: ofWebhook(kind, one, one.count, told) };
}

function ofApproval({ id, operation, requested_name, requested_at, expires_at }: PendingApproval): Raised {
  const kind = 'approval_pending';
  const item = {
    ...nothingMore,
    subject: { type: 'approval' as const, id, name: operation },
    alert_id: null,
    partner: null,
    practice_group: null,
    since: requested_at,
    until: expires_at,
    count: null,
    message: `${plain(requested_name)} has asked for ${operation}, and needs a second person until ${expires_at}.`,
    action: actionOf(kind),
  };
  return { kind, cause: null, item };
}
