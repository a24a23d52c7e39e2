import type { OperatorAlert } from '../../api/generated.ts';

/** What each kind of alert is called. */
export const alertTitles: Record<OperatorAlert['kind'], string> = {
  webhook_failing: 'Webhook is failing',
  webhook_disabled: 'Webhook was disabled',
  deliveries_late: 'Deliveries are late',
  key_expiring: 'Key is about to expire',
  key_unused: 'Key is not used',
  key_leaked: 'Key leaked',
  refusals_rising: 'Many calls are refused',
  partner_waiting: 'Partner waits for a step',
  ehr_down: 'EHR connection is down',
  changes_pending: 'Changes are not answered',
  partner_stopped: 'Practice stopped a partner',
  agreement_ended: 'Agreement ends',
};

export const endings: Record<NonNullable<OperatorAlert['ended_because']>, string> = {
  recovered: 'it is well again',
  disabled: 'the webhook was disabled',
  paused: 'the webhook was paused',
  withheld: 'the partner may not receive the events any more',
  replaced: 'the key was rotated, revoked or given another end',
  expired: 'the key has expired',
  gone: 'what it was about is not there any more',
  lifted: 'the stop was lifted',
  settled: 'the agreement was given another end, or no key works under it any more',
  told: 'it was over when it was told',
};
