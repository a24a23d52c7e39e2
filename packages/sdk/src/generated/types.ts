// Made by `npm run generate` from spec/. Change it there.

import type { UnknownEvent } from '../unknown.ts';

export const eventNames = [
  'appointment.confirmed',
  'appointment.rescheduled',
  'appointment.cancelled',
  'appointment.booking-failed',
  'appointment.cancel-failed',
  'appointment.reschedule-failed',
  'form-submission.created',
  'prescription.issued',
  'patient.added-to-sequence',
  'write-to-record.succeeded',
  'write-to-record.failed',
  'ehr.health_status.healthy',
  'ehr.health_status.unhealthy',
] as const;

/** The events that this version of the library knows. */
export type EventName = (typeof eventNames)[number];

export interface Address {
  /** The first line of the address. */
  line_1: string | null;
  /** The second line of the address. */
  line_2: string | null;
  /** The town. */
  town: string | null;
  /** The county. */
  county: string | null;
  /** The postcode. */
  postcode: string | null;
}

/** Something of yours that needs looking after. */
export interface Alert {
  /** The ID of the alert. */
  id: string;
  /** The kind of alert. */
  kind:
    | 'webhook_failing'
    | 'webhook_disabled'
    | 'key_expiring'
    | 'key_unused'
    | 'key_leaked'
    | 'refusals_rising'
    | 'deliveries_late'
    | 'agreement_ended';
  /** The object that the alert is about. */
  subject: AlertSubject;
  /** The practice group concerned; null: it concerns none alone. */
  practice_group_id: string | null;
  /** What is the matter, in plain words. */
  message: string;
  /** What to do about it. */
  remedy: string;
  /** Figures and moments; each is null where it does not apply. */
  details: AlertDetails;
  /** When the alert began. */
  began_at: string;
  /** null: it is open. */
  ended_at: string | null;
  /** Why the alert ended; null: it is open. */
  ended_because:
    | 'recovered'
    | 'disabled'
    | 'paused'
    | 'withheld'
    | 'replaced'
    | 'expired'
    | 'lifted'
    | 'settled'
    | 'gone'
    | 'told'
    | null;
}

/** What was known when it began; null where it does not apply. */
export interface AlertDetails {
  /** Since when it has been so. */
  since: string | null;
  /** Of a key or an agreement: when it ends. */
  until: string | null;
  /**
   * Failed attempts, refused calls within the hour, changes that wait, or keys that work under an
   * agreement.
   */
  count: number | null;
  /** Of refused calls: how many are usual at that hour. */
  usual: number | null;
  /** Why the webhook is disabled or withheld, or why the practice stopped the partner; null: not given. */
  reason: string | null;
}

export interface AlertPage {
  /** The entries of this page. */
  data: Alert[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** What it is about. */
export interface AlertSubject {
  /** The type of the object. */
  type:
    | 'webhook'
    | 'subscription'
    | 'write_through'
    | 'key'
    | 'partner'
    | 'practice_group'
    | 'agreement'
    | 'stop'
    | 'service';
  /** The ID of the object. */
  id: string;
  /** For people: the host of a webhook, the label of a key. */
  name: string;
}

/** A booking failed to confirm in the EHR. */
export interface AppointmentBookingFailedEvent {
  /** The type of the object that the event is about. */
  object: 'Appointment';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'appointment.booking-failed';
  /**
   * Human-readable reason why the action failed to confirm in the EHR. At most 2,000 characters: a
   * longer text is shortened, and ends in `…`. NUL and lone surrogates become U+FFFD.
   */
  failure_reason?: string;
  /**
   * Machine-readable failure code. At most 255 characters: a longer text is shortened, and ends in `…`.
   * NUL and lone surrogates become U+FFFD.
   */
  code?: string;
}

/** A cancellation failed to confirm in the EHR. */
export interface AppointmentCancelFailedEvent {
  /** The type of the object that the event is about. */
  object: 'Appointment';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'appointment.cancel-failed';
  /**
   * Human-readable reason why the action failed to confirm in the EHR. At most 2,000 characters: a
   * longer text is shortened, and ends in `…`. NUL and lone surrogates become U+FFFD.
   */
  failure_reason?: string;
  /**
   * Machine-readable failure code. At most 255 characters: a longer text is shortened, and ends in `…`.
   * NUL and lone surrogates become U+FFFD.
   */
  code?: string;
}

/** An appointment has been cancelled. */
export interface AppointmentCancelledEvent {
  /** The type of the object that the event is about. */
  object: 'Appointment';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'appointment.cancelled';
}

/** An appointment has been confirmed. */
export interface AppointmentConfirmedEvent {
  /** The type of the object that the event is about. */
  object: 'Appointment';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'appointment.confirmed';
}

/** A reschedule failed to confirm in the EHR. */
export interface AppointmentRescheduleFailedEvent {
  /** The type of the object that the event is about. */
  object: 'Appointment';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'appointment.reschedule-failed';
  /**
   * Human-readable reason why the action failed to confirm in the EHR. At most 2,000 characters: a
   * longer text is shortened, and ends in `…`. NUL and lone surrogates become U+FFFD.
   */
  failure_reason?: string;
  /**
   * Machine-readable failure code. At most 255 characters: a longer text is shortened, and ends in `…`.
   * NUL and lone surrogates become U+FFFD.
   */
  code?: string;
}

/** An appointment has been rescheduled. */
export interface AppointmentRescheduledEvent {
  /** The type of the object that the event is about. */
  object: 'Appointment';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'appointment.rescheduled';
}

/** Somebody who is told of alerts by e-mail. */
export interface Contact {
  /** `first`: the contact_email of the partner. */
  id: string;
  /** Whose it is; null: of the operator. */
  partner_id: string | null;
  /** The email address that alerts are sent to. */
  email: string;
  /** The name of the contact; null: not given. */
  name: string | null;
  /**
   * Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys everybody
   * is told.
   */
  alert_kinds:
    | (
        | 'webhook_failing'
        | 'webhook_disabled'
        | 'key_expiring'
        | 'key_unused'
        | 'key_leaked'
        | 'refusals_rising'
        | 'partner_waiting'
        | 'deliveries_late'
        | 'ehr_down'
        | 'changes_pending'
        | 'partner_stopped'
        | 'agreement_ended'
      )[]
    | null;
  /** When the contact was added. */
  created_at: string;
  /** When the contact was last changed. */
  updated_at: string;
}

export interface ContactPage {
  /** The entries of this page. */
  data: Contact[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface CreatedWebhook {
  /** The ID of the webhook. */
  id: string;
  /** The URL that receives the events. */
  url: string;
  /** A note of your own; null: none. */
  description: string | null;
  /** The events that the webhook subscribes to. */
  event_types: EventName[];
  /**
   * paused: by you, or by the operator, as `status_reason` then says. disabled: by the service, because
   * the receiver answered 410 or failed for five days. In both cases deliveries queue up for as long as
   * events are kept, and are sent once the webhook is active again.
   */
  status: 'active' | 'paused' | 'disabled';
  /** Why the service disabled it, or who else paused or activated it and why, as a sentence. */
  status_reason: string | null;
  /**
   * How deliveries are signed. hmac: with the secret of the webhook (`v1`). ed25519: with the key of
   * this deployment (`v1a`), whose public part is at `/.well-known/webhook-keys`. both: each.
   */
  signature: 'hmac' | 'ed25519' | 'both';
  /** The headers of your own that it is sent. Their values are not shown. */
  header_names: string[];
  /** The practice group whose events it receives; null for a webhook for all of them. */
  practice_group_id: string | null;
  /**
   * all: it receives the events of every practice group that you may act for with the scope
   * `events:read`, those that are added later included.
   */
  practice_groups: 'all' | null;
  /** Of a webhook for all practice groups: those that it is narrowed to; null: it is not. */
  practice_group_ids: string[] | null;
  /** The state of its deliveries. */
  health: WebhookHealth;
  /** When the webhook was created. */
  created_at: string;
  /** When the webhook was last changed. */
  updated_at: string;
  /** Verifies signatures (Standard Webhooks). Shown here once and never again. */
  secret: string;
}

/** The delivery of one event to one webhook. */
export interface Delivery {
  /** Sent as `webhook-id`. */
  id: string;
  /** The ID of the event. */
  event_id: string;
  /** The name of the event. */
  event: EventName;
  /** What the event is about: the `id` in its payload. */
  object_id: string;
  /** Sent as `webhook-sequence`: counts the deliveries of the webhook. */
  sequence: number;
  /**
   * waiting: an earlier event about the same object comes first. pending: to be sent, or sent again.
   * withheld: not sent, because the partner may not receive events of the practice group at present; it
   * goes on by itself when the partner may again, for as long as events are kept. failed: given up.
   */
  status: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed';
  /**
   * Why deliveries are withheld; null when they are not. partner_not_verified: the partner is suspended.
   * stopped_by_practice: the practice has stopped the partner. key_revoked, key_expired: no key for the
   * practice group works any more. scope_missing: no key, or no network, grants `events:read`.
   * out_of_reach: no key is tied to the practice group, or to one that shares a network with it.
   */
  withheld_reason:
    | 'partner_not_verified'
    | 'stopped_by_practice'
    | 'key_revoked'
    | 'key_expired'
    | 'scope_missing'
    | 'out_of_reach'
    | null;
  /** Oldest first; at most the last 50. */
  attempts: DeliveryAttempt[];
  /**
   * When a pending delivery is sent next, provided that its webhook is active then; null for every other
   * status.
   */
  next_attempt_at: string | null;
  /** When the delivery was created. */
  created_at: string;
  /** When it was delivered or given up; null: it is not finished. */
  finished_at: string | null;
}

export interface DeliveryAttempt {
  /** When the attempt began. */
  at: string;
  /** delivered: the receiver answered with 2xx. failed: everything else. */
  outcome: 'delivered' | 'failed';
  /**
   * The status that the receiver answered with; null when no answer began. Partners see `outcome` alone
   * for a receiver on the machine of the service, unless this staging service may call its own machine.
   */
  status: number | null;
  /** Where the attempt broke off; null when an answer arrived. */
  phase: 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'answer' | null;
  /** Machine-readable reason why it broke off; null when an answer arrived. */
  code: string | null;
  /** What happened, as a sentence. */
  diagnosis: string;
  /** From the start of the attempt to its end. */
  duration_ms: number;
  /** The first 1 KiB of the answer as text; null when it had none. */
  answer: string | null;
}

export interface DeliveryPage {
  /** The entries of this page. */
  data: Delivery[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** The EHR connection of a practice group became healthy. */
export interface EhrHealthStatusHealthyEvent {
  /** The type of the object that the event is about. */
  object: 'EhrHealthStatus';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'ehr.health_status.healthy';
}

/** The EHR connection of a practice group became unhealthy. */
export interface EhrHealthStatusUnhealthyEvent {
  /** The type of the object that the event is about. */
  object: 'EhrHealthStatus';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'ehr.health_status.unhealthy';
}

export interface EventFeedPage {
  /** The events of this page, oldest first. */
  data: FeedEvent[];
  /** How many events this page holds. */
  count: number;
  /** Send it as `cursor` to go on from here. */
  next_cursor: string;
  /** Whether there is more to read at this moment. */
  has_more: boolean;
}

export interface FeedEvent {
  /** The ID of the event. */
  id: string;
  /** When the event was accepted. */
  created_at: string;
  /** The event, as webhooks receive it. */
  data: EventPayload;
}

/** A form submission has been created. */
export interface FormSubmissionCreatedEvent {
  /** The type of the object that the event is about. */
  object: 'FormSubmission';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'form-submission.created';
}

/** A partner and its key, as the service knows them. */
export interface Me {
  /** The partner that the key belongs to. */
  partner: {
    /** The ID of the partner. */
    id: string;
    /** The name of the partner. */
    name: string;
  };
  /** The key that made the request. */
  key: {
    /** The ID of the key. */
    id: string;
    /** The label of the key; null: none. */
    label: string | null;
    /** What the key may do. */
    scopes: (
      | 'practice-groups:read'
      | 'submission-types:read'
      | 'submission-types:write'
      | 'webhooks:read'
      | 'webhooks:write'
      | 'events:read'
    )[];
    /** The limit that holds for the key. */
    rate_limit_per_minute: number;
    /** When the key expires; null: never. */
    expires_at: string | null;
  };
  /** Every practice group that the key may act for; its own comes first. */
  practice_groups: {
    /** The practice group ID. */
    id: string;
    /** The name of the practice group. */
    name: string;
    /** What the key may do there: its own scopes, as far as networks grant them. */
    scopes: (
      | 'practice-groups:read'
      | 'submission-types:read'
      | 'submission-types:write'
      | 'webhooks:read'
      | 'webhooks:write'
      | 'events:read'
    )[];
    /**
     * The network through which the key acts for it, the first by name if there are several; null: it is
     * tied to it.
     */
    through: {
      /** The ID of the network. */
      id: string;
      /** The name of the network. */
      name: string;
    } | null;
  }[];
}

/** What you have signed, and the terms. */
export interface OwnAgreement {
  /** The ID of the agreement. */
  id: string;
  /** Which text was signed. */
  version: string | null;
  /** Where the signed document is. */
  document_url: string | null;
  /** Who signed for the partner. */
  signatory: string | null;
  /** When the agreement was signed. */
  signed_at: string;
  /**
   * From when on it no longer holds; null: until further notice. Keys that were issued under it go on
   * working.
   */
  ends_at: string | null;
  /** in_force: its end has not come. ended: its end has passed. */
  status: 'in_force' | 'ended';
  /** Of each key that was issued under it and has none of its own; null: the default limit. */
  rate_limit_per_minute: number | null;
  /** In words. */
  sla: string | null;
  /** What is measured month by month; null: the SLA is words alone, or there is none. */
  sla_targets: SlaTargets | null;
  /** When the agreement was recorded. */
  created_at: string;
  /** When the record was last changed. */
  updated_at: string;
}

export interface OwnAgreementPage {
  /** The entries of this page. */
  data: OwnAgreement[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** A patient has been added to a sequence. */
export interface PatientAddedToSequenceEvent {
  /** The type of the object that the event is about. */
  object: 'Patient';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'patient.added-to-sequence';
}

/** A practice, or a hub that serves several. */
export interface PracticeGroup {
  /** The practice group ID, as it is sent in `x-practice-group-id`. */
  id: string;
  /** The name of the practice group. */
  name: string;
  /** The organisation code of the practice. */
  ods_code: string | null;
  /** IANA time zone. */
  timezone: string;
  /** The postal address; null: not known. */
  address: Address | null;
  /** The networks that the practice group belongs to. */
  networks: {
    /** The ID of the network. */
    id: string;
    /** The name of the network. */
    name: string;
  }[];
  /** The last reported status of the connection to the electronic health record (EHR). */
  ehr_status: 'healthy' | 'unhealthy' | 'unknown';
  /** When the practice group was created. */
  created_at: string;
  /** When the practice group was last changed. */
  updated_at: string;
}

export interface PracticeGroupList {
  /** The practice group acted for comes first. */
  data: PracticeGroup[];
  /** The number of practice groups in `data`. */
  count: number;
}

/** A prescription has been issued. */
export interface PrescriptionIssuedEvent {
  /** The type of the object that the event is about. */
  object: 'Prescription';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'prescription.issued';
}

export interface RefusedRequest {
  /** The `x-request-id` of the call. */
  request_id: string;
  /** When the call was refused. */
  at: string;
  /** The HTTP method. */
  method: string;
  /** Without its query. */
  path: string;
  /** The operation that was called. */
  operation: string;
  /** The HTTP status of the answer. */
  status: number;
  /** The code of the refusal; `validation_error` for a 400. */
  error: string;
  /** Why the key was refused, at all or for this practice group; null if that was not why the call was. */
  reason:
    | 'expired'
    | 'revoked'
    | 'leaked'
    | 'partner_not_verified'
    | 'address_not_allowed'
    | 'proof_missing'
    | 'proof_invalid'
    | 'stopped_by_practice'
    | 'proof_replayed'
    | null;
  /** The body of the refusal. Of a 400 with very many problems, the first 100. */
  answer: ValidationError | Problem;
  /** The cause and what to do about it, in plain words. */
  explanation: string;
}

export interface Replay {
  /** How many deliveries will be sent, including those that were pending anyway. */
  count: number;
}

export type ReplayRequest =
  | {
      /** Not in the future. */
      since: string;
      /** With `since`, and after it: only what was accepted before this moment. */
      until?: string;
      event_ids?: never;
    }
  | {
      since?: never;
      until?: never;
      /** The IDs of the events to send again. */
      event_ids: string[];
    };

export interface RotatedWebhookSecret {
  /** The webhook. */
  id: string;
  /** Verifies signatures (Standard Webhooks). Shown here once and never again. */
  secret: string;
  /** Until then, deliveries are signed with the previous secret, too. */
  previous_secret_expires_at: string;
}

/** Targets that are measured month by month. */
export interface SlaTargets {
  /**
   * Of the calls, those not answered with 5xx; of the minutes, those in which the service ran. The lower
   * of the two counts.
   */
  availability_percent?: number;
  /**
   * How long answers may take: half of them, 95 and 99 of 100. Measured in the service, and rounded up
   * to a bound of the report.
   */
  latency_ms?: {
    /** The longest time for half of them. */
    p50?: number;
    /** The longest time for 95 of 100. */
    p95?: number;
    /** The longest time for 99 of 100. */
    p99?: number;
  };
  /** Of the deliveries that came to an end, those that arrived. */
  delivery_success_percent?: number;
  /** How long it may take from the acceptance of an event to its receipt, likewise. */
  delivery_seconds?: {
    /** The longest time for half of them. */
    p50?: number;
    /** The longest time for 95 of 100. */
    p95?: number;
    /** The longest time for 99 of 100. */
    p99?: number;
  };
}

/** A category of patient request that care navigation handles. */
export interface SubmissionType {
  /** The ID of the submission type. */
  id: string;
  /** The ID of its care navigation pathway. */
  pathway_id: string;
  /** The ID of the form that patients fill in; null: none. */
  form_id: string | null;
  /** The title. Patients may see it. */
  title: string;
  /** A longer text. Patients may see it. null: none. */
  description: string | null;
  /** Takes forms during opening hours. */
  in_hours: boolean;
  /** Takes forms outside opening hours. */
  out_of_hours: boolean;
  /** Whether the submission type takes no forms for now. */
  suspended: boolean;
  /** A link that patients are offered; null: none. */
  external_url: string | null;
  /** The text of the link; null: none. */
  external_url_name: string | null;
  /** The kind of request; null: not set. */
  type: 'admin_request' | 'clinical_request' | 'other_request' | null;
  /** The priority of a new request. */
  default_priority: 'lowest' | 'low' | 'medium' | 'high' | 'highest';
  /** The most forms that are taken on one day; null: no cap. */
  daily_limit: number | null;
  /** Forms submitted on the current day, in the time zone of the practice group. */
  forms_submitted_today?: number;
  /** Whether patients are checked for eligibility. */
  patient_eligibility_check: boolean;
  /** The ID of the person or team that requests are assigned to; null: none. */
  assignee_id: string | null;
  /** Admin: a person. AdminTeam: a team. null: none. */
  assignee_type: 'Admin' | 'AdminTeam' | null;
  /** Sort position. */
  order: number | null;
  /** When the submission type was created. */
  created_at: string | null;
  /** When the submission type was last changed. */
  updated_at: string | null;
}

/** A change that you made to a submission type. */
export interface SubmissionTypeChange {
  /** The ID of the change. */
  id: string;
  /**
   * pending: the practice's own software has not said yet what became of it. applied: it has the change,
   * too. rejected: it does not take it; `reason` says why.
   */
  state: 'pending' | 'applied' | 'rejected';
  /** Why the practice software rejected the change; null: it did not. */
  reason: string | null;
  /** The `x-request-id` of the call that made the change. */
  request_id: string | null;
  /** When you made it. */
  at: string;
  /** When it was applied or rejected. */
  ended_at: string | null;
}

export interface SubmissionTypeChangePage {
  /** The entries of this page. */
  data: SubmissionTypeChange[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface SubmissionTypePage {
  /** The entries of this page. */
  data: SubmissionType[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** A merge patch: what is left out stays as it is, null clears a nullable field. */
export interface SubmissionTypePatch {
  /** The title. Patients may see it. */
  title?: string;
  /** A longer text. Patients may see it. null clears it. */
  description?: string | null;
  /** Whether to take forms during opening hours. */
  in_hours?: boolean;
  /** Whether to take forms outside opening hours. */
  out_of_hours?: boolean;
  /** Whether to take no forms for now. */
  suspended?: boolean;
  /** The ID of a form of the practice group; null clears it. */
  form_id?: string | null;
  /** A link to offer to patients: an absolute http, https, tel or mailto URL; null clears it. */
  external_url?: string | null;
  /** The text of the link, which needs `external_url`; null clears it. */
  external_url_name?: string | null;
  /** The kind of request; null clears it. */
  type?: 'admin_request' | 'clinical_request' | 'other_request' | null;
  /** The priority of a new request. */
  default_priority?: 'lowest' | 'low' | 'medium' | 'high' | 'highest';
  /** The most forms to take on one day. 0: closed today; null: no cap. */
  daily_limit?: number | null;
  /** Whether to check patients for eligibility. */
  patient_eligibility_check?: boolean;
  /**
   * The ID of a person or team of the practice group. Set it together with `assignee_type`; null clears
   * it.
   */
  assignee_id?: string | null;
  /** Admin: a person. AdminTeam: a team. Set it together with `assignee_id`; null clears it. */
  assignee_type?: 'Admin' | 'AdminTeam' | null;
  /** The sort position. */
  order?: number;
}

export interface TestDelivery {
  /** The ID of the test event. */
  event_id: string;
  /** The ID of its delivery, sent as `webhook-id`. */
  delivery_id: string;
}

export interface TestEvent {
  /** The ID of the test event. */
  event_id: string;
}

/** As a validation error: there was no request that could be read. */
export interface UnreadableRequest {
  /** Always true: there is no code. */
  error: true;
  /** The HTTP status. */
  statusCode: number;
  /** The parts that could not be read. */
  message: {
    /** The kind of problem. */
    code: string;
    /** The expected type. */
    expected: string;
    /** Where the offending field is; empty for the body itself. */
    path: (string | number)[];
    /** The problem, as a sentence. */
    message: string;
  }[];
}

/** How often something happened on a day. */
export interface UsageEntry {
  /** By the calendar of UTC. */
  day: string;
  /** call: requests to the API. delivery: attempts to deliver to a webhook. */
  kind: 'call' | 'delivery';
  /** Of a call. */
  key_id: string | null;
  /** Of a delivery. */
  webhook_id: string | null;
  /** Of a call; `none` where there is no such operation. */
  operation: string | null;
  /**
   * Of a call: `ok`, `refused` (4xx), `rate_limited` (429), or `failed` (5xx, a fault of ours). Of an
   * attempt to deliver: `delivered`, `retried` (it failed and is tried again), or `given_up`.
   */
  outcome: 'ok' | 'refused' | 'rate_limited' | 'failed' | 'delivered' | 'retried' | 'given_up';
  /** The number of times on that day. */
  count: number;
}

export interface UsageEntryPage {
  /** The entries of this page. */
  data: UsageEntry[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** Every problem of the request, one entry each. */
export interface ValidationError {
  /** Always true: a 400 has no code. */
  error: true;
  /** The HTTP status: 400. */
  statusCode: number;
  /** One entry for each problem. */
  message: {
    /** The kind of problem. */
    code: string;
    /** The expected type. */
    expected: string;
    /** Where the offending field is; empty for the body itself. */
    path: (string | number)[];
    /** The problem, as a sentence. */
    message: string;
  }[];
}

/** An address that receives the events of one practice group, or of all of them. */
export interface Webhook {
  /** The ID of the webhook. */
  id: string;
  /** The URL that receives the events. */
  url: string;
  /** A note of your own; null: none. */
  description: string | null;
  /** The events that the webhook subscribes to. */
  event_types: EventName[];
  /**
   * paused: by you, or by the operator, as `status_reason` then says. disabled: by the service, because
   * the receiver answered 410 or failed for five days. In both cases deliveries queue up for as long as
   * events are kept, and are sent once the webhook is active again.
   */
  status: 'active' | 'paused' | 'disabled';
  /** Why the service disabled it, or who else paused or activated it and why, as a sentence. */
  status_reason: string | null;
  /**
   * How deliveries are signed. hmac: with the secret of the webhook (`v1`). ed25519: with the key of
   * this deployment (`v1a`), whose public part is at `/.well-known/webhook-keys`. both: each.
   */
  signature: 'hmac' | 'ed25519' | 'both';
  /** The headers of your own that it is sent. Their values are not shown. */
  header_names: string[];
  /** The practice group whose events it receives; null for a webhook for all of them. */
  practice_group_id: string | null;
  /**
   * all: it receives the events of every practice group that you may act for with the scope
   * `events:read`, those that are added later included.
   */
  practice_groups: 'all' | null;
  /** Of a webhook for all practice groups: those that it is narrowed to; null: it is not. */
  practice_group_ids: string[] | null;
  /** The state of its deliveries. */
  health: WebhookHealth;
  /** When the webhook was created. */
  created_at: string;
  /** When the webhook was last changed. */
  updated_at: string;
}

export interface WebhookHealth {
  /** Failed attempts since the last success. */
  failures: number;
  /**
   * The time of the first of them; if nothing could be sent meanwhile because access was lost, when it
   * came back.
   */
  failing_since: string | null;
  /** When the receiver last answered with 2xx; null: never. */
  last_success_at: string | null;
  /** Deliveries that are not finished. 1000 stands for that many or more. */
  queued: number;
  /**
   * Since when nothing is sent because the partner may not receive events of the practice group; null
   * when it may.
   */
  withheld_since: string | null;
  /**
   * Why deliveries are withheld; null when they are not. partner_not_verified: the partner is suspended.
   * stopped_by_practice: the practice has stopped the partner. key_revoked, key_expired: no key for the
   * practice group works any more. scope_missing: no key, or no network, grants `events:read`.
   * out_of_reach: no key is tied to the practice group, or to one that shares a network with it.
   */
  withheld_reason:
    | 'partner_not_verified'
    | 'stopped_by_practice'
    | 'key_revoked'
    | 'key_expired'
    | 'scope_missing'
    | 'out_of_reach'
    | null;
  /**
   * Of a webhook for all practice groups: those whose deliveries are withheld, while the others go on.
   * At most the first 100.
   */
  withheld_practice_groups: WithheldPracticeGroup[];
}

export interface WebhookPage {
  /** The entries of this page. */
  data: Webhook[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/**
 * A merge patch: what is left out stays as it is; null clears the description, or
 * `practice_group_ids`.
 */
export interface WebhookPatch {
  /** Public and https. Redirects are not followed. */
  url?: string;
  /** The events to subscribe to from now on. */
  event_types?: EventName[];
  /** A note of your own; null: none. */
  description?: string | null;
  /** Only the events of these. For a webhook for all practice groups. */
  practice_group_ids?: string[] | null;
  /** The signature of deliveries from now on: `hmac`, `ed25519` or `both`. */
  signature?: 'hmac' | 'ed25519' | 'both';
  /**
   * Replaced as a whole; null takes them away, and so does an address at another host: their values are
   * shown to nobody, that one included.
   */
  headers?: Record<string, string> | null;
  /** Activating a disabled webhook resets its count of failures. */
  status?: 'active' | 'paused';
}

export interface WithheldPracticeGroup {
  /** The practice group whose events are withheld. */
  practice_group_id: string;
  /** Since when they are withheld. */
  since: string;
  /** Why they are withheld, as in `withheld_reason`. */
  reason:
    | 'partner_not_verified'
    | 'stopped_by_practice'
    | 'key_revoked'
    | 'key_expired'
    | 'scope_missing'
    | 'out_of_reach';
}

/** A write-to-record job failed permanently. */
export interface WriteToRecordFailedEvent {
  /** The type of the object that the event is about. */
  object: 'WriteToRecordEntry';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'write-to-record.failed';
  /** The resource type linked to the write-to-record entry. */
  resource: string;
  /** The resource ID linked to the write-to-record entry. */
  resource_id: string;
}

/** A write-to-record job finished successfully. */
export interface WriteToRecordSucceededEvent {
  /** The type of the object that the event is about. */
  object: 'WriteToRecordEntry';
  /** The ID of the object that the event is about. */
  id: string;
  /** The practice group concerned. */
  practice_group_id: string;
  /** The name of the event. */
  event: 'write-to-record.succeeded';
  /** The resource type linked to the write-to-record entry. */
  resource: string;
  /** The resource ID linked to the write-to-record entry. */
  resource_id: string;
}

/** What happened: told apart by `event`. New kinds may come at any time, and arrive as `unknown`. */
export type EventPayload =
  | AppointmentConfirmedEvent
  | AppointmentRescheduledEvent
  | AppointmentCancelledEvent
  | AppointmentBookingFailedEvent
  | AppointmentCancelFailedEvent
  | AppointmentRescheduleFailedEvent
  | FormSubmissionCreatedEvent
  | PrescriptionIssuedEvent
  | PatientAddedToSequenceEvent
  | WriteToRecordSucceededEvent
  | WriteToRecordFailedEvent
  | EhrHealthStatusHealthyEvent
  | EhrHealthStatusUnhealthyEvent
  | UnknownEvent;

export const problemCodes = [
  'invalid_credentials',
  'insufficient_permissions',
  'forbidden',
  'https_required',
  'not_found',
  'method_not_allowed',
  'conflict',
  'cursor_gone',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'business_rule_violation',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
] as const;

/** A refusal, with a stable code in `error`. */
export type Problem =
  | {
      error:
        | 'invalid_credentials'
        | 'forbidden'
        | 'https_required'
        | 'not_found'
        | 'method_not_allowed'
        | 'conflict'
        | 'precondition_failed'
        | 'payload_too_large'
        | 'unsupported_media_type'
        | 'internal_error'
        | 'service_unavailable';
      /** The HTTP status. */
      statusCode: number;
      /** The problem and the remedy, as a sentence. */
      message: string;
      /** Quote it to support; it is also in x-request-id. */
      request_id: string;
      /** A page about this error. */
      doc_url: string;
    }
  | {
      error: 'insufficient_permissions';
      /** The HTTP status. */
      statusCode: number;
      /** The problem and the remedy, as a sentence. */
      message: string;
      /** Quote it to support; it is also in x-request-id. */
      request_id: string;
      /** A page about this error. */
      doc_url: string;
      /** With insufficient_permissions: what the key lacks. */
      required_scopes: string[];
    }
  | {
      error: 'cursor_gone';
      /** The HTTP status. */
      statusCode: number;
      /** The problem and the remedy, as a sentence. */
      message: string;
      /** Quote it to support; it is also in x-request-id. */
      request_id: string;
      /** A page about this error. */
      doc_url: string;
      /** With cursor_gone: the cursor to go on from. */
      resume_cursor: string;
    }
  | {
      error: 'business_rule_violation';
      /** The HTTP status. */
      statusCode: number;
      /** The problem and the remedy, as a sentence. */
      message: string;
      /** Quote it to support; it is also in x-request-id. */
      request_id: string;
      /** A page about this error. */
      doc_url: string;
      /** With business_rule_violation: the rule that is broken. */
      rule: string;
      /** With business_rule_violation: the field to look at. */
      path: (string | number)[];
    }
  | {
      error: 'rate_limit_exceeded';
      /** The HTTP status. */
      statusCode: number;
      /** The problem and the remedy, as a sentence. */
      message: string;
      /** Quote it to support; it is also in x-request-id. */
      request_id: string;
      /** A page about this error. */
      doc_url: string;
      /** With rate_limit_exceeded: seconds to wait, as in Retry-After. */
      retry_after: number;
    };
