import type { Partner } from '../../api/generated.ts';
import { State, type StateKind } from '../../parts/state.tsx';

export const partnerStatuses: Record<Partner['status'], [StateKind, string]> = {
  applied: ['waiting', 'has applied'],
  agreement_signed: ['waiting', 'agreement signed'],
  verified: ['fine', 'verified'],
  suspended: ['stopped', 'suspended'],
};

export function PartnerState({ of: status }: { of: Partner['status'] }) {
  const [kind, word] = partnerStatuses[status];
  return <State kind={kind}>{word}</State>;
}
