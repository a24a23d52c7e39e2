import type { PartnerWebhook } from '../../api/generated.ts';
import { State, type StateKind } from '../../parts/state.tsx';

type Known = Pick<PartnerWebhook, 'status' | 'health'>;

export function WebhookState({ of: webhook }: { of: Known }) {
  const [kind, word] = stateOf(webhook);
  return <State kind={kind}>{word}</State>;
}

/** The first that holds. */
export function stateOf({ status, health }: Known): [StateKind, string] {
  if (status === 'disabled') return ['stopped', 'disabled'];
  if (status === 'paused') return ['stopped', 'paused'];
  if (health.withheld_since) return ['withheld', 'withheld'];
  if (health.failing_since) return ['failing', 'failing'];
  if (health.queued > 0) return ['waiting', 'delivering'];
  return ['fine', 'fine'];
}

/** What a webhook may be asked for as; each is a word of the filter's sentence. */
export const webhookStates = [
  { value: 'failing', title: 'failing' },
  { value: 'withheld', title: 'withheld' },
  { value: 'disabled', title: 'disabled' },
  { value: 'paused', title: 'paused' },
  { value: 'active', title: 'active' },
];

type WithheldReason = NonNullable<PartnerWebhook['health']['withheld_reason']>;

/** Why a partner may not receive what is queued for it. */
export const withheldReasons: Record<WithheldReason, string> = {
  partner_not_verified: 'the partner is not verified, or is suspended',
  stopped_by_practice: 'the practice has stopped the partner',
  key_revoked: 'every key of the partner that reaches the practice is revoked',
  key_expired: 'every key of the partner that reaches the practice has expired',
  scope_missing: 'no key of the partner, or no network, grants events:read',
  out_of_reach: 'no key of the partner is tied to the practice, or to one that shares a network with it',
};

/** The service counts no further. */
const QUEUED_MAX = 1000;
export const toQueued = (queued: number): string =>
  queued >= QUEUED_MAX ? `${QUEUED_MAX.toLocaleString('en')} or more` : String(queued);

/** `3 deliveries that wait`, and with what becomes of them: `3 deliveries that wait are sent now`. */
export function toWaiting(queued: number, becomes?: string): string {
  const [waiting, are] =
    queued === 1 ? ['1 delivery that waits', 'is'] : [`${toQueued(queued)} deliveries that wait`, 'are'];
  return becomes === undefined ? waiting : `${waiting} ${are} ${becomes}`;
}

/** What people call it: an address has a host; its path and query are for machines. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
