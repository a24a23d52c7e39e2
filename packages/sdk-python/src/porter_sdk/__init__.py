"""The Porter partner API as typed methods, and verification of its webhooks."""

from . import types
from ._options import CallOptions, IdempotentOptions, IfMatchOptions, Runtime
from ._pages import AsyncPages, Pages
from ._stream import Followed
from .client import AsyncPorter, Porter
from .errors import PorterApiError, PorterConnectionError, PorterError, PorterTimeoutError
from .webhooks import VerifiedWebhook, WebhookFailure, WebhookVerificationError, verify_webhook

__all__ = [
    "AsyncPages",
    "AsyncPorter",
    "CallOptions",
    "Followed",
    "IdempotentOptions",
    "IfMatchOptions",
    "Pages",
    "Porter",
    "PorterApiError",
    "PorterConnectionError",
    "PorterError",
    "PorterTimeoutError",
    "Runtime",
    "VerifiedWebhook",
    "WebhookFailure",
    "WebhookVerificationError",
    "types",
    "verify_webhook",
]
