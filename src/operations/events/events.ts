import type { Read } from '../../contract/endpoint.ts';
import type { EventPayload } from '../../contract/event-payloads.ts';
import {
  getPublishedEvent as getEndpoint,
  listPublishedEvents as listEndpoint,
  type publishEvents as publishEndpoint,
} from '../../contract/operator/events/events.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { Verbatim } from '../../contract/verbatim.ts';
import type { OperatorPrincipal } from '../../domain/access/principal.ts';
import { deliveryId, newId } from '../../domain/ids.ts';
import { Outage } from '../../platform/outage.ts';
import { type Transaction, transact } from '../../store/database.ts';
import {
  appendEvents,
  type EventDelivery,
  findEvent,
  listEventDeliveries,
  listEventPage,
  type NewEvent,
  type OneEvent,
  type Said,
  type StoredEvent,
} from '../../store/events/events.ts';
import { keepAnswer } from '../../store/idempotency.ts';
import { findUnknownGroups } from '../../store/practices/practice-groups.ts';
import { type App, nowIso, type OperatorCall, operation } from '../app.ts';
import { answerAgain, keyedAnswer } from '../idempotency.ts';
import { statusOf } from './deliveries.ts';
import { followEvents, isOfState } from './published-facts.ts';

export function newEvent(app: Pick<App, 'clock' | 'random'>, payload: EventPayload): NewEvent {
  return { id: newId('evt', app.clock.now(), app.random), payload };
}

/** What an operator's call causes is said by that operator, now. */
function saidBy(
  app: Pick<App, 'clock'>,
  { principal, traceparent }: { principal: OperatorPrincipal; traceparent?: string | undefined },
): Said {
  return { sourceId: principal.operatorId, acceptedAt: nowIso(app), traceparent };
}

/** The same of a call that is gathered with others. */
export function saidOne(
  app: Pick<App, 'clock' | 'random'>,
  { principal, traceparent }: { principal: OperatorPrincipal; traceparent?: string | undefined },
  payload: EventPayload,
): OneEvent {
  const { id } = newEvent(app, payload);
  return { id, payload, sourceId: principal.operatorId, traceparent, keyed: undefined };
}

/**
 * The audit trail gets an entry only for a state that follows an event: it records changes of what is kept about practices and partners. An event is
 * itself the record of who said what and when, and a thousand entries would double the cost of the call.
 */
export async function publishBody(app: App, call: OperatorCall<typeof publishEndpoint>) {
  const { body } = call;
  if ('events' in body) return publishTogether(app, call, body.events);
  // Gathered events travel as lines (`listsOf`), so a line break in this field would shift the fields of this call and others.
  if (body.practice_group_id.includes('\n')) throw unknownGroup(body, []);
  return isOfState(body) ? publishTogether(app, call, [body]) : publishOne(app, call, body);
}

/** Accepts events in one transaction, and changes the states that follow them. */
async function publishTogether(
  app: App,
  call: OperatorCall<typeof publishEndpoint>,
  payloads: readonly EventPayload[],
) {
  const { body, principal } = call;
  const events = payloads.map((payload) => newEvent(app, payload));
  const answer = { event_ids: events.map(({ id }) => id) };
  const groupIds = [...new Set(payloads.map(({ practice_group_id }) => practice_group_id))];
  // The IDs are ours to choose, so the answer can be kept before the work is done.
  const keyed = keyedAnswer(app, call, principal.operatorId, body, answer);

  let isChanged = false;
  const published = await transact(app.db, principal, async (tx) => {
    const [earlier, unknown] = await Promise.all([
      keyed && keepAnswer(tx, keyed),
      findUnknownGroups(tx, groupIds),
    ]);
    if (keyed && earlier) return answerAgain(keyed, earlier);
    const at = payloads.findIndex(({ practice_group_id }) => unknown.includes(practice_group_id));
    if (at >= 0) throw unknownGroup(payloads[at], 'events' in body ? ['events', at] : []);
    isChanged = await appendTogether(app, tx, call, events);
    return { body: answer };
  });
  if (isChanged) app.access.forget();
  return published;
}

/** Puts the events into the outbox, and the states after them. Returns whether an EHR status has changed. */
export async function appendTogether(
  app: App,
  tx: Transaction,
  call: OperatorCall<typeof publishEndpoint>,
  events: readonly NewEvent[],
): Promise<boolean> {
  const ofState = events.map(({ payload }) => payload).filter(isOfState);
  const isChanged = await followEvents(app, tx, call, ofState);
  appendEvents(tx, saidBy(app, call), events);
  return isChanged;
}

/** What was kept for a key may be cleared away just as it is looked for. It is not twice in a row, as a rule. */
const CLEARED_TIMES = 3;

/** Gathered with those of other calls. */
async function publishOne(
  app: App,
  call: OperatorCall<typeof publishEndpoint>,
  payload: EventPayload,
  tries = CLEARED_TIMES,
): Promise<{ body: { event_ids: string[] }; replayed?: true }> {
  const event = saidOne(app, call, payload);
  const answer = { event_ids: [event.id] };
  const keyed = keyedAnswer(app, call, event.sourceId, payload, answer);
  event.keyed = keyed;
  const accepted = await app.events.submit(event);
  if (accepted.outcome === 'cleared') {
    if (tries === 0) throw new Outage('what is kept for the Idempotency-Key comes and goes');
    return publishOne(app, call, payload, tries - 1);
  }
  if (accepted.outcome === 'unknown_group') throw unknownGroup(payload, []);
  if (accepted.outcome === 'repeated' && keyed)
    return answerAgain(keyed, { bodyHash: accepted.bodyHash, answer: accepted.answer as typeof answer });
  return { body: answer };
}

export function unknownGroup(payload: EventPayload | undefined, path: (string | number)[]): Problem {
  const why = `There is no practice group ${payload?.practice_group_id}.`;
  return ruleBroken('practice_group_unknown', why, path);
}

export const listPublishedEvents = operation(listEndpoint, async (app, call) => {
  const page = await transact(app.db, call.principal, (tx) => listEventPage(tx, call.query));
  return { body: { ...page, data: page.data.map(presentEvent) }, read: page.data.map(readOf) };
});

export const getPublishedEvent = operation(getEndpoint, async (app, call) => {
  const [event, deliveries] = await transact(app.db, call.principal, (tx) =>
    Promise.all([findEvent(tx, call.params.id), listEventDeliveries(tx, call.params.id)]),
  );
  if (!event) throw new Problem('not_found');
  return {
    body: presentEvent({ ...event, deliveries: deliveries.map((one) => presentDelivery(one, event)) }),
    read: [readOf(event)],
  };
});

function readOf({ id: eventId, payload }: StoredEvent): Read {
  const { object, id: objectId, practice_group_id: practiceGroupId } = JSON.parse(payload) as EventPayload;
  return { practiceGroupId, object, objectId, eventId };
}

/** Payloads go out as they are stored, as they do in webhooks. */
function presentEvent<E extends StoredEvent>({ payload, ...event }: E) {
  return { ...event, payload: new Verbatim(payload) };
}

function presentDelivery(delivery: EventDelivery, event: StoredEvent) {
  const { webhook_id, sequence } = delivery;
  return {
    id: deliveryId(webhook_id, sequence, Date.parse(event.accepted_at)),
    webhook_id,
    status: statusOf(delivery),
  };
}
