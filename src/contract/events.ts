/**
 * The 13 events of the specification, as data. `object` is fixed for each; `fields` says what a payload carries beyond
 * object, id, practice_group_id and event: `failure` adds failure_reason and code, both optional; `resource` adds
 * resource and resource_id, both required.
 */
interface EventDeclaration {
  object:
    | 'Appointment'
    | 'FormSubmission'
    | 'Prescription'
    | 'Patient'
    | 'WriteToRecordEntry'
    | 'EhrHealthStatus';
  sentWhen: string;
  fields: 'none' | 'failure' | 'resource';
}

export const events = {
  'appointment.confirmed': {
    object: 'Appointment',
    fields: 'none',
    sentWhen: 'An appointment was confirmed.',
  },
  'appointment.rescheduled': { object: 'Appointment', fields: 'none', sentWhen: 'An appointment was moved.' },
  'appointment.cancelled': {
    object: 'Appointment',
    fields: 'none',
    sentWhen: 'An appointment was cancelled.',
  },
  'appointment.booking-failed': {
    object: 'Appointment',
    fields: 'failure',
    sentWhen: 'The record system did not confirm a booking.',
  },
  'appointment.cancel-failed': {
    object: 'Appointment',
    fields: 'failure',
    sentWhen: 'The record system did not confirm a cancellation.',
  },
  'appointment.reschedule-failed': {
    object: 'Appointment',
    fields: 'failure',
    sentWhen: 'The record system did not confirm a move.',
  },
  'form-submission.created': {
    object: 'FormSubmission',
    fields: 'none',
    sentWhen: 'A patient sent a form.',
  },
  'prescription.issued': { object: 'Prescription', fields: 'none', sentWhen: 'A prescription was issued.' },
  'patient.added-to-sequence': {
    object: 'Patient',
    fields: 'none',
    sentWhen: 'A patient was added to a sequence.',
  },
  'write-to-record.succeeded': {
    object: 'WriteToRecordEntry',
    fields: 'resource',
    sentWhen: 'A write to the record finished.',
  },
  'write-to-record.failed': {
    object: 'WriteToRecordEntry',
    fields: 'resource',
    sentWhen: 'A write to the record failed for good.',
  },
  'ehr.health_status.healthy': {
    object: 'EhrHealthStatus',
    fields: 'none',
    sentWhen: "The connection to a practice group's record system became healthy.",
  },
  'ehr.health_status.unhealthy': {
    object: 'EhrHealthStatus',
    fields: 'none',
    sentWhen: "The connection to a practice group's record system became unhealthy.",
  },
} as const satisfies Record<string, EventDeclaration>;

export type EventName = keyof typeof events;
