import os
import random
import sys
import time
import urllib.error
import urllib.request

PORTER_URL = os.environ.get("PORTER_URL", "http://127.0.0.1:8080")
PORTER_KEY = os.environ.get("PORTER_KEY")
if not PORTER_KEY:
    sys.exit("Set PORTER_KEY to your API key. That of the demo world is in .porter/demo-key.")
HEADERS = {
    "x-api-key": PORTER_KEY,
    "x-practice-group-id": os.environ.get("PORTER_GROUP", "riverside-surgery"),
}
ATTEMPTS = 5


def call(path, method="GET", body=None):
    """For calls that may be repeated: every GET, PATCH and DELETE."""
    headers = {**HEADERS, **({"content-type": "application/json"} if body else {})}
    for attempt in range(1, ATTEMPTS + 1):
        asked = 0
        try:
            request = urllib.request.Request(PORTER_URL + path, body, headers, method=method)
            return urllib.request.urlopen(request, timeout=10)
        except urllib.error.HTTPError as answer:
            if attempt == ATTEMPTS or (answer.code != 429 and answer.code < 500):
                return answer
            asked = int(answer.headers.get("retry-after", 0))
        except OSError:
            if attempt == ATTEMPTS:
                raise
        backoff = 2**attempt * (0.25 + random.random() / 4)  # a random part, so that not all come back together
        time.sleep(max(asked, backoff))


answer = call("/v1/practice-groups")
print(answer.status, answer.headers["x-request-id"])
