import type { EventLife, EventName, EventTarget } from '../../api/generated.ts';
import type { StateKind } from '../../parts/state.tsx';
import { stateOfPending } from './delivery-state.tsx';

/** What events are called among people. */
export const eventTitles: Record<EventName, string> = {
  'appointment.confirmed': 'Appointment confirmed',
  'appointment.rescheduled': 'Appointment rescheduled',
  'appointment.cancelled': 'Appointment cancelled',
  'appointment.booking-failed': 'Appointment could not be booked',
  'appointment.cancel-failed': 'Appointment could not be cancelled',
  'appointment.reschedule-failed': 'Appointment could not be rescheduled',
  'form-submission.created': 'Form sent in',
  'prescription.issued': 'Prescription issued',
  'patient.added-to-sequence': 'Patient added to a sequence',
  'write-to-record.succeeded': 'Written to the record',
  'write-to-record.failed': 'Not written to the record',
  'ehr.health_status.healthy': 'EHR connection is up',
  'ehr.health_status.unhealthy': 'EHR connection is down',
};

export const causes: Record<EventLife['cause']['kind'], string> = {
  published: 'The practice software published it.',
  ehr_health: 'The state of the EHR connection was reported, and had changed.',
  form_submission: 'A form was sent in.',
  write_to_record: 'A write-to-record job came to its end.',
  test: 'A partner asked for a test event. Nothing happened in a practice.',
};

const outcomes: Record<Exclude<EventTarget['outcome'], 'pending'>, [StateKind, string]> = {
  delivered: ['fine', 'delivered'],
  waiting: ['waiting', 'waits its turn'],
  withheld: ['withheld', 'withheld'],
  failed: ['failing', 'given up'],
  not_sent: ['stopped', 'not sent'],
};

export function stateOf({ outcome, attempts, webhook_status: status }: EventTarget): [StateKind, string] {
  return outcome === 'pending'
    ? stateOfPending(attempts.length, { kind: 'webhook', status })
    : outcomes[outcome];
}

const laterReasons: readonly EventTarget['not_sent_reason'][] = ['registered_later', 'not_entitled_then'];

/** Whether a replay would send it: it is queued, over, or was missed for a reason that is over. */
export const isReplayable = ({ outcome, not_sent_reason: reason }: EventTarget): boolean =>
  outcome === 'not_sent' ? laterReasons.includes(reason) : outcome !== 'withheld' && outcome !== 'waiting';

/** Somebody may want it sent now: it is not there, and does not come by itself at once. */
export const isMissing = (target: EventTarget): boolean =>
  target.outcome !== 'delivered' &&
  isReplayable(target) &&
  (target.outcome !== 'pending' || target.attempts.length > 0);

/** By name, unless it is all of them. */
export const toEvents = (types: readonly EventName[]): string =>
  types.length === Object.keys(eventTitles).length
    ? 'all'
    : types.map((event) => eventTitles[event]).join(', ');
