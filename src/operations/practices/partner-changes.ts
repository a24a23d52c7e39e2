import type { AuditVerb } from '../../contract/audit-actions.ts';
import type { Partner } from '../../contract/operator/access/partners.ts';
import { slaInWords } from '../../domain/access/agreement.ts';
import { insertAgreement, type StoredAgreement, updateAgreementRow } from '../../store/access/agreements.ts';
import { type StoredPartner, updatePartnerRow } from '../../store/access/partners.ts';
import type { Transaction } from '../../store/database.ts';
import type { Actor } from '../app.ts';

/** Changes of a partner and of what was agreed with it, each written with its entry in the audit. */

/** Tells the partner as it is from then on. */
export function changePartner(
  tx: Transaction,
  { principal, requestId }: Actor,
  { at, action, isSigned = false }: { at: string; action: AuditVerb<'partner'>; isSigned?: boolean },
  before: StoredPartner,
  changed: StoredPartner,
): StoredPartner {
  const after = { ...changed, version: before.version + 1, updated_at: at };
  updatePartnerRow(tx, after, isSigned);
  tx.audit({
    at,
    principal,
    action: `partner.${action}`,
    subject: { type: 'partner', id: after.id },
    requestId,
    before: presentPartner(before),
    after: presentPartner(after),
  });
  return after;
}

export function presentPartner({ version: _version, ...partner }: StoredPartner): Partner {
  return partner;
}

/** Tells the agreement as it is from then on. `before` null: it is new. */
export function changeAgreement(
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  before: StoredAgreement | null,
  changed: StoredAgreement,
): StoredAgreement {
  const after = { ...changed, revision: (before?.revision ?? 0) + 1, updated_at: at };
  if (before) updateAgreementRow(tx, after);
  else insertAgreement(tx, after);
  tx.audit({
    at,
    principal,
    action: before ? 'agreement.update' : 'agreement.create',
    subject: { type: 'agreement', id: after.id },
    requestId,
    before: before && agreementAsTold(before),
    after: agreementAsTold(after),
  });
  return after;
}

export function agreementAsTold<A extends StoredAgreement>({ revision: _revision, sla, ...agreement }: A) {
  const sla_targets = typeof sla === 'string' ? null : sla;
  return { ...agreement, sla: slaInWords(sla), sla_targets };
}

/** What a partner takes over from the agreement that was signed last. */
export function termsOf({ rate_limit_per_minute, sla }: StoredAgreement) {
  return { rate_limit_per_minute, sla: slaInWords(sla) };
}
