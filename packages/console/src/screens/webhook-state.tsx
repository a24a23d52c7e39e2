import type { PartnerWebhook } from '../api/generated.ts';
import { State, type StateKind } from '../parts/state.tsx';

export function WebhookState({ of: webhook }: { of: Pick<PartnerWebhook, 'status' | 'health'> }) {
  const [kind, word] = stateOf(webhook);
  return <State kind={kind}>{word}</State>;
}

/** The first that holds. */
function stateOf({ status, health }: Pick<PartnerWebhook, 'status' | 'health'>): [StateKind, string] {
  if (status === 'disabled') return ['stopped', 'disabled'];
  if (status === 'paused') return ['stopped', 'paused'];
  if (health.withheld_since) return ['withheld', 'withheld'];
  if (health.failing_since) return ['failing', 'failing'];
  if (health.queued > 0) return ['waiting', 'delivering'];
  return ['fine', 'fine'];
}
