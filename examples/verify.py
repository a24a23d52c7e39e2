import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").removeprefix("whsec_"))
if not secret:
    raise SystemExit("Set WEBHOOK_SECRET to the secret of the webhook.")
handled = set()  # in earnest: a table, written together with what you do


def is_genuine(raw_body, headers):
    delivery_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{delivery_id}.{sent_at}.".encode() + raw_body
    expected = "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if not 0 <= length <= 1_048_576:  # no event is that long, and anybody can post here
            self.answer(400)
            return
        raw_body = self.rfile.read(length)
        if not is_genuine(raw_body, self.headers):
            self.answer(401)
            return
        event = json.loads(raw_body)
        delivery_id = self.headers["webhook-id"]
        if delivery_id not in handled:
            handled.add(delivery_id)
            print(f"verified {event['event']} {event['object']} {event['id']}", flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_request(self, *_):
        pass


receiver = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver)
print("listening", flush=True)
receiver.serve_forever()
