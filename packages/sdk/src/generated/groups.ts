// Made by `npm run generate` from spec/. Change it there.

import type { Call, PageCall } from '../call.ts';
import { readFeedEvent } from '../event.ts';
import { type Followed, type FollowOptions, follow } from '../follow.ts';
import type { CallOptions, Idempotency, IfMatch } from '../options.ts';
import { segment } from '../segment.ts';
import type { Transport } from '../transport.ts';
import type {
  Alert,
  AlertPage,
  Contact,
  ContactPage,
  CreatedWebhook,
  Delivery,
  DeliveryPage,
  EventFeedPage,
  EventName,
  FeedEvent,
  Me,
  OwnAgreement,
  OwnAgreementPage,
  PracticeGroupList,
  RefusedRequest,
  Replay,
  ReplayRequest,
  RotatedWebhookSecret,
  SubmissionType,
  SubmissionTypeChange,
  SubmissionTypeChangePage,
  SubmissionTypePage,
  SubmissionTypePatch,
  TestDelivery,
  TestEvent,
  UsageEntry,
  UsageEntryPage,
  Webhook,
  WebhookPage,
  WebhookPatch,
} from './types.ts';

export interface ListPracticeGroupsQuery {
  /**
   * With `network`, the practice group acted for comes first, then each other practice group that this
   * key can reach through a network.
   */
  include?: 'network' | undefined;
}

export interface ListSubmissionTypesQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
}

export interface ListSubmissionTypeChangesQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
}

export interface CreateWebhookBody {
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
}

export interface ListWebhooksQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
}

export interface TestWebhookBody {
  /** The event to send. */
  event: EventName;
}

export interface ListWebhookDeliveriesQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
  /** Only deliveries with this status. */
  status?: 'waiting' | 'pending' | 'withheld' | 'delivered' | 'failed' | undefined;
  /** Only deliveries of this event. */
  event?: EventName | undefined;
}

export interface ListEventsQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
  /**
   * Begin with the first event that was accepted at this moment or later. Send it without `cursor`; the
   * following pages need only their cursor.
   */
  since?: string | undefined;
  /** Names of events, separated by commas; all of them unless given. */
  event_types?: EventName[] | undefined;
}

export interface StreamEventsQuery {
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
  /** Names of events, separated by commas; all of them unless given. */
  event_types?: EventName[] | undefined;
}

export interface TriggerTestEventBody {
  /** The event to publish. */
  event: EventName;
}

export interface ListOwnAgreementsQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
}

export interface ListUsageQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
  /** The first day, at most 399 days before the last; 29 before it unless given. */
  from?: string | undefined;
  /** The last day; today unless given. */
  to?: string | undefined;
}

export interface ListAlertsQuery {
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
    | 'deliveries_late'
    | 'agreement_ended'
    | undefined;
}

export interface ListOwnContactsQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
}

export interface UpdateOwnContactBody {
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
}

/** The practices and hubs that calls act for. */
export class PracticeGroups {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * List practice groups.
   *
   * Answers with the practice group in `x-practice-group-id`: the one that the key is tied to, or
   * another one of the same network.
   *
   * Needs the scope `practice-groups:read`: Read the practice group acted for.
   */
  list(query: ListPracticeGroupsQuery = {}, options: CallOptions = {}): Call<PracticeGroupList> {
    return this.#transport.call({ method: 'GET', path: '/v1/practice-groups', query, options });
  }
}

/** The categories of patient request that care navigation handles. */
export class SubmissionTypes {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Update a submission type.
   *
   * Changes the fields that the body names and leaves the others alone. Business rules are checked on
   * the merged result; a rule is checked only when the request touches one of its fields.
   *
   * Needs the scope `submission-types:write`: Update submission types.
   */
  update(id: string, body: SubmissionTypePatch, options: CallOptions & IfMatch = {}): Call<SubmissionType> {
    return this.#transport.call({
      method: 'PATCH',
      path: `/v1/care-nav/submission-types/${segment(id)}`,
      body,
      options,
    });
  }

  /**
   * Get a submission type.
   *
   * Needs the scope `submission-types:read`: Read submission types.
   */
  get(id: string, options: CallOptions = {}): Call<SubmissionType> {
    return this.#transport.call({
      method: 'GET',
      path: `/v1/care-nav/submission-types/${segment(id)}`,
      options,
    });
  }

  /**
   * List submission types.
   *
   * Sorted by `order`; submission types without one come last.
   *
   * Needs the scope `submission-types:read`: Read submission types.
   */
  list(
    query: ListSubmissionTypesQuery = {},
    options: CallOptions = {},
  ): PageCall<SubmissionType, SubmissionTypePage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/care-nav/submission-types', query, options });
  }

  /**
   * List your changes of a submission type.
   *
   * What became of the changes that you made: whether the practice's own software has them, too. Newest
   * first; those of other partners are not shown. A change is listed a moment after it was made. A page
   * may hold fewer entries than asked for, even none, and still have a next_cursor.
   *
   * Needs the scope `submission-types:read`: Read submission types.
   */
  listChanges(
    id: string,
    query: ListSubmissionTypeChangesQuery = {},
    options: CallOptions = {},
  ): PageCall<SubmissionTypeChange, SubmissionTypeChangePage> {
    return this.#transport.pages({
      method: 'GET',
      path: `/v1/care-nav/submission-types/${segment(id)}/changes`,
      query,
      options,
    });
  }
}

/** Addresses that receive events, and the deliveries to each. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Create a webhook.
   *
   * From now on, events of the practice group acted for are posted to `url`, signed with `secret`. Only
   * for as long as a key of yours with the scope `events:read` may act for that group: else deliveries
   * are withheld. A partner may have 20 webhooks for each practice group, and as many for all.
   *
   * With `practice_groups: "all"`, one webhook receives the events of every practice group that a key of
   * yours with that scope may act for, now and later, in one sequence. Each payload names its practice
   * group. Deliveries of a group that you may not act for any more are withheld, and those of the others
   * go on.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read the
   * event feed.
   */
  create(body: CreateWebhookBody, options: CallOptions & Idempotency = {}): Call<CreatedWebhook> {
    return this.#transport.call({ method: 'POST', path: '/v1/webhooks', body, options });
  }

  /**
   * List webhooks.
   *
   * Your webhooks for the practice group acted for, and those for all practice groups.
   *
   * Needs the scope `webhooks:read`: Read webhooks and their deliveries.
   */
  list(query: ListWebhooksQuery = {}, options: CallOptions = {}): PageCall<Webhook, WebhookPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/webhooks', query, options });
  }

  /**
   * Get a webhook.
   *
   * Shows its health, too.
   *
   * Needs the scope `webhooks:read`: Read webhooks and their deliveries.
   */
  get(id: string, options: CallOptions = {}): Call<Webhook> {
    return this.#transport.call({ method: 'GET', path: `/v1/webhooks/${segment(id)}`, options });
  }

  /**
   * Update a webhook.
   *
   * Changes, pauses or activates a webhook. While it is paused, its deliveries stay queued. After a
   * change of `url`, queued deliveries are sent to the new address; at another host without the
   * `headers` of before, unless they are sent again with it. The call answers after about a second. From
   * then on no delivery begins as before, on any node; a request that was being sent ends within 15
   * seconds.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read the
   * event feed.
   */
  update(id: string, body: WebhookPatch, options: CallOptions & IfMatch = {}): Call<Webhook> {
    return this.#transport.call({ method: 'PATCH', path: `/v1/webhooks/${segment(id)}`, body, options });
  }

  /**
   * Delete a webhook.
   *
   * Deletes its deliveries, too: queued ones are not sent any more. The call answers after about a
   * second. From then on no delivery begins as before, on any node; a request that was being sent ends
   * within 15 seconds.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks.
   */
  delete(id: string, options: CallOptions & IfMatch = {}): Call<void> {
    return this.#transport.call({ method: 'DELETE', path: `/v1/webhooks/${segment(id)}`, options });
  }

  /**
   * Rotate a webhook secret.
   *
   * Signs deliveries with the new secret from now on, and with the old one as well for 24 hours: change
   * over in that time. A webhook has at most 5 secrets that sign.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read the
   * event feed.
   */
  rotateSecret(id: string, options: CallOptions & Idempotency = {}): Call<RotatedWebhookSecret> {
    return this.#transport.call({
      method: 'POST',
      path: `/v1/webhooks/${segment(id)}/rotate-secret`,
      options,
    });
  }

  /**
   * Send a test event.
   *
   * Delivers an event with example values to this webhook alone, whatever its event_types. It is signed
   * and retried like any other. The ID of its object begins with `test_`. The event is not in the event
   * feed.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read the
   * event feed.
   */
  test(id: string, body: TestWebhookBody, options: CallOptions & Idempotency = {}): Call<TestDelivery> {
    return this.#transport.call({ method: 'POST', path: `/v1/webhooks/${segment(id)}/test`, body, options });
  }

  /**
   * List deliveries.
   *
   * What was sent to the webhook, with every attempt, newest first. A page may hold fewer entries than
   * asked for, even none, and still have a next_cursor.
   *
   * Needs the scope `webhooks:read`: Read webhooks and their deliveries.
   */
  listDeliveries(
    id: string,
    query: ListWebhookDeliveriesQuery = {},
    options: CallOptions = {},
  ): PageCall<Delivery, DeliveryPage> {
    return this.#transport.pages({
      method: 'GET',
      path: `/v1/webhooks/${segment(id)}/deliveries`,
      query,
      options,
    });
  }

  /**
   * Get a delivery.
   *
   * Needs the scope `webhooks:read`: Read webhooks and their deliveries.
   */
  getDelivery(id: string, deliveryId: string, options: CallOptions = {}): Call<Delivery> {
    return this.#transport.call({
      method: 'GET',
      path: `/v1/webhooks/${segment(id)}/deliveries/${segment(deliveryId)}`,
      options,
    });
  }

  /**
   * Replay events.
   *
   * Sends events again: all that were accepted since a moment, up to another if one is given, or those
   * named, as far as the webhook subscribes to them. A delivery that was delivered or given up is sent
   * again with the same `webhook-id`. One that waits for a retry is sent now. An event that the webhook
   * never got is sent for the first time. One call takes at most 100000 events.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read the
   * event feed.
   */
  replay(id: string, body: ReplayRequest, options: CallOptions & Idempotency = {}): Call<Replay> {
    return this.#transport.call({
      method: 'POST',
      path: `/v1/webhooks/${segment(id)}/replay`,
      body,
      options,
    });
  }
}

/** What happened in practice groups, in order. */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * List events.
   *
   * Reads the event feed: the log that webhooks are sent from, in order. Use it to catch up on what a
   * webhook missed, or instead of webhooks. Begin at a moment with `since`. Send `next_cursor` as
   * `cursor` to go on. The last page has one too: keep it, and send it later to get what has happened
   * since. Events are kept for 30 days unless configured otherwise; an older cursor leads to the oldest
   * event that is left. Should the service ever be set back to a backup, a cursor from after that point
   * is answered with 410 and with the one to go on from. With `event_types` a page may hold fewer events
   * than asked for, even none, while `has_more` is true.
   *
   * Needs the scope `events:read`: Read the event feed.
   */
  list(query: ListEventsQuery = {}, options: CallOptions = {}): PageCall<FeedEvent, EventFeedPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/events', query, options }, readFeedEvent);
  }

  /**
   * Stream events.
   *
   * Sends the event feed as Server-Sent Events: one message for each event, with its name as `event` and
   * its cursor in the feed as `id`. The stream begins now, or after `cursor`. After a lost connection,
   * send the last `id` as `Last-Event-ID`: nothing is missed. A heartbeat comment is sent after 15
   * seconds without an event. A key may have 5 streams open on each node. The stream ends when the key
   * may no longer read these events, and when the service stops.
   *
   * Needs the scope `events:read`: Read the event feed.
   */
  follow(options: StreamEventsQuery & FollowOptions = {}): AsyncGenerator<Followed<FeedEvent>, never> {
    return follow(this.#transport, '/v1/events/stream', options, readFeedEvent);
  }

  /**
   * Trigger a test event.
   *
   * In staging only. Publishes an event with example values to you alone: it appears in your event feed
   * and streams, and is delivered to each of your webhooks of the practice group that subscribes to it.
   * The ID of its object begins with `test_`.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks.
   */
  trigger(body: TriggerTestEventBody, options: CallOptions & Idempotency = {}): Call<TestEvent> {
    return this.#transport.call({ method: 'POST', path: '/v1/test-events', body, options });
  }
}

/** Refused calls, each with its reason. */
export class Requests {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Get a refused request.
   *
   * Tells why a call of your own was refused, and what to do about it. Give the `x-request-id` of the
   * call; if several calls had the same ID, the last one is shown. Calls that succeeded are not kept. A
   * call with another key of yours that was refused, because the key had expired for instance, is found
   * with a key that works.
   *
   * Open to every key, whatever its scopes.
   */
  get(requestId: string, options: CallOptions = {}): Call<RefusedRequest> {
    return this.#transport.call({ method: 'GET', path: `/v1/requests/${segment(requestId)}`, options });
  }
}

/** The partner itself: its key, its agreements and its usage. */
export class Account {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Show who you are.
   *
   * Tells whose key this is, what it may do, and for which practice groups it may act.
   *
   * Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is not
   * needed, and not looked at.
   */
  me(options: CallOptions = {}): Call<Me> {
    return this.#transport.call({ method: 'GET', path: '/v1/me', options });
  }

  /**
   * List your agreements.
   *
   * What was agreed with you, in the order in which it was recorded.
   *
   * Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is not
   * needed, and not looked at.
   */
  listAgreements(
    query: ListOwnAgreementsQuery = {},
    options: CallOptions = {},
  ): PageCall<OwnAgreement, OwnAgreementPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/agreements', query, options });
  }

  /**
   * List your usage.
   *
   * Your calls by day, key, operation and outcome, and the deliveries to your webhooks, of all your keys
   * and webhooks. Days are those of UTC. What happened counts within about a second; a node that is
   * killed loses what it counted in the last one.
   *
   * Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is not
   * needed, and not looked at.
   */
  listUsage(query: ListUsageQuery = {}, options: CallOptions = {}): PageCall<UsageEntry, UsageEntryPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/usage', query, options });
  }
}

/**
 * What needs looking after: webhooks that fail, keys that expire, calls that are refused, deliveries
 * that are late.
 */
export class Alerts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * List alerts.
   *
   * What needs looking after of all that is yours (webhooks that fail, keys that expire, calls that are
   * refused), and what did, newest first; whichever practice group the call acts for. Your contacts are
   * told of each by e-mail.
   *
   * Open to every key, whatever its scopes.
   */
  list(query: ListAlertsQuery = {}, options: CallOptions = {}): PageCall<Alert, AlertPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/alerts', query, options });
  }
}

/** Who is told of alerts by e-mail, and of which. */
export class Contacts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * List your contacts.
   *
   * Who of your company is told of alerts. Support adds, changes and removes them.
   *
   * Needs the scope `webhooks:read`: Read webhooks and their deliveries.
   */
  list(query: ListOwnContactsQuery = {}, options: CallOptions = {}): PageCall<Contact, ContactPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/contacts', query, options });
  }

  /**
   * Choose what a contact is told of.
   *
   * The address itself is changed by support alone: whoever gets hold of a key must not be able to have
   * the warnings sent elsewhere.
   *
   * Needs the scope `webhooks:write`: Create, update and delete webhooks.
   */
  update(id: string, body: UpdateOwnContactBody, options: CallOptions = {}): Call<Contact> {
    return this.#transport.call({ method: 'PATCH', path: `/v1/contacts/${segment(id)}`, body, options });
  }
}

/** Everything that the API can do. */
export class Groups {
  readonly practiceGroups: PracticeGroups;
  readonly submissionTypes: SubmissionTypes;
  readonly webhooks: Webhooks;
  readonly events: Events;
  readonly requests: Requests;
  readonly account: Account;
  readonly alerts: Alerts;
  readonly contacts: Contacts;

  constructor(transport: Transport) {
    this.practiceGroups = new PracticeGroups(transport);
    this.submissionTypes = new SubmissionTypes(transport);
    this.webhooks = new Webhooks(transport);
    this.events = new Events(transport);
    this.requests = new Requests(transport);
    this.account = new Account(transport);
    this.alerts = new Alerts(transport);
    this.contacts = new Contacts(transport);
  }
}
