# Made by `npm run generate` from spec/. Change it there.

"""The operations of the API, a class for each group and a method for each operation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Literal, Unpack, cast

from ._options import CallOptions, IdempotentOptions, IfMatchOptions
from ._pages import AsyncPages, Pages
from ._stream import Followed
from ._transport import AsyncTransport, Transport, segment
from .types import (
    Alert,
    AlertPage,
    Contact,
    ContactPage,
    CreateWebhookBody,
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
    TestWebhookBody,
    TriggerTestEventBody,
    UpdateOwnContactBody,
    UsageEntry,
    UsageEntryPage,
    Webhook,
    WebhookPage,
    WebhookPatch,
)


class PracticeGroups:
    """The practices and hubs that calls act for."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        include: Literal["network"] | None = None,
        **options: Unpack[CallOptions],
    ) -> PracticeGroupList:
        """List practice groups.

        Answers with the practice group in `x-practice-group-id`: the one that the key is tied to, or
        another one of the same network.

        Needs the scope `practice-groups:read`: Read the practice group acted for.
        """
        return cast(PracticeGroupList, self._transport.call("GET", "/v1/practice-groups", {"include": include}, None, options))


class AsyncPracticeGroups:
    """The practices and hubs that calls act for."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        include: Literal["network"] | None = None,
        **options: Unpack[CallOptions],
    ) -> PracticeGroupList:
        """List practice groups.

        Answers with the practice group in `x-practice-group-id`: the one that the key is tied to, or
        another one of the same network.

        Needs the scope `practice-groups:read`: Read the practice group acted for.
        """
        return cast(PracticeGroupList, await self._transport.call("GET", "/v1/practice-groups", {"include": include}, None, options))


class SubmissionTypes:
    """The categories of patient request that care navigation handles."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def update(
        self,
        id: str,
        /,
        body: SubmissionTypePatch,
        **options: Unpack[IfMatchOptions],
    ) -> SubmissionType:
        """Update a submission type.

        Changes the fields that the body names and leaves the others alone. Business rules are checked
        on the merged result; a rule is checked only when the request touches one of its fields.

        Needs the scope `submission-types:write`: Update submission types.
        """
        return cast(SubmissionType, self._transport.call("PATCH", f"/v1/care-nav/submission-types/{segment(id)}", {}, body, options))

    def get(
        self,
        id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> SubmissionType:
        """Get a submission type.

        Needs the scope `submission-types:read`: Read submission types.
        """
        return cast(SubmissionType, self._transport.call("GET", f"/v1/care-nav/submission-types/{segment(id)}", {}, None, options))

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[SubmissionType, SubmissionTypePage]:
        """List submission types.

        Sorted by `order`; submission types without one come last.

        Needs the scope `submission-types:read`: Read submission types.
        """
        return Pages(self._transport, "/v1/care-nav/submission-types", {"page_size": page_size, "cursor": cursor}, options)

    def list_changes(
        self,
        id: str,
        /,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[SubmissionTypeChange, SubmissionTypeChangePage]:
        """List your changes of a submission type.

        What became of the changes that you made: whether the practice's own software has them, too.
        Newest first; those of other partners are not shown. A change is listed a moment after it was
        made. A page may hold fewer entries than asked for, even none, and still have a next_cursor.

        Needs the scope `submission-types:read`: Read submission types.
        """
        return Pages(self._transport, f"/v1/care-nav/submission-types/{segment(id)}/changes", {"page_size": page_size, "cursor": cursor}, options)


class AsyncSubmissionTypes:
    """The categories of patient request that care navigation handles."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def update(
        self,
        id: str,
        /,
        body: SubmissionTypePatch,
        **options: Unpack[IfMatchOptions],
    ) -> SubmissionType:
        """Update a submission type.

        Changes the fields that the body names and leaves the others alone. Business rules are checked
        on the merged result; a rule is checked only when the request touches one of its fields.

        Needs the scope `submission-types:write`: Update submission types.
        """
        return cast(SubmissionType, await self._transport.call("PATCH", f"/v1/care-nav/submission-types/{segment(id)}", {}, body, options))

    async def get(
        self,
        id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> SubmissionType:
        """Get a submission type.

        Needs the scope `submission-types:read`: Read submission types.
        """
        return cast(SubmissionType, await self._transport.call("GET", f"/v1/care-nav/submission-types/{segment(id)}", {}, None, options))

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[SubmissionType, SubmissionTypePage]:
        """List submission types.

        Sorted by `order`; submission types without one come last.

        Needs the scope `submission-types:read`: Read submission types.
        """
        return AsyncPages(self._transport, "/v1/care-nav/submission-types", {"page_size": page_size, "cursor": cursor}, options)

    def list_changes(
        self,
        id: str,
        /,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[SubmissionTypeChange, SubmissionTypeChangePage]:
        """List your changes of a submission type.

        What became of the changes that you made: whether the practice's own software has them, too.
        Newest first; those of other partners are not shown. A change is listed a moment after it was
        made. A page may hold fewer entries than asked for, even none, and still have a next_cursor.

        Needs the scope `submission-types:read`: Read submission types.
        """
        return AsyncPages(self._transport, f"/v1/care-nav/submission-types/{segment(id)}/changes", {"page_size": page_size, "cursor": cursor}, options)


class Webhooks:
    """Addresses that receive events, and the deliveries to each."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        body: CreateWebhookBody,
        **options: Unpack[IdempotentOptions],
    ) -> CreatedWebhook:
        """Create a webhook.

        From now on, events of the practice group acted for are posted to `url`, signed with `secret`.
        Only for as long as a key of yours with the scope `events:read` may act for that group: else
        deliveries are withheld. A partner may have 20 webhooks for each practice group, and as many for
        all.

        With `practice_groups: "all"`, one webhook receives the events of every practice group that a
        key of yours with that scope may act for, now and later, in one sequence. Each payload names its
        practice group. Deliveries of a group that you may not act for any more are withheld, and those
        of the others go on.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(CreatedWebhook, self._transport.call("POST", "/v1/webhooks", {}, body, options))

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[Webhook, WebhookPage]:
        """List webhooks.

        Your webhooks for the practice group acted for, and those for all practice groups.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return Pages(self._transport, "/v1/webhooks", {"page_size": page_size, "cursor": cursor}, options)

    def get(
        self,
        id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> Webhook:
        """Get a webhook.

        Shows its health, too.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return cast(Webhook, self._transport.call("GET", f"/v1/webhooks/{segment(id)}", {}, None, options))

    def update(
        self,
        id: str,
        /,
        body: WebhookPatch,
        **options: Unpack[IfMatchOptions],
    ) -> Webhook:
        """Update a webhook.

        Changes, pauses or activates a webhook. While it is paused, its deliveries stay queued. After a
        change of `url`, queued deliveries are sent to the new address; at another host without the
        `headers` of before, unless they are sent again with it. The call answers after about a second.
        From then on no delivery begins as before, on any node; a request that was being sent ends
        within 15 seconds.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(Webhook, self._transport.call("PATCH", f"/v1/webhooks/{segment(id)}", {}, body, options))

    def delete(
        self,
        id: str,
        /,
        **options: Unpack[IfMatchOptions],
    ) -> None:
        """Delete a webhook.

        Deletes its deliveries, too: queued ones are not sent any more. The call answers after about a
        second. From then on no delivery begins as before, on any node; a request that was being sent
        ends within 15 seconds.

        Needs the scope `webhooks:write`: Create, update and delete webhooks.
        """
        self._transport.call("DELETE", f"/v1/webhooks/{segment(id)}", {}, None, options)

    def rotate_secret(
        self,
        id: str,
        /,
        **options: Unpack[IdempotentOptions],
    ) -> RotatedWebhookSecret:
        """Rotate a webhook secret.

        Signs deliveries with the new secret from now on, and with the old one as well for 24 hours:
        change over in that time. A webhook has at most 5 secrets that sign.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(RotatedWebhookSecret, self._transport.call("POST", f"/v1/webhooks/{segment(id)}/rotate-secret", {}, None, options))

    def test(
        self,
        id: str,
        /,
        body: TestWebhookBody,
        **options: Unpack[IdempotentOptions],
    ) -> TestDelivery:
        """Send a test event.

        Delivers an event with example values to this webhook alone, whatever its event_types. It is
        signed and retried like any other. The ID of its object begins with `test_`. The event is not in
        the event feed.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(TestDelivery, self._transport.call("POST", f"/v1/webhooks/{segment(id)}/test", {}, body, options))

    def list_deliveries(
        self,
        id: str,
        /,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        status: Literal["waiting", "pending", "withheld", "delivered", "failed"] | None = None,
        event: EventName | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[Delivery, DeliveryPage]:
        """List deliveries.

        What was sent to the webhook, with every attempt, newest first. A page may hold fewer entries
        than asked for, even none, and still have a next_cursor.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return Pages(self._transport, f"/v1/webhooks/{segment(id)}/deliveries", {"page_size": page_size, "cursor": cursor, "status": status, "event": event}, options)

    def get_delivery(
        self,
        id: str,
        delivery_id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> Delivery:
        """Get a delivery.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return cast(Delivery, self._transport.call("GET", f"/v1/webhooks/{segment(id)}/deliveries/{segment(delivery_id)}", {}, None, options))

    def replay(
        self,
        id: str,
        /,
        body: ReplayRequest,
        **options: Unpack[IdempotentOptions],
    ) -> Replay:
        """Replay events.

        Sends events again: all that were accepted since a moment, up to another if one is given, or
        those named, as far as the webhook subscribes to them. A delivery that was delivered or given up
        is sent again with the same `webhook-id`. One that waits for a retry is sent now. An event that
        the webhook never got is sent for the first time. One call takes at most 100000 events.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(Replay, self._transport.call("POST", f"/v1/webhooks/{segment(id)}/replay", {}, body, options))


class AsyncWebhooks:
    """Addresses that receive events, and the deliveries to each."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        body: CreateWebhookBody,
        **options: Unpack[IdempotentOptions],
    ) -> CreatedWebhook:
        """Create a webhook.

        From now on, events of the practice group acted for are posted to `url`, signed with `secret`.
        Only for as long as a key of yours with the scope `events:read` may act for that group: else
        deliveries are withheld. A partner may have 20 webhooks for each practice group, and as many for
        all.

        With `practice_groups: "all"`, one webhook receives the events of every practice group that a
        key of yours with that scope may act for, now and later, in one sequence. Each payload names its
        practice group. Deliveries of a group that you may not act for any more are withheld, and those
        of the others go on.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(CreatedWebhook, await self._transport.call("POST", "/v1/webhooks", {}, body, options))

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[Webhook, WebhookPage]:
        """List webhooks.

        Your webhooks for the practice group acted for, and those for all practice groups.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return AsyncPages(self._transport, "/v1/webhooks", {"page_size": page_size, "cursor": cursor}, options)

    async def get(
        self,
        id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> Webhook:
        """Get a webhook.

        Shows its health, too.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return cast(Webhook, await self._transport.call("GET", f"/v1/webhooks/{segment(id)}", {}, None, options))

    async def update(
        self,
        id: str,
        /,
        body: WebhookPatch,
        **options: Unpack[IfMatchOptions],
    ) -> Webhook:
        """Update a webhook.

        Changes, pauses or activates a webhook. While it is paused, its deliveries stay queued. After a
        change of `url`, queued deliveries are sent to the new address; at another host without the
        `headers` of before, unless they are sent again with it. The call answers after about a second.
        From then on no delivery begins as before, on any node; a request that was being sent ends
        within 15 seconds.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(Webhook, await self._transport.call("PATCH", f"/v1/webhooks/{segment(id)}", {}, body, options))

    async def delete(
        self,
        id: str,
        /,
        **options: Unpack[IfMatchOptions],
    ) -> None:
        """Delete a webhook.

        Deletes its deliveries, too: queued ones are not sent any more. The call answers after about a
        second. From then on no delivery begins as before, on any node; a request that was being sent
        ends within 15 seconds.

        Needs the scope `webhooks:write`: Create, update and delete webhooks.
        """
        await self._transport.call("DELETE", f"/v1/webhooks/{segment(id)}", {}, None, options)

    async def rotate_secret(
        self,
        id: str,
        /,
        **options: Unpack[IdempotentOptions],
    ) -> RotatedWebhookSecret:
        """Rotate a webhook secret.

        Signs deliveries with the new secret from now on, and with the old one as well for 24 hours:
        change over in that time. A webhook has at most 5 secrets that sign.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(RotatedWebhookSecret, await self._transport.call("POST", f"/v1/webhooks/{segment(id)}/rotate-secret", {}, None, options))

    async def test(
        self,
        id: str,
        /,
        body: TestWebhookBody,
        **options: Unpack[IdempotentOptions],
    ) -> TestDelivery:
        """Send a test event.

        Delivers an event with example values to this webhook alone, whatever its event_types. It is
        signed and retried like any other. The ID of its object begins with `test_`. The event is not in
        the event feed.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(TestDelivery, await self._transport.call("POST", f"/v1/webhooks/{segment(id)}/test", {}, body, options))

    def list_deliveries(
        self,
        id: str,
        /,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        status: Literal["waiting", "pending", "withheld", "delivered", "failed"] | None = None,
        event: EventName | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[Delivery, DeliveryPage]:
        """List deliveries.

        What was sent to the webhook, with every attempt, newest first. A page may hold fewer entries
        than asked for, even none, and still have a next_cursor.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return AsyncPages(self._transport, f"/v1/webhooks/{segment(id)}/deliveries", {"page_size": page_size, "cursor": cursor, "status": status, "event": event}, options)

    async def get_delivery(
        self,
        id: str,
        delivery_id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> Delivery:
        """Get a delivery.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return cast(Delivery, await self._transport.call("GET", f"/v1/webhooks/{segment(id)}/deliveries/{segment(delivery_id)}", {}, None, options))

    async def replay(
        self,
        id: str,
        /,
        body: ReplayRequest,
        **options: Unpack[IdempotentOptions],
    ) -> Replay:
        """Replay events.

        Sends events again: all that were accepted since a moment, up to another if one is given, or
        those named, as far as the webhook subscribes to them. A delivery that was delivered or given up
        is sent again with the same `webhook-id`. One that waits for a retry is sent now. An event that
        the webhook never got is sent for the first time. One call takes at most 100000 events.

        Needs the scope `webhooks:write`: Create, update and delete webhooks. And `events:read`: Read
        the event feed.
        """
        return cast(Replay, await self._transport.call("POST", f"/v1/webhooks/{segment(id)}/replay", {}, body, options))


class Events:
    """What happened in practice groups, in order."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        since: str | None = None,
        event_types: Sequence[EventName] | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[FeedEvent, EventFeedPage]:
        """List events.

        Reads the event feed: the log that webhooks are sent from, in order. Use it to catch up on what
        a webhook missed, or instead of webhooks. Begin at a moment with `since`. Send `next_cursor` as
        `cursor` to go on. The last page has one too: keep it, and send it later to get what has
        happened since. Events are kept for 30 days unless configured otherwise; an older cursor leads
        to the oldest event that is left. Should the service ever be set back to a backup, a cursor from
        after that point is answered with 410 and with the one to go on from. With `event_types` a page
        may hold fewer events than asked for, even none, while `has_more` is true.

        Needs the scope `events:read`: Read the event feed.
        """
        return Pages(self._transport, "/v1/events", {"page_size": page_size, "cursor": cursor, "since": since, "event_types": event_types}, options)

    def follow(
        self,
        *,
        cursor: str | None = None,
        event_types: Sequence[EventName] | None = None,
        silence: float = 45.0,
    ) -> Iterator[Followed]:
        """Stream events.

        Sends the event feed as Server-Sent Events: one message for each event, with its name as `event`
        and its cursor in the feed as `id`. The stream begins now, or after `cursor`. After a lost
        connection, send the last `id` as `Last-Event-ID`: nothing is missed. A heartbeat comment is
        sent after 15 seconds without an event. A key may have 5 streams open on each node. The stream
        ends when the key may no longer read these events, and when the service stops.

        Needs the scope `events:read`: Read the event feed.
        """
        return self._transport.follow("/v1/events/stream", {"cursor": cursor, "event_types": event_types}, silence)

    def trigger(
        self,
        body: TriggerTestEventBody,
        **options: Unpack[IdempotentOptions],
    ) -> TestEvent:
        """Trigger a test event.

        In staging only. Publishes an event with example values to you alone: it appears in your event
        feed and streams, and is delivered to each of your webhooks of the practice group that
        subscribes to it. The ID of its object begins with `test_`.

        Needs the scope `webhooks:write`: Create, update and delete webhooks.
        """
        return cast(TestEvent, self._transport.call("POST", "/v1/test-events", {}, body, options))


class AsyncEvents:
    """What happened in practice groups, in order."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        since: str | None = None,
        event_types: Sequence[EventName] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[FeedEvent, EventFeedPage]:
        """List events.

        Reads the event feed: the log that webhooks are sent from, in order. Use it to catch up on what
        a webhook missed, or instead of webhooks. Begin at a moment with `since`. Send `next_cursor` as
        `cursor` to go on. The last page has one too: keep it, and send it later to get what has
        happened since. Events are kept for 30 days unless configured otherwise; an older cursor leads
        to the oldest event that is left. Should the service ever be set back to a backup, a cursor from
        after that point is answered with 410 and with the one to go on from. With `event_types` a page
        may hold fewer events than asked for, even none, while `has_more` is true.

        Needs the scope `events:read`: Read the event feed.
        """
        return AsyncPages(self._transport, "/v1/events", {"page_size": page_size, "cursor": cursor, "since": since, "event_types": event_types}, options)

    def follow(
        self,
        *,
        cursor: str | None = None,
        event_types: Sequence[EventName] | None = None,
        silence: float = 45.0,
    ) -> AsyncIterator[Followed]:
        """Stream events.

        Sends the event feed as Server-Sent Events: one message for each event, with its name as `event`
        and its cursor in the feed as `id`. The stream begins now, or after `cursor`. After a lost
        connection, send the last `id` as `Last-Event-ID`: nothing is missed. A heartbeat comment is
        sent after 15 seconds without an event. A key may have 5 streams open on each node. The stream
        ends when the key may no longer read these events, and when the service stops.

        Needs the scope `events:read`: Read the event feed.
        """
        return self._transport.follow("/v1/events/stream", {"cursor": cursor, "event_types": event_types}, silence)

    async def trigger(
        self,
        body: TriggerTestEventBody,
        **options: Unpack[IdempotentOptions],
    ) -> TestEvent:
        """Trigger a test event.

        In staging only. Publishes an event with example values to you alone: it appears in your event
        feed and streams, and is delivered to each of your webhooks of the practice group that
        subscribes to it. The ID of its object begins with `test_`.

        Needs the scope `webhooks:write`: Create, update and delete webhooks.
        """
        return cast(TestEvent, await self._transport.call("POST", "/v1/test-events", {}, body, options))


class Requests:
    """Refused calls, each with its reason."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(
        self,
        request_id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> RefusedRequest:
        """Get a refused request.

        Tells why a call of your own was refused, and what to do about it. Give the `x-request-id` of
        the call; if several calls had the same ID, the last one is shown. Calls that succeeded are not
        kept. A call with another key of yours that was refused, because the key had expired for
        instance, is found with a key that works.

        Open to every key, whatever its scopes.
        """
        return cast(RefusedRequest, self._transport.call("GET", f"/v1/requests/{segment(request_id)}", {}, None, options))


class AsyncRequests:
    """Refused calls, each with its reason."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(
        self,
        request_id: str,
        /,
        **options: Unpack[CallOptions],
    ) -> RefusedRequest:
        """Get a refused request.

        Tells why a call of your own was refused, and what to do about it. Give the `x-request-id` of
        the call; if several calls had the same ID, the last one is shown. Calls that succeeded are not
        kept. A call with another key of yours that was refused, because the key had expired for
        instance, is found with a key that works.

        Open to every key, whatever its scopes.
        """
        return cast(RefusedRequest, await self._transport.call("GET", f"/v1/requests/{segment(request_id)}", {}, None, options))


class Account:
    """The partner itself: its key, its agreements and its usage."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def me(
        self,
        **options: Unpack[CallOptions],
    ) -> Me:
        """Show who you are.

        Tells whose key this is, what it may do, and for which practice groups it may act.

        Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is
        not needed, and not looked at.
        """
        return cast(Me, self._transport.call("GET", "/v1/me", {}, None, options))

    def list_agreements(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[OwnAgreement, OwnAgreementPage]:
        """List your agreements.

        What was agreed with you, in the order in which it was recorded.

        Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is
        not needed, and not looked at.
        """
        return Pages(self._transport, "/v1/agreements", {"page_size": page_size, "cursor": cursor}, options)

    def list_usage(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[UsageEntry, UsageEntryPage]:
        """List your usage.

        Your calls by day, key, operation and outcome, and the deliveries to your webhooks, of all your
        keys and webhooks. Days are those of UTC. What happened counts within about a second; a node
        that is killed loses what it counted in the last one.

        Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is
        not needed, and not looked at.
        """
        return Pages(self._transport, "/v1/usage", {"page_size": page_size, "cursor": cursor, "from": from_, "to": to}, options)


class AsyncAccount:
    """The partner itself: its key, its agreements and its usage."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def me(
        self,
        **options: Unpack[CallOptions],
    ) -> Me:
        """Show who you are.

        Tells whose key this is, what it may do, and for which practice groups it may act.

        Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is
        not needed, and not looked at.
        """
        return cast(Me, await self._transport.call("GET", "/v1/me", {}, None, options))

    def list_agreements(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[OwnAgreement, OwnAgreementPage]:
        """List your agreements.

        What was agreed with you, in the order in which it was recorded.

        Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is
        not needed, and not looked at.
        """
        return AsyncPages(self._transport, "/v1/agreements", {"page_size": page_size, "cursor": cursor}, options)

    def list_usage(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[UsageEntry, UsageEntryPage]:
        """List your usage.

        Your calls by day, key, operation and outcome, and the deliveries to your webhooks, of all your
        keys and webhooks. Days are those of UTC. What happened counts within about a second; a node
        that is killed loses what it counted in the last one.

        Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is
        not needed, and not looked at.
        """
        return AsyncPages(self._transport, "/v1/usage", {"page_size": page_size, "cursor": cursor, "from": from_, "to": to}, options)


class Alerts:
    """What needs looking after: webhooks that fail, keys that expire, calls that are refused,
    deliveries that are late.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        open: Literal["true", "false"] | None = None,
        kind: Literal["webhook_failing", "webhook_disabled", "key_expiring", "key_unused", "key_leaked", "refusals_rising", "deliveries_late", "agreement_ended"] | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[Alert, AlertPage]:
        """List alerts.

        What needs looking after of all that is yours (webhooks that fail, keys that expire, calls that
        are refused), and what did, newest first; whichever practice group the call acts for. Your
        contacts are told of each by e-mail.

        Open to every key, whatever its scopes.
        """
        return Pages(self._transport, "/v1/alerts", {"page_size": page_size, "cursor": cursor, "open": open, "kind": kind}, options)


class AsyncAlerts:
    """What needs looking after: webhooks that fail, keys that expire, calls that are refused,
    deliveries that are late.
    """

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        open: Literal["true", "false"] | None = None,
        kind: Literal["webhook_failing", "webhook_disabled", "key_expiring", "key_unused", "key_leaked", "refusals_rising", "deliveries_late", "agreement_ended"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[Alert, AlertPage]:
        """List alerts.

        What needs looking after of all that is yours (webhooks that fail, keys that expire, calls that
        are refused), and what did, newest first; whichever practice group the call acts for. Your
        contacts are told of each by e-mail.

        Open to every key, whatever its scopes.
        """
        return AsyncPages(self._transport, "/v1/alerts", {"page_size": page_size, "cursor": cursor, "open": open, "kind": kind}, options)


class Contacts:
    """Who is told of alerts by e-mail, and of which."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[Contact, ContactPage]:
        """List your contacts.

        Who of your company is told of alerts. Support adds, changes and removes them.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return Pages(self._transport, "/v1/contacts", {"page_size": page_size, "cursor": cursor}, options)

    def update(
        self,
        id: str,
        /,
        body: UpdateOwnContactBody,
        **options: Unpack[CallOptions],
    ) -> Contact:
        """Choose what a contact is told of.

        The address itself is changed by support alone: whoever gets hold of a key must not be able to
        have the warnings sent elsewhere.

        Needs the scope `webhooks:write`: Create, update and delete webhooks.
        """
        return cast(Contact, self._transport.call("PATCH", f"/v1/contacts/{segment(id)}", {}, body, options))


class AsyncContacts:
    """Who is told of alerts by e-mail, and of which."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        page_size: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[Contact, ContactPage]:
        """List your contacts.

        Who of your company is told of alerts. Support adds, changes and removes them.

        Needs the scope `webhooks:read`: Read webhooks and their deliveries.
        """
        return AsyncPages(self._transport, "/v1/contacts", {"page_size": page_size, "cursor": cursor}, options)

    async def update(
        self,
        id: str,
        /,
        body: UpdateOwnContactBody,
        **options: Unpack[CallOptions],
    ) -> Contact:
        """Choose what a contact is told of.

        The address itself is changed by support alone: whoever gets hold of a key must not be able to
        have the warnings sent elsewhere.

        Needs the scope `webhooks:write`: Create, update and delete webhooks.
        """
        return cast(Contact, await self._transport.call("PATCH", f"/v1/contacts/{segment(id)}", {}, body, options))


class Groups:
    """Everything that the API can do."""

    def __init__(self, transport: Transport) -> None:
        self.practice_groups = PracticeGroups(transport)
        self.submission_types = SubmissionTypes(transport)
        self.webhooks = Webhooks(transport)
        self.events = Events(transport)
        self.requests = Requests(transport)
        self.account = Account(transport)
        self.alerts = Alerts(transport)
        self.contacts = Contacts(transport)


class AsyncGroups:
    """Everything that the API can do."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.practice_groups = AsyncPracticeGroups(transport)
        self.submission_types = AsyncSubmissionTypes(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.events = AsyncEvents(transport)
        self.requests = AsyncRequests(transport)
        self.account = AsyncAccount(transport)
        self.alerts = AsyncAlerts(transport)
        self.contacts = AsyncContacts(transport)
