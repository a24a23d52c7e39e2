import type { EventPayload } from '../../contract/event-payloads.ts';
import { events } from '../../contract/events.ts';
import {
  type EventTarget,
  getEventLife as endpoint,
  LIFE_WEBHOOKS_MAX,
} from '../../contract/operator/events/event-life.ts';
import { Problem } from '../../contract/problems.ts';
import { Verbatim } from '../../contract/verbatim.ts';
import { shownAttempt } from '../../domain/events/diagnosis.ts';
import { explainTarget, whyNotSent } from '../../domain/events/event-life.ts';
import { deliveryId } from '../../domain/ids.ts';
import { transact } from '../../store/database.ts';
import {
  findLivingEvent,
  type LivingEvent,
  listSentTargets,
  listUnsentTargets,
  type SentTarget,
  type UnsentTarget,
} from '../../store/events/event-life.ts';
import { nowIso, operation } from '../app.ts';
import { statusOf } from './deliveries.ts';

export const getEventLife = operation(endpoint, async (app, { principal, params }) => {
  const { event, sent, unsent } = await transact(app.db, principal, async (tx) => {
    const found = await findLivingEvent(tx, params.id);
    if (!found) throw new Problem('not_found');
    const reached = await listSentTargets(tx, found.no);
    const room = LIFE_WEBHOOKS_MAX - reached.length;
    return { event: found, sent: reached, unsent: await listUnsentTargets(tx, found, nowIso(app), room) };
  });
  const targets = [
    ...sent.map((target) => sentTarget(target, event)),
    ...unsent.targets.map((target) => unsentTarget(target, event)),
  ];
  const { object, id: objectId } = JSON.parse(event.payload) as EventPayload;
  return {
    body: {
      id: event.id,
      payload: new Verbatim(event.payload),
      source_id: event.source_id,
      accepted_at: event.accepted_at,
      test: event.test,
      practice_group: { id: event.practice_group_id, name: event.group_name ?? event.practice_group_id },
      cause: causeOf(event),
      feed_position: event.feed_position,
      erased_by: event.erased_by,
      targets,
      target_count: sent.length + unsent.total,
    },
    read: [{ practiceGroupId: event.practice_group_id, object, objectId, eventId: event.id }],
  };
});

function causeOf(event: LivingEvent) {
  const { source_id: id, operator_name: name } = event;
  const isOfOperator = name !== null || !id.startsWith('key_');
  const source = { type: isOfOperator ? ('operator' as const) : ('key' as const), id, name };
  const { object } = events[event.event];
  if (event.test) return { kind: 'test' as const, source };
  if (object === 'EhrHealthStatus') return { kind: 'ehr_health' as const, source };
  if (object === 'FormSubmission' && event.is_of_form) return { kind: 'form_submission' as const, source };
  if (event.is_of_job) return { kind: 'write_to_record' as const, source };
  return { kind: 'published' as const, source };
}

type Aim = Pick<SentTarget, 'webhook_id' | 'url' | 'partner_id' | 'partner_name' | 'webhook_status'>;

const aimOf = ({ webhook_id, url, partner_id, partner_name, webhook_status }: Aim) => ({
  webhook_id,
  url,
  partner: { id: partner_id, name: partner_name },
  webhook_status,
});

function sentTarget(target: SentTarget, event: LivingEvent): EventTarget {
  const { state, withheld_reason, retry_at, created_at } = target;
  const isDue = state === 'due' && withheld_reason === null;
  const told = {
    ...aimOf(target),
    outcome: statusOf(target),
    not_sent_reason: null,
    withheld_reason,
    delivery_id: deliveryId(target.webhook_id, target.sequence, Date.parse(event.accepted_at)),
    queued_at: created_at,
    attempts: target.attempts.map(shownAttempt),
    next_attempt_at: isDue ? (retry_at ?? created_at) : null,
    finished_at: target.finished_at,
  };
  return { ...told, explanation: explainTarget(told) };
}

function unsentTarget(target: UnsentTarget, event: LivingEvent): EventTarget {
  const { only_webhook_no, only_partner_id } = event;
  const reason = whyNotSent({
    isErased: event.erased_by !== null,
    isFannedOut: event.feed_position !== null || only_webhook_no !== null,
    isForOthers:
      (only_webhook_no !== null && only_webhook_no !== target.no) ||
      (only_partner_id !== null && only_partner_id !== target.partner_id),
    wantsEvent: target.wants_event,
    wantsGroup: target.wants_group,
    isYounger: target.created_at > event.accepted_at,
    withheld: target.withheld,
  });
  const told = {
    ...aimOf(target),
    outcome: 'not_sent' as const,
    not_sent_reason: reason,
    withheld_reason: null,
    delivery_id: null,
    queued_at: null,
    attempts: [],
    next_attempt_at: null,
    finished_at: null,
  };
  return { ...told, explanation: explainTarget(told) };
}
