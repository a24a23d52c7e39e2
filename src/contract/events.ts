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
    sentWhen: 'An appointment has been confirmed.',
  },
  'appointment.rescheduled': {
    object: 'Appointment',
    fields: 'none',
    sentWhen: 'An appointment has been rescheduled.',
  },
  'appointment.cancelled': {
    object: 'Appointment',
    fields: 'none',
    sentWhen: 'An appointment has been cancelled.',
  },
  'appointment.booking-failed': {
    object: 'Appointment',
    fields: 'failure',
    sentWhen: 'A booking failed to confirm in the EHR.',
  },
  'appointment.cancel-failed': {
    object: 'Appointment',
    fields: 'failure',
    sentWhen: 'A cancellation failed to confirm in the EHR.',
  },
  'appointment.reschedule-failed': {
    object: 'Appointment',
    fields: 'failure',
    sentWhen: 'A reschedule failed to confirm in the EHR.',
  },
  'form-submission.created': {
    object: 'FormSubmission',
    fields: 'none',
    sentWhen: 'A form submission has been created.',
  },
  'prescription.issued': {
    object: 'Prescription',
    fields: 'none',
    sentWhen: 'A prescription has been issued.',
  },
  'patient.added-to-sequence': {
    object: 'Patient',
    fields: 'none',
    sentWhen: 'A patient has been added to a sequence.',
  },
  'write-to-record.succeeded': {
    object: 'WriteToRecordEntry',
    fields: 'resource',
    sentWhen: 'A write-to-record job finished successfully.',
  },
  'write-to-record.failed': {
    object: 'WriteToRecordEntry',
    fields: 'resource',
    sentWhen: 'A write-to-record job failed permanently.',
  },
  'ehr.health_status.healthy': {
    object: 'EhrHealthStatus',
    fields: 'none',
    sentWhen: 'The EHR connection of a practice group became healthy.',
  },
  'ehr.health_status.unhealthy': {
    object: 'EhrHealthStatus',
    fields: 'none',
    sentWhen: 'The EHR connection of a practice group became unhealthy.',
  },
} as const satisfies Record<string, EventDeclaration>;

export type EventName = keyof typeof events;
