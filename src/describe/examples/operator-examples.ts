import type { operatorEndpoints } from '../../contract/operator/index.ts';
import type { Examples, TakesBody } from './examples.ts';

const one = (summary: string, value: unknown): Examples => ({ usual: { summary, value } });

export const operatorRequests: Record<TakesBody<typeof operatorEndpoints>, Examples> = {
  createPracticeGroup: {
    short: { summary: 'The least that is needed', value: { name: 'Larkhill Medical Centre' } },
    full: {
      summary: 'With an ID of your own, an address and opening hours',
      value: {
        id: 'pg_larkhill',
        name: 'Larkhill Medical Centre',
        ods_code: 'Z99001',
        timezone: 'Europe/London',
        address: { line_1: '12 Orchard Lane', town: 'Larkhill', postcode: 'ZZ99 1AA' },
        opening_hours: {
          mon: [['08:00', '18:30']],
          tue: [['08:00', '18:30']],
          wed: [
            ['08:00', '12:30'],
            ['13:30', '20:00'],
          ],
          thu: [['08:00', '18:30']],
          fri: [['08:00', '18:30']],
        },
      },
    },
  },
  updatePracticeGroup: one('Another name and address', {
    name: 'Riverside Surgery',
    address: { line_1: '2 Weir Lane', town: 'Exampleton', postcode: 'EX1 1AA' },
  }),
  createNetwork: one('Two practices that book at one another', {
    name: 'Evening hub network',
    practice_group_ids: ['riverside-surgery', 'hillview-hub'],
  }),
  updateNetwork: one('Of this partner alone, and nothing but reading', {
    scopes: ['practice-groups:read', 'submission-types:read', 'events:read'],
    partner_ids: ['prt_demo'],
  }),
  previewNetwork: one('A network of two practices', {
    practice_group_ids: ['riverside-surgery', 'hillview-hub'],
  }),
  createPartner: one('A new application', {
    name: 'Brightwater Software',
    contact_email: 'integrations@brightwater.example',
  }),
  signAgreement: one('Signed, with a higher limit', { rate_limit_per_minute: 600, sla: '99.9 % a month' }),
  createAgreement: {
    targets: {
      summary: 'With a higher limit and targets that are measured',
      value: {
        version: '2026-2',
        document_url: 'https://contracts.example/brightwater/2026-2.pdf',
        signatory: 'Ada Marsh, Brightwater Software',
        signed_at: '2026-11-14T08:00:00.000Z',
        rate_limit_per_minute: 600,
        sla: {
          availability_percent: 99.9,
          latency_ms: { p95: 250 },
          delivery_success_percent: 99.5,
          delivery_seconds: { p95: 30 },
        },
      },
    },
    words: {
      summary: 'With an SLA in words',
      value: {
        version: '2026-1',
        signatory: 'Ada Marsh',
        signed_at: '2026-01-05T00:00:00.000Z',
        ends_at: '2036-01-05T00:00:00.000Z',
        sla: '99.9 % a month',
      },
    },
  },
  updateAgreement: one('It ends', { ends_at: '2036-01-01T00:00:00.000Z' }),
  updatePartner: one('A new contact and a higher limit', {
    contact_email: 'platform@brightwater.example',
    rate_limit_per_minute: 900,
  }),
  createPartnerInvitation: one('Somebody of a partner', {
    email: 'ada.marsh@brightwater.example',
    name: 'Ada Marsh',
  }),
  liftStop: one('With the reason', { reason: 'The practice asked us to by telephone.' }),
  createPracticeInvitation: one('Somebody of a practice', {
    email: 'manager@larkhill.example',
    name: 'Rose Field',
  }),
  declineApproval: one('With the reason', { reason: 'Brightwater has not signed the new agreement yet.' }),
  issueKey: one('A key that may read groups and update submission types', {
    partner_id: 'prt_demo',
    practice_group_id: 'riverside-surgery',
    scopes: ['practice-groups:read', 'submission-types:read', 'submission-types:write'],
    expires_at: '2036-01-01T00:00:00.000Z',
  }),
  issueKeys: one('A key for each of two practice groups', {
    partner_id: 'prt_demo',
    practice_group_ids: ['riverside-surgery', 'hillview-hub'],
    scopes: ['practice-groups:read', 'events:read'],
    label: 'Roll-out',
  }),
  rotateSigningKey: one('Both sign for a day', { overlap_seconds: 86_400 }),
  updatePartnerWebhook: one('Nothing is sent to it for now', {
    status: 'paused',
    reason: 'Your receiver answers 500; we agreed on the phone to wait.',
  }),
  replayPartnerWebhook: one('What it missed during the outage of this morning', {
    since: '2026-11-14T06:00:00.000Z',
    until: '2026-11-14T08:30:00.000Z',
  }),
  updateKey: {
    addresses: {
      summary: 'It may be used from two networks only',
      value: { label: 'Booking service', allowed_addresses: ['203.0.113.0/24', '2001:db8:40::/48'] },
    },
    scopes: { summary: 'Other scopes', value: { scopes: ['practice-groups:read', 'events:read'] } },
  },
  reportLeakedKeys: {
    one: {
      summary: 'One key',
      value: {
        key: 'ptr_live_REPORTED',
        source: 'A customer',
        url: 'https://gist.example/brightwater/1f3a',
      },
    },
    scanner: {
      summary: 'As a secret scanner sends them',
      value: [
        {
          token: 'ptr_live_REPORTED',
          type: 'porter_api_key',
          url: 'https://github.example/brightwater/booking/blob/main/.env',
          source: 'content',
        },
      ],
    },
  },
  rotateKey: one('The old key works for one more hour', { overlap_seconds: 3600 }),
  createSubmissionType: one('A category of administrative requests', {
    pathway_id: 'pathway_admin',
    title: 'Sick note',
    in_hours: true,
    out_of_hours: false,
    type: 'admin_request',
    daily_limit: 40,
  }),
  updateGroupSubmissionType: one('Closed until further notice', { suspended: true }),
  getAvailability: one('Two of the practice', { submission_type_ids: ['symptoms', 'prescriptions'] }),
  putForm: one('A form', { title: 'A new symptom' }),
  putAssignee: one('A team', { name: 'Front desk' }),
  importItems: one('A practice with a form and a submission type that uses it', {
    items: [
      { kind: 'practice_group', id: 'pg_larkhill', source_version: 41, name: 'Larkhill Medical Centre' },
      {
        kind: 'form',
        id: 'sick-note',
        practice_group_id: 'pg_larkhill',
        source_version: 7,
        title: 'Sick note',
      },
      {
        kind: 'submission_type',
        id: 'st_sick_note',
        practice_group_id: 'pg_larkhill',
        source_version: 12,
        pathway_id: 'pathway_admin',
        title: 'Sick note',
        form_id: 'sick-note',
      },
      { kind: 'form', id: 'old-form', practice_group_id: 'pg_larkhill', source_version: 8, delete: true },
    ],
  }),
  createFormSubmission: one('A patient sent a form', { submission_type_id: 'symptoms' }),
  publishEvents: {
    one: {
      summary: 'One event',
      value: {
        object: 'Appointment',
        id: 'apt_1042',
        practice_group_id: 'riverside-surgery',
        event: 'appointment.confirmed',
      },
    },
    several: {
      summary: 'Several at once',
      value: {
        events: [
          {
            object: 'Appointment',
            id: 'apt_1043',
            practice_group_id: 'riverside-surgery',
            event: 'appointment.booking-failed',
            failure_reason: 'The EHR did not answer.',
            code: 'EhrUnreachable',
          },
          {
            object: 'Prescription',
            id: 'rx_77',
            practice_group_id: 'hillview-hub',
            event: 'prescription.issued',
          },
        ],
      },
    },
  },
  reportEhrHealth: one('The connection is down', { status: 'unhealthy' }),
  createWriteToRecordJob: one('A consultation is to be written', {
    practice_group_id: 'riverside-surgery',
    resource: 'Consultation',
    resource_id: 'con_311',
  }),
  failWriteToRecordJob: one('It will not be tried again', { permanent: true }),
  reportChangeRejected: one('It does not fit what the practice offers', {
    reason: 'This form is closed over the holidays.',
  }),
  putWriteThrough: one('The practice software is asked first', {
    url: 'https://practice-software.example/porter',
  }),
  createSubscription: one('The practice software hears of every change', {
    url: 'https://practice-software.example/porter',
    topics: ['changes'],
  }),
  updateSubscription: one('Nothing is sent for a while', { status: 'paused' }),
  testSubscription: one('As if a partner had changed something', { topic: 'changes' }),
  replaySubscription: one('Everything since a moment', { since: '2026-11-14T08:00:00.000Z' }),
  createErasure: one('An appointment, everywhere', {
    practice_group_id: 'riverside-surgery',
    object: 'Appointment',
    object_id: 'apt_1042',
  }),
  createOperator: one('A system that reports what happened', {
    name: 'Booking system',
    role: 'source',
    label: 'In the vault of the booking team',
    expires_at: '2036-01-01T00:00:00.000Z',
  }),
  createPartnerContact: one('Somebody who looks after webhooks', {
    email: 'on-call@partner.example',
    name: 'On call',
    alert_kinds: ['webhook_failing', 'webhook_disabled', 'deliveries_late'],
  }),
  updatePartnerContact: one('To be told of everything', { alert_kinds: null }),
  createContact: one('The team on call', { email: 'on-call@operator.example', name: 'On call' }),
  updateContact: one('Only what concerns the service', { alert_kinds: ['deliveries_late', 'ehr_down'] }),
  updateOperator: one('A token that is to end', { expires_at: '2036-01-01T00:00:00.000Z' }),
};
