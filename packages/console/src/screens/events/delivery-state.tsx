import type { PartnerDelivery } from '../../api/generated.ts';
import { Pick } from '../../parts/filters.tsx';
import { State, type StateKind } from '../../parts/state.tsx';

const deliveryStates: Record<PartnerDelivery['status'], [StateKind, string]> = {
  delivered: ['fine', 'delivered'],
  pending: ['waiting', 'to be sent, or sent again'],
  waiting: ['waiting', 'waiting for their turn'],
  withheld: ['withheld', 'withheld'],
  failed: ['failing', 'given up'],
};

type Known = Pick<PartnerDelivery, 'status' | 'attempts'>;

/** What it is sent to: nothing is, unless it is active. */
export interface Receiving {
  kind: 'webhook' | 'subscription';
  status: 'active' | 'paused' | 'disabled';
}

export function DeliveryState({ of: delivery, to }: { of: Known; to?: Receiving | undefined }) {
  const [kind, word] = stateOfDelivery(delivery, to);
  return <State kind={kind}>{word}</State>;
}

export function stateOfDelivery({ status, attempts }: Known, to?: Receiving): [StateKind, string] {
  if (status === 'pending') return stateOfPending(attempts.length, to);
  if (status === 'waiting') return ['waiting', 'waits its turn'];
  return deliveryStates[status];
}

/** Of what is to be sent. */
export function stateOfPending(attempts: number, to?: Receiving): [StateKind, string] {
  if (to && to.status !== 'active') return ['stopped', `waits: ${to.kind} ${to.status}`];
  return attempts > 0 ? ['failing', 'failed, will be retried'] : ['waiting', 'to be sent'];
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
