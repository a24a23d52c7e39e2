"""Against a running service: PORTER_URL, PORTER_KEY and the demo world."""

import asyncio
import os
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue

import httpx

from porter_sdk import AsyncPorter, Porter, PorterApiError, VerifiedWebhook, verify_webhook

URL, KEY, GROUP = os.environ["PORTER_URL"], os.environ["PORTER_KEY"], "riverside-surgery"


class Service(unittest.TestCase):
    def setUp(self) -> None:
        self.porter = Porter(base_url=URL, api_key=KEY, practice_group_id=GROUP)
        self.addCleanup(self.porter.close)

    def test_reads_and_changes_with_what_was_seen(self) -> None:
        self.assertEqual(self.porter.practice_groups.list()["data"][0]["id"], GROUP)
        self.assertEqual(self.porter.account.me()["practice_groups"][0]["id"], GROUP)
        seen: list[str] = []
        self.porter.submission_types.get("symptoms", on_response=lambda response: seen.append(response.headers["etag"]))
        changed = self.porter.submission_types.update("symptoms", {"daily_limit": 25}, if_match=seen[0])
        self.assertEqual(changed["daily_limit"], 25)
        self.porter.submission_types.update("symptoms", {"daily_limit": None})
        with self.assertRaises(PorterApiError) as refused:
            self.porter.submission_types.update("symptoms", {"daily_limit": 1}, if_match=seen[0])
        self.assertEqual((refused.exception.status, refused.exception.code), (412, "precondition_failed"))
        request_id = refused.exception.request_id
        assert request_id is not None
        self.assertEqual(self.porter.requests.get(request_id)["status"], 412)

    def test_what_is_wrong_is_told_field_by_field(self) -> None:
        with self.assertRaises(PorterApiError) as refused:
            self.porter.submission_types.update("symptoms", {"title": "", "daily_limit": -1})
        self.assertEqual(refused.exception.code, "validation_error")
        self.assertIn("title: ", str(refused.exception))
        self.assertIn("daily_limit: ", str(refused.exception))

    def test_lists_go_on_page_after_page(self) -> None:
        all_of_them = [one["id"] for one in self.porter.submission_types.list()]
        self.assertGreater(len(all_of_them), 1)
        pages = list(self.porter.submission_types.list(page_size=1).pages())
        self.assertEqual([page["data"][0]["id"] for page in pages], all_of_them)
        self.assertEqual(self.porter.submission_types.list(page_size=1).first()["count"], 1)

    def test_the_feed_is_read_from_a_moment_to_its_end(self) -> None:
        cursor = self.porter.events.list().first()["next_cursor"]
        first = self.porter.events.trigger({"event": "prescription.issued"})["event_id"]
        second = self.porter.events.trigger({"event": "prescription.issued"})["event_id"]
        created: dict[str, str] = {}
        for event in self.porter.events.follow(cursor=cursor):
            created[event["id"]] = event["created_at"]
            if {first, second} <= created.keys():
                break
        found = [event["id"] for event in self.porter.events.list(since=min(created.values()), page_size=1)]
        self.assertLessEqual({first, second}, set(found))

    def test_the_stream_brings_what_happens(self) -> None:
        cursor = self.porter.events.list().first()["next_cursor"]
        event_id = self.porter.events.trigger({"event": "prescription.issued"})["event_id"]
        for event in self.porter.events.follow(cursor=cursor):
            if event["id"] == event_id:
                self.assertEqual(event["data"]["event"], "prescription.issued")
                break

    def test_webhooks_are_made_delivered_to_and_verified(self) -> None:
        keys = httpx.get(f"{URL}/.well-known/webhook-keys").json()["keys"]
        for signature in ("hmac", "ed25519"):
            receiver = Receiver()
            self.addCleanup(receiver.stop)
            webhook = self.porter.webhooks.create(
                {"url": receiver.url, "signature": "hmac" if signature == "hmac" else "ed25519"}
            )
            receiver.secrets = [webhook["secret"]] if signature == "hmac" else [key["public_key"] for key in keys]
            test = self.porter.webhooks.test(webhook["id"], {"event": "appointment.confirmed"})
            received = receiver.received.get(timeout=60)
            assert isinstance(received, VerifiedWebhook), received
            self.assertEqual((received.webhook_id, received.sequence), (test["delivery_id"], 1))
            self.porter.webhooks.delete(webhook["id"])

    def test_the_same_for_asyncio(self) -> None:
        async def everything() -> list[str]:
            async with AsyncPorter(base_url=URL, api_key=KEY, practice_group_id=GROUP) as porter:
                ids = [one["id"] async for one in porter.acting_for("hillview-hub").submission_types.list(page_size=1)]
                page = await porter.events.list().first()
                event_id = (await porter.events.trigger({"event": "prescription.issued"}))["event_id"]
                async for event in porter.events.follow(cursor=page["next_cursor"]):
                    if event["id"] == event_id:
                        break
                with self.assertRaises(PorterApiError):
                    await porter.webhooks.get("wh_none")
                return ids

        self.assertIn("symptoms", asyncio.run(everything()))


class Receiver:
    def __init__(self) -> None:
        self.received: Queue[object] = Queue()
        self.secrets: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                try:
                    outer.received.put(verify_webhook(dict(self.headers), body, outer.secrets))
                except Exception as error:
                    outer.received.put(error)
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hooks"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


if __name__ == "__main__":
    unittest.main()
