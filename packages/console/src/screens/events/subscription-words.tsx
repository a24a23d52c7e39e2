import type { Subscription, SubscriptionDelivery } from '../../api/generated.ts';
import { State } from '../../parts/state.tsx';

export const topics: Record<Subscription['topics'][number], string> = {
  changes: 'What partners change, as the practice software needs it.',
  alerts: 'What somebody should look after, as it begins and ends.',
};

export const ownEvents: Record<SubscriptionDelivery['event'], string> = {
  'submission-type.changed': 'Submission type changed',
  'change.withdrawn': 'Change withdrawn',
  'alert.began': 'Alert began',
  'alert.ended': 'Alert ended',
};

export function SubscriptionState({
  of: { status, health },
}: {
  of: Pick<Subscription, 'status' | 'health'>;
}) {
  if (status !== 'active') return <State kind="stopped">{status}</State>;
  if (health.failing_since) return <State kind="failing">failing</State>;
  if (health.queued > 0) return <State kind="waiting">delivering</State>;
  return <State kind="fine">fine</State>;
}
