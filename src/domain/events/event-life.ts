import {
  type EventTarget,
  type NotSentReason,
  notSentReasons,
} from '../../contract/operator/events/event-life.ts';
import type { WithheldReason } from '../../contract/partner/webhooks.ts';

/** Why a webhook has no delivery of an event, and why a delivery has not arrived. */

export interface NotSent {
  isErased: boolean;
  /** The event has its place in the feed. Not for a test of one webhook. */
  isFannedOut: boolean;
  /** A test event that is for others. */
  isForOthers: boolean;
  wantsEvent: boolean;
  /** Of a webhook for all practice groups: it is not narrowed to others. */
  wantsGroup: boolean;
  isYounger: boolean;
  /** Why its partner may not receive events of the practice group now; null: it may. */
  withheld: WithheldReason | null;
}

/** The first that holds: what lies in the event, then what the webhook asks for, then what its partner may have. */
export function whyNotSent(facts: NotSent): NotSentReason {
  if (facts.isForOthers) return 'test_for_another';
  if (facts.isErased) return 'erased';
  if (!facts.isFannedOut) return 'not_fanned_out';
  if (!facts.wantsGroup) return 'not_in_practice_groups';
  if (!facts.wantsEvent) return 'event_type';
  if (facts.withheld) return facts.withheld;
  return facts.isYounger ? 'registered_later' : 'not_entitled_then';
}

/** As a sentence; null where it has arrived. */
export function explainTarget(target: Omit<EventTarget, 'explanation'>): string | null {
  const { outcome, not_sent_reason, withheld_reason, webhook_status, attempts } = target;
  if (outcome === 'delivered') return null;
  if (not_sent_reason) return notSentReasons[not_sent_reason];
  if (withheld_reason) return notSentReasons[withheld_reason];
  if (outcome !== 'failed' && webhook_status === 'paused')
    return 'The webhook is paused: what is queued waits until it is active again.';
  if (outcome !== 'failed' && webhook_status === 'disabled')
    return 'The webhook is disabled: what is queued waits until it is activated.';
  if (outcome === 'waiting') return 'An earlier event about the same object comes first.';
  return attempts.at(-1)?.diagnosis ?? 'It is about to be sent.';
}
