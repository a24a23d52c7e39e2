"""Why a call failed."""

from __future__ import annotations

from typing import Any

import httpx


class PorterError(Exception):
    """Every error of a call."""


class PorterConnectionError(PorterError):
    """No answer arrived, or only a part of it. `__cause__` is what httpx raised."""


class PorterTimeoutError(PorterConnectionError):
    """The answer took longer than `timeout`."""


class PorterApiError(PorterError):
    """The service refused the call."""

    def __init__(self, status: int, headers: httpx.Headers, body: object) -> None:
        problem: dict[str, Any] = body if isinstance(body, dict) else {}
        self.status = status
        self.headers = headers
        self.body = body
        """What came, parsed if it was JSON."""
        self.problem = problem
        """The refusal as the API describes it; empty if the answer is none of Porter's."""
        error = problem.get("error")
        self.code: str = "validation_error" if error is True else error if isinstance(error, str) else "unknown"
        """Tells refusals apart: `validation_error` for a request that is not valid, with all that is wrong in `problem["message"]`."""
        self.request_id: str | None = headers.get("x-request-id")
        """Quote it to support, or ask `porter.requests.get` about it."""
        doc_url = problem.get("doc_url")
        self.doc_url: str | None = doc_url if isinstance(doc_url, str) else None
        super().__init__(f"{status} {self.code}: {_told(problem)}")


def _told(problem: dict[str, Any]) -> str:
    message = problem.get("message")
    if isinstance(message, str):
        return message
    if isinstance(message, list):
        entries = [entry for entry in message if isinstance(entry, dict)]
        return "; ".join(
            f"{'.'.join(map(str, entry.get('path') or [])) or 'body'}: {entry.get('message')}" for entry in entries
        )
    return "The answer is not one of Porter."
