import type { PartnerDelivery } from '../api/generated.ts';
import { Pick } from '../parts/filters.tsx';
import { State, type StateKind } from '../parts/state.tsx';

const deliveryStates: Record<PartnerDelivery['status'], [StateKind, string]> = {
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

interface PickDeliveryStatusProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** States that these deliveries are never in. */
  without?: readonly string[];
}

export function PickDeliveryStatus({ value, onChange, without = [] }: PickDeliveryStatusProps) {
  return (
    <Pick
      label="Status"
      value={value}
      choices={Object.entries(deliveryStates)
        .filter(([status]) => !without.includes(status))
        .map(([status, [, title]]) => ({ value: status, title }))}
      any="in any state"
      onChange={onChange}
    />
  );
}
