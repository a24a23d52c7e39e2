"""When a call is sent again, and after how long."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.utils import parsedate_to_datetime

import httpx

from .errors import PorterApiError, PorterConnectionError

BACKOFF_MIN_SECONDS = 0.5
BACKOFF_MAX_SECONDS = 30.0
RETRY_AFTER_MAX_SECONDS = 3600.0
"""A service that asks for more is asked again after this."""


def is_repeatable(method: str, if_match: str | None) -> bool:
    """Whether a second attempt leaves the service in the same state as one attempt.

    A POST has an idempotency key for that. A PATCH with `if_match` would get a 412 for the version that its first attempt made,
    which looks like another caller's change.
    """
    return method != "PATCH" or if_match is None


def was_not_done(error: Exception) -> bool:
    """The service rejects a 429 before it does anything. After a 5xx or a lost connection, the change may be done."""
    return isinstance(error, PorterApiError) and error.status == 429


def may_pass(error: Exception, repeatable: bool) -> bool:
    """True if a repetition may succeed, and does no harm if the first attempt succeeded."""
    if was_not_done(error):
        return True
    is_outage = isinstance(error, PorterApiError) and error.status >= 500
    return repeatable and (is_outage or isinstance(error, PorterConnectionError))


def wait_before(retries: int, error: Exception, now: float, random: Callable[[], float]) -> float:
    """What the service asked for, and on top a random share of a time that doubles, so that not everybody comes at once."""
    asked = retry_after(error.headers, now) if isinstance(error, PorterApiError) else 0.0
    return asked + backoff(retries, random, BACKOFF_MIN_SECONDS)


def backoff(retries: int, random: Callable[[], float], first: float) -> float:
    return random() * min(BACKOFF_MAX_SECONDS, first * 2.0 ** min(retries, 16))


def retry_after(headers: httpx.Headers, now: float) -> float:
    """Seconds: the header holds them, or a date."""
    value: str = headers.get("retry-after", "")
    if re.fullmatch(r"\d+", value, re.ASCII):
        wait = float(value)
    else:
        try:
            wait = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, TypeError):
            wait = 0.0
    return min(RETRY_AFTER_MAX_SECONDS, max(0.0, wait))
