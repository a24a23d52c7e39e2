"""What schemathesis does not know by itself: how lines are sent."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    return (value if isinstance(value, str) else json.dumps(value)).encode()
