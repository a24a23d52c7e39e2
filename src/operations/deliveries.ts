import type {
  getDelivery as getEndpoint,
  listDeliveries as listEndpoint,
  retryDelivery as retryEndpoint,
} from '../contract/operator/deliveries.ts';
import { Problem } from '../contract/problems.ts';
import { type Transaction, transact } from '../store/database.ts';
import { type FoundDelivery, findDelivery, listDeliveryPage } from '../store/deliveries-read.ts';
import { mayReceive, replayEvents } from '../store/deliveries-replay.ts';
import { type App, nowIso, type OperatorCall } from './app.ts';

export async function listDeliveries(app: App, { principal, query }: OperatorCall<typeof listEndpoint>) {
  return { body: await transact(app.db, principal, (tx) => listDeliveryPage(tx, query)) };
}

export async function getDelivery(app: App, { principal, params }: OperatorCall<typeof getEndpoint>) {
  const { delivery } = await transact(app.db, principal, (tx) => mustFind(tx, params.id));
  return { body: delivery };
}

export async function retryDelivery(app: App, call: OperatorCall<typeof retryEndpoint>) {
  const { principal, params, requestId } = call;
  const now = nowIso(app);
  const body = await transact(app.db, principal, async (tx) => {
    const { delivery: before, webhookNo, eventNo } = await mustFind(tx, params.id);
    const { partner_id, practice_group_id } = before;
    if (!(await mayReceive(tx, partner_id, practice_group_id, now)))
      throw new Problem('conflict', {
        message:
          'The partner may no longer hear of this practice group: it is not verified, or has no key for it.',
      });
    await replayEvents(tx, now, webhookNo, [eventNo]);
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
}

async function mustFind(tx: Transaction, id: string): Promise<FoundDelivery> {
  const found = await findDelivery(tx, id);
  if (!found) throw new Problem('not_found');
  return found;
}
