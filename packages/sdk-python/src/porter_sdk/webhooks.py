"""What a receiver is sent, after the Standard Webhooks specification: HMAC-SHA-256 (`v1`) or Ed25519 (`v1a`) over `id.timestamp.body`."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from ._events import read_event
from .types import EventPayload

TOLERANCE_SECONDS = 5 * 60

WebhookFailure = Literal[
    "missing_header",
    "invalid_header",
    "timestamp_too_old",
    "timestamp_too_new",
    "no_matching_signature",
    "invalid_body",
]


class WebhookVerificationError(Exception):
    """Do not act on what was posted. Answer 400 or 401; the message may be shown to the sender."""

    def __init__(self, reason: WebhookFailure, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class VerifiedWebhook:
    webhook_id: str
    """The same in every attempt and every replay: what you have handled under this name need not be handled again."""
    sequence: int | None
    """Counts the deliveries of one webhook without a gap. It is part of `webhook_id`, which is signed."""
    timestamp: datetime
    """When this attempt was made."""
    data: EventPayload
    """What happened: look at `data["event"]`."""


def verify_webhook(
    headers: Mapping[str, str],
    body: bytes | str,
    secret: str | Sequence[str],
    *,
    now: Callable[[], float] = time.time,
) -> VerifiedWebhook:
    """Verifies that Porter sent it in the last five minutes.

    `body` is the bytes as they arrived, before anything parsed them. `secret` is that of the webhook (`whsec_…`), or a public key of
    the service (`whpk_…`, from /.well-known/webhook-keys; install `porter-sdk[ed25519]`). While one is being replaced, give both: one
    that fits is enough.
    """
    keys = _keys(secret)
    found = {name.lower(): value for name, value in headers.items()}
    webhook_id = _header(found, "webhook-id")
    seconds = _header(found, "webhook-timestamp")
    signatures = _header(found, "webhook-signature")
    _check_age(seconds, now())
    content = _bytes_of(body)
    signed = f"{webhook_id}.{seconds}.".encode() + content
    if not any(_fits(key, signed, signatures) for key in keys):
        raise WebhookVerificationError(
            "no_matching_signature",
            "No signature fits. Check the secret, and that the body is verified as it arrived, before it is parsed.",
        )
    return VerifiedWebhook(
        webhook_id,
        _proven_sequence(webhook_id, found.get("webhook-sequence")),
        datetime.fromtimestamp(int(seconds), UTC),
        _parsed(content),
    )


@dataclass(frozen=True)
class _Key:
    is_public: bool
    value: bytes


def _keys(secret: str | Sequence[str]) -> list[_Key]:
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets:
        raise ValueError("A webhook is verified with at least one secret.")
    keys = []
    for one in secrets:
        found = re.fullmatch(r"(whsec|whpk)_([A-Za-z0-9+/]{43}=)", one)
        if not found:
            raise ValueError(
                "The secret of a webhook begins with whsec_, a public key with whpk_, and 44 characters follow: "
                "copy it whole, as it was shown."
            )
        keys.append(_Key(found[1] == "whpk", base64.b64decode(found[2])))
    return keys


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookVerificationError("missing_header", f"The header {name} is missing.")
    return value


def _check_age(seconds: str, now: float) -> None:
    if not re.fullmatch(r"\d{1,12}", seconds, re.ASCII):
        raise WebhookVerificationError("invalid_header", "webhook-timestamp is not a number of seconds.")
    age = int(now) - int(seconds)
    if age > TOLERANCE_SECONDS:
        raise WebhookVerificationError("timestamp_too_old", f"It was sent {age} seconds ago.")
    if age < -TOLERANCE_SECONDS:
        raise WebhookVerificationError("timestamp_too_new", f"It was sent {-age} seconds from now. Check this clock.")


def _bytes_of(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    raise TypeError("The body of a webhook is verified as it arrived: give its bytes, not what a parser made of it.")


def _fits(key: _Key, signed: bytes, signatures: str) -> bool:
    if key.is_public:
        return _is_signed_by(key.value, signed, signatures)
    expected = b"v1," + base64.b64encode(hmac.digest(key.value, signed, hashlib.sha256))
    # Headers that came twice are joined with a comma.
    return any(hmac.compare_digest(one.encode(), expected) for one in re.split(r",? +", signatures))


def _is_signed_by(public_key: bytes, signed: bytes, signatures: str) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise RuntimeError("A public key (whpk_…) is verified with the package cryptography: pip install 'porter-sdk[ed25519]'") from error
    key = Ed25519PublicKey.from_public_bytes(public_key)
    for found in re.finditer(r"(?:^|[ ,])v1a,([A-Za-z0-9+/]{86}==)(?=[ ,]|$)", signatures):
        try:
            key.verify(base64.b64decode(found[1]), signed)
            return True
        except InvalidSignature:
            continue
    return False


def _proven_sequence(webhook_id: str, told: str | None) -> int | None:
    """`dlv_<webhook>_<sequence>_<time>`: the header only repeats what is signed, and whoever changed it on the way is found out."""
    found = re.fullmatch(r"dlv_[0-9A-Za-z]+_([1-9]\d{0,14})_[0-9A-Za-z]+", webhook_id, re.ASCII)
    signed = found[1] if found else None
    if signed is not None and told is not None and told != signed:
        raise WebhookVerificationError("invalid_header", "webhook-sequence is not the one in webhook-id.")
    sequence = signed or told or ""
    return int(sequence) if re.fullmatch(r"[1-9]\d{0,14}", sequence, re.ASCII) else None


def _parsed(content: bytes) -> EventPayload:
    try:
        event = read_event(json.loads(content))
    except ValueError:
        event = None
    if event is None:
        raise WebhookVerificationError("invalid_body", "The body is signed, but it is no event.")
    return event
