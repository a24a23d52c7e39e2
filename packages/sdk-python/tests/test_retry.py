"""When calls are repeated: as the TypeScript client repeats them."""

import asyncio
import unittest
from collections.abc import Callable
from typing import cast

import httpx

from porter_sdk import AsyncPorter, Porter, PorterApiError, PorterConnectionError, PorterError, PorterTimeoutError, Runtime

Answer = Callable[[httpx.Request], httpx.Response]


class World:
    """A service that answers as it is told, and a clock that moves when somebody sleeps."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.time = 1_000.0
        self.slept: list[float] = []
        self.requests: list[httpx.Request] = []
        self._answers = list(answers)
        runtime = Runtime(now=lambda: self.time, random=lambda: 0.5, sleep=self._sleep, sleep_async=self._sleep_async)
        self.porter = Porter(
            base_url="https://porter.test",
            api_key="ptr_test_x",
            practice_group_id="g",
            http_client=httpx.Client(transport=httpx.MockTransport(self._answer)),
            runtime=runtime,
        )
        self.async_porter = AsyncPorter(
            base_url="https://porter.test",
            api_key="ptr_test_x",
            practice_group_id="g",
            http_client=httpx.AsyncClient(transport=httpx.MockTransport(self._answer)),
            runtime=runtime,
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    async def _sleep_async(self, seconds: float) -> None:
        self._sleep(seconds)


def refusal(status: int, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(status, headers=headers, json={"error": "some", "message": "No."})


def done(body: object | None = None) -> httpx.Response:
    return httpx.Response(200, json=body or {"id": "x"})


LOST = httpx.ConnectError("lost")


class Retries(unittest.TestCase):
    def test_429_is_repeated_after_what_it_asks_for_and_a_share_of_a_doubling_time(self) -> None:
        world = World(refusal(429, {"retry-after": "3"}), refusal(503), done())
        self.assertEqual(world.porter.submission_types.update("a", {"title": "T"})["id"], "x")
        self.assertEqual(world.slept, [3.25, 0.5])

    def test_a_date_is_waited_for(self) -> None:
        world = World(refusal(429, {"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}), done())
        world.porter.account.me()
        self.assertEqual(world.slept, [10.25])

    def test_no_more_than_three_times_and_not_after_the_last_moment(self) -> None:
        world = World(*[refusal(503) for _ in range(4)])
        with self.assertRaises(PorterApiError):
            world.porter.account.me()
        self.assertEqual(len(world.requests), 4)
        late = World(refusal(429, {"retry-after": "91"}))
        with self.assertRaises(PorterApiError):
            late.porter.account.me()
        self.assertEqual(late.slept, [])
        never = World(refusal(429))
        with self.assertRaises(PorterApiError):
            never.porter.account.me(max_retries=0)

    def test_every_5xx_is_repeated_when_retry_after_says(self) -> None:
        for status in (500, 502, 503, 504, 599):
            world = World(refusal(status, {"retry-after": "3"}), done())
            world.porter.submission_types.update("a", {"title": "T"})
            self.assertEqual(world.slept, [3.25])

    def test_other_statuses_are_not_repeated(self) -> None:
        for status in (400, 401, 403, 404, 409, 412, 422, 499):
            world = World(refusal(status, {"retry-after": "1"}))
            with self.assertRaises(PorterApiError):
                world.porter.submission_types.update("a", {"title": "T"})
            self.assertEqual(len(world.requests), 1)

    def test_a_conditional_patch_is_repeated_after_429_alone(self) -> None:
        for failure in (refusal(503), refusal(500), LOST):
            world = World(failure)
            with self.assertRaises(PorterError):
                world.porter.submission_types.update("a", {"title": "T"}, if_match='"1"')
            self.assertEqual(world.requests[0].headers["if-match"], '"1"')
        limited = World(refusal(429), done())
        limited.porter.submission_types.update("a", {"title": "T"}, if_match='"1"')

    def test_all_attempts_of_a_post_have_one_name(self) -> None:
        world = World(LOST, refusal(503), done())
        world.porter.events.trigger({"event": "prescription.issued"})
        names = {request.headers["idempotency-key"] for request in world.requests}
        self.assertEqual(len(names), 1)
        own = World(done())
        own.porter.events.trigger({"event": "prescription.issued"}, idempotency_key="mine")
        self.assertEqual(own.requests[0].headers["idempotency-key"], "mine")

    def test_what_a_lost_attempt_has_deleted_is_gone(self) -> None:
        World(LOST, refusal(404)).porter.webhooks.delete("wh_1")
        with self.assertRaises(PorterApiError):
            World(refusal(404)).porter.webhooks.delete("wh_1")
        with self.assertRaises(PorterApiError):
            World(refusal(429), refusal(404)).porter.webhooks.delete("wh_1")
        conditional = World(LOST, refusal(500), refusal(404))
        conditional.porter.webhooks.delete("wh_1", if_match='"1"')
        self.assertEqual(len(conditional.requests), 3)

    def test_a_number_that_json_cannot_hold_is_rejected_with_the_name_of_its_field(self) -> None:
        world = World()
        for wrong in (float("nan"), float("inf"), -float("inf")):
            number = cast(int, wrong)
            with self.assertRaisesRegex(ValueError, "^daily_limit: .* Nothing was sent"):
                world.porter.submission_types.update("a", {"daily_limit": number})
            with self.assertRaisesRegex(ValueError, "^page_size: .* Nothing was sent"):
                world.porter.submission_types.list(page_size=number).first()
            with self.assertRaisesRegex(ValueError, "^daily_limit: "):
                asyncio.run(world.async_porter.submission_types.update("a", {"daily_limit": number}))
        self.assertEqual(world.requests, [])

    def test_lost_and_late_are_told_apart(self) -> None:
        with self.assertRaises(PorterConnectionError) as lost:
            World(*[LOST] * 4).porter.account.me()
        self.assertNotIsInstance(lost.exception, PorterTimeoutError)
        with self.assertRaises(PorterTimeoutError):
            World(*[httpx.ReadTimeout("late")] * 4).porter.account.me()

    def test_the_same_for_asyncio(self) -> None:
        world = World(LOST, refusal(429, {"retry-after": "1"}), done())
        self.assertEqual(asyncio.run(world.async_porter.account.me()), {"id": "x"})
        self.assertEqual(world.slept, [0.25, 1.5])

    def test_a_redirect_is_not_followed(self) -> None:
        world = World(httpx.Response(302, headers={"location": "https://elsewhere.test"}))
        with self.assertRaises(PorterApiError):
            world.porter.account.me()
        self.assertEqual(len(world.requests), 1)

    def test_ids_and_secrets_are_checked_before_anything_is_sent(self) -> None:
        world = World()
        for wrong in ("", ".", ".."):
            with self.assertRaises(ValueError):
                world.porter.webhooks.get(wrong)
        for url in ("http://porter.test", "https://u:p@porter.test", "https://porter.test?x=1", "nonsense"):
            with self.assertRaises(ValueError):
                Porter(base_url=url, api_key="k", practice_group_id="g")
        with self.assertRaises(ValueError) as refused:
            Porter(base_url="https://porter.test", api_key="secret one", practice_group_id="g")
        self.assertNotIn("secret one", str(refused.exception))


class Streams(unittest.TestCase):
    def test_a_stream_that_ends_goes_on_where_it_was(self) -> None:
        def block(place: str, name: str) -> str:
            data = f'{{"id":"evt_{place}","data":{{"object":"X","id":"1","practice_group_id":"g","event":"{name}"}}}}'
            return f"id: {place}\ndata: {data}\n\n"

        stream = {"content-type": "text/event-stream"}
        first = "retry: 4000\n\n" + block("c1", "appointment.confirmed") + "id: c2\ndata: cut off"
        world = World(
            httpx.Response(200, headers=stream, content=first.encode()),
            refusal(409),
            httpx.Response(200, headers=stream, content=block("c2", "appointment.forgotten").encode()),
        )
        events = world.porter.events.follow(event_types=["appointment.confirmed"])
        one, two = next(events), next(events)
        self.assertEqual((one["cursor"], one["data"]["event"]), ("c1", "appointment.confirmed"))
        self.assertEqual(two["data"]["event"], "unknown")
        self.assertEqual(world.requests[0].url.query, b"event_types=appointment.confirmed")
        self.assertEqual([request.headers.get("last-event-id") for request in world.requests], [None, "c1", "c1"])
        self.assertEqual(world.slept[0], 2.0)


if __name__ == "__main__":
    unittest.main()
