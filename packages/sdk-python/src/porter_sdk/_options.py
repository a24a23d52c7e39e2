"""What a single call may add."""

from __future__ import annotations

import random as _random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypedDict

import httpx


class CallOptions(TypedDict, total=False):
    request_id: str
    """An ID of your own, sent as `x-request-id`."""
    timeout: float
    """Seconds for each attempt, instead of the client's own."""
    max_retries: int
    """Instead of the client's own."""
    on_response: Callable[[httpx.Response], None]
    """Is given the answer as it came, for its headers: `response.headers["etag"]`."""


class IfMatchOptions(CallOptions, total=False):
    if_match: str
    """The ETag that you last saw: if the record has changed since, the call fails with `precondition_failed`."""


class IdempotentOptions(CallOptions, total=False):
    idempotency_key: str
    """A name of your own for this change: sent twice, it happens once. Unless given, each call has one that nobody else has."""


class AnyOptions(IfMatchOptions, IdempotentOptions, total=False):
    """All that a call may be given."""


@dataclass(frozen=True)
class Limits:
    """How long and how often a client tries."""

    timeout: float = 30.0
    max_retries: int = 3
    max_retry_seconds: float = 90.0


async def _sleep(seconds: float) -> None:
    import anyio

    await anyio.sleep(seconds)


@dataclass(frozen=True)
class Runtime:
    """Time and chance, for tests."""

    now: Callable[[], float] = time.time
    random: Callable[[], float] = _random.random
    sleep: Callable[[float], None] = time.sleep
    sleep_async: Callable[[float], Awaitable[None]] = _sleep
