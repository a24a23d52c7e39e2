import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PartnerStatus, partnerStatuses } from '../../src/contract/operator/access/partners.ts';
import { nextPartnerStatus, type PartnerStep } from '../../src/domain/access/partner.ts';

const steps: PartnerStep[] = ['sign-agreement', 'verify', 'suspend'];

/** The whole machine; a step that is not listed is refused. */
const unsigned: Record<string, PartnerStatus> = {
  'applied sign-agreement': 'agreement_signed',
  'applied suspend': 'suspended',
  'suspended verify': 'applied',
};
const signed: Record<string, PartnerStatus> = {
  'agreement_signed verify': 'verified',
  'agreement_signed suspend': 'suspended',
  'verified suspend': 'suspended',
  'suspended verify': 'verified',
};

describe('the onboarding of a partner', () => {
  it('has exactly these steps', () => {
    for (const status of partnerStatuses) {
      for (const step of steps) {
        const next = (agreementSigned: boolean) => nextPartnerStatus({ status, agreementSigned }, step);
        if (status === 'applied' || status === 'suspended')
          expect(next(false)).toBe(unsigned[`${status} ${step}`]);
        if (status !== 'applied') expect(next(true)).toBe(signed[`${status} ${step}`]);
      }
    }
  });

  it('never verifies anybody who has not signed, on any walk; anybody can be suspended and come back', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...steps), { maxLength: 30 }), (walk) => {
        let partner: { status: PartnerStatus; agreementSigned: boolean } = {
          status: 'applied',
          agreementSigned: false,
        };
        for (const step of walk) {
          const status = nextPartnerStatus(partner, step);
          if (step === 'suspend')
            expect(status).toBe(partner.status === 'suspended' ? undefined : 'suspended');
          if (partner.status === 'suspended' && step === 'verify') expect(status).toBeDefined();
          if (!status) continue;
          partner = { status, agreementSigned: partner.agreementSigned || step === 'sign-agreement' };
          if (partner.status === 'verified') expect(partner.agreementSigned).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
