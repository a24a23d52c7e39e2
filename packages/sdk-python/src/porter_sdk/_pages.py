"""Lists: every entry, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Generic, TypeVar, cast

from ._events import read_feed_event
from ._options import CallOptions
from ._transport import AsyncTransport, Query, Transport
from .errors import PorterError

Item = TypeVar("Item")
Page = TypeVar("Page")


class Pages(Generic[Item, Page]):
    """`for` gives every entry from here to the end, `first()` one page, `pages()` all of them with their cursors."""

    def __init__(self, transport: Transport, path: str, query: Query, options: CallOptions) -> None:
        self._transport = transport
        self._path = path
        self._query = query
        self._options = options

    def first(self) -> Page:
        return next(self.pages())

    def pages(self) -> Iterator[Page]:
        query = self._query
        while True:
            page = checked(self._transport.call("GET", self._path, query, None, self._options))
            yield cast(Page, page)
            if is_last(page):
                return
            query = following(query, page)

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from cast("dict[str, list[Item]]", page)["data"]


class AsyncPages(Generic[Item, Page]):
    """The same with `async for` and `await`."""

    def __init__(self, transport: AsyncTransport, path: str, query: Query, options: CallOptions) -> None:
        self._transport = transport
        self._path = path
        self._query = query
        self._options = options

    async def first(self) -> Page:
        return await anext(self.pages())

    async def pages(self) -> AsyncIterator[Page]:
        query = self._query
        while True:
            page = checked(await self._transport.call("GET", self._path, query, None, self._options))
            yield cast(Page, page)
            if is_last(page):
                return
            query = following(query, page)

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in cast("dict[str, list[Item]]", page)["data"]:
                yield item


def checked(answer: object) -> dict[str, Any]:
    page = cast("dict[str, Any]", answer)
    if not isinstance(page.get("data"), list) or not isinstance(page.get("next_cursor"), str | None):
        raise PorterError("The answer is not a page.")
    # Entries of the feed may be events that this version does not know.
    if "has_more" in page:
        return {**page, "data": [read_feed_event(item) or item for item in page["data"]]}
    return page


def following(query: Query, page: dict[str, Any]) -> Query:
    """The feed takes either a moment or a cursor to begin at."""
    kept = {name: value for name, value in query.items() if name != "since" or "has_more" not in page}
    return {**kept, "cursor": page["next_cursor"]}


def is_last(page: dict[str, Any]) -> bool:
    """The feed has a cursor at its end, too, for whoever comes again."""
    return page["next_cursor"] is None or page.get("has_more") is False
