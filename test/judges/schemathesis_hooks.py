"""What schemathesis does not know by itself: how lines are sent."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    return value.encode() if isinstance(value, str) else value
