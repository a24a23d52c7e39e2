// Made by `npm run generate` from spec/. Change it there.

export interface AddressCheck {
  /**
   * `refused`: a webhook with this address would not be created. `not_tried`: it would, but the address
   * is not a public one.
   */
  outcome: 'reached' | 'not_reached' | 'not_tried' | 'refused';
  /** What was found, and what to do about it. */
  message: string;
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

/** Calls with a key, by what became of them. */
export interface DayOfCalls {
  /** By the calendar of UTC. */
  day: string;
  /** Answered. */
  ok: number;
  /** Answered with 4xx, but for 429. */
  refused: number;
  /** Answered with 429. */
  rate_limited: number;
  /** Answered with 5xx. */
  failed: number;
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

/** What happened, as receivers get it. */
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
  | EhrHealthStatusUnhealthyEvent;

/** The name of an event. */
export type EventName =
  | 'appointment.confirmed'
  | 'appointment.rescheduled'
  | 'appointment.cancelled'
  | 'appointment.booking-failed'
  | 'appointment.cancel-failed'
  | 'appointment.reschedule-failed'
  | 'form-submission.created'
  | 'prescription.issued'
  | 'patient.added-to-sequence'
  | 'write-to-record.succeeded'
  | 'write-to-record.failed'
  | 'ehr.health_status.healthy'
  | 'ehr.health_status.unhealthy';

export interface FeedEvent {
  /** The ID of the event. */
  id: string;
  /** When the event was accepted. */
  created_at: string;
  /** The event, as webhooks receive it. */
  data: EventPayload;
}

export interface FeedEventPage {
  /** The entries of this page. */
  data: FeedEvent[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
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

/** Whether the integration is well, in figures. */
export interface PortalHome {
  partner: {
    id: string;
    name: string;
    status: string;
  };
  support_contact: string;
  keys: {
    /** That work. */
    active: number;
    /** Of these, that end within 14 days. */
    ending: number;
  };
  webhooks: {
    /** That are sent to. */
    active: number;
    /** Of these, whose last attempts failed. */
    failing: number;
    /** By somebody. */
    paused: number;
    /** By the service, because they failed for long. */
    disabled: number;
    /** That the partner may not receive at present, at least in part. */
    withheld: number;
  };
  /** That need looking after. */
  alerts_open: number;
  /** The last 14, of all keys. */
  days: DayOfCalls[];
}

/** A key of the partner. The key itself is shown to nobody. */
export interface PortalKey {
  id: string;
  label: string | null;
  prefix: string;
  last_four: string;
  status: 'active' | 'expired' | 'revoked';
  practice_group: {
    id: string;
    name: string;
  };
  scopes: (
    | 'practice-groups:read'
    | 'submission-types:read'
    | 'submission-types:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'events:read'
  )[];
  /** The limit that holds for it. */
  rate_limit_per_minute: number;
  allowed_addresses: string[] | null;
  proof: 'none' | 'mtls' | 'private_key_jwt';
  last_used_at: string | null;
  last_used_from: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  replaced_by: string | null;
  created_at: string;
  today: DayOfCalls;
}

export interface PortalKeyInUse {
  id: string;
  label: string | null;
  prefix: string;
  last_four: string;
  status: 'active' | 'expired' | 'revoked';
  practice_group: {
    id: string;
    name: string;
  };
  scopes: (
    | 'practice-groups:read'
    | 'submission-types:read'
    | 'submission-types:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'events:read'
  )[];
  /** The limit that holds for it. */
  rate_limit_per_minute: number;
  allowed_addresses: string[] | null;
  proof: 'none' | 'mtls' | 'private_key_jwt';
  last_used_at: string | null;
  last_used_from: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  replaced_by: string | null;
  created_at: string;
  today: DayOfCalls;
  /** The last 14. */
  days: DayOfCalls[];
}

export interface PortalKeyPage {
  /** The entries of this page. */
  data: PortalKey[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** A practice that the partner may act for. */
export interface PortalPractice {
  id: string;
  name: string;
  ods_code: string | null;
  /** The best first; at most 5. */
  ways: PortalWay[];
}

export interface PortalPracticePage {
  /** The entries of this page. */
  data: PortalPractice[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PortalRefusedRequest {
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
  key_id: string;
  practice_group_id: string | null;
  /** Where the call came from. */
  address: string | null;
}

export interface PortalRefusedRequestPage {
  /** The entries of this page. */
  data: PortalRefusedRequest[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PortalWay {
  key_id: string;
  label: string | null;
  last_four: string;
  /** To be sent as x-practice-group-id. */
  practice_group_id: string;
  /** What it may do there. */
  scopes: (
    | 'practice-groups:read'
    | 'submission-types:read'
    | 'submission-types:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'events:read'
  )[];
  /** A network that lets it; null: the key is tied to the practice. */
  through: {
    id: string;
    name: string;
  } | null;
  /**
   * What the key asks for beside itself. proof: with it, the portal reads and changes nothing. address:
   * it changes things from its allowed_addresses alone.
   */
  demands: 'nothing' | 'address' | 'proof';
}

export interface PortalWebhook {
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
  /** null for a webhook for all practices. */
  practice_group_name: string | null;
  oldest_queued_at: string | null;
  /** The key with which the portal looks after it; null: none that works can. */
  way: PortalWay | null;
}

export interface PortalWebhookPage {
  /** The entries of this page. */
  data: PortalWebhook[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
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

/** A refusal, with a stable code in `error`. */
export interface Problem {
  /** The code of the problem. It is stable. */
  error:
    | 'invalid_credentials'
    | 'insufficient_permissions'
    | 'forbidden'
    | 'https_required'
    | 'not_found'
    | 'method_not_allowed'
    | 'conflict'
    | 'cursor_gone'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'business_rule_violation'
    | 'rate_limit_exceeded'
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
  /** With insufficient_permissions: what the key lacks. */
  required_scopes?: string[];
  /** With insufficient_permissions on the operator API. */
  required_roles?: string[];
  /** With business_rule_violation: the rule that is broken. */
  rule?: string;
  /** With business_rule_violation: the field to look at. */
  path?: (string | number)[];
  /** With rate_limit_exceeded: seconds to wait, as in Retry-After. */
  retry_after?: number;
  /** With cursor_gone: the cursor to go on from. */
  resume_cursor?: string;
  /** With conflict, when something in use was to be removed: what uses it, how many, and the first few. */
  used_by?: {
    /** The type of the objects. */
    type: string;
    /** The number of such objects. */
    count: number;
    /** The IDs of the first few. */
    ids: string[];
  }[];
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

export interface ServiceStatus {
  environment: string;
  support_contact: string;
  checked_at: string;
  /** late: what is accepted is not taken up in time, whichever partner it is for. */
  deliveries: 'on_time' | 'late';
  /** The last 30, by the calendar of UTC. */
  days: {
    day: string;
    /** In which no node that answers calls could reach the database. */
    minutes_down: number;
    /** null: it did not run yet. */
    percent: number | null;
  }[];
}

/** How a partner was served in a month, against what was agreed. */
export interface SlaReport {
  partner: {
    id: string;
    name: string;
  };
  month: string;
  /** The month is over. If not, the figures are those so far. */
  complete: boolean;
  /** The one that was signed last of those in force in the month. */
  agreement: {
    id: string;
    version: string | null;
    signed_at: string;
    ends_at: string | null;
    sla: string | null;
    sla_targets: SlaTargets | null;
  } | null;
  calls: {
    /** With a key of the partner. */
    total: number;
    /** Answered with 4xx, but for 429. */
    refused: number;
    /** Answered with 429. */
    rate_limited: number;
    /** Answered with 5xx. */
    failed: number;
    /** Those not answered with 5xx. */
    answered_percent: number | null;
  };
  /** Of the service as a whole. */
  uptime: {
    /** Of the month, so far and since the service runs. */
    minutes: number;
    /** In which no node that answers calls could reach the database. */
    minutes_down: number;
    /** Of the minutes, those in which the service ran. */
    percent: number | null;
  };
  /** The lower of `calls.answered_percent` and `uptime.percent`. */
  availability_percent: number | null;
  /**
   * How long half of the answers took at most, 95 and 99 of 100. Each is rounded up to one of 1, 2, 5,
   * 10, 20, 50, 100, 150, 200, 250, 300, 400, 500, 750, 1,000, 1,500, 2,000, 3,000, 5,000, 10,000; null:
   * longer than the last. Altogether null: there was nothing to measure.
   */
  latency_ms: {
    p50: number | null;
    p95: number | null;
    p99: number | null;
  } | null;
  deliveries: {
    /** That arrived. */
    delivered: number;
    /** That were tried for the last time. */
    given_up: number;
    /** Attempts that failed and were followed by another. */
    retried: number;
    /** Of those that came to an end, those that arrived. */
    success_percent: number | null;
  };
  /**
   * How long it took from the acceptance of an event to its receipt, likewise. Each is rounded up to one
   * of 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1,800, 3,600, 7,200, 18,000, 36,000,
   * 86,400, 259,200; null: longer than the last. Altogether null: there was nothing to measure.
   */
  delivery_seconds: {
    p50: number | null;
    p95: number | null;
    p99: number | null;
  } | null;
  /** Those of the agreement; none if its SLA is in words. */
  targets: {
    measure: string;
    target: number;
    actual: number | null;
    /** null: there was nothing to measure. */
    met: boolean | null;
  }[];
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

export interface Operations {
  getPortalHome: { input: Record<never, never>; answer: PortalHome };
  listPortalKeys: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        status?: 'active' | 'expired' | 'revoked' | undefined;
      };
    };
    answer: PortalKeyPage;
  };
  getPortalKey: { input: { params: { id: string | number } }; answer: PortalKeyInUse };
  listPortalPractices: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: PortalPracticePage;
  };
  listPortalAgreements: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: OwnAgreementPage;
  };
  getPortalSla: {
    input: {
      query?: {
        /** The current one, which it is unless given, or one before it. */
        month?: string | undefined;
      };
    };
    answer: SlaReport;
  };
  listPortalContacts: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: ContactPage;
  };
  updatePortalContact: {
    input: {
      params: { id: string | number };
      body: {
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
              | 'deliveries_late'
              | 'agreement_ended'
            )[]
          | null;
      };
    };
    answer: Contact;
  };
  getPortalStatus: { input: Record<never, never>; answer: ServiceStatus };
  listPortalWebhooks: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: PortalWebhookPage;
  };
  getPortalWebhook: { input: { params: { id: string | number } }; answer: PortalWebhook };
  checkPortalAddress: {
    input: {
      body: {
        url: string;
      };
    };
    answer: AddressCheck;
  };
  listPortalRefusals: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        /** Not before this moment. */
        since?: string | undefined;
        /** Before this moment. */
        until?: string | undefined;
        key_id?: string | undefined;
        error?:
          | 'invalid_credentials'
          | 'insufficient_permissions'
          | 'forbidden'
          | 'https_required'
          | 'not_found'
          | 'method_not_allowed'
          | 'conflict'
          | 'cursor_gone'
          | 'precondition_failed'
          | 'payload_too_large'
          | 'unsupported_media_type'
          | 'business_rule_violation'
          | 'rate_limit_exceeded'
          | 'internal_error'
          | 'service_unavailable'
          | 'validation_error'
          | undefined;
        /** The x-request-id of the call. */
        request_id?: string | undefined;
      };
    };
    answer: PortalRefusedRequestPage;
  };
  listPortalAlerts: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        /** `true`: those that are open; `false`: those that have ended. */
        open?: 'true' | 'false' | undefined;
        kind?:
          | 'webhook_failing'
          | 'webhook_disabled'
          | 'key_expiring'
          | 'key_unused'
          | 'key_leaked'
          | 'refusals_rising'
          | 'deliveries_late'
          | 'agreement_ended'
          | undefined;
      };
    };
    answer: AlertPage;
  };
  streamPortalLive: { input: Record<never, never>; answer: undefined };
  listPortalEvents: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        event?: EventName | undefined;
      };
    };
    answer: FeedEventPage;
  };
  createWebhook: {
    input: {
      body: {
        /** Public and https. Redirects are not followed. */
        url: string;
        /** All of them unless given. */
        event_types?: EventName[];
        /** A note of your own; null: none. */
        description?: string | null;
        /** For every practice group that you may act for; else for the one acted for. */
        practice_groups?: 'all';
        /** Only the events of these. For a webhook for all practice groups. */
        practice_group_ids?: string[] | null;
        /** hmac unless given. */
        signature?: 'hmac' | 'ed25519' | 'both';
        /**
         * Headers of your own, up to 10, that each delivery is sent with, such as the token that your gateway
         * asks for. Kept sealed, and never shown again; `header_names` has their names.
         */
        headers?: Record<string, string>;
      };
    };
    answer: CreatedWebhook;
  };
  getWebhook: { input: { params: { id: string | number } }; answer: Webhook };
  updateWebhook: { input: { params: { id: string | number }; body: WebhookPatch }; answer: Webhook };
  deleteWebhook: { input: { params: { id: string | number } }; answer: undefined };
  rotateWebhookSecret: { input: { params: { id: string | number } }; answer: RotatedWebhookSecret };
  testWebhook: {
    input: {
      params: { id: string | number };
      body: {
        /** The event to send. */
        event: EventName;
      };
    };
    answer: TestDelivery;
  };
  listWebhookDeliveries: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        /** Only deliveries with this status. */
        status?: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed' | undefined;
        /** Only deliveries of this event. */
        event?: EventName | undefined;
      };
    };
    answer: DeliveryPage;
  };
  getWebhookDelivery: {
    input: { params: { id: string | number; delivery_id: string | number } };
    answer: Delivery;
  };
  replayWebhook: { input: { params: { id: string | number }; body: ReplayRequest }; answer: Replay };
  triggerTestEvent: {
    input: {
      body: {
        /** The event to publish. */
        event: EventName;
      };
    };
    answer: TestEvent;
  };
}

export const operations = {
  getPortalHome: ['GET', '/portal/v1/home'],
  listPortalKeys: ['GET', '/portal/v1/keys'],
  getPortalKey: ['GET', '/portal/v1/keys/{id}'],
  listPortalPractices: ['GET', '/portal/v1/practices'],
  listPortalAgreements: ['GET', '/portal/v1/agreements'],
  getPortalSla: ['GET', '/portal/v1/sla'],
  listPortalContacts: ['GET', '/portal/v1/contacts'],
  updatePortalContact: ['PATCH', '/portal/v1/contacts/{id}'],
  getPortalStatus: ['GET', '/portal/v1/status'],
  listPortalWebhooks: ['GET', '/portal/v1/webhooks'],
  getPortalWebhook: ['GET', '/portal/v1/webhooks/{id}'],
  checkPortalAddress: ['POST', '/portal/v1/address-checks'],
  listPortalRefusals: ['GET', '/portal/v1/requests'],
  listPortalAlerts: ['GET', '/portal/v1/alerts'],
  streamPortalLive: ['GET', '/portal/v1/live'],
  listPortalEvents: ['GET', '/portal/v1/events'],
  createWebhook: ['POST', '/v1/webhooks'],
  getWebhook: ['GET', '/v1/webhooks/{id}'],
  updateWebhook: ['PATCH', '/v1/webhooks/{id}'],
  deleteWebhook: ['DELETE', '/v1/webhooks/{id}'],
  rotateWebhookSecret: ['POST', '/v1/webhooks/{id}/rotate-secret'],
  testWebhook: ['POST', '/v1/webhooks/{id}/test'],
  listWebhookDeliveries: ['GET', '/v1/webhooks/{id}/deliveries'],
  getWebhookDelivery: ['GET', '/v1/webhooks/{id}/deliveries/{delivery_id}'],
  replayWebhook: ['POST', '/v1/webhooks/{id}/replay'],
  triggerTestEvent: ['POST', '/v1/test-events'],
} as const satisfies Record<keyof Operations, readonly [string, string]>;
