import type { EventPayload } from '../../contract/event-payloads.ts';
import { type EventName, events } from '../../contract/events.ts';
import { triggerTestEvent as triggerEndpoint } from '../../contract/partner/events.ts';
import { testWebhook as testEndpoint } from '../../contract/partner/webhooks.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { deliveryId, newId } from '../../domain/ids.ts';
import { transact } from '../../store/database.ts';
import { enqueueTest } from '../../store/events/deliveries-replay.ts';
import { appendEvents } from '../../store/events/events.ts';
import { lockWebhook } from '../../store/events/webhooks.ts';
import { keepAnswer } from '../../store/idempotency.ts';
import { type App, nowIso, operation } from '../app.ts';
import { answerAgain, keyedAnswer } from '../idempotency.ts';
import { newEvent } from './events.ts';
import { webhookRecord } from './webhooks.ts';

/** Events that did not happen, for partners that try something out. Only the one who asked hears of them. */

/** To one webhook, whatever its event_types; it does not show in the feed. */
export const testWebhook = operation(testEndpoint, async (app, call) => {
  const { principal, params, body } = call;
  const acceptedAt = nowIso(app);
  const event = newEvent(app, examplePayload(app, body.event, principal.group.id));
  const sequence = await transact(app.db, principal, async (tx) => {
    const webhook = await lockWebhook(tx, principal, params.id);
    if (!webhook) throw new Problem('not_found');
    if (webhook.status !== 'active')
      throw new Problem('conflict', {
        message: `The webhook is ${webhook.status}: set its status to active first.`,
      });
    const said = { sourceId: principal.holder.keyId, acceptedAt, traceparent: call.traceparent };
    appendEvents(tx, said, [event], { onlyWebhookNo: webhook.no });
    tx.audit({
      ...webhookRecord(call, acceptedAt, 'test', webhook, null, { event: body.event, event_id: event.id }),
      practiceGroupId: principal.group.id,
    });
    return enqueueTest(tx, acceptedAt, event.id, webhook.no);
  });
  return {
    body: { event_id: event.id, delivery_id: deliveryId(params.id, sequence, Date.parse(acceptedAt)) },
  };
});

/**
 * The way of any other event, but for one partner. Like any other it is its own record, which names the key: so it is audited only if a person acted
 * with that.
 */
export const triggerTestEvent = operation(triggerEndpoint, async (app, call) => {
  const { principal, body } = call;
  if (app.environment !== 'staging') throw ruleBroken('staging_only');
  const { partnerId, keyId } = principal.holder;
  const event = newEvent(app, examplePayload(app, body.event, principal.group.id));
  const answer = { event_id: event.id };
  const keyed = keyedAnswer(app, call, partnerId, [principal.group.id, body], answer);
  return transact(app.db, principal, async (tx) => {
    const earlier = keyed && (await keepAnswer(tx, keyed));
    if (keyed && earlier) return answerAgain(keyed, earlier);
    const acceptedAt = nowIso(app);
    const said = { sourceId: keyId, acceptedAt, traceparent: call.traceparent };
    appendEvents(tx, said, [event], { onlyPartnerId: partnerId });
    if (principal.person)
      tx.audit({
        at: acceptedAt,
        principal,
        action: 'event.test',
        subject: { type: 'event', id: event.id },
        practiceGroupId: principal.group.id,
        requestId: call.requestId,
        before: null,
        after: { event: body.event },
      });
    return { body: answer };
  });
});

function examplePayload(app: App, event: EventName, practice_group_id: string): EventPayload {
  const id = newId('test', app.clock.now(), app.random);
  const { object, fields } = events[event];
  const further = {
    none: {},
    failure: { failure_reason: 'The record system did not answer.', code: 'EhrUnreachable' },
    resource: { resource: 'Appointment', resource_id: id },
  };
  return { object, id, practice_group_id, event, ...further[fields] } as EventPayload;
}
