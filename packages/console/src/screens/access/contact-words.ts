import type { Contact } from '../../api/generated.ts';

type Kind = NonNullable<Contact['alert_kinds']>[number];
export type PartnerKind = Exclude<
  Kind,
  'partner_waiting' | 'ehr_down' | 'changes_pending' | 'partner_stopped'
>;

/** What contacts of partners are told of. */
const kinds: Record<PartnerKind, string> = {
  webhook_failing: 'A webhook fails',
  webhook_disabled: 'A webhook was disabled',
  key_expiring: 'A key is about to expire',
  key_unused: 'A key is not used',
  key_leaked: 'A key was leaked',
  refusals_rising: 'More calls are refused than usual',
  deliveries_late: 'Deliveries are late',
  agreement_ended: 'An agreement ends',
};

export const contactChoices = Object.entries(kinds).map(([value, title]) => ({ value, title }));

export function toldOf(told: Contact['alert_kinds']): string {
  if (told === null) return 'everything';
  if (told.length === 0) return 'leaked keys alone';
  return told.map((kind) => kinds[kind as PartnerKind]?.toLowerCase() ?? kind).join(', ');
}
