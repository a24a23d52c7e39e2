// Made by `npm run generate` from spec/. Change it there.

import type { Call, PageCall } from '../call.ts';
import { readFeedEvent } from '../event.ts';
import { type Followed, type FollowOptions, follow } from '../follow.ts';
import type { CallOptions, Idempotency, IfMatch } from '../options.ts';
import { segment } from '../segment.ts';
import type { Transport } from '../transport.ts';
import type {
  CreatedWebhook,
  Delivery,
  DeliveryPage,
  EventFeedPage,
  EventName,
  FeedEvent,
  PracticeGroupList,
  RefusedRequest,
  Replay,
  ReplayRequest,
  RotatedWebhookSecret,
  SubmissionType,
  SubmissionTypePage,
  SubmissionTypePatch,
  TestDelivery,
  TestEvent,
  Webhook,
  WebhookPage,
  WebhookPatch,
} from './types.ts';

export interface ListPracticeGroupsQuery {
  /** With `network`, also every practice group that this key can reach through a network. */
  include?: 'network' | undefined;
}

export interface ListSubmissionTypesQuery {
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
  description?: string | null;
}

export interface ListWebhooksQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
}

export interface TestWebhookBody {
  event: EventName;
}

export interface ListWebhookDeliveriesQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
  status?: 'waiting' | 'pending' | 'delivered' | 'failed' | undefined;
  event?: EventName | undefined;
}

export interface ListEventsQuery {
  /** Entries on a page; 50 unless given. */
  page_size?: number | undefined;
  /** The next_cursor of the page before. */
  cursor?: string | undefined;
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
  event: EventName;
}

/** The practices and hubs that calls act for. */
export class PracticeGroups {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Read the practice group that you act for.
   *
   * Answers with the practice group named in `x-practice-group-id`, which may be another one of the same
   * network.
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
   * List submission types.
   *
   * In the order of their sort position; those without one come last.
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
   * Read a submission type.
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
   * Update a submission type.
   *
   * Changes the fields that the body names and leaves the others alone. Rules are checked on the merged
   * result; a rule speaks only when the request touches one of its fields.
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
}

/** Addresses that hear of events, and what became of each delivery. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Register a webhook.
   *
   * Events of the practice group acted for are posted to the address from now on, signed with `secret`.
   * A partner has at most 20 webhooks for each practice group.
   *
   * Needs the scope `webhooks:write`: Register, change and delete webhooks.
   */
  create(body: CreateWebhookBody, options: CallOptions = {}): Call<CreatedWebhook> {
    return this.#transport.call({ method: 'POST', path: '/v1/webhooks', body, options });
  }

  /**
   * List webhooks.
   *
   * Yours, for the practice group acted for.
   *
   * Needs the scope `webhooks:read`: Read webhooks and their deliveries.
   */
  list(query: ListWebhooksQuery = {}, options: CallOptions = {}): PageCall<Webhook, WebhookPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/webhooks', query, options });
  }

  /**
   * Read a webhook and how it is doing.
   *
   * Needs the scope `webhooks:read`: Read webhooks and their deliveries.
   */
  get(id: string, options: CallOptions = {}): Call<Webhook> {
    return this.#transport.call({ method: 'GET', path: `/v1/webhooks/${segment(id)}`, options });
  }

  /**
   * Change, pause or activate a webhook.
   *
   * What is queued is kept while a webhook is paused, and goes to the new address after a change of
   * `url`.
   *
   * Needs the scope `webhooks:write`: Register, change and delete webhooks.
   */
  update(id: string, body: WebhookPatch, options: CallOptions & IfMatch = {}): Call<Webhook> {
    return this.#transport.call({ method: 'PATCH', path: `/v1/webhooks/${segment(id)}`, body, options });
  }

  /**
   * Delete a webhook.
   *
   * Its deliveries go with it; what is queued is not sent any more.
   *
   * Needs the scope `webhooks:write`: Register, change and delete webhooks.
   */
  delete(id: string, options: CallOptions & IfMatch = {}): Call<void> {
    return this.#transport.call({ method: 'DELETE', path: `/v1/webhooks/${segment(id)}`, options });
  }

  /**
   * Replace the secret of a webhook.
   *
   * Deliveries are signed with the new secret at once, and with the one before as well for 24 hours:
   * take the new one into use in that time. A webhook has at most 5 secrets that sign.
   *
   * Needs the scope `webhooks:write`: Register, change and delete webhooks.
   */
  rotateSecret(id: string, options: CallOptions = {}): Call<RotatedWebhookSecret> {
    return this.#transport.call({
      method: 'POST',
      path: `/v1/webhooks/${segment(id)}/rotate-secret`,
      options,
    });
  }

  /**
   * Send a test event.
   *
   * Delivers an event with example values like any other, signed and retried, but to this webhook alone
   * and whatever its event_types. The ID of its object begins with `test_`. It does not show in the
   * event feed.
   *
   * Needs the scope `webhooks:write`: Register, change and delete webhooks.
   */
  test(id: string, body: TestWebhookBody, options: CallOptions = {}): Call<TestDelivery> {
    return this.#transport.call({ method: 'POST', path: `/v1/webhooks/${segment(id)}/test`, body, options });
  }

  /**
   * What was sent to a webhook, with every attempt.
   *
   * Newest first. A page may hold fewer entries than asked for, even none, and still have a next_cursor.
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
   * Read a delivery.
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
   * Send events again.
   *
   * Everything accepted since a moment, or the events named, as far as the webhook subscribes to them:
   * what was delivered or given up goes out again under its old `webhook-id`, what waits for a retry is
   * tried now, and what the webhook never got is sent for the first time. At most 100000 events in one
   * call.
   *
   * Needs the scope `webhooks:write`: Register, change and delete webhooks.
   */
  replay(id: string, body: ReplayRequest, options: CallOptions = {}): Call<Replay> {
    return this.#transport.call({
      method: 'POST',
      path: `/v1/webhooks/${segment(id)}/replay`,
      body,
      options,
    });
  }
}

/** What happened in the practice groups, in order. */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Read the events of a practice group.
   *
   * The log that webhooks are sent from, in order, for whoever missed one or would rather ask. Go on
   * from `next_cursor`, which is there on the last page too: kept and sent later, it leads to what has
   * happened since. Events are kept for a while (30 days unless configured otherwise); a cursor from
   * before leads to the oldest that is left. With `event_types` a page may hold fewer events than asked
   * for, even none, while `has_more` is true.
   *
   * Needs the scope `events:read`: Read the event feed.
   */
  list(query: ListEventsQuery = {}, options: CallOptions = {}): PageCall<FeedEvent, EventFeedPage> {
    return this.#transport.pages({ method: 'GET', path: '/v1/events', query, options }, readFeedEvent);
  }

  /**
   * Hear of events as they happen.
   *
   * The feed as Server-Sent Events: one for each event, with its name as `event` and its place in the
   * feed as `id`. It begins now, or after `cursor`. Whoever is cut off sends the last `id` as
   * `Last-Event-ID` and misses nothing. A comment comes every 15 seconds when nothing else does. A key
   * may have 5 streams open on each node. The stream ends when the key may no longer read these events,
   * and when the service stops.
   *
   * Needs the scope `events:read`: Read the event feed.
   */
  follow(options: StreamEventsQuery & FollowOptions = {}): AsyncGenerator<Followed<FeedEvent>, never> {
    return follow(this.#transport, '/v1/events/stream', options, readFeedEvent);
  }

  /**
   * Cause a test event.
   *
   * In staging only. Causes an event with example values, which goes the way of any other: into your
   * event feed and streams, and to each of your webhooks of the practice group that wants it. Nobody
   * else hears of it. The ID of its object begins with `test_`.
   *
   * Needs the scope `webhooks:write`: Register, change and delete webhooks.
   */
  trigger(body: TriggerTestEventBody, options: CallOptions & Idempotency = {}): Call<TestEvent> {
    return this.#transport.call({ method: 'POST', path: '/v1/test-events', body, options });
  }
}

/** Why a call was refused. */
export class Requests {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Why was my call refused?
   *
   * Tells of a refused call of your own by its `x-request-id`; if the ID was used more than once, of the
   * last one. Calls that succeeded are not kept.
   *
   * Open to every key, whatever its scopes.
   */
  get(requestId: string, options: CallOptions = {}): Call<RefusedRequest> {
    return this.#transport.call({ method: 'GET', path: `/v1/requests/${segment(requestId)}`, options });
  }
}

/** Everything that the API can do. */
export class Groups {
  readonly practiceGroups: PracticeGroups;
  readonly submissionTypes: SubmissionTypes;
  readonly webhooks: Webhooks;
  readonly events: Events;
  readonly requests: Requests;

  constructor(transport: Transport) {
    this.practiceGroups = new PracticeGroups(transport);
    this.submissionTypes = new SubmissionTypes(transport);
    this.webhooks = new Webhooks(transport);
    this.events = new Events(transport);
    this.requests = new Requests(transport);
  }
}
