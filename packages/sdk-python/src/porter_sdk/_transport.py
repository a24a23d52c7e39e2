"""Requests to answers: sends, waits, sends again, and gives up in time."""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

import httpx

from ._options import AnyOptions, CallOptions, Limits, Runtime
from ._retry import is_repeatable, may_pass, wait_before, was_not_done
from ._stream import Followed, Place, comes_back
from .errors import PorterApiError, PorterConnectionError, PorterTimeoutError

Query = Mapping[str, str | int | Sequence[str] | None]


def segment(value: str) -> str:
    """A part of a path. `.` and `..` would be another path."""
    if value in ("", ".", ".."):
        raise ValueError(f'"{value}" is not an ID.')
    return quote(value, safe="")


def check_finite(value: object, field: str = "body") -> None:
    """JSON has neither NaN nor Infinity: the error names the field, before anything is sent."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{field}: {value} is not a finite number. Nothing was sent.")
    if isinstance(value, Mapping):
        for name, one in value.items():
            check_finite(one, str(name))
    elif isinstance(value, list | tuple):
        for one in value:
            check_finite(one, field)


@dataclass(frozen=True)
class Caller:
    """Where calls go, and as whom."""

    base_url: str
    headers: Mapping[str, str]


class Request:
    """A call on its way, and what is known of its attempts."""

    def __init__(
        self,
        method: str,
        path: str,
        query: Query,
        body: object,
        options: CallOptions,
        limits: Limits,
        runtime: Runtime,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        check_finite(query)
        check_finite(body)
        given = cast(AnyOptions, options)
        self.method = method
        self.path = path
        self.params = {
            name: value if isinstance(value, str) else ",".join(value) if isinstance(value, Sequence) else str(value)
            for name, value in query.items()
            if value is not None
        }
        self.body = body
        self.timeout = given.get("timeout", limits.timeout)
        self.on_response = given.get("on_response")
        self.headers = {**(headers or {})}
        if_match = given.get("if_match")
        if "request_id" in given:
            self.headers["x-request-id"] = given["request_id"]
        if if_match is not None:
            self.headers["if-match"] = if_match
        # One for all attempts of a POST: the service does it once, however often it hears of it.
        if method == "POST":
            self.headers["idempotency-key"] = given.get("idempotency_key") or str(uuid.uuid4())
        self._runtime = runtime
        self._repeatable = is_repeatable(method, if_match)
        self._max_retries = given.get("max_retries", limits.max_retries)
        self._latest = runtime.now() + limits.max_retry_seconds
        self._retries = 0
        self._may_be_done = False

    def build(self, client: httpx.Client | httpx.AsyncClient, caller: Caller) -> httpx.Request:
        return client.build_request(
            self.method,
            caller.base_url + self.path,
            params=self.params or None,
            json=self.body,
            headers={**caller.headers, **self.headers},
            timeout=self.timeout,
        )

    def check(self, response: httpx.Response) -> None:
        """Raises what a refusal is."""
        # What a lost attempt has deleted is gone, as it should be.
        is_gone = self._may_be_done and self.method == "DELETE" and response.status_code == 404
        if not response.is_success and not is_gone:
            raise PorterApiError(response.status_code, response.headers, body_of(response))

    def wait_after(self, error: Exception, insist: Callable[[Exception], bool] | None = None) -> float:
        """How long to wait before the next attempt; raises the error if there is none. `insist` repeats whatever the limits."""
        wait = wait_before(self._retries, error, self._runtime.now(), self._runtime.random)
        in_time = self._retries < self._max_retries and self._runtime.now() + wait <= self._latest
        again = insist(error) if insist else in_time and may_pass(error, self._repeatable)
        if not again:
            raise error
        self._may_be_done = self._may_be_done or not was_not_done(error)
        self._retries += 1
        return wait

    def data_of(self, response: httpx.Response) -> object:
        if self.on_response is not None:
            self.on_response(response)
        if response.status_code == 204 or not response.is_success:
            return None
        body = body_of(response)
        if not isinstance(body, dict):
            raise PorterApiError(response.status_code, response.headers, body)
        return body


def body_of(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return response.text


def explained(error: httpx.HTTPError, timeout: float) -> PorterConnectionError:
    if isinstance(error, httpx.TimeoutException):
        return PorterTimeoutError(f"No answer within {timeout:g} s.")
    return PorterConnectionError(f"The connection failed: {error}")


class Transport:
    """For programs that wait."""

    def __init__(self, client: httpx.Client, caller: Caller, limits: Limits, runtime: Runtime) -> None:
        self.client = client
        self.caller = caller
        self.limits = limits
        self.runtime = runtime

    def call(self, method: str, path: str, query: Query, body: object, options: CallOptions) -> object:
        request = Request(method, path, query, body, options, self.limits, self.runtime)
        return request.data_of(self._send(request))

    def _send(
        self, request: Request, insist: Callable[[Exception], bool] | None = None, stream: bool = False
    ) -> httpx.Response:
        while True:
            try:
                return self._attempt(request, stream)
            except (PorterApiError, PorterConnectionError) as error:
                self.runtime.sleep(request.wait_after(error, insist))

    def _attempt(self, request: Request, stream: bool) -> httpx.Response:
        try:
            # Followed, a redirect would carry the key to wherever it leads.
            sent = request.build(self.client, self.caller)
            response = self.client.send(sent, stream=stream, follow_redirects=False)
            if stream and not response.is_success:
                response.read()
        except httpx.HTTPError as error:
            raise explained(error, request.timeout) from error
        request.check(response)
        return response

    def follow(self, path: str, query: Query, silence: float) -> Iterator[Followed]:
        place = Place(path, query, silence, self.limits, self.runtime)
        insist: Callable[[Exception], bool] | None = None
        while True:
            response = self._send(place.request(), insist, stream=True)
            insist = comes_back
            place.opened(response)
            try:
                for chunk in response.iter_bytes():
                    yield from place.heard(chunk)
            except httpx.HTTPError:
                pass  # A connection that broke, or fell silent, is replaced.
            finally:
                response.close()
            self.runtime.sleep(place.pause())


class AsyncTransport:
    """The same for asyncio and trio."""

    def __init__(self, client: httpx.AsyncClient, caller: Caller, limits: Limits, runtime: Runtime) -> None:
        self.client = client
        self.caller = caller
        self.limits = limits
        self.runtime = runtime

    async def call(self, method: str, path: str, query: Query, body: object, options: CallOptions) -> object:
        request = Request(method, path, query, body, options, self.limits, self.runtime)
        return request.data_of(await self._send(request))

    async def _send(
        self, request: Request, insist: Callable[[Exception], bool] | None = None, stream: bool = False
    ) -> httpx.Response:
        while True:
            try:
                return await self._attempt(request, stream)
            except (PorterApiError, PorterConnectionError) as error:
                await self.runtime.sleep_async(request.wait_after(error, insist))

    async def _attempt(self, request: Request, stream: bool) -> httpx.Response:
        try:
            sent = request.build(self.client, self.caller)
            response = await self.client.send(sent, stream=stream, follow_redirects=False)
            if stream and not response.is_success:
                await response.aread()
        except httpx.HTTPError as error:
            raise explained(error, request.timeout) from error
        request.check(response)
        return response

    async def follow(self, path: str, query: Query, silence: float) -> AsyncIterator[Followed]:
        place = Place(path, query, silence, self.limits, self.runtime)
        insist: Callable[[Exception], bool] | None = None
        while True:
            response = await self._send(place.request(), insist, stream=True)
            insist = comes_back
            place.opened(response)
            try:
                async for chunk in response.aiter_bytes():
                    for event in place.heard(chunk):
                        yield event
            except httpx.HTTPError:
                pass  # A connection that broke, or fell silent, is replaced.
            finally:
                await response.aclose()
            await self.runtime.sleep_async(place.pause())
