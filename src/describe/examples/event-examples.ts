import { createHmac } from 'node:crypto';
import type { z } from 'zod';
import type { eventPayloads } from '../../contract/event-payloads.ts';
import type { EventName } from '../../contract/events.ts';

const appointment = {
  object: 'Appointment',
  id: 'apt_5120',
  practice_group_id: 'riverside-surgery',
} as const;

const ehr = {
  object: 'EhrHealthStatus',
  id: 'riverside-surgery',
  practice_group_id: 'riverside-surgery',
} as const;

/** One payload of each event. An event without an example does not compile. */
export const eventExamples: { [N in EventName]: z.output<(typeof eventPayloads)[N]> } = {
  'appointment.confirmed': { ...appointment, event: 'appointment.confirmed' },
  'appointment.rescheduled': { ...appointment, event: 'appointment.rescheduled' },
  'appointment.cancelled': { ...appointment, event: 'appointment.cancelled' },
  'appointment.booking-failed': {
    ...appointment,
    event: 'appointment.booking-failed',
    failure_reason: 'The EHR could not be reached.',
    code: 'EhrUnreachable',
  },
  'appointment.cancel-failed': {
    ...appointment,
    event: 'appointment.cancel-failed',
    failure_reason: 'The EHR did not answer in time.',
    code: 'EhrTimeout',
  },
  'appointment.reschedule-failed': {
    ...appointment,
    event: 'appointment.reschedule-failed',
    failure_reason: 'The new slot had been taken meanwhile.',
    code: 'SlotUnavailable',
  },
  'form-submission.created': {
    object: 'FormSubmission',
    id: 'fs_00VavrySWxwxJpPKOYuAIi8KG',
    practice_group_id: 'riverside-surgery',
    event: 'form-submission.created',
  },
  'prescription.issued': {
    object: 'Prescription',
    id: 'rx_88341',
    practice_group_id: 'riverside-surgery',
    event: 'prescription.issued',
  },
  'patient.added-to-sequence': {
    object: 'Patient',
    id: 'pat_20417',
    practice_group_id: 'riverside-surgery',
    event: 'patient.added-to-sequence',
  },
  'write-to-record.succeeded': {
    object: 'WriteToRecordEntry',
    id: 'wtr_00VavrySWqdiZ8T0EwJZRAYNH',
    practice_group_id: 'riverside-surgery',
    event: 'write-to-record.succeeded',
    resource: 'Consultation',
    resource_id: 'con_7719',
  },
  'write-to-record.failed': {
    object: 'WriteToRecordEntry',
    id: 'wtr_00VavrySW78RMu2AwkYJ8XZrr',
    practice_group_id: 'riverside-surgery',
    event: 'write-to-record.failed',
    resource: 'Document',
    resource_id: 'doc_3302',
  },
  'ehr.health_status.healthy': { ...ehr, event: 'ehr.health_status.healthy' },
  'ehr.health_status.unhealthy': { ...ehr, event: 'ehr.health_status.unhealthy' },
};

const body = JSON.stringify(eventExamples['appointment.confirmed']);
const secret = Buffer.from('porter-example-secret-32-bytes!!');
const id = 'dlv_00VavrySW7QkzdE4DIp3JusJ3_1042_00VavryCO';
const timestamp = '1794643200';

/** A whole delivery whose signature is genuine, so that readers can try their verifier on it. */
export const deliveryExample = {
  secret: `whsec_${secret.toString('base64')}`,
  headers: {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
    'webhook-sequence': '1042',
  },
  body,
};
