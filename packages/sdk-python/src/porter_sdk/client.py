"""The partner API of Porter, on behalf of one practice group."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Self

import httpx

from ._groups import AsyncGroups, Groups
from ._options import Limits, Runtime
from ._transport import AsyncTransport, Caller, Transport

_VISIBLE = re.compile(r"[!-~]+")
_THIS_MACHINE = re.compile(r"127(\.\d+){3}|::1|localhost")


class Porter(Groups):
    """For programs that wait. Close it when it is done with, or use it with `with`."""

    def __init__(
        self,
        *,
        api_key: str,
        practice_group_id: str,
        base_url: str,
        timeout: float = 30.0,
        max_retries: int = 3,
        max_retry_seconds: float = 90.0,
        http_client: httpx.Client | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """`base_url` is where the service is, such as https://api.porter.example; http only on this machine.

        `timeout` is in seconds for each attempt; a call is repeated at most `max_retries` times, and no retry begins later than
        `max_retry_seconds` after its start. `http_client` is used instead of a new one, with your own proxies or certificates.
        """
        self._limits = Limits(timeout, max_retries, max_retry_seconds)
        self._runtime = runtime or Runtime()
        self._headers = _headers(api_key, practice_group_id)
        self._base_url = _checked(base_url)
        self._http = http_client or httpx.Client()
        caller = Caller(self._base_url, self._headers)
        super().__init__(Transport(self._http, caller, self._limits, self._runtime))

    def acting_for(self, practice_group_id: str) -> Porter:
        """A client with the same key and connections for another practice group: one that shares a network with the key's own."""
        return Porter(
            api_key=self._headers["x-api-key"],
            practice_group_id=practice_group_id,
            base_url=self._base_url,
            timeout=self._limits.timeout,
            max_retries=self._limits.max_retries,
            max_retry_seconds=self._limits.max_retry_seconds,
            http_client=self._http,
            runtime=self._runtime,
        )

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncPorter(AsyncGroups):
    """For asyncio and trio. Close it when it is done with, or use it with `async with`."""

    def __init__(
        self,
        *,
        api_key: str,
        practice_group_id: str,
        base_url: str,
        timeout: float = 30.0,
        max_retries: int = 3,
        max_retry_seconds: float = 90.0,
        http_client: httpx.AsyncClient | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """The same as `Porter` takes."""
        self._limits = Limits(timeout, max_retries, max_retry_seconds)
        self._runtime = runtime or Runtime()
        self._headers = _headers(api_key, practice_group_id)
        self._base_url = _checked(base_url)
        self._http = http_client or httpx.AsyncClient()
        caller = Caller(self._base_url, self._headers)
        super().__init__(AsyncTransport(self._http, caller, self._limits, self._runtime))

    def acting_for(self, practice_group_id: str) -> AsyncPorter:
        """A client with the same key and connections for another practice group: one that shares a network with the key's own."""
        return AsyncPorter(
            api_key=self._headers["x-api-key"],
            practice_group_id=practice_group_id,
            base_url=self._base_url,
            timeout=self._limits.timeout,
            max_retries=self._limits.max_retries,
            max_retry_seconds=self._limits.max_retry_seconds,
            http_client=self._http,
            runtime=self._runtime,
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _headers(api_key: str, practice_group_id: str) -> dict[str, str]:
    # No message quotes what may be secret.
    for name, value in (("api_key", api_key), ("practice_group_id", practice_group_id)):
        if not value:
            raise ValueError(f"{name} is missing or empty.")
        if not _VISIBLE.fullmatch(value):
            raise ValueError(f"{name} has a space, a line end or another character that cannot be in it. Copy it again.")
    return {"x-api-key": api_key, "x-practice-group-id": practice_group_id}


def _checked(given: str) -> str:
    """Without a slash at the end. The key goes there, so it must not travel in the open."""
    try:
        url = httpx.URL(given)
    except (httpx.InvalidURL, TypeError) as error:
        raise ValueError("base_url is not an address.") from error
    if not (url.scheme == "https" or (url.scheme == "http" and _THIS_MACHINE.fullmatch(url.host))):
        raise ValueError("base_url: give an address that begins with https://, or with http:// for this machine.")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("base_url: give it without a user, a password, a ? and a #.")
    return str(url).rstrip("/")
