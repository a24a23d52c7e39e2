import type { PartnerStatus } from '../../contract/operator/access/partners.ts';

export type PartnerStep = 'sign-agreement' | 'verify' | 'suspend';

/**
 * applied → agreement_signed → verified; suspended from any state, and back by `verify`. Lifting a suspension must not
 * verify a partner who never signed: without an agreement the way back leads to `applied`.
 */
export function nextPartnerStatus(
  partner: { status: PartnerStatus; agreementSigned: boolean },
  step: PartnerStep,
): PartnerStatus | undefined {
  switch (step) {
    case 'sign-agreement':
      return partner.status === 'applied' ? 'agreement_signed' : undefined;
    case 'verify':
      if (partner.status === 'agreement_signed') return 'verified';
      if (partner.status !== 'suspended') return undefined;
      return partner.agreementSigned ? 'verified' : 'applied';
    case 'suspend':
      return partner.status === 'suspended' ? undefined : 'suspended';
  }
}
