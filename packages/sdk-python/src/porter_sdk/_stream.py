"""The stream of events: Server-Sent Events, and the place in the feed that they have reached."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import httpx

from ._events import read_feed_event
from ._options import CallOptions, Limits, Runtime
from ._retry import BACKOFF_MAX_SECONDS, backoff, may_pass
from .errors import PorterApiError, PorterError
from .types import FeedEvent

if TYPE_CHECKING:
    from ._transport import Request

RETRY_SECONDS = 2.0
RETRY_MIN_SECONDS = 0.5
"""The service may ask for less; nobody comes back in an endless hurry."""
BLOCK_MAX = 1_048_576
"""In characters; far more than any event has."""


class Followed(FeedEvent):
    cursor: str
    """The place just after this event: keep it, and nothing is missed or heard twice."""


def comes_back(error: Exception) -> bool:
    """The service may count the connection that was lost as open for a while, and refuse one more with a 409."""
    return may_pass(error, True) or (isinstance(error, PorterApiError) and error.status == 409)


class Message:
    """What stands between two blank lines of an event stream."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.data: str | None = None
        self.retry: float | None = None


class SseParser:
    """One for each connection: chunks are bytes, cut anywhere."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._message = Message()
        self._rest = ""
        self._length = 0
        self._ended_with_return = False

    def push(self, chunk: bytes) -> Iterator[Message]:
        text = self._decoder.decode(chunk)
        if not text:
            return
        if self._ended_with_return and text.startswith("\n"):
            text = text[1:]
            if not text:
                self._ended_with_return = False
                return
        self._ended_with_return = text.endswith("\r")
        lines = re.split(r"\r\n|\n|\r", self._rest + text)
        self._rest = lines.pop()
        for line in lines:
            if line:
                self._line(line)
            else:
                yield self._message
                self._message = Message()
                self._length = 0
        self._check(self._rest)

    def _line(self, line: str) -> None:
        self._check(line)
        self._length += len(line)
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        message = self._message
        if field == "id" and "\0" not in value:
            message.id = value
        elif field == "retry" and re.fullmatch(r"\d+", value, re.ASCII):
            message.retry = int(value) / 1000
        elif field == "data":
            message.data = value if message.data is None else f"{message.data}\n{value}"

    def _check(self, line: str) -> None:
        if self._length + len(line) > BLOCK_MAX:
            raise PorterError("A block of the event stream is longer than any event.")


class Place:
    """Where a program that follows the feed has come to, over all its connections."""

    def __init__(
        self,
        path: str,
        query: Mapping[str, str | int | Sequence[str] | None],
        silence: float,
        limits: Limits,
        runtime: Runtime,
    ) -> None:
        self._path = path
        self._query = {name: value for name, value in query.items() if name != "cursor"}
        self._cursor = cast("str | None", query.get("cursor"))
        self._silence = silence
        self._limits = limits
        self._runtime = runtime
        self._parser = SseParser()
        self._retry = RETRY_SECONDS
        self._short_lived = 0
        self._opened_at = 0.0

    def request(self) -> Request:
        from ._transport import Request

        headers = {"accept": "text/event-stream"}
        if self._cursor is not None:
            headers["last-event-id"] = self._cursor
        # The time limit holds for each wait for bytes: the service says something every 15 s.
        options: CallOptions = {"timeout": self._silence}
        return Request("GET", self._path, self._query, None, options, self._limits, self._runtime, headers)

    def opened(self, response: httpx.Response) -> None:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            raise PorterApiError(response.status_code, response.headers, None)
        self._parser = SseParser()
        self._opened_at = self._runtime.now()

    def heard(self, chunk: bytes) -> Iterator[Followed]:
        for message in self._parser.push(chunk):
            if message.id is not None:
                self._cursor = message.id
            if message.retry is not None:
                self._retry = max(RETRY_MIN_SECONDS, message.retry)
            if message.data is None:
                continue
            self._short_lived = 0
            yield self._event(message.data)

    def _event(self, data: str) -> Followed:
        try:
            event = read_feed_event(json.loads(data))
        except ValueError:
            event = None
        if event is None:
            raise PorterError("The stream brought something that is no event.")
        return cast(Followed, {**event, "cursor": self._cursor or ""})

    def pause(self) -> float:
        if self._runtime.now() - self._opened_at >= BACKOFF_MAX_SECONDS:
            self._short_lived = 0
        wait = backoff(self._short_lived, self._runtime.random, self._retry)
        self._short_lived += 1
        return wait
