"""Events as they came, told apart by their names."""

from __future__ import annotations

from typing import cast

from .types import EVENT_NAMES, EventPayload, FeedEvent

_known = frozenset[str](EVENT_NAMES)


def read_event(payload: object) -> EventPayload | None:
    """None if it is no event at all."""
    if not isinstance(payload, dict) or not isinstance(payload.get("event"), str):
        return None
    if payload["event"] in _known:
        return cast(EventPayload, payload)
    return {"event": "unknown", "name": payload["event"], "payload": payload}


def read_feed_event(item: object) -> FeedEvent | None:
    data = read_event(item.get("data")) if isinstance(item, dict) else None
    return cast(FeedEvent, {**cast(dict[str, object], item), "data": data}) if data is not None else None
