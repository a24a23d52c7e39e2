"""Verification, with signatures that are made here."""

import base64
import hashlib
import hmac
import json
import unittest

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from porter_sdk import WebhookVerificationError, verify_webhook

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
OTHER = "whsec_" + base64.b64encode(b"o" * 32).decode()
NOW = 1_794_643_200
ID = "dlv_00VavrySW7QkzdE4DIp3JusJ3_7_00VavryCO"
BODY = b'{"object":"Appointment","id":"apt_1","practice_group_id":"g","event":"appointment.confirmed"}'


def signed(body: bytes = BODY, secret: str = SECRET, changes: dict[str, str] | None = None) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.digest(key, f"{ID}.{NOW}.".encode() + body, hashlib.sha256)
    headers = {
        "Webhook-Id": ID,
        "webhook-timestamp": str(NOW),
        "webhook-signature": "v1,bm9uZQ== v1," + base64.b64encode(mac).decode(),
    }
    return {**headers, **(changes or {})}


class Verification(unittest.TestCase):
    def reason(self, headers: dict[str, str], body: bytes = BODY, secret: str = SECRET, now: float = NOW) -> str:
        with self.assertRaises(WebhookVerificationError) as error:
            verify_webhook(headers, body, secret, now=lambda: now)
        return error.exception.reason

    def test_what_porter_sent_is_told(self) -> None:
        webhook = verify_webhook(signed(), BODY, [OTHER, SECRET], now=lambda: NOW + 300)
        self.assertEqual((webhook.webhook_id, webhook.sequence), (ID, 7))
        self.assertEqual(webhook.data["event"], "appointment.confirmed")
        self.assertEqual(int(webhook.timestamp.timestamp()), NOW)

    def test_an_event_of_tomorrow_arrives_whole(self) -> None:
        body = json.dumps({"object": "X", "id": "1", "practice_group_id": "g", "event": "x.y"}).encode()
        data = verify_webhook(signed(body), body, SECRET, now=lambda: NOW).data
        self.assertEqual(data["event"], "unknown")

    def test_everything_else_is_refused_with_its_reason(self) -> None:
        self.assertEqual(self.reason({}), "missing_header")
        self.assertEqual(self.reason(signed(), now=NOW + 301), "timestamp_too_old")
        self.assertEqual(self.reason(signed(), now=NOW - 301), "timestamp_too_new")
        self.assertEqual(self.reason(signed(changes={"webhook-timestamp": "soon"})), "invalid_header")
        self.assertEqual(self.reason(signed(), body=BODY + b" "), "no_matching_signature")
        self.assertEqual(self.reason(signed(), secret=OTHER), "no_matching_signature")
        self.assertEqual(self.reason(signed(changes={"webhook-sequence": "8"})), "invalid_header")
        self.assertEqual(self.reason(signed(b"[]"), body=b"[]"), "invalid_body")
        for wrong in ("", "whsec_short", SECRET + "x"):
            with self.assertRaises(ValueError):
                verify_webhook(signed(), BODY, wrong)

    def test_a_public_key_verifies_v1a_and_nothing_else(self) -> None:
        private = Ed25519PrivateKey.generate()
        raw = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        public = "whpk_" + base64.b64encode(raw).decode()
        signature = base64.b64encode(private.sign(f"{ID}.{NOW}.".encode() + BODY)).decode()
        both = signed()["webhook-signature"] + " v1a," + signature
        headers = signed(changes={"webhook-signature": both})
        self.assertEqual(verify_webhook(headers, BODY, public, now=lambda: NOW).webhook_id, ID)
        self.assertEqual(self.reason(signed(), secret=public), "no_matching_signature")
        self.assertEqual(self.reason(headers, body=b"{}", secret=public), "no_matching_signature")


if __name__ == "__main__":
    unittest.main()
