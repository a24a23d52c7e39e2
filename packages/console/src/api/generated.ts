// Made by `npm run generate` from spec/. Change it there.

/** Something by its ID and by what people call it. */
export interface Named {
  id: string;
  name: string;
}

export interface PartnerActivity {
  id: string;
  kind: 'read' | 'changed' | 'received';
  /**
   * Its place in the list: when it was last read, when it was changed, or when the event that was
   * received was accepted.
   */
  at: string;
  /** The first call, or attempt to deliver. */
  first_at: string;
  /** The last. */
  last_at: string;
  /** How many, between the two. */
  count: number;
  /** Of a call. */
  operation: string | null;
  /** Of what was received. */
  event: string | null;
  object: string | null;
  object_id: string | null;
  /** What the practice calls the object. */
  title: string | null;
  /** Of a change: the changed fields as they were. */
  before: unknown;
  after: unknown;
  /** Of a change: whether the practice software has taken it. */
  state: 'pending' | 'applied' | 'rejected' | null;
}

export interface PartnerActivityPage {
  /** The entries of this page. */
  data: PartnerActivity[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PartnerStop {
  /** The ID of the stop. */
  id: string;
  /** Why the practice stopped the partner. */
  reason: string;
  /** When the practice stopped the partner. */
  stopped_at: string;
  /** The name of whoever did it. */
  stopped_by: string;
  /** Null: it is in force. */
  lifted_at: string | null;
  /** The name of whoever did it. */
  lifted_by: string | null;
  /** What an admin said who lifted it. The practice itself need not say. */
  lifted_reason: string | null;
}

export interface PartnerWay {
  /** Null: by a key that was issued for the practice itself. */
  network: Named | null;
  scopes: (
    | 'practice-groups:read'
    | 'submission-types:read'
    | 'submission-types:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'events:read'
  )[];
  since: string;
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

/** A partner that reaches the practice, or did. */
export interface ReachingPartner {
  partner: Named;
  /**
   * How it reaches the practice, or would if it were not stopped. None: it has no key that works any
   * more, or is suspended.
   */
  ways: PartnerWay[];
  /** When it last read or changed something of the practice; null: not lately. */
  last_call_at: string | null;
  /** The stop in force. */
  stop: PartnerStop | null;
}

export interface ReachingPartnerInDetail {
  partner: Named;
  /**
   * How it reaches the practice, or would if it were not stopped. None: it has no key that works any
   * more, or is suspended.
   */
  ways: PartnerWay[];
  /** When it last read or changed something of the practice; null: not lately. */
  last_call_at: string | null;
  /** The stop in force. */
  stop: PartnerStop | null;
  /** Within the last 24 hours, for this practice. */
  calls_last_day: number;
  /** Addresses to which events of the practice are sent. */
  receivers: number;
  /** Of this practice, on their way to it; 1000 stands for that many or more. */
  deliveries_waiting: number;
  /** Those that were lifted, newest first, at most 20. */
  stops: PartnerStop[];
}

export interface ReachingPartnerPage {
  /** The entries of this page. */
  data: ReachingPartner[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
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

export interface AcceptedEvent {
  id: string;
  payload: EventPayload;
  /** The operator that published it. */
  source_id: string;
  accepted_at: string;
  /** True for a test event: a partner asked for it to try a webhook, and nothing happened. */
  test: boolean;
}

export interface AcceptedEventPage {
  /** The entries of this page. */
  data: AcceptedEvent[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface AccessLogEntry {
  /** Tells entries apart; it is not the same for good. */
  id: string;
  /** `received`: a webhook was sent it. `read`: somebody asked for it. */
  kind: 'received' | 'read';
  first_at: string;
  last_at: string;
  /** Attempts to deliver, or calls, between the two moments. */
  count: number;
  partner_id: string | null;
  /** The key of the call. */
  key_id: string | null;
  operator_id: string | null;
  /**
   * Who of the partner read it in the portal, by name; null: a program of the partner did, or an
   * operator.
   */
  person: string | null;
  practice_group_id: string | null;
  operation: string;
  object: string | null;
  object_id: string | null;
  event_id: string | null;
  event: string | null;
  webhook_id: string | null;
  delivery_id: string | null;
  /** Of what was read from the feed: everything between the two was shown. */
  positions: {
    first: number;
    last: number;
  } | null;
  /** When the partner signed the agreement under which it was told. */
  agreement_signed_at: string | null;
  /**
   * The keys that allowed it at that moment, each with the network that it reached the practice group
   * through; null for a key of the group itself.
   */
  through: AccessThrough[];
  /** The erasure of the object, if it was erased. */
  erased_by: string | null;
}

export interface AccessLogEntryPage {
  /** The entries of this page. */
  data: AccessLogEntry[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface AccessThrough {
  key_id: string;
  network_id: string | null;
}

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

/** What a partner signed, and the terms. */
export interface Agreement {
  /** The ID of the agreement. */
  id: string;
  /** The partner that signed it. */
  partner_id: string;
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
  /**
   * Keys issued under it that are neither revoked nor expired. Of an ended one: whose terms have run
   * out.
   */
  active_keys: number;
  /** When the agreement was recorded. */
  created_at: string;
  /** When the record was last changed. */
  updated_at: string;
}

export interface AgreementPage {
  /** The entries of this page. */
  data: Agreement[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
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

export interface ApiKey {
  id: string;
  partner_id: string;
  practice_group_id: string;
  /** What people call it, such as "booking service, production". */
  label: string | null;
  scopes: (
    | 'practice-groups:read'
    | 'submission-types:read'
    | 'submission-types:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'events:read'
  )[];
  /** How the key begins. */
  prefix: string;
  last_four: string;
  status: 'active' | 'expired' | 'revoked';
  /** null: the limit of its agreement, or the default one. */
  rate_limit_per_minute: number | null;
  /** What it was issued under; null: that is not known, and the partner's terms hold. */
  agreement_id: string | null;
  /** The addresses that it may be used from; null: anywhere. */
  allowed_addresses: string[] | null;
  /**
   * What a call must show beside the key. `mtls`: a client certificate with one of
   * `certificate_fingerprints`. `private_key_jwt`: an assertion in `x-client-assertion`, signed by one
   * of `jwks`.
   */
  proof: 'none' | 'mtls' | 'private_key_jwt';
  certificate_fingerprints: string[];
  jwks: PublicKeys | null;
  /** When a call with it was last let in, up to a minute late; null: never. */
  last_used_at: string | null;
  /** The address of that call. */
  last_used_from: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  /** The report that it was leaked; null: there is none. */
  leak: Leak | null;
  /** The key that a rotation issued in place of this one. */
  replaced_by: string | null;
  created_at: string;
}

export interface ApiKeyPage {
  /** The entries of this page. */
  data: ApiKey[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
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

/** Something that is done when a second person has approved it. */
export interface Approval {
  id: string;
  kind: 'keys' | 'networks' | 'operators';
  /** The operation that waits. */
  operation: string;
  /** The same in words. */
  summary: string;
  /** The parameters of its path, as they were sent. */
  params: Record<string, string>;
  /** Its body, as it was sent; null: it had none. */
  body: unknown;
  status: 'pending' | 'approved' | 'declined' | 'expired';
  requested_by: {
    id: string;
    name: string;
  };
  requested_at: string;
  /** Until when it can be approved. */
  expires_at: string;
  decided_by: {
    id: string;
    name: string;
  } | null;
  decided_at: string | null;
  /** Why it was declined. */
  reason: string | null;
  /** Whether the answer is there for whoever asked, who collects it once. */
  is_collectable: boolean;
}

export interface ApprovalPage {
  /** The entries of this page. */
  data: Approval[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** A person (Admin) or a team (AdminTeam). */
export interface Assignee {
  id: string;
  type: 'Admin' | 'AdminTeam';
  name: string;
  created_at: string;
  updated_at: string;
}

export interface AssigneePage {
  /** The entries of this page. */
  data: Assignee[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface Attention {
  data: AttentionGroup[];
  /** How many things need attention, over all groups. */
  count: number;
  at: string;
}

/** What has the same cause. */
export interface AttentionGroup {
  kind:
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
    | 'deliveries_given_up'
    | 'approval_pending';
  /**
   * Of webhooks that fail: what the last attempt came to, as a code; a status of the receiver as
   * `status_503`. null where there is no cause to tell.
   */
  cause: string | null;
  /** As a heading. */
  title: string;
  /** What to do about it. */
  remedy: string;
  /**
   * critical: something does not arrive, or a key got out. warning: it soon will not. notice: somebody
   * waits.
   */
  severity: 'critical' | 'warning' | 'notice';
  /** How many there are, those beyond `items` included. */
  count: number;
  /** Of the one that has been so for longest. */
  since: string | null;
  /** The longest first; at most 50. */
  items: AttentionItem[];
}

export interface AttentionItem {
  subject: AttentionSubject;
  /** The alert that tells of it; null: there is none. */
  alert_id: string | null;
  partner: Named | null;
  practice_group: Named | null;
  /** Since when it has been so. */
  since: string | null;
  /** Of a key, an agreement or an approval: when it ends. */
  until: string | null;
  /**
   * Failed attempts, deliveries that were given up, refused calls within the hour, changes that were not
   * answered, or keys under an agreement.
   */
  count: number | null;
  /** Of refused calls: how many are usual at that hour. */
  usual: number | null;
  /** Of a webhook: deliveries that are not finished. 1000 stands for that many or more. */
  queued: number | null;
  /** Of a webhook, or of changes: when the oldest of what waits began to wait. */
  oldest_at: string | null;
  /** What is the matter, in plain words. */
  message: string;
  /**
   * The one next step. pause, activate: the webhook (`PATCH /webhooks/{id}`). retry_all: `POST
   * /webhooks/{id}/retry-failed`. remind: tell its partner again (`POST /alerts/{id}/remind`). open:
   * look at the subject.
   */
  action: 'pause' | 'activate' | 'retry_all' | 'remind' | 'open';
}

/** What it is about. */
export interface AttentionSubject {
  type:
    | 'webhook'
    | 'subscription'
    | 'write_through'
    | 'key'
    | 'partner'
    | 'practice_group'
    | 'agreement'
    | 'stop'
    | 'service'
    | 'approval';
  id: string;
  /** For people: the host of a webhook, the label of a key. */
  name: string;
}

export interface AuditAnchor {
  /** The number of the last entry. */
  seq: number;
  /** Its hash, in hex. */
  hash: string;
  at: string;
  /** The public key, in base64url. */
  key: string;
  /** All of it with the signature, to be kept. */
  line: string;
}

export interface AuditEntry {
  seq: number;
  at: string;
  actor: {
    /** guest: somebody of a partner or of a practice who was invited into the console. */
    type: 'partner' | 'operator' | 'guest' | 'system';
    /** The key, the operator or the invitation. */
    id: string;
    /** Of a person; of a key, whoever acted with it in the portal. */
    name?: string;
    /** Of a person who was invited. */
    session_id?: string;
    /** The second person, where one had to approve it. */
    approved_by?: {
      id: string;
      name: string;
    };
  };
  action: string;
  subject: {
    type: string;
    id: string;
  };
  practice_group_id: string | null;
  request_id: string | null;
  /** The changed fields as they were; null for something new. */
  before: unknown;
  /** The changed fields as they are; null for something deleted. */
  after: unknown;
  /** The erasure that took identifiers out of this entry, if one did. */
  erased_by?: string;
  /** SHA-256 over the hash of the entry before and this entry, in hex. */
  hash: string;
}

export interface AuditEntryPage {
  /** The entries of this page. */
  data: AuditEntry[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface AuditVerdict {
  ok: boolean;
  entries: number;
  first_bad?: number;
  anchor?: {
    seq: number;
    at: string;
    /** Whether its key comes from the master key, or from one in PORTER_MASTER_KEY_PREVIOUS. */
    key_known: boolean;
    /**
     * `not_genuine`: the line was altered. `cut`: the chain ends before it. `rewritten`: the chain has
     * another entry in its place.
     */
    problem?: 'not_genuine' | 'cut' | 'rewritten';
  };
}

/** Calls of partners, by outcome. */
export interface CallFigures {
  /** Answered with less than 400. */
  ok: number;
  /** Answered with 4xx, those over the limit aside. */
  refused: number;
  /** Answered with 429. */
  rate_limited: number;
  /** Answered with 5xx. */
  failed: number;
}

export interface CauseCount {
  cause: string;
  count: number;
}

/** A change that a partner made, on its way to the practice software. */
export interface Change {
  id: string;
  kind: 'submission_type';
  practice_group_id: string;
  /** The submission type. */
  object_id: string;
  /** The fields that changed, as they were before. */
  before: Record<string, unknown>;
  /** The fields that changed, as they were after. */
  after: Record<string, unknown>;
  partner_id: string;
  key_id: string;
  request_id: string | null;
  /**
   * pending: the practice software has not said what became of it. applied: it has the change, too.
   * rejected: it does not take it.
   */
  state: 'pending' | 'applied' | 'rejected';
  /** Why it was rejected. */
  reason: string | null;
  /** When the partner changed it. */
  at: string;
  /** When it was applied or rejected. */
  ended_at: string | null;
}

export interface ChangeFeedPage {
  data: Change[];
  /** How many changes this page holds. */
  count: number;
  /** Send it as `cursor` to go on from here. */
  next_cursor: string;
  /** Whether there is more to read at this moment. */
  has_more: boolean;
}

export interface ChangePage {
  /** The entries of this page. */
  data: Change[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface CollectedAnswer {
  operation: string;
  /** As the operation answers without an approval; null where it answers nothing. */
  answer: unknown;
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

export interface CreatedSubscription {
  /** The URL that receives the events. */
  url: string;
  /** A note of your own; null: none. */
  description: string | null;
  /**
   * paused: by you, or by the operator, as `status_reason` then says. disabled: by the service, because
   * the receiver answered 410 or failed for five days. In both cases deliveries queue up for as long as
   * events are kept, and are sent once the webhook is active again.
   */
  status: 'active' | 'paused' | 'disabled';
  /** Why the service disabled it, or who else paused or activated it and why, as a sentence. */
  status_reason: string | null;
  /** When the webhook was created. */
  created_at: string;
  /** When the webhook was last changed. */
  updated_at: string;
  id: string;
  /** changes: what partners change, as in the feed of changes. alerts: what somebody should look after. */
  topics: ('changes' | 'alerts')[];
  health: SubscriptionHealth;
  /** Verifies signatures (Standard Webhooks). Shown here once and never again. */
  secret: string;
}

/** From the acceptance of an event to its receipt. */
export interface DelayFigures {
  /**
   * Rounded up to a bound of the SLA report; null: nothing was counted, or it took longer than the last
   * bound.
   */
  p50: number | null;
  /**
   * Rounded up to a bound of the SLA report; null: nothing was counted, or it took longer than the last
   * bound.
   */
  p95: number | null;
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

/** Attempts to deliver to webhooks of partners, by outcome. */
export interface DeliveryFigures {
  /** Attempts that arrived. */
  delivered: number;
  /** Attempts that failed and are made again. */
  retried: number;
  /** Attempts that failed and were the last. */
  given_up: number;
}

export interface EhrHealth {
  /** unknown: nobody has reported yet. */
  status: 'healthy' | 'unhealthy' | 'unknown';
}

export interface EhrHealthReport {
  changed: boolean;
  status: 'healthy' | 'unhealthy';
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

export interface ErasedCounts {
  events: number;
  deliveries: number;
  /** Of these, still queued: they are not sent any more. */
  deliveries_withdrawn: number;
  form_submissions: number;
  write_to_record_jobs: number;
  audit_entries: number;
  refused_requests: number;
  idempotency_keys: number;
  access_log_entries: number;
}

export interface Erasure {
  /** Stands where the ID of the object stood. */
  id: string;
  practice_group_id: string;
  object: string;
  operator_id: string;
  created_at: string;
  /**
   * false: it is under way, or was broken off, and tells what it has come to so far. The same call again
   * goes on with it.
   */
  finished: boolean;
  erased: ErasedCounts;
  /**
   * Partners that were sent events about the object, may have been, or read it, as far as deliveries and
   * the access log are kept: tell them to erase it too.
   */
  recipients: ErasureRecipient[];
}

export interface ErasurePage {
  /** The entries of this page. */
  data: Erasure[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface ErasureRecipient {
  partner_id: string;
  /** That its webhooks were sent. */
  deliveries: number;
  /**
   * Others that may have been on their way at that moment: they may have arrived, and what came of them
   * is not known.
   */
  under_way: number;
  /** Calls that showed it the object: pages of the feed, the stream, delivery logs, the portal. */
  reads: number;
  /** When it was told last; of what was under way, when that was erased. */
  last_at: string;
}

/** Several events of practice groups that one database serves: all of them are accepted, or none. */
export interface EventBatch {
  events: EventPayload[];
}

export interface EventCause {
  /**
   * published: an operator said so (`POST /events`). test: a partner asked for a test event. Otherwise
   * what Porter itself made of what it was told.
   */
  kind: 'published' | 'ehr_health' | 'form_submission' | 'write_to_record' | 'test';
  source: EventSource;
}

/** What caused an event, and what became of it. */
export interface EventLife {
  id: string;
  payload: EventPayload;
  /** The operator that published it. */
  source_id: string;
  accepted_at: string;
  /** True for a test event: a partner asked for it to try a webhook, and nothing happened. */
  test: boolean;
  practice_group: Named;
  cause: EventCause;
  /** Its place in the feed; null: not fanned out yet, or a test for one webhook. */
  feed_position: number | null;
  /** The erasure of its object, if it was erased. */
  erased_by: string | null;
  /**
   * One for each webhook that could have received it: of every partner that has, or had, a key that
   * reaches the practice group, and every one that has a delivery. Those without a delivery come last;
   * at most 200.
   */
  targets: EventTarget[];
  /** How many there are, those beyond `targets` included. */
  target_count: number;
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

/** Who said so. */
export interface EventSource {
  type: 'operator' | 'key';
  id: string;
  name: string | null;
}

/** What became of an event for one webhook. */
export interface EventTarget {
  webhook_id: string;
  url: string;
  partner: Named;
  webhook_status: 'active' | 'paused' | 'disabled';
  /**
   * waiting: an earlier event about the same object comes first. pending: to be sent, or sent again.
   * failed: given up. not_sent: it has no delivery; `not_sent_reason` says why.
   */
  outcome: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed' | 'not_sent';
  not_sent_reason:
    | 'not_fanned_out'
    | 'event_type'
    | 'registered_later'
    | 'not_in_practice_groups'
    | 'test_for_another'
    | 'partner_not_verified'
    | 'stopped_by_practice'
    | 'key_revoked'
    | 'key_expired'
    | 'scope_missing'
    | 'out_of_reach'
    | 'erased'
    | 'not_entitled_then'
    | null;
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
  /** Why it has not arrived, as a sentence; null where it has. */
  explanation: string | null;
  delivery_id: string | null;
  queued_at: string | null;
  /** Oldest first; at most the last 50. */
  attempts: DeliveryAttempt[];
  next_attempt_at: string | null;
  finished_at: string | null;
}

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

/** An event, and the status of its delivery to each webhook. */
export interface EventWithDeliveries {
  id: string;
  payload: EventPayload;
  /** The operator that published it. */
  source_id: string;
  accepted_at: string;
  /** True for a test event: a partner asked for it to try a webhook, and nothing happened. */
  test: boolean;
  deliveries: {
    id: string;
    webhook_id: string;
    /**
     * waiting: an earlier event about the same object comes first. pending: to be sent, or sent again.
     * failed: given up.
     */
    status: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed';
  }[];
}

export interface FigurePoint {
  /** Where the point begins. */
  at: string;
  calls: CallFigures;
  deliveries: DeliveryFigures;
  delay_ms: DelayFigures;
  /**
   * How long the oldest event that an active webhook had not received had waited, at the worst moment of
   * the point; null: that was not looked at, as for one partner or webhook.
   */
  oldest_undelivered_seconds: number | null;
}

export interface Figures {
  since: string;
  until: string;
  step: '1m' | '5m' | '15m' | '1h' | '6h' | '1d';
  data: FigurePoint[];
}

export interface Form {
  id: string;
  title: string;
  created_at: string;
  updated_at: string;
}

export interface FormPage {
  /** The entries of this page. */
  data: Form[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface FormSubmission {
  id: string;
  practice_group_id: string;
  submission_type_id: string;
  /** The day it counts towards, in the group's time zone. */
  local_day: string;
  submitted_at: string;
  /** The submission type had reached its daily_limit before this form. */
  over_limit: boolean;
  /** The submission type was suspended. */
  suspended: boolean;
  /** The submission type took no forms at that hour. */
  outside_hours: boolean;
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

export interface FormSubmissionPage {
  /** The entries of this page. */
  data: FormSubmission[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export type ImportItem =
  | ImportedPracticeGroup
  | ImportedForm
  | ImportedAssignee
  | ImportedSubmissionType
  | RemovedPracticeGroup
  | RemovedForm
  | RemovedAssignee
  | RemovedSubmissionType;

export interface ImportOutcome {
  /** The place of the item in the list, or of its line, from 0 on. */
  index: number;
  /** Null when it could not be read. */
  id: string | null;
  /** `stale`: a newer source_version was here before. */
  outcome: 'created' | 'updated' | 'unchanged' | 'stale' | 'deleted' | 'refused';
  /** With `refused`: why. */
  problem?: {
    /** A code of the error reference. */
    error: string;
    message: string;
    rule?: string;
    path?: (string | number)[];
    /**
     * With validation_error: what is wrong with the item, at most 20 entries for each item and 1,000 for
     * each thousand items. A name of more than 100 characters is shortened.
     */
    entries?: {
      code: string;
      expected: string;
      path: (string | number)[];
      message: string;
    }[];
    /** The number of entries that are not listed. */
    more_entries?: number;
    used_by?: {
      type: string;
      count: number;
      ids: string[];
    }[];
  };
}

export interface ImportOutcomes {
  outcomes: ImportOutcome[];
}

export interface ImportedAssignee {
  kind: 'assignee';
  id: string;
  assignee_type: 'Admin' | 'AdminTeam';
  practice_group_id: string;
  source_version?: number;
  delete?: false;
  name: string;
}

export interface ImportedForm {
  kind: 'form';
  id: string;
  practice_group_id: string;
  source_version?: number;
  delete?: false;
  title: string;
}

export interface ImportedPracticeGroup {
  kind: 'practice_group';
  id: string;
  source_version?: number;
  delete?: false;
  name: string;
  ods_code?: string | null;
  timezone?: string;
  address?: {
    line_1?: string | null;
    line_2?: string | null;
    town?: string | null;
    county?: string | null;
    postcode?: string | null;
  } | null;
  opening_hours?: OpeningHours;
}

export interface ImportedSubmissionType {
  kind: 'submission_type';
  id: string;
  practice_group_id: string;
  source_version?: number;
  delete?: false;
  title: string;
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
  order?: number | null;
  pathway_id: string;
}

/** Of somebody of a partner or a practice, into the console. */
export interface Invitation {
  id: string;
  partner_id: string | null;
  practice_group_id: string | null;
  email: string;
  name: string;
  status: 'waiting' | 'undeliverable' | 'sent' | 'expired' | 'entered' | 'withdrawn';
  invited_by: {
    id: string;
    name: string;
  };
  created_at: string;
  sent_at: string | null;
  /** Until when the link works. */
  expires_at: string | null;
  entered_at: string | null;
  /** Why the message could not be sent, or cannot be. */
  error: string | null;
}

export interface InvitationPage {
  /** The entries of this page. */
  data: Invitation[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface IssuedApiKey {
  id: string;
  partner_id: string;
  practice_group_id: string;
  /** What people call it, such as "booking service, production". */
  label: string | null;
  scopes: (
    | 'practice-groups:read'
    | 'submission-types:read'
    | 'submission-types:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'events:read'
  )[];
  /** How the key begins. */
  prefix: string;
  last_four: string;
  status: 'active' | 'expired' | 'revoked';
  /** null: the limit of its agreement, or the default one. */
  rate_limit_per_minute: number | null;
  /** What it was issued under; null: that is not known, and the partner's terms hold. */
  agreement_id: string | null;
  /** The addresses that it may be used from; null: anywhere. */
  allowed_addresses: string[] | null;
  /**
   * What a call must show beside the key. `mtls`: a client certificate with one of
   * `certificate_fingerprints`. `private_key_jwt`: an assertion in `x-client-assertion`, signed by one
   * of `jwks`.
   */
  proof: 'none' | 'mtls' | 'private_key_jwt';
  certificate_fingerprints: string[];
  jwks: PublicKeys | null;
  /** When a call with it was last let in, up to a minute late; null: never. */
  last_used_at: string | null;
  /** The address of that call. */
  last_used_from: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  /** The report that it was leaked; null: there is none. */
  leak: Leak | null;
  /** The key that a rotation issued in place of this one. */
  replaced_by: string | null;
  created_at: string;
  /** The key itself: shown here once and never again. */
  key: string;
}

export interface IssuedApiKeys {
  data: KeyOfMany[];
}

export interface KeyOfMany {
  id: string;
  practice_group_id: string;
  /** The key itself: shown here once and never again. */
  key: string;
}

export interface Leak {
  reported_at: string;
  /** Who found it. */
  source: string | null;
  /** Where it was found. */
  url: string | null;
}

/** A key that was found where it should not be. */
export interface LeakReport {
  key: string;
  /** Who or what found it. */
  source?: string;
  /** Where it was found. */
  url?: string;
}

/** Practice groups whose keys may act for one another. */
export interface Network {
  id: string;
  name: string;
  practice_group_ids: string[];
  /**
   * What keys may do through the network, within their own scopes. null: everything. A key still does
   * all it may for its own practice group.
   */
  scopes:
    | (
        | 'practice-groups:read'
        | 'submission-types:read'
        | 'submission-types:write'
        | 'webhooks:read'
        | 'webhooks:write'
        | 'events:read'
      )[]
    | null;
  /** Whose keys may act through the network. null: those of every partner. */
  partner_ids: string[] | null;
  created_at: string;
  updated_at: string;
}

export interface NetworkPage {
  /** The entries of this page. */
  data: Network[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface NetworkPreview {
  gains: ReachDifferences;
  losses: ReachDifferences;
}

export interface NewOperator {
  id: string;
  name: string;
  /** Whether it has a token, or is a person whom the provider of OpenID Connect knows. */
  kind: 'token' | 'person';
  /** Of a person, as the provider said at the last sign-in. */
  role: 'admin' | 'support' | 'source' | 'viewer';
  /** What the token is for, or where it is kept. */
  label: string | null;
  /** Of a person: the provider that knows it. */
  issuer: string | null;
  /** Of a person: as whom the provider knows it. */
  subject: string | null;
  /** Whether its token signs in to the console although people come in through a provider. */
  emergency: boolean;
  status: 'active' | 'expired' | 'revoked';
  expires_at: string | null;
  /** When the token was last used, to five minutes, or the person signed in; null: never. */
  last_used_at: string | null;
  created_at: string;
  revoked_at: string | null;
  /** Shown here once and never again. */
  token: string;
}

export interface NewWriteThrough {
  practice_group_id: string;
  url: string;
  /**
   * Of what is told afterwards (`change.withdrawn`). disabled: an earlier version did so when the
   * address had answered 410, or had failed for five days; set it anew.
   */
  status: 'active' | 'paused' | 'disabled';
  health: SubscriptionHealth;
  created_at: string;
  updated_at: string;
  /** Verifies signatures (Standard Webhooks). Shown here once and never again. */
  secret: string;
}

export interface Node {
  id: string;
  /** The host and the process. */
  name: string;
  version: string;
  role: 'all' | 'api' | 'worker';
  started_at: string;
  /** When it last gave a sign of life. */
  seen_at: string;
  /**
   * By how much its clock is ahead of the clock of the database. Beyond 3,000 either way it delivers
   * nothing.
   */
  clock_skew_ms: number;
  /** Calls of partners that it answered, in the last minute. */
  calls_per_minute: number;
  /** Attempts that it made, in the last minute. */
  deliveries_per_minute: number;
  /** Its part of all calls and attempts of that minute; null: there were none. */
  share_percent: number | null;
  /** It is the one that answers this call. */
  answering: boolean;
}

export interface Nodes {
  data: Node[];
  count: number;
}

/** Opening hours by weekday, in the group's own time zone; a day that is left out is closed. */
export interface OpeningHours {
  mon?: string[][];
  tue?: string[][];
  wed?: string[][];
  thu?: string[][];
  fri?: string[][];
  sat?: string[][];
  sun?: string[][];
}

/** A person or system of the operator, with a token and a role. */
export interface Operator {
  id: string;
  name: string;
  /** Whether it has a token, or is a person whom the provider of OpenID Connect knows. */
  kind: 'token' | 'person';
  /** Of a person, as the provider said at the last sign-in. */
  role: 'admin' | 'support' | 'source' | 'viewer';
  /** What the token is for, or where it is kept. */
  label: string | null;
  /** Of a person: the provider that knows it. */
  issuer: string | null;
  /** Of a person: as whom the provider knows it. */
  subject: string | null;
  /** Whether its token signs in to the console although people come in through a provider. */
  emergency: boolean;
  status: 'active' | 'expired' | 'revoked';
  expires_at: string | null;
  /** When the token was last used, to five minutes, or the person signed in; null: never. */
  last_used_at: string | null;
  created_at: string;
  revoked_at: string | null;
}

/** Something that needs looking after. */
export interface OperatorAlert {
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
    | 'partner_waiting'
    | 'deliveries_late'
    | 'ehr_down'
    | 'changes_pending'
    | 'partner_stopped'
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
  /** Whose it is; null: it concerns the operator alone. */
  partner_id: string | null;
}

export interface OperatorAlertPage {
  /** The entries of this page. */
  data: OperatorAlert[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface OperatorMe {
  operator: {
    id: string;
    name: string;
    role: 'admin' | 'support' | 'source' | 'viewer';
  };
  /** Null for a call with a token. */
  session: {
    id: string;
    expires_at: string;
    idle_expires_at: string;
  } | null;
  environment: 'staging' | 'production';
  /** Of the service. */
  version: string;
  /** How people sign in to the console: with an operator token, or through a provider of OpenID Connect. */
  sign_in: 'token' | 'oidc';
  /** What is done only when a second person has approved it. */
  approvals: ('keys' | 'networks' | 'operators')[];
  /** Where partners turn to: an e-mail address, or a page. */
  support_contact: string;
}

export interface OperatorPage {
  /** The entries of this page. */
  data: Operator[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface OperatorPracticeGroup {
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
  opening_hours: OpeningHours;
}

export interface OperatorPracticeGroupPage {
  /** The entries of this page. */
  data: OperatorPracticeGroup[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

/** A company that works on behalf of practice groups. */
export interface Partner {
  id: string;
  name: string;
  contact_email: string;
  status: 'applied' | 'agreement_signed' | 'verified' | 'suspended';
  /** From the agreement that was signed last; null: the default limit. */
  rate_limit_per_minute: number | null;
  /** From the agreement that was signed last, in words. */
  sla: string | null;
  created_at: string;
  updated_at: string;
}

export interface PartnerDelivery {
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
  webhook_id: string;
  partner_id: string;
  practice_group_id: string;
}

export interface PartnerDeliveryPage {
  /** The entries of this page. */
  data: PartnerDelivery[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PartnerPage {
  /** The entries of this page. */
  data: Partner[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PartnerRefusedRequest {
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
  partner_id: string;
  key_id: string;
  /** The practice group that the call was for; null if it named none. */
  practice_group_id: string | null;
  /** Where the call came from. */
  address: string | null;
}

export interface PartnerRefusedRequestPage {
  /** The entries of this page. */
  data: PartnerRefusedRequest[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PartnerUsageEntry {
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
  partner_id: string;
}

export interface PartnerUsageEntryPage {
  /** The entries of this page. */
  data: PartnerUsageEntry[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PartnerWebhook {
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
  partner_id: string;
  partner_name: string;
  /** null for a webhook for all practice groups. */
  practice_group_name: string | null;
  /** When the oldest delivery that is not finished was first put into the queue; null when there is none. */
  oldest_queued_at: string | null;
}

export interface PartnerWebhookPage {
  /** The entries of this page. */
  data: PartnerWebhook[];
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

/** An RSA public key as JWK. No private part may be sent. */
export interface PublicKey {
  kty: 'RSA';
  /** Assertions name it in their header. */
  kid: string;
  /** 2048 to 4096 bits. */
  n: string;
  e: string;
  alg?: 'RS512';
  use?: 'sig';
}

/** The public keys that sign assertions, as a JWK set. */
export interface PublicKeys {
  keys: PublicKey[];
}

export interface PublishedEvents {
  event_ids: string[];
}

export interface ReachDifference {
  id: string;
  /** The label of a key, or its ending; the host of a webhook. */
  name: string;
  partner: Named;
  /** The practice group of the key; null for a webhook for all practice groups. */
  home: Named | null;
  /** What it gains or loses there; of a webhook, `events:read`. At most the first 20. */
  practice_groups: ReachedPracticeGroup[];
  practice_group_count: number;
}

/** At most 500 of each; the rest is counted. */
export interface ReachDifferences {
  keys: ReachDifference[];
  key_count: number;
  webhooks: ReachDifference[];
  webhook_count: number;
}

export interface ReachedPracticeGroup {
  id: string;
  name: string;
  scopes: (
    | 'practice-groups:read'
    | 'submission-types:read'
    | 'submission-types:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'events:read'
  )[];
}

export interface RemovedAssignee {
  kind: 'assignee';
  id: string;
  assignee_type: 'Admin' | 'AdminTeam';
  practice_group_id: string;
  source_version?: number;
  delete: true;
}

export interface RemovedForm {
  kind: 'form';
  id: string;
  practice_group_id: string;
  source_version?: number;
  delete: true;
}

export interface RemovedPracticeGroup {
  kind: 'practice_group';
  id: string;
  source_version?: number;
  delete: true;
}

export interface RemovedSubmissionType {
  kind: 'submission_type';
  id: string;
  practice_group_id: string;
  source_version?: number;
  delete: true;
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

export interface ReportedKey {
  /**
   * `revoked`: it worked, and does not any more. `already_revoked`: nothing was left to do. `unknown`:
   * well-formed, but none of this deployment. `not_a_key`: its checksum is wrong.
   */
  outcome: 'revoked' | 'already_revoked' | 'unknown' | 'not_a_key';
  /** How the reported text ends. */
  last_four: string;
  key_id: string | null;
  partner_id: string | null;
}

export interface ReportedKeys {
  data: ReportedKey[];
  count: number;
}

export interface RequestCheck {
  /**
   * transport: over HTTPS. size: of the body. key: known, valid, from an allowed address, with its
   * proof. rate: calls a minute. scope: of the key. network: whether the key reaches the practice group,
   * and the practice has not stopped the partner. validation: path, query, headers and body. operation:
   * what the operation itself refuses: rules, conditions, things that are not there.
   */
  check: 'transport' | 'size' | 'key' | 'rate' | 'scope' | 'network' | 'validation' | 'operation';
  outcome: 'passed' | 'refused' | 'not_reached';
  /** What the check met, as a sentence; null where it was not reached. */
  found: string | null;
  /** What would have passed; null unless it refused. */
  needed: string | null;
}

export interface RequestExplanation {
  request: PartnerRefusedRequest;
  partner: Named;
  /** The key of the call, by its label or its ending. */
  key: Named | null;
  /** null: it named none, or none that there is. */
  practice_group: Named | null;
  /** All of them, in the order in which they are made. */
  checks: RequestCheck[];
}

export interface RetriedDeliveries {
  /** How many deliveries will be sent. */
  count: number;
  /** Whether some are left that were given up. */
  has_more: boolean;
}

export interface RotatedSubscriptionSecret {
  /** The subscription. */
  id: string;
  /** Verifies signatures (Standard Webhooks). Shown here once and never again. */
  secret: string;
  previous_secret_expires_at: string;
}

/** One match, as GitHub's secret scanning sends it. */
export interface ScannerMatch {
  token: string;
  type?: string;
  /** Who or what found it. */
  source?: string;
  /** Where it was found. */
  url?: string;
}

export interface SearchHit {
  kind:
    | 'partner'
    | 'practice_group'
    | 'network'
    | 'key'
    | 'webhook'
    | 'contact'
    | 'event'
    | 'delivery'
    | 'refused_request'
    | 'change'
    | 'submission_type'
    | 'write_to_record_job'
    | 'agreement'
    | 'alert'
    | 'operator'
    | 'subscription';
  /** Of a refused request, its request ID. */
  id: string;
  /** What people call it. */
  title: string;
  /** What tells it from others of the same name: whose it is, its status, its address. */
  subtitle: string | null;
  /** What the text was found in. */
  matched: 'id' | 'last_four' | 'name' | 'ods_code' | 'url' | 'email';
  /** The whole of it is what was looked for. */
  exact: boolean;
  open: SearchTarget;
  partner_id: string | null;
  practice_group_id: string | null;
}

export interface SearchResult {
  data: SearchHit[];
  /** How many hits there are in `data`. */
  count: number;
  /** The kinds of which more was found. */
  more: (
    | 'partner'
    | 'practice_group'
    | 'network'
    | 'key'
    | 'webhook'
    | 'contact'
    | 'event'
    | 'delivery'
    | 'refused_request'
    | 'change'
    | 'submission_type'
    | 'write_to_record_job'
    | 'agreement'
    | 'alert'
    | 'operator'
    | 'subscription'
  )[];
}

/** What to open: the thing itself, or what it belongs to, as a contact to its partner. */
export interface SearchTarget {
  kind:
    | 'partner'
    | 'practice_group'
    | 'network'
    | 'key'
    | 'webhook'
    | 'contact'
    | 'event'
    | 'delivery'
    | 'refused_request'
    | 'change'
    | 'submission_type'
    | 'write_to_record_job'
    | 'agreement'
    | 'alert'
    | 'operator'
    | 'subscription';
  id: string;
}

/** Somebody who is signed in to the console. */
export interface Session {
  id: string;
  operator_id: string;
  operator_name: string;
  /** From where somebody signed in. */
  address: string;
  /** With which browser. */
  user_agent: string | null;
  /** Whether this call was made with it. */
  is_current: boolean;
  created_at: string;
  /** To a minute. */
  last_used_at: string;
  /** When it ends unless it is used before. */
  idle_expires_at: string;
  /** When it ends however much it is used. */
  expires_at: string;
}

export interface SessionPage {
  /** The entries of this page. */
  data: Session[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface Setting {
  name: string;
  /**
   * What is in force on the node that answers; null: nothing is set and there is no default, or it is a
   * secret.
   */
  value: string | null;
  /** environment: it was set. made: the service made one of its own, as a master key. */
  source: 'environment' | 'default' | 'made';
  /** Whether there is one is told, and not what it is. */
  secret: boolean;
  /** What it means. */
  description: string;
}

export interface Settings {
  environment: 'staging' | 'production';
  version: string;
  data: Setting[];
}

/** A key pair (Ed25519) that signs deliveries of this deployment. */
export interface SigningKey {
  id: string;
  /** What receivers verify with. */
  public_key: string;
  created_at: string;
  /** Until then it signs; null for the newest. */
  expires_at: string | null;
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

/** A practice has stopped a partner. */
export interface Stop {
  /** The ID of the stop. */
  id: string;
  /** Why the practice stopped the partner. */
  reason: string;
  /** When the practice stopped the partner. */
  stopped_at: string;
  /** The name of whoever did it. */
  stopped_by: string;
  /** Null: it is in force. */
  lifted_at: string | null;
  /** The name of whoever did it. */
  lifted_by: string | null;
  /** What an admin said who lifted it. The practice itself need not say. */
  lifted_reason: string | null;
  partner: Named;
  practice_group: Named;
}

export interface StopPage {
  /** The entries of this page. */
  data: Stop[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
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

export interface SubmissionTypeAvailability {
  submission_type_id: string;
  /** A form sent at this moment would carry no mark. */
  allowed: boolean;
  /** Why it is not allowed; empty when it is. */
  reasons: ('over_limit' | 'suspended' | 'outside_hours')[];
  /** Forms that the day has room for, whatever else speaks against them; null: there is no cap. */
  remaining_today: number | null;
}

export interface SubmissionTypeAvailabilityList {
  data: SubmissionTypeAvailability[];
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

/** A webhook of the operator's own. */
export interface Subscription {
  /** The URL that receives the events. */
  url: string;
  /** A note of your own; null: none. */
  description: string | null;
  /**
   * paused: by you, or by the operator, as `status_reason` then says. disabled: by the service, because
   * the receiver answered 410 or failed for five days. In both cases deliveries queue up for as long as
   * events are kept, and are sent once the webhook is active again.
   */
  status: 'active' | 'paused' | 'disabled';
  /** Why the service disabled it, or who else paused or activated it and why, as a sentence. */
  status_reason: string | null;
  /** When the webhook was created. */
  created_at: string;
  /** When the webhook was last changed. */
  updated_at: string;
  id: string;
  /** changes: what partners change, as in the feed of changes. alerts: what somebody should look after. */
  topics: ('changes' | 'alerts')[];
  health: SubscriptionHealth;
}

/** The delivery of one event to one of the operator's webhooks. */
export interface SubscriptionDelivery {
  /** Sent as `webhook-id`. */
  id: string;
  /** The ID of the event. */
  event_id: string;
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
  event: 'change.withdrawn' | 'submission-type.changed' | 'alert.began' | 'alert.ended';
}

export interface SubscriptionDeliveryPage {
  /** The entries of this page. */
  data: SubscriptionDelivery[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface SubscriptionHealth {
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
}

export interface SubscriptionPage {
  /** The entries of this page. */
  data: Subscription[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
}

export interface SubscriptionPatch {
  /**
   * https, at a public address or within the networks of PORTER_OPERATOR_TARGETS. Redirects are not
   * followed.
   */
  url?: string;
  topics?: ('changes' | 'alerts')[];
  description?: string | null;
  /** Activating a disabled subscription resets its count of failures. */
  status?: 'active' | 'paused';
}

export interface SubscriptionTest {
  event_id: string;
  delivery_id: string;
}

/** An attempt, with the delivery that it belongs to. */
export interface WebhookAttempt {
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
  delivery_id: string;
  /** The ID of the event. */
  event_id: string;
  /** The name of the event. */
  event: EventName;
  /** What the event is about: the `id` in its payload. */
  object_id: string;
  practice_group_id: string;
  /**
   * waiting: an earlier event about the same object comes first. pending: to be sent, or sent again.
   * withheld: not sent, because the partner may not receive events of the practice group at present; it
   * goes on by itself when the partner may again, for as long as events are kept. failed: given up.
   */
  delivery_status: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed';
  /**
   * When a pending delivery is sent next, provided that its webhook is active then; null for every other
   * status.
   */
  next_attempt_at: string | null;
}

export interface WebhookAttempts {
  data: WebhookAttempt[];
  count: number;
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

export interface WebhookHealthOverTime {
  since: string;
  until: string;
  step: '1m' | '5m' | '15m' | '1h' | '6h' | '1d';
  data: WebhookHealthPoint[];
}

export interface WebhookHealthPoint {
  /** Where the point begins. */
  at: string;
  /** Attempts that arrived. */
  delivered: number;
  /** Attempts that failed and are made again. */
  retried: number;
  /** Attempts that failed and were the last. */
  given_up: number;
  /**
   * Why attempts failed, the most frequent first: the phase in which they broke off (dns, connect, tls,
   * send, answer, address), or the kind of status, as 5xx.
   */
  causes: CauseCount[];
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

/** Where the practice's own software is asked before a change is made. */
export interface WriteThrough {
  practice_group_id: string;
  url: string;
  /**
   * Of what is told afterwards (`change.withdrawn`). disabled: an earlier version did so when the
   * address had answered 410, or had failed for five days; set it anew.
   */
  status: 'active' | 'paused' | 'disabled';
  health: SubscriptionHealth;
  created_at: string;
  updated_at: string;
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

/** A resource that is to be written to a practice group's EHR. */
export interface WriteToRecordJob {
  id: string;
  practice_group_id: string;
  /** The type of the resource that is to be written. */
  resource: string;
  resource_id: string;
  status: 'queued' | 'succeeded' | 'failed';
  /** How often it was reported as failed. */
  failed_attempts: number;
  created_at: string;
  updated_at: string;
}

export interface WriteToRecordJobPage {
  /** The entries of this page. */
  data: WriteToRecordJob[];
  /** How many entries this page holds. */
  count: number;
  /** Send it as `cursor` to get the next page; null on the last one. */
  next_cursor: string | null;
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
  createPracticeGroup: {
    input: {
      body: {
        id?: string;
        name: string;
        ods_code?: string | null;
        timezone?: string;
        address?: {
          line_1?: string | null;
          line_2?: string | null;
          town?: string | null;
          county?: string | null;
          postcode?: string | null;
        } | null;
        opening_hours?: OpeningHours;
      };
    };
    answer: OperatorPracticeGroup;
  };
  listAllPracticeGroups: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: OperatorPracticeGroupPage;
  };
  updatePracticeGroup: {
    input: {
      params: { id: string | number };
      body: {
        name?: string;
        ods_code?: string | null;
        timezone?: string;
        address?: {
          line_1?: string | null;
          line_2?: string | null;
          town?: string | null;
          county?: string | null;
          postcode?: string | null;
        } | null;
        opening_hours?: OpeningHours;
      };
    };
    answer: OperatorPracticeGroup;
  };
  getPracticeGroup: { input: { params: { id: string | number } }; answer: OperatorPracticeGroup };
  deletePracticeGroup: { input: { params: { id: string | number } }; answer: undefined };
  createNetwork: {
    input: {
      body: {
        name: string;
        practice_group_ids: string[];
        /**
         * What keys may do through the network, within their own scopes. null: everything. A key still does
         * all it may for its own practice group.
         */
        scopes?:
          | (
              | 'practice-groups:read'
              | 'submission-types:read'
              | 'submission-types:write'
              | 'webhooks:read'
              | 'webhooks:write'
              | 'events:read'
            )[]
          | null;
        /** Whose keys may act through the network. null: those of every partner. */
        partner_ids?: string[] | null;
      };
    };
    answer: Network | Approval;
  };
  listNetworks: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: NetworkPage;
  };
  updateNetwork: {
    input: {
      params: { id: string | number };
      body: {
        name?: string;
        /**
         * What keys may do through the network, within their own scopes. null: everything. A key still does
         * all it may for its own practice group.
         */
        scopes?:
          | (
              | 'practice-groups:read'
              | 'submission-types:read'
              | 'submission-types:write'
              | 'webhooks:read'
              | 'webhooks:write'
              | 'events:read'
            )[]
          | null;
        /** Whose keys may act through the network. null: those of every partner. */
        partner_ids?: string[] | null;
      };
    };
    answer: Network | Approval;
  };
  getNetwork: { input: { params: { id: string | number } }; answer: Network };
  deleteNetwork: { input: { params: { id: string | number } }; answer: Approval | undefined };
  addNetworkMember: {
    input: { params: { id: string | number; practice_group_id: string | number } };
    answer: Approval | undefined;
  };
  removeNetworkMember: {
    input: { params: { id: string | number; practice_group_id: string | number } };
    answer: Approval | undefined;
  };
  previewNetwork: {
    input: {
      body: {
        id?: string;
        /** All members that it would have. None for a network that would be deleted. */
        practice_group_ids?: string[];
        /**
         * What keys may do through the network, within their own scopes. null: everything. A key still does
         * all it may for its own practice group.
         */
        scopes?:
          | (
              | 'practice-groups:read'
              | 'submission-types:read'
              | 'submission-types:write'
              | 'webhooks:read'
              | 'webhooks:write'
              | 'events:read'
            )[]
          | null;
        /** Whose keys may act through the network. null: those of every partner. */
        partner_ids?: string[] | null;
      };
    };
    answer: NetworkPreview;
  };
  createPartner: {
    input: {
      body: {
        name: string;
        contact_email: string;
      };
    };
    answer: Partner;
  };
  listPartners: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        status?: 'applied' | 'agreement_signed' | 'verified' | 'suspended' | undefined;
      };
    };
    answer: PartnerPage;
  };
  getPartner: { input: { params: { id: string | number } }; answer: Partner };
  updatePartner: {
    input: {
      params: { id: string | number };
      body: {
        name?: string;
        contact_email?: string;
        rate_limit_per_minute?: number | null;
        sla?: string | null | SlaTargets;
      };
    };
    answer: Partner;
  };
  signAgreement: {
    input: {
      params: { id: string | number };
      body?: {
        version?: string;
        document_url?: string;
        signatory?: string;
        rate_limit_per_minute?: number;
        sla?: string | SlaTargets;
        signed_at?: string;
        ends_at?: string;
      };
    };
    answer: Partner;
  };
  verifyPartner: { input: { params: { id: string | number } }; answer: Partner };
  suspendPartner: { input: { params: { id: string | number } }; answer: Partner };
  createAgreement: {
    input: {
      params: { id: string | number };
      body: {
        version: string;
        document_url?: string | null;
        signatory: string;
        signed_at: string;
        /**
         * From when on it no longer holds; null: until further notice. Keys that were issued under it go on
         * working.
         */
        ends_at?: string | null;
        rate_limit_per_minute?: number | null;
        sla?: string | null | SlaTargets;
      };
    };
    answer: Agreement;
  };
  listAgreements: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: AgreementPage;
  };
  getAgreement: {
    input: { params: { id: string | number; agreement_id: string | number } };
    answer: Agreement;
  };
  updateAgreement: {
    input: {
      params: { id: string | number; agreement_id: string | number };
      body: {
        version?: string;
        document_url?: string | null;
        signatory?: string;
        /**
         * From when on it no longer holds; null: until further notice. Keys that were issued under it go on
         * working.
         */
        ends_at?: string | null;
        rate_limit_per_minute?: number | null;
        sla?: string | null | SlaTargets;
      };
    };
    answer: Agreement;
  };
  issueKey: {
    input: {
      body: {
        partner_id: string;
        practice_group_id: string;
        scopes: (
          | 'practice-groups:read'
          | 'submission-types:read'
          | 'submission-types:write'
          | 'webhooks:read'
          | 'webhooks:write'
          | 'events:read'
        )[];
        expires_at?: string | null;
        rate_limit_per_minute?: number | null;
        /**
         * An agreement of the partner that is in force. Unless given when the key is issued: the one that was
         * signed last.
         */
        agreement_id?: string;
        /** What people call it, such as "booking service, production". */
        label?: string | null;
        /** Addresses and ranges that the key may be used from; null: anywhere. */
        allowed_addresses?: string[] | null;
        /**
         * What a call must show beside the key. `mtls`: a client certificate with one of
         * `certificate_fingerprints`. `private_key_jwt`: an assertion in `x-client-assertion`, signed by one
         * of `jwks`.
         */
        proof?: 'none' | 'mtls' | 'private_key_jwt';
        /** SHA-256 of the client certificates that are taken. */
        certificate_fingerprints?: string[];
        jwks?: PublicKeys | null;
      };
    };
    answer: IssuedApiKey | Approval;
  };
  listKeys: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        partner_id?: string | undefined;
        practice_group_id?: string | undefined;
        status?: 'active' | 'expired' | 'revoked' | undefined;
      };
    };
    answer: ApiKeyPage;
  };
  issueKeys: {
    input: {
      body: {
        partner_id: string;
        practice_group_ids: string[];
        scopes: (
          | 'practice-groups:read'
          | 'submission-types:read'
          | 'submission-types:write'
          | 'webhooks:read'
          | 'webhooks:write'
          | 'events:read'
        )[];
        expires_at?: string | null;
        rate_limit_per_minute?: number | null;
        /**
         * An agreement of the partner that is in force. Unless given when the key is issued: the one that was
         * signed last.
         */
        agreement_id?: string;
        /** What people call it, such as "booking service, production". */
        label?: string | null;
        /** Addresses and ranges that the key may be used from; null: anywhere. */
        allowed_addresses?: string[] | null;
        /**
         * What a call must show beside the key. `mtls`: a client certificate with one of
         * `certificate_fingerprints`. `private_key_jwt`: an assertion in `x-client-assertion`, signed by one
         * of `jwks`.
         */
        proof?: 'none' | 'mtls' | 'private_key_jwt';
        /** SHA-256 of the client certificates that are taken. */
        certificate_fingerprints?: string[];
        jwks?: PublicKeys | null;
      };
    };
    answer: IssuedApiKeys | Approval;
  };
  updateKey: {
    input: {
      params: { id: string | number };
      body: {
        scopes?: (
          | 'practice-groups:read'
          | 'submission-types:read'
          | 'submission-types:write'
          | 'webhooks:read'
          | 'webhooks:write'
          | 'events:read'
        )[];
        expires_at?: string | null;
        rate_limit_per_minute?: number | null;
        /**
         * An agreement of the partner that is in force. Unless given when the key is issued: the one that was
         * signed last.
         */
        agreement_id?: string;
        /** What people call it, such as "booking service, production". */
        label?: string | null;
        /** Addresses and ranges that the key may be used from; null: anywhere. */
        allowed_addresses?: string[] | null;
        /**
         * What a call must show beside the key. `mtls`: a client certificate with one of
         * `certificate_fingerprints`. `private_key_jwt`: an assertion in `x-client-assertion`, signed by one
         * of `jwks`.
         */
        proof?: 'none' | 'mtls' | 'private_key_jwt';
        /** SHA-256 of the client certificates that are taken. */
        certificate_fingerprints?: string[];
        jwks?: PublicKeys | null;
      };
    };
    answer: ApiKey | Approval;
  };
  getKey: { input: { params: { id: string | number } }; answer: ApiKey };
  rotateKey: {
    input: {
      params: { id: string | number };
      body?: {
        /** 24 hours unless given; 0 ends the old key at once. */
        overlap_seconds?: number;
      };
    };
    answer: IssuedApiKey | Approval;
  };
  revokeKey: { input: { params: { id: string | number } }; answer: ApiKey };
  reportLeakedKeys: { input: { body: LeakReport | (LeakReport | ScannerMatch)[] }; answer: ReportedKeys };
  createSubmissionType: {
    input: {
      params: { id: string | number };
      body: {
        title: string;
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
        id?: string;
        pathway_id: string;
      };
    };
    answer: SubmissionType;
  };
  listGroupSubmissionTypes: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: SubmissionTypePage;
  };
  getGroupSubmissionType: {
    input: { params: { id: string | number; submission_type_id: string | number } };
    answer: SubmissionType;
  };
  updateGroupSubmissionType: {
    input: {
      params: { id: string | number; submission_type_id: string | number };
      body: SubmissionTypePatch;
    };
    answer: SubmissionType;
  };
  deleteSubmissionType: {
    input: { params: { id: string | number; submission_type_id: string | number } };
    answer: undefined;
  };
  getAvailability: {
    input: {
      params: { id: string | number };
      body?: {
        submission_type_ids?: string[];
      };
    };
    answer: SubmissionTypeAvailabilityList;
  };
  putForm: {
    input: {
      params: { id: string | number; form_id: string | number };
      body: {
        title: string;
      };
    };
    answer: Form;
  };
  getForm: { input: { params: { id: string | number; form_id: string | number } }; answer: Form };
  deleteForm: { input: { params: { id: string | number; form_id: string | number } }; answer: undefined };
  listForms: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: FormPage;
  };
  putAssignee: {
    input: {
      params: { id: string | number; assignee_type: string | number; assignee_id: string | number };
      body: {
        name: string;
      };
    };
    answer: Assignee;
  };
  getAssignee: {
    input: { params: { id: string | number; assignee_type: string | number; assignee_id: string | number } };
    answer: Assignee;
  };
  deleteAssignee: {
    input: { params: { id: string | number; assignee_type: string | number; assignee_id: string | number } };
    answer: undefined;
  };
  listAssignees: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: AssigneePage;
  };
  importItems: {
    input: {
      body: {
        items: ImportItem[];
      };
    };
    answer: ImportOutcomes;
  };
  reconcileItems: {
    input: {
      query?: {
        practice_group_id?: string | undefined;
        include?: 'items' | undefined;
      };
    };
    answer: undefined;
  };
  createFormSubmission: {
    input: {
      params: { id: string | number };
      body: {
        submission_type_id: string;
        id?: string;
      };
    };
    answer: FormSubmission;
  };
  listFormSubmissions: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: FormSubmissionPage;
  };
  getFormSubmission: {
    input: { params: { id: string | number; form_submission_id: string | number } };
    answer: FormSubmission;
  };
  listAllWebhooks: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        partner_id?: string | undefined;
        practice_group_id?: string | undefined;
        status?: 'active' | 'paused' | 'disabled' | undefined;
        /** failing: its last attempts failed. withheld: its partner may not receive what is queued for it. */
        health?: 'failing' | 'withheld' | undefined;
      };
    };
    answer: PartnerWebhookPage;
  };
  getPartnerWebhook: { input: { params: { id: string | number } }; answer: PartnerWebhook };
  updatePartnerWebhook: {
    input: {
      params: { id: string | number };
      body: {
        status: 'active' | 'paused';
        /** For the partner, and for the audit: why it is paused or activated, as a sentence. */
        reason?: string;
      };
    };
    answer: PartnerWebhook;
  };
  deletePartnerWebhook: { input: { params: { id: string | number } }; answer: undefined };
  retryFailedDeliveries: { input: { params: { id: string | number } }; answer: RetriedDeliveries };
  replayPartnerWebhook: { input: { params: { id: string | number }; body: ReplayRequest }; answer: Replay };
  listWebhookAttempts: { input: { params: { id: string | number } }; answer: WebhookAttempts };
  getFigures: {
    input: {
      query?: {
        /** 3 hours before `until` unless given. */
        since?: string | undefined;
        /** Now unless given. */
        until?: string | undefined;
        /**
         * How long a point is. The shortest that makes no more than 200 points unless given; at most 1500
         * points may be asked for.
         */
        step?: '1m' | '5m' | '15m' | '1h' | '6h' | '1d' | undefined;
        partner_id?: string | undefined;
        /** Of its deliveries alone; calls are zero. */
        webhook_id?: string | undefined;
      };
    };
    answer: Figures;
  };
  getWebhookHealth: {
    input: {
      params: { id: string | number };
      query?: {
        /** 3 hours before `until` unless given. */
        since?: string | undefined;
        /** Now unless given. */
        until?: string | undefined;
        /**
         * How long a point is. The shortest that makes no more than 200 points unless given; at most 1500
         * points may be asked for.
         */
        step?: '1m' | '5m' | '15m' | '1h' | '6h' | '1d' | undefined;
      };
    };
    answer: WebhookHealthOverTime;
  };
  listDeliveries: {
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
        webhook_id?: string | undefined;
        event_id?: string | undefined;
        practice_group_id?: string | undefined;
        partner_id?: string | undefined;
        status?: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed' | undefined;
      };
    };
    answer: PartnerDeliveryPage;
  };
  getDelivery: { input: { params: { id: string | number } }; answer: PartnerDelivery };
  retryDelivery: { input: { params: { id: string | number } }; answer: PartnerDelivery };
  listRefusedRequests: {
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
        /** The x-request-id of the call. */
        request_id?: string | undefined;
        partner_id?: string | undefined;
        practice_group_id?: string | undefined;
        key_id?: string | undefined;
        /** The status that was answered. */
        status?: number | undefined;
        /** The code of the refusal. */
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
      };
    };
    answer: PartnerRefusedRequestPage;
  };
  explainRequest: { input: { params: { request_id: string | number } }; answer: RequestExplanation };
  publishEvents: { input: { body: EventPayload | EventBatch }; answer: PublishedEvents };
  listPublishedEvents: {
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
        practice_group_id?: string | undefined;
        event?: EventName | undefined;
      };
    };
    answer: AcceptedEventPage;
  };
  getPublishedEvent: { input: { params: { id: string | number } }; answer: EventWithDeliveries };
  getEventLife: { input: { params: { id: string | number } }; answer: EventLife };
  reportEhrHealth: {
    input: {
      params: { id: string | number };
      body: {
        status: 'healthy' | 'unhealthy';
      };
    };
    answer: EhrHealthReport;
  };
  getEhrHealth: { input: { params: { id: string | number } }; answer: EhrHealth };
  createWriteToRecordJob: {
    input: {
      body: {
        practice_group_id: string;
        resource: string;
        resource_id: string;
      };
    };
    answer: WriteToRecordJob;
  };
  listWriteToRecordJobs: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        practice_group_id?: string | undefined;
        status?: 'queued' | 'succeeded' | 'failed' | undefined;
      };
    };
    answer: WriteToRecordJobPage;
  };
  getWriteToRecordJob: { input: { params: { id: string | number } }; answer: WriteToRecordJob };
  succeedWriteToRecordJob: { input: { params: { id: string | number } }; answer: WriteToRecordJob };
  failWriteToRecordJob: {
    input: {
      params: { id: string | number };
      body: {
        permanent: boolean;
      };
    };
    answer: WriteToRecordJob;
  };
  listChanges: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        practice_group_id?: string | undefined;
        state?: 'pending' | 'applied' | 'rejected' | undefined;
      };
    };
    answer: ChangeFeedPage;
  };
  listLatestChanges: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        practice_group_id?: string | undefined;
        state?: 'pending' | 'applied' | 'rejected' | undefined;
        partner_id?: string | undefined;
      };
    };
    answer: ChangePage;
  };
  streamChanges: {
    input: {
      query?: {
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        practice_group_id?: string | undefined;
      };
    };
    answer: undefined;
  };
  getChange: { input: { params: { id: string | number } }; answer: Change };
  reportChangeApplied: { input: { params: { id: string | number } }; answer: Change };
  reportChangeRejected: {
    input: {
      params: { id: string | number };
      body: {
        /**
         * For the partner, as a sentence. At most 1,000 characters: a longer text is shortened, and ends in
         * `…`. NUL and lone surrogates become U+FFFD.
         */
        reason: string;
      };
    };
    answer: Change;
  };
  putWriteThrough: {
    input: {
      params: { id: string | number };
      body: {
        /** https, at a public address or within the networks of PORTER_OPERATOR_TARGETS. */
        url: string;
      };
    };
    answer: NewWriteThrough;
  };
  getWriteThrough: { input: { params: { id: string | number } }; answer: WriteThrough };
  deleteWriteThrough: { input: { params: { id: string | number } }; answer: undefined };
  createSubscription: {
    input: {
      body: {
        /**
         * https, at a public address or within the networks of PORTER_OPERATOR_TARGETS. Redirects are not
         * followed.
         */
        url: string;
        topics: ('changes' | 'alerts')[];
        description?: string | null;
      };
    };
    answer: CreatedSubscription;
  };
  listSubscriptions: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        status?: 'active' | 'paused' | 'disabled' | undefined;
      };
    };
    answer: SubscriptionPage;
  };
  getSubscription: { input: { params: { id: string | number } }; answer: Subscription };
  updateSubscription: {
    input: { params: { id: string | number }; body: SubscriptionPatch };
    answer: Subscription;
  };
  deleteSubscription: { input: { params: { id: string | number } }; answer: undefined };
  rotateSubscriptionSecret: { input: { params: { id: string | number } }; answer: RotatedSubscriptionSecret };
  testSubscription: {
    input: {
      params: { id: string | number };
      body: {
        topic: 'changes' | 'alerts';
      };
    };
    answer: SubscriptionTest;
  };
  listSubscriptionDeliveries: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        status?: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed' | undefined;
      };
    };
    answer: SubscriptionDeliveryPage;
  };
  getSubscriptionDelivery: {
    input: { params: { id: string | number; delivery_id: string | number } };
    answer: SubscriptionDelivery;
  };
  replaySubscription: { input: { params: { id: string | number }; body: ReplayRequest }; answer: Replay };
  listPartnerUsage: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        /** The first day, at most 399 days before the last; 29 before it unless given. */
        from?: string | undefined;
        /** The last day; today unless given. */
        to?: string | undefined;
        partner_id?: string | undefined;
        /** Calls with this key alone. */
        key_id?: string | undefined;
      };
    };
    answer: PartnerUsageEntryPage;
  };
  getSla: {
    input: {
      params: { id: string | number };
      query?: {
        /** The current one, which it is unless given, or one before it. */
        month?: string | undefined;
      };
    };
    answer: SlaReport;
  };
  listSigningKeys: {
    input: Record<never, never>;
    answer: {
      data: SigningKey[];
    };
  };
  rotateSigningKey: {
    input: {
      body: {
        /** Seven days unless given; 0 ends the old key at once. */
        overlap_seconds?: number;
      };
    };
    answer: SigningKey;
  };
  createOperator: {
    input: {
      body: {
        name: string;
        role: 'admin' | 'support' | 'source' | 'viewer';
        /**
         * For when the provider of OpenID Connect cannot be reached: the token signs in to the console all the
         * same. False unless given.
         */
        emergency?: boolean;
        label?: string | null;
        /** Null, or left out: the token does not expire. */
        expires_at?: string | null;
      };
    };
    answer: NewOperator | Approval;
  };
  listOperators: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: OperatorPage;
  };
  getOperator: { input: { params: { id: string | number } }; answer: Operator };
  updateOperator: {
    input: {
      params: { id: string | number };
      body: {
        label?: string | null;
        /** Null, or left out: the token does not expire. */
        expires_at?: string | null;
      };
    };
    answer: Operator | Approval;
  };
  revokeOperator: { input: { params: { id: string | number } }; answer: Operator };
  listApprovals: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        status?: 'pending' | 'approved' | 'declined' | 'expired' | undefined;
      };
    };
    answer: ApprovalPage;
  };
  getApproval: { input: { params: { id: string | number } }; answer: Approval };
  approveApproval: { input: { params: { id: string | number } }; answer: Approval };
  declineApproval: {
    input: {
      params: { id: string | number };
      body: {
        /** For whoever asked, as a sentence. */
        reason: string;
      };
    };
    answer: Approval;
  };
  collectApproval: { input: { params: { id: string | number } }; answer: CollectedAnswer };
  createPartnerInvitation: {
    input: {
      params: { id: string | number };
      body: {
        email: string;
        name: string;
      };
    };
    answer: Invitation;
  };
  createPracticeInvitation: {
    input: {
      params: { id: string | number };
      body: {
        email: string;
        name: string;
      };
    };
    answer: Invitation;
  };
  listInvitations: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        partner_id?: string | undefined;
        practice_group_id?: string | undefined;
      };
    };
    answer: InvitationPage;
  };
  withdrawInvitation: { input: { params: { id: string | number } }; answer: Invitation };
  listStops: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        partner_id?: string | undefined;
        practice_group_id?: string | undefined;
        /** Only those in force, or only those that were lifted. */
        in_force?: 'true' | 'false' | undefined;
      };
    };
    answer: StopPage;
  };
  liftStop: {
    input: {
      params: { id: string | number };
      body: {
        /** The reason, in words. */
        reason: string;
      };
    };
    answer: Stop;
  };
  getOperatorMe: { input: Record<never, never>; answer: OperatorMe };
  listSessions: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: SessionPage;
  };
  revokeOwnSessions: { input: Record<never, never>; answer: undefined };
  revokeSession: { input: { params: { id: string | number } }; answer: undefined };
  listAudit: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        actor_id?: string | undefined;
        action?: string | undefined;
        subject_id?: string | undefined;
        practice_group_id?: string | undefined;
        since?: string | undefined;
        until?: string | undefined;
      };
    };
    answer: AuditEntryPage;
  };
  getAuditEntry: { input: { params: { seq: string | number } }; answer: AuditEntry };
  getAuditAnchor: { input: Record<never, never>; answer: AuditAnchor };
  verifyAudit: {
    input: {
      query?: {
        /** One line, as it was given out. */
        anchor?: string | undefined;
      };
    };
    answer: AuditVerdict;
  };
  listAccessLog: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        practice_group_id?: string | undefined;
        object_id?: string | undefined;
        /** What was read with this key alone. */
        key_id?: string | undefined;
      };
    };
    answer: AccessLogEntryPage;
  };
  exportAccessLog: {
    input: {
      query?: {
        practice_group_id?: string | undefined;
        after_batch?: string | undefined;
      };
    };
    answer: undefined;
  };
  listAllAlerts: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        /** `true`: those that are open; `false`: those that have ended. */
        open?: 'true' | 'false' | undefined;
        /** Only alerts of this kind. */
        kind?:
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
          | undefined;
        partner_id?: string | undefined;
      };
    };
    answer: OperatorAlertPage;
  };
  getAlert: { input: { params: { id: string | number } }; answer: OperatorAlert };
  remindOfAlert: { input: { params: { id: string | number } }; answer: OperatorAlert };
  getAttention: { input: Record<never, never>; answer: Attention };
  createPartnerContact: {
    input: {
      params: { id: string | number };
      body: {
        email: string;
        name?: string | null;
        /**
         * Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys everybody
         * is told.
         */
        alert_kinds?:
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
  listPartnerContacts: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: ContactPage;
  };
  getPartnerContact: {
    input: { params: { id: string | number; contact_id: string | number } };
    answer: Contact;
  };
  updatePartnerContact: {
    input: {
      params: { id: string | number; contact_id: string | number };
      body: {
        email?: string;
        name?: string | null;
        /**
         * Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys everybody
         * is told.
         */
        alert_kinds?:
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
  deletePartnerContact: {
    input: { params: { id: string | number; contact_id: string | number } };
    answer: undefined;
  };
  createContact: {
    input: {
      body: {
        email: string;
        name?: string | null;
        /**
         * Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys everybody
         * is told.
         */
        alert_kinds?:
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
      };
    };
    answer: Contact;
  };
  listContacts: {
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
  getContact: { input: { params: { id: string | number } }; answer: Contact };
  updateContact: {
    input: {
      params: { id: string | number };
      body: {
        email?: string;
        name?: string | null;
        /**
         * Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys everybody
         * is told.
         */
        alert_kinds?:
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
      };
    };
    answer: Contact;
  };
  deleteContact: { input: { params: { id: string | number } }; answer: undefined };
  createErasure: {
    input: {
      body: {
        practice_group_id: string;
        /**
         * As events name it (`object`), or write-to-record jobs (`resource`), in capitals or not. What is
         * nearly the name of an object, and no resource of a job, is refused.
         */
        object: string;
        object_id: string;
      };
    };
    answer: Erasure;
  };
  listErasures: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        practice_group_id?: string | undefined;
      };
    };
    answer: ErasurePage;
  };
  getErasure: { input: { params: { id: string | number } }; answer: Erasure };
  search: {
    input: {
      query?: {
        /** What is looked for. Blanks at either end do not count. */
        q?: string | undefined;
      };
    };
    answer: SearchResult;
  };
  listSettings: { input: Record<never, never>; answer: Settings };
  listNodes: { input: Record<never, never>; answer: Nodes };
  streamLive: { input: Record<never, never>; answer: undefined };
  listReachingPartners: {
    input: {
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
      };
    };
    answer: ReachingPartnerPage;
  };
  getReachingPartner: { input: { params: { id: string | number } }; answer: ReachingPartnerInDetail };
  listPartnerActivity: {
    input: {
      params: { id: string | number };
      query?: {
        /** Entries on a page; 50 unless given. */
        page_size?: number | undefined;
        /** The next_cursor of the page before. */
        cursor?: string | undefined;
        kind?: 'read' | 'changed' | 'received' | undefined;
      };
    };
    answer: PartnerActivityPage;
  };
  stopPartner: {
    input: {
      params: { id: string | number };
      body: {
        /** The reason, in words. */
        reason: string;
      };
    };
    answer: PartnerStop;
  };
  resumePartner: { input: { params: { id: string | number } }; answer: undefined };
  streamPracticeLive: { input: Record<never, never>; answer: undefined };
}

export const operations = {
  createPracticeGroup: ['POST', '/operator/v1/practice-groups'],
  listAllPracticeGroups: ['GET', '/operator/v1/practice-groups'],
  updatePracticeGroup: ['PATCH', '/operator/v1/practice-groups/{id}'],
  getPracticeGroup: ['GET', '/operator/v1/practice-groups/{id}'],
  deletePracticeGroup: ['DELETE', '/operator/v1/practice-groups/{id}'],
  createNetwork: ['POST', '/operator/v1/networks'],
  listNetworks: ['GET', '/operator/v1/networks'],
  updateNetwork: ['PATCH', '/operator/v1/networks/{id}'],
  getNetwork: ['GET', '/operator/v1/networks/{id}'],
  deleteNetwork: ['DELETE', '/operator/v1/networks/{id}'],
  addNetworkMember: ['PUT', '/operator/v1/networks/{id}/members/{practice_group_id}'],
  removeNetworkMember: ['DELETE', '/operator/v1/networks/{id}/members/{practice_group_id}'],
  previewNetwork: ['POST', '/operator/v1/networks/preview'],
  createPartner: ['POST', '/operator/v1/partners'],
  listPartners: ['GET', '/operator/v1/partners'],
  getPartner: ['GET', '/operator/v1/partners/{id}'],
  updatePartner: ['PATCH', '/operator/v1/partners/{id}'],
  signAgreement: ['POST', '/operator/v1/partners/{id}/sign-agreement'],
  verifyPartner: ['POST', '/operator/v1/partners/{id}/verify'],
  suspendPartner: ['POST', '/operator/v1/partners/{id}/suspend'],
  createAgreement: ['POST', '/operator/v1/partners/{id}/agreements'],
  listAgreements: ['GET', '/operator/v1/partners/{id}/agreements'],
  getAgreement: ['GET', '/operator/v1/partners/{id}/agreements/{agreement_id}'],
  updateAgreement: ['PATCH', '/operator/v1/partners/{id}/agreements/{agreement_id}'],
  issueKey: ['POST', '/operator/v1/keys'],
  listKeys: ['GET', '/operator/v1/keys'],
  issueKeys: ['POST', '/operator/v1/keys/bulk'],
  updateKey: ['PATCH', '/operator/v1/keys/{id}'],
  getKey: ['GET', '/operator/v1/keys/{id}'],
  rotateKey: ['POST', '/operator/v1/keys/{id}/rotate'],
  revokeKey: ['POST', '/operator/v1/keys/{id}/revoke'],
  reportLeakedKeys: ['POST', '/operator/v1/leaked-keys'],
  createSubmissionType: ['POST', '/operator/v1/practice-groups/{id}/submission-types'],
  listGroupSubmissionTypes: ['GET', '/operator/v1/practice-groups/{id}/submission-types'],
  getGroupSubmissionType: ['GET', '/operator/v1/practice-groups/{id}/submission-types/{submission_type_id}'],
  updateGroupSubmissionType: [
    'PATCH',
    '/operator/v1/practice-groups/{id}/submission-types/{submission_type_id}',
  ],
  deleteSubmissionType: ['DELETE', '/operator/v1/practice-groups/{id}/submission-types/{submission_type_id}'],
  getAvailability: ['POST', '/operator/v1/practice-groups/{id}/submission-types/availability'],
  putForm: ['PUT', '/operator/v1/practice-groups/{id}/forms/{form_id}'],
  getForm: ['GET', '/operator/v1/practice-groups/{id}/forms/{form_id}'],
  deleteForm: ['DELETE', '/operator/v1/practice-groups/{id}/forms/{form_id}'],
  listForms: ['GET', '/operator/v1/practice-groups/{id}/forms'],
  putAssignee: ['PUT', '/operator/v1/practice-groups/{id}/assignees/{assignee_type}/{assignee_id}'],
  getAssignee: ['GET', '/operator/v1/practice-groups/{id}/assignees/{assignee_type}/{assignee_id}'],
  deleteAssignee: ['DELETE', '/operator/v1/practice-groups/{id}/assignees/{assignee_type}/{assignee_id}'],
  listAssignees: ['GET', '/operator/v1/practice-groups/{id}/assignees'],
  importItems: ['POST', '/operator/v1/import'],
  reconcileItems: ['POST', '/operator/v1/reconcile'],
  createFormSubmission: ['POST', '/operator/v1/practice-groups/{id}/form-submissions'],
  listFormSubmissions: ['GET', '/operator/v1/practice-groups/{id}/form-submissions'],
  getFormSubmission: ['GET', '/operator/v1/practice-groups/{id}/form-submissions/{form_submission_id}'],
  listAllWebhooks: ['GET', '/operator/v1/webhooks'],
  getPartnerWebhook: ['GET', '/operator/v1/webhooks/{id}'],
  updatePartnerWebhook: ['PATCH', '/operator/v1/webhooks/{id}'],
  deletePartnerWebhook: ['DELETE', '/operator/v1/webhooks/{id}'],
  retryFailedDeliveries: ['POST', '/operator/v1/webhooks/{id}/retry-failed'],
  replayPartnerWebhook: ['POST', '/operator/v1/webhooks/{id}/replay'],
  listWebhookAttempts: ['GET', '/operator/v1/webhooks/{id}/attempts'],
  getFigures: ['GET', '/operator/v1/figures'],
  getWebhookHealth: ['GET', '/operator/v1/webhooks/{id}/health'],
  listDeliveries: ['GET', '/operator/v1/deliveries'],
  getDelivery: ['GET', '/operator/v1/deliveries/{id}'],
  retryDelivery: ['POST', '/operator/v1/deliveries/{id}/retry'],
  listRefusedRequests: ['GET', '/operator/v1/requests'],
  explainRequest: ['GET', '/operator/v1/requests/{request_id}/explanation'],
  publishEvents: ['POST', '/operator/v1/events'],
  listPublishedEvents: ['GET', '/operator/v1/events'],
  getPublishedEvent: ['GET', '/operator/v1/events/{id}'],
  getEventLife: ['GET', '/operator/v1/events/{id}/life'],
  reportEhrHealth: ['PUT', '/operator/v1/practice-groups/{id}/ehr-health'],
  getEhrHealth: ['GET', '/operator/v1/practice-groups/{id}/ehr-health'],
  createWriteToRecordJob: ['POST', '/operator/v1/write-to-record-jobs'],
  listWriteToRecordJobs: ['GET', '/operator/v1/write-to-record-jobs'],
  getWriteToRecordJob: ['GET', '/operator/v1/write-to-record-jobs/{id}'],
  succeedWriteToRecordJob: ['POST', '/operator/v1/write-to-record-jobs/{id}/succeed'],
  failWriteToRecordJob: ['POST', '/operator/v1/write-to-record-jobs/{id}/fail'],
  listChanges: ['GET', '/operator/v1/changes'],
  listLatestChanges: ['GET', '/operator/v1/changes/latest'],
  streamChanges: ['GET', '/operator/v1/changes/stream'],
  getChange: ['GET', '/operator/v1/changes/{id}'],
  reportChangeApplied: ['POST', '/operator/v1/changes/{id}/applied'],
  reportChangeRejected: ['POST', '/operator/v1/changes/{id}/rejected'],
  putWriteThrough: ['PUT', '/operator/v1/practice-groups/{id}/write-through'],
  getWriteThrough: ['GET', '/operator/v1/practice-groups/{id}/write-through'],
  deleteWriteThrough: ['DELETE', '/operator/v1/practice-groups/{id}/write-through'],
  createSubscription: ['POST', '/operator/v1/subscriptions'],
  listSubscriptions: ['GET', '/operator/v1/subscriptions'],
  getSubscription: ['GET', '/operator/v1/subscriptions/{id}'],
  updateSubscription: ['PATCH', '/operator/v1/subscriptions/{id}'],
  deleteSubscription: ['DELETE', '/operator/v1/subscriptions/{id}'],
  rotateSubscriptionSecret: ['POST', '/operator/v1/subscriptions/{id}/rotate-secret'],
  testSubscription: ['POST', '/operator/v1/subscriptions/{id}/test'],
  listSubscriptionDeliveries: ['GET', '/operator/v1/subscriptions/{id}/deliveries'],
  getSubscriptionDelivery: ['GET', '/operator/v1/subscriptions/{id}/deliveries/{delivery_id}'],
  replaySubscription: ['POST', '/operator/v1/subscriptions/{id}/replay'],
  listPartnerUsage: ['GET', '/operator/v1/usage'],
  getSla: ['GET', '/operator/v1/partners/{id}/sla'],
  listSigningKeys: ['GET', '/operator/v1/signing-keys'],
  rotateSigningKey: ['POST', '/operator/v1/signing-keys/rotate'],
  createOperator: ['POST', '/operator/v1/operators'],
  listOperators: ['GET', '/operator/v1/operators'],
  getOperator: ['GET', '/operator/v1/operators/{id}'],
  updateOperator: ['PATCH', '/operator/v1/operators/{id}'],
  revokeOperator: ['POST', '/operator/v1/operators/{id}/revoke'],
  listApprovals: ['GET', '/operator/v1/approvals'],
  getApproval: ['GET', '/operator/v1/approvals/{id}'],
  approveApproval: ['POST', '/operator/v1/approvals/{id}/approve'],
  declineApproval: ['POST', '/operator/v1/approvals/{id}/decline'],
  collectApproval: ['POST', '/operator/v1/approvals/{id}/collect'],
  createPartnerInvitation: ['POST', '/operator/v1/partners/{id}/invitations'],
  createPracticeInvitation: ['POST', '/operator/v1/practice-groups/{id}/invitations'],
  listInvitations: ['GET', '/operator/v1/invitations'],
  withdrawInvitation: ['POST', '/operator/v1/invitations/{id}/withdraw'],
  listStops: ['GET', '/operator/v1/stops'],
  liftStop: ['POST', '/operator/v1/stops/{id}/lift'],
  getOperatorMe: ['GET', '/operator/v1/me'],
  listSessions: ['GET', '/operator/v1/sessions'],
  revokeOwnSessions: ['DELETE', '/operator/v1/sessions'],
  revokeSession: ['DELETE', '/operator/v1/sessions/{id}'],
  listAudit: ['GET', '/operator/v1/audit'],
  getAuditEntry: ['GET', '/operator/v1/audit/{seq}'],
  getAuditAnchor: ['GET', '/operator/v1/audit/anchor'],
  verifyAudit: ['GET', '/operator/v1/audit/verify'],
  listAccessLog: ['GET', '/operator/v1/access-log'],
  exportAccessLog: ['GET', '/operator/v1/access-log/export'],
  listAllAlerts: ['GET', '/operator/v1/alerts'],
  getAlert: ['GET', '/operator/v1/alerts/{id}'],
  remindOfAlert: ['POST', '/operator/v1/alerts/{id}/remind'],
  getAttention: ['GET', '/operator/v1/attention'],
  createPartnerContact: ['POST', '/operator/v1/partners/{id}/contacts'],
  listPartnerContacts: ['GET', '/operator/v1/partners/{id}/contacts'],
  getPartnerContact: ['GET', '/operator/v1/partners/{id}/contacts/{contact_id}'],
  updatePartnerContact: ['PATCH', '/operator/v1/partners/{id}/contacts/{contact_id}'],
  deletePartnerContact: ['DELETE', '/operator/v1/partners/{id}/contacts/{contact_id}'],
  createContact: ['POST', '/operator/v1/contacts'],
  listContacts: ['GET', '/operator/v1/contacts'],
  getContact: ['GET', '/operator/v1/contacts/{id}'],
  updateContact: ['PATCH', '/operator/v1/contacts/{id}'],
  deleteContact: ['DELETE', '/operator/v1/contacts/{id}'],
  createErasure: ['POST', '/operator/v1/erasures'],
  listErasures: ['GET', '/operator/v1/erasures'],
  getErasure: ['GET', '/operator/v1/erasures/{id}'],
  search: ['GET', '/operator/v1/search'],
  listSettings: ['GET', '/operator/v1/settings'],
  listNodes: ['GET', '/operator/v1/nodes'],
  streamLive: ['GET', '/operator/v1/live'],
  listReachingPartners: ['GET', '/practice/v1/partners'],
  getReachingPartner: ['GET', '/practice/v1/partners/{id}'],
  listPartnerActivity: ['GET', '/practice/v1/partners/{id}/activity'],
  stopPartner: ['PUT', '/practice/v1/partners/{id}/stop'],
  resumePartner: ['DELETE', '/practice/v1/partners/{id}/stop'],
  streamPracticeLive: ['GET', '/practice/v1/live'],
} as const satisfies Record<keyof Operations, readonly [string, string]>;
