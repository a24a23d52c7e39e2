# Made by `npm run generate` from spec/. Change it there.

"""What travels over the wire."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict, get_args


EventName = Literal[
    "appointment.confirmed",
    "appointment.rescheduled",
    "appointment.cancelled",
    "appointment.booking-failed",
    "appointment.cancel-failed",
    "appointment.reschedule-failed",
    "form-submission.created",
    "prescription.issued",
    "patient.added-to-sequence",
    "write-to-record.succeeded",
    "write-to-record.failed",
    "ehr.health_status.healthy",
    "ehr.health_status.unhealthy",
]
"""The events that this version of the library knows."""

EVENT_NAMES: tuple[EventName, ...] = get_args(EventName)


class UnknownEvent(TypedDict):
    """An event of a kind that is not known here: acknowledge it and go on, or look at `name` and `payload`."""

    event: Literal["unknown"]
    name: str
    payload: dict[str, object]


class Address(TypedDict):
    line_1: str | None
    """The first line of the address."""
    line_2: str | None
    """The second line of the address."""
    town: str | None
    """The town."""
    county: str | None
    """The county."""
    postcode: str | None
    """The postcode."""


class Alert(TypedDict):
    """Something of yours that needs looking after."""

    id: str
    """The ID of the alert."""
    kind: Literal["webhook_failing", "webhook_disabled", "key_expiring", "key_unused", "key_leaked", "refusals_rising", "deliveries_late", "agreement_ended"]
    """The kind of alert."""
    subject: AlertSubject
    """The object that the alert is about."""
    practice_group_id: str | None
    """The practice group concerned; null: it concerns none alone."""
    message: str
    """What is the matter, in plain words."""
    remedy: str
    """What to do about it."""
    details: AlertDetails
    """Figures and moments; each is null where it does not apply."""
    began_at: str
    """When the alert began."""
    ended_at: str | None
    """null: it is open."""
    ended_because: Literal["recovered", "disabled", "paused", "withheld", "replaced", "expired", "lifted", "settled", "gone", "told", None]
    """Why the alert ended; null: it is open."""


class AlertDetails(TypedDict):
    """What was known when it began; null where it does not apply."""

    since: str | None
    """Since when it has been so."""
    until: str | None
    """Of a key or an agreement: when it ends."""
    count: int | None
    """Failed attempts, refused calls within the hour, changes that wait, or keys that work under an
    agreement.
    """
    usual: int | None
    """Of refused calls: how many are usual at that hour."""
    reason: str | None
    """Why the webhook is disabled or withheld, or why the practice stopped the partner; null: not
    given.
    """


class AlertPage(TypedDict):
    data: list[Alert]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class AlertSubject(TypedDict):
    """What it is about."""

    type: Literal["webhook", "subscription", "write_through", "key", "partner", "practice_group", "agreement", "stop", "service"]
    """The type of the object."""
    id: str
    """The ID of the object."""
    name: str
    """For people: the host of a webhook, the label of a key."""


class AppointmentBookingFailedEvent(TypedDict):
    """A booking failed to confirm in the EHR."""

    object: Literal["Appointment"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["appointment.booking-failed"]
    """The name of the event."""
    failure_reason: NotRequired[str]
    """Human-readable reason why the action failed to confirm in the EHR. At most 2,000 characters: a
    longer text is shortened, and ends in `…`. NUL and lone surrogates become U+FFFD.
    """
    code: NotRequired[str]
    """Machine-readable failure code. At most 255 characters: a longer text is shortened, and ends in
    `…`. NUL and lone surrogates become U+FFFD.
    """


class AppointmentCancelFailedEvent(TypedDict):
    """A cancellation failed to confirm in the EHR."""

    object: Literal["Appointment"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["appointment.cancel-failed"]
    """The name of the event."""
    failure_reason: NotRequired[str]
    """Human-readable reason why the action failed to confirm in the EHR. At most 2,000 characters: a
    longer text is shortened, and ends in `…`. NUL and lone surrogates become U+FFFD.
    """
    code: NotRequired[str]
    """Machine-readable failure code. At most 255 characters: a longer text is shortened, and ends in
    `…`. NUL and lone surrogates become U+FFFD.
    """


class AppointmentCancelledEvent(TypedDict):
    """An appointment has been cancelled."""

    object: Literal["Appointment"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["appointment.cancelled"]
    """The name of the event."""


class AppointmentConfirmedEvent(TypedDict):
    """An appointment has been confirmed."""

    object: Literal["Appointment"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["appointment.confirmed"]
    """The name of the event."""


class AppointmentRescheduleFailedEvent(TypedDict):
    """A reschedule failed to confirm in the EHR."""

    object: Literal["Appointment"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["appointment.reschedule-failed"]
    """The name of the event."""
    failure_reason: NotRequired[str]
    """Human-readable reason why the action failed to confirm in the EHR. At most 2,000 characters: a
    longer text is shortened, and ends in `…`. NUL and lone surrogates become U+FFFD.
    """
    code: NotRequired[str]
    """Machine-readable failure code. At most 255 characters: a longer text is shortened, and ends in
    `…`. NUL and lone surrogates become U+FFFD.
    """


class AppointmentRescheduledEvent(TypedDict):
    """An appointment has been rescheduled."""

    object: Literal["Appointment"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["appointment.rescheduled"]
    """The name of the event."""


class Contact(TypedDict):
    """Somebody who is told of alerts by e-mail."""

    id: str
    """`first`: the contact_email of the partner."""
    partner_id: str | None
    """Whose it is; null: of the operator."""
    email: str
    """The email address that alerts are sent to."""
    name: str | None
    """The name of the contact; null: not given."""
    alert_kinds: list[Literal["webhook_failing", "webhook_disabled", "key_expiring", "key_unused", "key_leaked", "refusals_rising", "partner_waiting", "deliveries_late", "ehr_down", "changes_pending", "partner_stopped", "agreement_ended"]] | None
    """Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys
    everybody is told.
    """
    created_at: str
    """When the contact was added."""
    updated_at: str
    """When the contact was last changed."""


class ContactPage(TypedDict):
    data: list[Contact]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class CreatedWebhook(TypedDict):
    id: str
    """The ID of the webhook."""
    url: str
    """The URL that receives the events."""
    description: str | None
    """A note of your own; null: none."""
    event_types: list[EventName]
    """The events that the webhook subscribes to."""
    status: Literal["active", "paused", "disabled"]
    """paused: by you, or by the operator, as `status_reason` then says. disabled: by the service,
    because the receiver answered 410 or failed for five days. In both cases deliveries queue up for
    as long as events are kept, and are sent once the webhook is active again.
    """
    status_reason: str | None
    """Why the service disabled it, or who else paused or activated it and why, as a sentence."""
    signature: Literal["hmac", "ed25519", "both"]
    """How deliveries are signed. hmac: with the secret of the webhook (`v1`). ed25519: with the key of
    this deployment (`v1a`), whose public part is at `/.well-known/webhook-keys`. both: each.
    """
    header_names: list[str]
    """The headers of your own that it is sent. Their values are not shown."""
    practice_group_id: str | None
    """The practice group whose events it receives; null for a webhook for all of them."""
    practice_groups: Literal["all", None]
    """all: it receives the events of every practice group that you may act for with the scope
    `events:read`, those that are added later included.
    """
    practice_group_ids: list[str] | None
    """Of a webhook for all practice groups: those that it is narrowed to; null: it is not."""
    health: WebhookHealth
    """The state of its deliveries."""
    created_at: str
    """When the webhook was created."""
    updated_at: str
    """When the webhook was last changed."""
    secret: str
    """Verifies signatures (Standard Webhooks). Shown here once and never again."""


class Delivery(TypedDict):
    """The delivery of one event to one webhook."""

    id: str
    """Sent as `webhook-id`."""
    event_id: str
    """The ID of the event."""
    event: EventName
    """The name of the event."""
    object_id: str
    """What the event is about: the `id` in its payload."""
    sequence: int
    """Sent as `webhook-sequence`: counts the deliveries of the webhook."""
    status: Literal["waiting", "pending", "withheld", "delivered", "failed"]
    """waiting: an earlier event about the same object comes first. pending: to be sent, or sent again.
    withheld: not sent, because the partner may not receive events of the practice group at present;
    it goes on by itself when the partner may again, for as long as events are kept. failed: given
    up.
    """
    withheld_reason: Literal["partner_not_verified", "stopped_by_practice", "key_revoked", "key_expired", "scope_missing", "out_of_reach", None]
    """Why deliveries are withheld; null when they are not. partner_not_verified: the partner is
    suspended. stopped_by_practice: the practice has stopped the partner. key_revoked, key_expired:
    no key for the practice group works any more. scope_missing: no key, or no network, grants
    `events:read`. out_of_reach: no key is tied to the practice group, or to one that shares a
    network with it.
    """
    attempts: list[DeliveryAttempt]
    """Oldest first; at most the last 50."""
    next_attempt_at: str | None
    """When a pending delivery is sent next, provided that its webhook is active then; null for every
    other status.
    """
    created_at: str
    """When the delivery was created."""
    finished_at: str | None
    """When it was delivered or given up; null: it is not finished."""


class DeliveryAttempt(TypedDict):
    at: str
    """When the attempt began."""
    outcome: Literal["delivered", "failed"]
    """delivered: the receiver answered with 2xx. failed: everything else."""
    status: int | None
    """The status that the receiver answered with; null when no answer began. Partners see `outcome`
    alone for a receiver on the machine of the service, unless this staging service may call its own
    machine.
    """
    phase: Literal["address", "dns", "connect", "tls", "send", "answer", None]
    """Where the attempt broke off; null when an answer arrived."""
    code: str | None
    """Machine-readable reason why it broke off; null when an answer arrived."""
    diagnosis: str
    """What happened, as a sentence."""
    duration_ms: int
    """From the start of the attempt to its end."""
    answer: str | None
    """The first 1 KiB of the answer as text; null when it had none."""


class DeliveryPage(TypedDict):
    data: list[Delivery]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class EhrHealthStatusHealthyEvent(TypedDict):
    """The EHR connection of a practice group became healthy."""

    object: Literal["EhrHealthStatus"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["ehr.health_status.healthy"]
    """The name of the event."""


class EhrHealthStatusUnhealthyEvent(TypedDict):
    """The EHR connection of a practice group became unhealthy."""

    object: Literal["EhrHealthStatus"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["ehr.health_status.unhealthy"]
    """The name of the event."""


class EventFeedPage(TypedDict):
    data: list[FeedEvent]
    """The events of this page, oldest first."""
    count: int
    """How many events this page holds."""
    next_cursor: str
    """Send it as `cursor` to go on from here."""
    has_more: bool
    """Whether there is more to read at this moment."""


class FeedEvent(TypedDict):
    id: str
    """The ID of the event."""
    created_at: str
    """When the event was accepted."""
    data: EventPayload
    """The event, as webhooks receive it."""


class FormSubmissionCreatedEvent(TypedDict):
    """A form submission has been created."""

    object: Literal["FormSubmission"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["form-submission.created"]
    """The name of the event."""


class MePartner(TypedDict):
    """The partner that the key belongs to."""

    id: str
    """The ID of the partner."""
    name: str
    """The name of the partner."""


class MeKey(TypedDict):
    """The key that made the request."""

    id: str
    """The ID of the key."""
    label: str | None
    """The label of the key; null: none."""
    scopes: list[Literal["practice-groups:read", "submission-types:read", "submission-types:write", "webhooks:read", "webhooks:write", "events:read"]]
    """What the key may do."""
    rate_limit_per_minute: int
    """The limit that holds for the key."""
    expires_at: str | None
    """When the key expires; null: never."""


class MePracticeGroupsItemThrough(TypedDict):
    """The network through which the key acts for it, the first by name if there are several; null: it
    is tied to it.
    """

    id: str
    """The ID of the network."""
    name: str
    """The name of the network."""


class MePracticeGroupsItem(TypedDict):
    id: str
    """The practice group ID."""
    name: str
    """The name of the practice group."""
    scopes: list[Literal["practice-groups:read", "submission-types:read", "submission-types:write", "webhooks:read", "webhooks:write", "events:read"]]
    """What the key may do there: its own scopes, as far as networks grant them."""
    through: MePracticeGroupsItemThrough | None
    """The network through which the key acts for it, the first by name if there are several; null: it
    is tied to it.
    """


class Me(TypedDict):
    """A partner and its key, as the service knows them."""

    partner: MePartner
    """The partner that the key belongs to."""
    key: MeKey
    """The key that made the request."""
    practice_groups: list[MePracticeGroupsItem]
    """Every practice group that the key may act for; its own comes first."""


class OwnAgreement(TypedDict):
    """What you have signed, and the terms."""

    id: str
    """The ID of the agreement."""
    version: str | None
    """Which text was signed."""
    document_url: str | None
    """Where the signed document is."""
    signatory: str | None
    """Who signed for the partner."""
    signed_at: str
    """When the agreement was signed."""
    ends_at: str | None
    """From when on it no longer holds; null: until further notice. Keys that were issued under it go
    on working.
    """
    status: Literal["in_force", "ended"]
    """in_force: its end has not come. ended: its end has passed."""
    rate_limit_per_minute: int | None
    """Of each key that was issued under it and has none of its own; null: the default limit."""
    sla: str | None
    """In words."""
    sla_targets: SlaTargets | None
    """What is measured month by month; null: the SLA is words alone, or there is none."""
    created_at: str
    """When the agreement was recorded."""
    updated_at: str
    """When the record was last changed."""


class OwnAgreementPage(TypedDict):
    data: list[OwnAgreement]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class PatientAddedToSequenceEvent(TypedDict):
    """A patient has been added to a sequence."""

    object: Literal["Patient"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["patient.added-to-sequence"]
    """The name of the event."""


class PracticeGroupNetworksItem(TypedDict):
    id: str
    """The ID of the network."""
    name: str
    """The name of the network."""


class PracticeGroup(TypedDict):
    """A practice, or a hub that serves several."""

    id: str
    """The practice group ID, as it is sent in `x-practice-group-id`."""
    name: str
    """The name of the practice group."""
    ods_code: str | None
    """The organisation code of the practice."""
    timezone: str
    """IANA time zone."""
    address: Address | None
    """The postal address; null: not known."""
    networks: list[PracticeGroupNetworksItem]
    """The networks that the practice group belongs to."""
    ehr_status: Literal["healthy", "unhealthy", "unknown"]
    """The last reported status of the connection to the electronic health record (EHR)."""
    created_at: str
    """When the practice group was created."""
    updated_at: str
    """When the practice group was last changed."""


class PracticeGroupList(TypedDict):
    data: list[PracticeGroup]
    """The practice group acted for comes first."""
    count: int
    """The number of practice groups in `data`."""


class PrescriptionIssuedEvent(TypedDict):
    """A prescription has been issued."""

    object: Literal["Prescription"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["prescription.issued"]
    """The name of the event."""


class ProblemUsedByItem(TypedDict):
    type: str
    """The type of the objects."""
    count: int
    """The number of such objects."""
    ids: list[str]
    """The IDs of the first few."""


class Problem(TypedDict):
    """A refusal, with a stable code in `error`."""

    error: Literal["invalid_credentials", "insufficient_permissions", "forbidden", "https_required", "not_found", "method_not_allowed", "conflict", "cursor_gone", "precondition_failed", "payload_too_large", "unsupported_media_type", "business_rule_violation", "rate_limit_exceeded", "internal_error", "service_unavailable"]
    """The code of the problem. It is stable."""
    statusCode: int
    """The HTTP status."""
    message: str
    """The problem and the remedy, as a sentence."""
    request_id: str
    """Quote it to support; it is also in x-request-id."""
    doc_url: str
    """A page about this error."""
    required_scopes: NotRequired[list[str]]
    """With insufficient_permissions: what the key lacks."""
    required_roles: NotRequired[list[str]]
    """With insufficient_permissions on the operator API."""
    rule: NotRequired[str]
    """With business_rule_violation: the rule that is broken."""
    path: NotRequired[list[str | int]]
    """With business_rule_violation: the field to look at."""
    retry_after: NotRequired[int]
    """With rate_limit_exceeded: seconds to wait, as in Retry-After."""
    resume_cursor: NotRequired[str]
    """With cursor_gone: the cursor to go on from."""
    used_by: NotRequired[list[ProblemUsedByItem]]
    """With conflict, when something in use was to be removed: what uses it, how many, and the first
    few.
    """


class RefusedRequest(TypedDict):
    request_id: str
    """The `x-request-id` of the call."""
    at: str
    """When the call was refused."""
    method: str
    """The HTTP method."""
    path: str
    """Without its query."""
    operation: str
    """The operation that was called."""
    status: int
    """The HTTP status of the answer."""
    error: str
    """The code of the refusal; `validation_error` for a 400."""
    reason: Literal["expired", "revoked", "leaked", "partner_not_verified", "address_not_allowed", "proof_missing", "proof_invalid", "stopped_by_practice", "proof_replayed", None]
    """Why the key was refused, at all or for this practice group; null if that was not why the call
    was.
    """
    answer: ValidationError | Problem
    """The body of the refusal. Of a 400 with very many problems, the first 100."""
    explanation: str
    """The cause and what to do about it, in plain words."""


class Replay(TypedDict):
    count: int
    """How many deliveries will be sent, including those that were pending anyway."""


class ReplayRequest(TypedDict):
    since: NotRequired[str]
    """Not in the future."""
    until: NotRequired[str]
    """With `since`, and after it: only what was accepted before this moment."""
    event_ids: NotRequired[list[str]]
    """The IDs of the events to send again."""


class RotatedWebhookSecret(TypedDict):
    id: str
    """The webhook."""
    secret: str
    """Verifies signatures (Standard Webhooks). Shown here once and never again."""
    previous_secret_expires_at: str
    """Until then, deliveries are signed with the previous secret, too."""


class SlaTargetsLatencyMs(TypedDict):
    """How long answers may take: half of them, 95 and 99 of 100. Measured in the service, and rounded
    up to a bound of the report.
    """

    p50: NotRequired[float]
    """The longest time for half of them."""
    p95: NotRequired[float]
    """The longest time for 95 of 100."""
    p99: NotRequired[float]
    """The longest time for 99 of 100."""


class SlaTargetsDeliverySeconds(TypedDict):
    """How long it may take from the acceptance of an event to its receipt, likewise."""

    p50: NotRequired[float]
    """The longest time for half of them."""
    p95: NotRequired[float]
    """The longest time for 95 of 100."""
    p99: NotRequired[float]
    """The longest time for 99 of 100."""


class SlaTargets(TypedDict):
    """Targets that are measured month by month."""

    availability_percent: NotRequired[float]
    """Of the calls, those not answered with 5xx; of the minutes, those in which the service ran. The
    lower of the two counts.
    """
    latency_ms: NotRequired[SlaTargetsLatencyMs]
    """How long answers may take: half of them, 95 and 99 of 100. Measured in the service, and rounded
    up to a bound of the report.
    """
    delivery_success_percent: NotRequired[float]
    """Of the deliveries that came to an end, those that arrived."""
    delivery_seconds: NotRequired[SlaTargetsDeliverySeconds]
    """How long it may take from the acceptance of an event to its receipt, likewise."""


class SubmissionType(TypedDict):
    """A category of patient request that care navigation handles."""

    id: str
    """The ID of the submission type."""
    pathway_id: str
    """The ID of its care navigation pathway."""
    form_id: str | None
    """The ID of the form that patients fill in; null: none."""
    title: str
    """The title. Patients may see it."""
    description: str | None
    """A longer text. Patients may see it. null: none."""
    in_hours: bool
    """Takes forms during opening hours."""
    out_of_hours: bool
    """Takes forms outside opening hours."""
    suspended: bool
    """Whether the submission type takes no forms for now."""
    external_url: str | None
    """A link that patients are offered; null: none."""
    external_url_name: str | None
    """The text of the link; null: none."""
    type: Literal["admin_request", "clinical_request", "other_request", None]
    """The kind of request; null: not set."""
    default_priority: Literal["lowest", "low", "medium", "high", "highest"]
    """The priority of a new request."""
    daily_limit: int | None
    """The most forms that are taken on one day; null: no cap."""
    forms_submitted_today: NotRequired[int]
    """Forms submitted on the current day, in the time zone of the practice group."""
    patient_eligibility_check: bool
    """Whether patients are checked for eligibility."""
    assignee_id: str | None
    """The ID of the person or team that requests are assigned to; null: none."""
    assignee_type: Literal["Admin", "AdminTeam", None]
    """Admin: a person. AdminTeam: a team. null: none."""
    order: float | None
    """Sort position."""
    created_at: str | None
    """When the submission type was created."""
    updated_at: str | None
    """When the submission type was last changed."""


class SubmissionTypeChange(TypedDict):
    """A change that you made to a submission type."""

    id: str
    """The ID of the change."""
    state: Literal["pending", "applied", "rejected"]
    """pending: the practice's own software has not said yet what became of it. applied: it has the
    change, too. rejected: it does not take it; `reason` says why.
    """
    reason: str | None
    """Why the practice software rejected the change; null: it did not."""
    request_id: str | None
    """The `x-request-id` of the call that made the change."""
    at: str
    """When you made it."""
    ended_at: str | None
    """When it was applied or rejected."""


class SubmissionTypeChangePage(TypedDict):
    data: list[SubmissionTypeChange]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class SubmissionTypePage(TypedDict):
    data: list[SubmissionType]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class SubmissionTypePatch(TypedDict):
    """A merge patch: what is left out stays as it is, null clears a nullable field."""

    title: NotRequired[str]
    """The title. Patients may see it."""
    description: NotRequired[str | None]
    """A longer text. Patients may see it. null clears it."""
    in_hours: NotRequired[bool]
    """Whether to take forms during opening hours."""
    out_of_hours: NotRequired[bool]
    """Whether to take forms outside opening hours."""
    suspended: NotRequired[bool]
    """Whether to take no forms for now."""
    form_id: NotRequired[str | None]
    """The ID of a form of the practice group; null clears it."""
    external_url: NotRequired[str | None]
    """A link to offer to patients: an absolute http, https, tel or mailto URL; null clears it."""
    external_url_name: NotRequired[str | None]
    """The text of the link, which needs `external_url`; null clears it."""
    type: NotRequired[Literal["admin_request", "clinical_request", "other_request", None]]
    """The kind of request; null clears it."""
    default_priority: NotRequired[Literal["lowest", "low", "medium", "high", "highest"]]
    """The priority of a new request."""
    daily_limit: NotRequired[int | None]
    """The most forms to take on one day. 0: closed today; null: no cap."""
    patient_eligibility_check: NotRequired[bool]
    """Whether to check patients for eligibility."""
    assignee_id: NotRequired[str | None]
    """The ID of a person or team of the practice group. Set it together with `assignee_type`; null
    clears it.
    """
    assignee_type: NotRequired[Literal["Admin", "AdminTeam", None]]
    """Admin: a person. AdminTeam: a team. Set it together with `assignee_id`; null clears it."""
    order: NotRequired[int]
    """The sort position."""


class TestDelivery(TypedDict):
    event_id: str
    """The ID of the test event."""
    delivery_id: str
    """The ID of its delivery, sent as `webhook-id`."""


class TestEvent(TypedDict):
    event_id: str
    """The ID of the test event."""


class UnreadableRequestMessageItem(TypedDict):
    code: str
    """The kind of problem."""
    expected: str
    """The expected type."""
    path: list[str | int]
    """Where the offending field is; empty for the body itself."""
    message: str
    """The problem, as a sentence."""


class UnreadableRequest(TypedDict):
    """As a validation error: there was no request that could be read."""

    error: Literal[True]
    """Always true: there is no code."""
    statusCode: int
    """The HTTP status."""
    message: list[UnreadableRequestMessageItem]
    """The parts that could not be read."""


class UsageEntry(TypedDict):
    """How often something happened on a day."""

    day: str
    """By the calendar of UTC."""
    kind: Literal["call", "delivery"]
    """call: requests to the API. delivery: attempts to deliver to a webhook."""
    key_id: str | None
    """Of a call."""
    webhook_id: str | None
    """Of a delivery."""
    operation: str | None
    """Of a call; `none` where there is no such operation."""
    outcome: Literal["ok", "refused", "rate_limited", "failed", "delivered", "retried", "given_up"]
    """Of a call: `ok`, `refused` (4xx), `rate_limited` (429), or `failed` (5xx, a fault of ours). Of
    an attempt to deliver: `delivered`, `retried` (it failed and is tried again), or `given_up`.
    """
    count: int
    """The number of times on that day."""


class UsageEntryPage(TypedDict):
    data: list[UsageEntry]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class ValidationErrorMessageItem(TypedDict):
    code: str
    """The kind of problem."""
    expected: str
    """The expected type."""
    path: list[str | int]
    """Where the offending field is; empty for the body itself."""
    message: str
    """The problem, as a sentence."""


class ValidationError(TypedDict):
    """Every problem of the request, one entry each."""

    error: Literal[True]
    """Always true: a 400 has no code."""
    statusCode: float
    """The HTTP status: 400."""
    message: list[ValidationErrorMessageItem]
    """One entry for each problem."""


class Webhook(TypedDict):
    """An address that receives the events of one practice group, or of all of them."""

    id: str
    """The ID of the webhook."""
    url: str
    """The URL that receives the events."""
    description: str | None
    """A note of your own; null: none."""
    event_types: list[EventName]
    """The events that the webhook subscribes to."""
    status: Literal["active", "paused", "disabled"]
    """paused: by you, or by the operator, as `status_reason` then says. disabled: by the service,
    because the receiver answered 410 or failed for five days. In both cases deliveries queue up for
    as long as events are kept, and are sent once the webhook is active again.
    """
    status_reason: str | None
    """Why the service disabled it, or who else paused or activated it and why, as a sentence."""
    signature: Literal["hmac", "ed25519", "both"]
    """How deliveries are signed. hmac: with the secret of the webhook (`v1`). ed25519: with the key of
    this deployment (`v1a`), whose public part is at `/.well-known/webhook-keys`. both: each.
    """
    header_names: list[str]
    """The headers of your own that it is sent. Their values are not shown."""
    practice_group_id: str | None
    """The practice group whose events it receives; null for a webhook for all of them."""
    practice_groups: Literal["all", None]
    """all: it receives the events of every practice group that you may act for with the scope
    `events:read`, those that are added later included.
    """
    practice_group_ids: list[str] | None
    """Of a webhook for all practice groups: those that it is narrowed to; null: it is not."""
    health: WebhookHealth
    """The state of its deliveries."""
    created_at: str
    """When the webhook was created."""
    updated_at: str
    """When the webhook was last changed."""


class WebhookHealth(TypedDict):
    failures: int
    """Failed attempts since the last success."""
    failing_since: str | None
    """The time of the first of them; if nothing could be sent meanwhile because access was lost, when
    it came back.
    """
    last_success_at: str | None
    """When the receiver last answered with 2xx; null: never."""
    queued: int
    """Deliveries that are not finished. 1000 stands for that many or more."""
    withheld_since: str | None
    """Since when nothing is sent because the partner may not receive events of the practice group;
    null when it may.
    """
    withheld_reason: Literal["partner_not_verified", "stopped_by_practice", "key_revoked", "key_expired", "scope_missing", "out_of_reach", None]
    """Why deliveries are withheld; null when they are not. partner_not_verified: the partner is
    suspended. stopped_by_practice: the practice has stopped the partner. key_revoked, key_expired:
    no key for the practice group works any more. scope_missing: no key, or no network, grants
    `events:read`. out_of_reach: no key is tied to the practice group, or to one that shares a
    network with it.
    """
    withheld_practice_groups: list[WithheldPracticeGroup]
    """Of a webhook for all practice groups: those whose deliveries are withheld, while the others go
    on. At most the first 100.
    """


class WebhookPage(TypedDict):
    data: list[Webhook]
    """The entries of this page."""
    count: int
    """How many entries this page holds."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last one."""


class WebhookPatch(TypedDict):
    """A merge patch: what is left out stays as it is; null clears the description, or
    `practice_group_ids`.
    """

    url: NotRequired[str]
    """Public and https. Redirects are not followed."""
    event_types: NotRequired[list[EventName]]
    """The events to subscribe to from now on."""
    description: NotRequired[str | None]
    """A note of your own; null: none."""
    practice_group_ids: NotRequired[list[str] | None]
    """Only the events of these. For a webhook for all practice groups."""
    signature: NotRequired[Literal["hmac", "ed25519", "both"]]
    """The signature of deliveries from now on: `hmac`, `ed25519` or `both`."""
    headers: NotRequired[dict[str, str] | None]
    """Replaced as a whole; null takes them away, and so does an address at another host: their values
    are shown to nobody, that one included.
    """
    status: NotRequired[Literal["active", "paused"]]
    """Activating a disabled webhook resets its count of failures."""


class WithheldPracticeGroup(TypedDict):
    practice_group_id: str
    """The practice group whose events are withheld."""
    since: str
    """Since when they are withheld."""
    reason: Literal["partner_not_verified", "stopped_by_practice", "key_revoked", "key_expired", "scope_missing", "out_of_reach"]
    """Why they are withheld, as in `withheld_reason`."""


class WriteToRecordFailedEvent(TypedDict):
    """A write-to-record job failed permanently."""

    object: Literal["WriteToRecordEntry"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["write-to-record.failed"]
    """The name of the event."""
    resource: str
    """The resource type linked to the write-to-record entry."""
    resource_id: str
    """The resource ID linked to the write-to-record entry."""


class WriteToRecordSucceededEvent(TypedDict):
    """A write-to-record job finished successfully."""

    object: Literal["WriteToRecordEntry"]
    """The type of the object that the event is about."""
    id: str
    """The ID of the object that the event is about."""
    practice_group_id: str
    """The practice group concerned."""
    event: Literal["write-to-record.succeeded"]
    """The name of the event."""
    resource: str
    """The resource type linked to the write-to-record entry."""
    resource_id: str
    """The resource ID linked to the write-to-record entry."""


class CreateWebhookBody(TypedDict):
    url: str
    """Public and https. Redirects are not followed."""
    event_types: NotRequired[list[EventName]]
    """All of them unless given."""
    description: NotRequired[str | None]
    """A note of your own; null: none."""
    practice_groups: NotRequired[Literal["all"]]
    """For every practice group that you may act for; else for the one acted for."""
    practice_group_ids: NotRequired[list[str] | None]
    """Only the events of these. For a webhook for all practice groups."""
    signature: NotRequired[Literal["hmac", "ed25519", "both"]]
    """hmac unless given."""
    headers: NotRequired[dict[str, str]]
    """Headers of your own, up to 10, that each delivery is sent with, such as the token that your
    gateway asks for. Kept sealed, and never shown again; `header_names` has their names.
    """


class TestWebhookBody(TypedDict):
    event: EventName
    """The event to send."""


class TriggerTestEventBody(TypedDict):
    event: EventName
    """The event to publish."""


class UpdateOwnContactBody(TypedDict):
    alert_kinds: list[Literal["webhook_failing", "webhook_disabled", "key_expiring", "key_unused", "key_leaked", "refusals_rising", "deliveries_late", "agreement_ended"]] | None
    """Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys
    everybody is told.
    """


EventPayload: TypeAlias = "AppointmentConfirmedEvent | AppointmentRescheduledEvent | AppointmentCancelledEvent | AppointmentBookingFailedEvent | AppointmentCancelFailedEvent | AppointmentRescheduleFailedEvent | FormSubmissionCreatedEvent | PrescriptionIssuedEvent | PatientAddedToSequenceEvent | WriteToRecordSucceededEvent | WriteToRecordFailedEvent | EhrHealthStatusHealthyEvent | EhrHealthStatusUnhealthyEvent | UnknownEvent"
"""What happened: told apart by `event`. New kinds may come at any time, and arrive as `unknown`."""
