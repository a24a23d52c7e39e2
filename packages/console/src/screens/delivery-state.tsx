import type { PartnerDelivery } from '../api/generated.ts';
import { State, type StateKind } from '../parts/state.tsx';

export const deliveryStates: Record<PartnerDelivery['status'], [StateKind, string]> = {
  delivered: ['fine', 'delivered'],
  pending: ['waiting', 'to be sent'],
  waiting: ['waiting', 'waiting for their turn'],
  withheld: ['withheld', 'withheld'],
  failed: ['failing', 'given up'],
};

type Known = Pick<PartnerDelivery, 'status' | 'attempts'>;

export function DeliveryState({ of: delivery }: { of: Known }) {
  const [kind, word] = stateOfDelivery(delivery);
  return <State kind={kind}>{word}</State>;
}

export function stateOfDelivery({ status, attempts }: Known): [StateKind, string] {
  if (status === 'pending' && attempts.length > 0) return ['failing', 'tried again'];
  if (status === 'waiting') return ['waiting', 'waits its turn'];
  return deliveryStates[status];
}
