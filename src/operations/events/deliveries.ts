import type { Read } from '../../contract/endpoint.ts';
import { events } from '../../contract/events.ts';
import {
  getDelivery as getEndpoint,
  listDeliveries as listEndpoint,
  type PartnerDelivery,
  retryDelivery as retryEndpoint,
} from '../../contract/operator/events/deliveries.ts';
import {
  ATTEMPTS_MAX,
  listWebhookAttempts as attemptsEndpoint,
  type WebhookAttempt,
} from '../../contract/operator/events/webhooks.ts';
import type { Page } from '../../contract/page.ts';
import { Problem } from '../../contract/problems.ts';
import { shownAttempt } from '../../domain/events/diagnosis.ts';
import { deliveryId, parseDeliveryId } from '../../domain/ids.ts';
import { databaseTime } from '../../platform/clock.ts';
import { type Transaction, transact } from '../../store/database.ts';
import {
  type DeliveryFilter,
  findDelivery,
  listDeliveryPage,
  listLastTried,
  type StoredDelivery,
} from '../../store/events/deliveries-read.ts';
import { mayReceive, replayEvents } from '../../store/events/deliveries-replay.ts';
import { findAnyWebhook } from '../../store/events/webhooks.ts';
import { nowIso, operation } from '../app.ts';

export const listDeliveries = operation(listEndpoint, async (app, { principal, query }) => {
  const body = await transact(app.db, principal, (tx) => deliveryPage(tx, query));
  return { body, read: body.data.map(readOf) };
});

export const getDelivery = operation(getEndpoint, async (app, { principal, params }) => {
  const { delivery } = await transact(app.db, principal, (tx) => mustFind(tx, params.id));
  return { body: delivery, read: [readOf(delivery)] };
});

/** No delivery beyond the first so many can have one of the latest so many attempts. */
export const listWebhookAttempts = operation(attemptsEndpoint, async (app, { principal, params }) => {
  const deliveries = await transact(app.db, principal, async (tx) => {
    const webhook = await findAnyWebhook(tx, params.id);
    if (!webhook) throw new Problem('not_found');
    const rows = await listLastTried(tx, webhook.no, ATTEMPTS_MAX);
    return rows.map((row) => presentDelivery(row, shownAttempt));
  });
  const data = deliveries
    .flatMap(attemptsOf)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, ATTEMPTS_MAX);
  return { body: { data, count: data.length }, read: deliveries.map(readOf) };
});

/** What comes next is said with the last one. */
function attemptsOf(delivery: PartnerDelivery): WebhookAttempt[] {
  const { id, event_id, event, object_id, practice_group_id, status, next_attempt_at, attempts } = delivery;
  return attempts.map((attempt, index) => ({
    ...attempt,
    delivery_id: id,
    event_id,
    event,
    object_id,
    practice_group_id,
    delivery_status: status,
    next_attempt_at: index === attempts.length - 1 ? next_attempt_at : null,
  }));
}

/** A delivery shows the object of its event. */
export function readOf({ practice_group_id, event, event_id, object_id }: PartnerDelivery): Read {
  return {
    practiceGroupId: practice_group_id,
    object: events[event].object,
    objectId: object_id,
    eventId: event_id,
  };
}

export const retryDelivery = operation(retryEndpoint, async (app, call) => {
  const { principal, params, requestId } = call;
  const now = nowIso(app);
  const body = await transact(app.db, principal, async (tx) => {
    const { delivery: before, webhookNo, eventNo } = await mustFind(tx, params.id);
    const { partner_id, practice_group_id } = before;
    if (!(await mayReceive(tx, partner_id, practice_group_id, now)))
      throw new Problem('conflict', {
        message:
          'The partner may no longer hear of this practice group: it is not verified, has no key for it, or the practice has stopped it.',
      });
    const webhook = await findAnyWebhook(tx, before.webhook_id);
    if (webhook?.status === 'disabled')
      throw new Problem('conflict', {
        message: `The webhook ${webhook.id} is disabled, and nothing is sent to it: activate it first (PATCH /operator/v1/webhooks/${webhook.id} with status active).`,
      });
    if ((await replayEvents(tx, databaseTime(app.clock), webhookNo, [eventNo])) === 0)
      throw new Problem('conflict', {
        message: 'The object of this event was erased: it is sent to nobody.',
      });
    const { delivery: after } = await mustFind(tx, params.id);
    tx.audit({
      at: now,
      principal,
      action: 'delivery.retry',
      subject: { type: 'delivery', id: after.id },
      practiceGroupId: practice_group_id,
      requestId,
      before: { status: before.status, next_attempt_at: before.next_attempt_at },
      after: { status: after.status, next_attempt_at: after.next_attempt_at },
    });
    return after;
  });
  return { body };
});

async function mustFind(tx: Transaction, id: string): Promise<FoundDelivery> {
  const found = await deliveryOf(tx, id);
  if (!found) throw new Problem('not_found');
  return found;
}

/** Operators see more of an attempt than partners do. */
type ShowAttempt = typeof shownAttempt;

interface FoundDelivery {
  delivery: PartnerDelivery;
  webhookNo: number;
  eventNo: number;
}

/** What is found at its place in the queue may be another delivery, with another ID. */
export async function deliveryOf(
  tx: Transaction,
  id: string,
  show: ShowAttempt = shownAttempt,
  isOfOperator = false,
): Promise<FoundDelivery | undefined> {
  const place = parseDeliveryId(id);
  const row = place && (await findDelivery(tx, { ...place, isOfOperator }));
  if (!row) return undefined;
  const delivery = presentDelivery(row, show);
  return delivery.id !== id ? undefined : { delivery, webhookNo: row.webhook_no, eventNo: row.event_no };
}

type Filter = Omit<DeliveryFilter, 'state'> & { status?: PartnerDelivery['status'] | undefined };

export async function deliveryPage(
  tx: Transaction,
  { status, ...filter }: Filter,
  show: ShowAttempt = shownAttempt,
): Promise<Page<PartnerDelivery>> {
  const state = status === 'pending' ? 'due' : status;
  const page = await listDeliveryPage(tx, { ...filter, state });
  return { ...page, data: page.data.map((row) => presentDelivery(row, show)) };
}

function presentDelivery(row: StoredDelivery, show: ShowAttempt): PartnerDelivery {
  return {
    id: deliveryId(row.webhook_id, row.sequence, Date.parse(row.accepted_at)),
    webhook_id: row.webhook_id,
    partner_id: row.partner_id,
    practice_group_id: row.practice_group_id,
    event_id: row.event_id,
    event: row.event,
    object_id: row.object_id,
    sequence: row.sequence,
    status: statusOf(row),
    withheld_reason: row.withheld_reason,
    attempts: row.attempts.map(show),
    next_attempt_at:
      row.state === 'due' && row.withheld_reason === null ? (row.retry_at ?? row.created_at) : null,
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
}

export function statusOf({
  state,
  withheld_reason,
}: Pick<StoredDelivery, 'state' | 'withheld_reason'>): PartnerDelivery['status'] {
  if (withheld_reason !== null) return 'withheld';
  return state === 'due' ? 'pending' : state;
}
