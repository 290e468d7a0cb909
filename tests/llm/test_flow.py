"""Flow control of one endpoint: order, concurrency, what holds calls back; on a loop with a clock of its own."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count, pairwise
from random import Random
from typing import Any

import pytest

from aiq.core.concurrency import gather_bounded
from aiq.core.llm_settings import LlmSettings
from aiq.core.usage import Usage
from aiq.llm.calls import Failure
from aiq.llm.flow import Flow, Send, span
from aiq.llm.http import Response
from tests.settings import configured


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time advances by itself while every task waits, and only then."""

    def __init__(self) -> None:
        self.passed = 0.0

        selector = selectors.DefaultSelector()
        super().__init__(selector)
        ready = selector.select

        def select(timeout: float | None = None) -> Any:
            assert timeout is not None, "everybody waits for nothing"
            self.passed += timeout
            return ready(0)

        selector.select = select  # type: ignore[method-assign]

    def time(self) -> float:
        return self.passed


def timed(work: Callable[..., Coroutine[Any, Any, None]], **llm: Any) -> None:
    """Run it with a flow of these settings, on a clock that takes no real time."""

    async def run() -> None:
        retry = {"first_seconds": 1.0, "attempts": 6, "most_seconds": 60.0}
        await work(Flow(configured(LlmSettings, base_url="http://a.example/v1", model="m", retry=retry, **llm)))

    with asyncio.Runner(loop_factory=Clock) as runner:
        runner.run(run())


def now() -> float:
    return asyncio.get_running_loop().time()


def a_send(flow: Flow, name: object = "", *, model: str = "m", failures: int = 0, tokens: int = 100) -> Send:
    return flow.send(model, str(name), failures, lambda: tokens)


def answer(status: int = 200, **headers: str) -> Response:
    return Response(status, headers={name.replace("_", "-"): value for name, value in headers.items()})


async def ended(send: Send, status: int | None = 200) -> None:
    send.end(Usage(calls=1))
    send.note_outcome(None if status == 200 else Failure("no", status))


LOST = [429, 500, 503, None]


@pytest.mark.parametrize("status", LOST)
def test_a_storm_halves_the_window_once_a_round_and_successes_raise_it_one_by_one(status: int | None) -> None:
    async def work(flow: Flow) -> None:
        async def together(status: int | None, calls: int) -> None:
            sends = [await a_send(flow, i).__aenter__() for i in range(calls)]
            for send in sends:
                await ended(send, status)

        await together(status, 2)  # strays
        assert flow.window == 16
        await together(200, 14)
        await together(status, 16)  # eight are enough, and the other eight were under way
        assert flow.window == 8
        await together(status, 8)
        assert flow.window == 4
        before = flow.window
        await together(200, 4)
        assert before + 0.8 < flow.window <= before + 1
        for _ in range(40):
            await together(200, 4)
        assert flow.window == 16

    timed(work, max_connections=16)


@pytest.mark.parametrize("status", [400, 404, 408, 409])
def test_a_refusal_of_one_request_is_not_a_loss(status: int) -> None:
    async def work(flow: Flow) -> None:
        for i in range(20):
            await ended(await a_send(flow, i).__aenter__(), status)
        assert flow.window == 4

    timed(work, max_connections=4)


def test_calls_go_in_order_and_retries_go_first() -> None:
    async def work(flow: Flow) -> None:
        names = []

        async def call(name: str, failures: int = 0) -> None:
            async with a_send(flow, name, failures=failures) as send:
                names.append(name)
                await asyncio.sleep(1)
                await ended(send)

        calls = (call("a"), call("b"), call("c"), call("d", 1), call("e", 2), call("f", 1))
        await asyncio.gather(*calls)
        assert names == ["a", "e", "d", "f", "b", "c"]

    timed(work, max_connections=1)


def test_no_place_is_lost_by_cancelling_raising_or_ending_twice() -> None:
    async def work(flow: Flow) -> None:
        async def call() -> None:
            async with a_send(flow) as send:
                await asyncio.sleep(10)
                await ended(send)

        tasks = [asyncio.create_task(call()) for _ in range(20)]
        for when, task in enumerate(tasks[:18]):  # some under way, some that wait, one whose turn has just come
            await asyncio.sleep(0 if when % 2 else 0.1)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(ZeroDivisionError):
            async with a_send(flow) as send:
                raise ZeroDivisionError
        send.end()
        first, second = await a_send(flow).__aenter__(), await a_send(flow).__aenter__()
        third = asyncio.create_task(a_send(flow).__aenter__())
        await asyncio.sleep(1)
        assert not third.done()
        first.end()
        first.end()
        await third
        second.end()

    timed(work, max_connections=2)


def test_a_wait_requested_of_one_call_holds_all_and_spreads_them_after_it() -> None:
    async def work(flow: Flow) -> None:
        times = []

        async def call(name: int) -> None:
            async with a_send(flow, name) as send:
                times.append(now())
                await ended(send)

        first = await a_send(flow).__aenter__()
        first.note_response(answer(429, retry_after="5"))
        await ended(first, 429)
        await asyncio.gather(*map(call, range(8)))
        assert times[0] == 5
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert all(1 / 16 < gap < 1 / 8 for gap in gaps)
        assert len(set(gaps)) == 7
        second = await a_send(flow).__aenter__()
        second.note_response(answer(200, retry_after="5"))  # not a refusal
        second.note_response(answer(503, retry_after="86400"))  # not worth waiting for
        await call(8)
        assert now() < 7

    timed(work, max_connections=8)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("1s", 1.0), ("6m0s", 360.0), ("20ms", 0.02), ("1h2m3.5s", 3723.5), ("1d", 86400.0), ("7.66ms", 0.00766)),
        *(("30", 30.0), ("0", 0.0), ("0.5", 0.5)),
        *((text, None) for text in ("", "soon", "-1", "s", "1s?", "1.2.3s", "inf", "nan", "2026-11-01T00:00:00Z")),
    ],
)
def test_spans(text: str, seconds: float | None) -> None:
    assert span(text) == (None if seconds is None else pytest.approx(seconds))


def openai(unit: str, limit: int, left: int, reset: str) -> dict[str, str]:
    fields = {"limit": str(limit), "remaining": str(left), "reset": reset}
    return {f"x_ratelimit_{name}_{unit}": value for name, value in fields.items()}


OPENAI = openai("requests", 5, 2, "30s") | openai("tokens", 9999, 9899, "6ms")
TOKENS = openai("requests", 99, 98, "6ms") | openai("tokens", 500, 200, "30000ms")
DRAFT = {"ratelimit_limit": "5", "ratelimit_remaining": "2", "ratelimit_reset": "30"}


@pytest.mark.parametrize("headers", [OPENAI, TOKENS, DRAFT])
def test_nothing_is_sent_into_a_bucket_that_is_known_to_be_empty(headers: dict[str, str]) -> None:
    async def work(flow: Flow) -> None:
        times: list[float] = []

        async def call(model: str = "m") -> None:
            async with a_send(flow, model=model) as send:
                times.append(now())
                await asyncio.sleep(100)
                send.note_response(answer(200))
                await ended(send)

        first = await a_send(flow).__aenter__()
        first.note_response(answer(200, **headers))
        await ended(first)
        calls = [asyncio.create_task(call()) for _ in range(8)]
        other_call = asyncio.create_task(call("another"))
        await asyncio.sleep(99)
        assert times == [0, 0, 0, 30, 30, 30, 30, 30]  # for another model
        await asyncio.gather(*calls, other_call)
        assert times[8] == 100  # this endpoint no longer says what is left

    timed(work)


def test_sends_after_a_call_are_subtracted_from_its_answers_count_and_late_answers_are_ignored() -> None:
    async def work(flow: Flow) -> None:
        first, second, third = [await a_send(flow).__aenter__() for _ in range(3)]

        def tell(send: Send, left: int) -> None:
            send.note_response(answer(200, ratelimit_remaining=str(left), ratelimit_reset="30", ratelimit_limit="5"))

        tell(second, 2)  # the third is one of them
        tell(first, 5)
        await a_send(flow).__aenter__()
        waiting = asyncio.create_task(a_send(flow).__aenter__())
        await asyncio.sleep(1)
        assert not waiting.done()
        tell(third, 2)
        third.end()
        await waiting
        assert now() == 1

    timed(work)


@pytest.mark.parametrize(
    ("fills", "late", "used"), [("at once", 0.0, 0.98), ("bit by bit", 0.0, 0.98), ("bit by bit", 0.1, 0.97)]
)
def test_a_bucket_is_used_up_however_it_refills(fills: str, late: float, used: float) -> None:
    """60 calls at once, then 10 a second or 60 each 6 seconds; requests arrive up to `late` seconds after they went."""

    async def work(flow: Flow) -> None:
        free, since, refused, rng = 60.0, 0.0, 0, Random(1)

        def taken() -> bool:
            nonlocal free, since
            if fills == "bit by bit":
                free, since = min(60.0, free + (now() - since) * 10), now()
            elif now() - since >= 6:
                free, since = 60.0, since + (now() - since) // 6 * 6
            free -= (admitted := free >= 1)
            return admitted

        async def call(name: str) -> None:
            nonlocal refused
            for failures in count():
                async with flow.send("m", name, failures, lambda: 1) as send:
                    await asyncio.sleep(rng.uniform(0, late))
                    status = 200 if taken() else 429
                    reset = since + 6 - now() if fills == "at once" else 6 - free / 10
                    refused += status == 429
                    wait = {"retry_after": "1"} if status == 429 else {}
                    response = answer(status, **openai("requests", 60, int(free), f"{reset + 0.001:f}s"), **wait)
                    await asyncio.sleep(rng.uniform(0.05, 0.3))
                    send.note_response(response)
                    await ended(send, status)
                if status == 200:
                    return
                await asyncio.sleep(0.5)

        await gather_bounded([f"call {number}" for number in range(600)], call, 64)
        assert 600 / (60 + 10 * now()) >= used
        assert refused <= 16

    timed(work)


def test_a_budget_of_requests_is_even_catches_up_a_second_and_is_divided() -> None:
    async def work(flow: Flow) -> None:
        async def call() -> float:
            async with a_send(flow) as send:
                await ended(send)
                return now()

        times = await asyncio.gather(*(call() for _ in range(21)))
        assert times == pytest.approx([i / 10 for i in range(21)])
        await asyncio.sleep(30)
        start = now()
        times = await asyncio.gather(*(call() for _ in range(31)))
        assert max(times) - start == pytest.approx(2, abs=0.11)

    timed(work, requests_per_minute=600)


@pytest.mark.parametrize(("usage", "next_at"), [(Usage(calls=1, input_tokens=20, output_tokens=80), 10), (None, 0)])
def test_a_budget_of_tokens_is_estimated_and_then_corrected(usage: Usage | None, next_at: float) -> None:
    async def work(flow: Flow) -> None:
        first = await a_send(flow, tokens=400).__aenter__()
        second = asyncio.create_task(a_send(flow, tokens=400).__aenter__())
        await asyncio.sleep(0)
        assert not second.done()
        first.end(usage)
        await second
        assert now() == pytest.approx(next_at)
        (await second).end(Usage(calls=1, unreported_calls=1))  # the estimate is all there is
        await a_send(flow).__aenter__()
        assert now() == pytest.approx(next_at + 40)

    timed(work, tokens_per_minute=600)


def test_an_endpoint_is_given_up_when_no_call_gets_an_answer() -> None:
    async def work(flow: Flow) -> None:
        async def tried(status: int | None, name: object, *, nobody: bool = False) -> None:
            async with a_send(flow, name) as send:
                send.end()
                send.note_outcome(None if status == 200 else Failure("HTTP 503", status, unreachable=nobody))

        for _ in range(5):  # no answer yet: the settings are wrong, which is reported elsewhere
            await tried(None, "a", nobody=True)
        assert not flow.silent
        for i in range(5):
            await tried(503, i)
        assert flow.silent
        await tried(200, "a")
        for _ in range(20):  # one request that breaks the endpoint
            await tried(500, "a")
        assert not flow.silent
        await tried(429, "a")  # the endpoint is there
        for i in range(4):
            await tried(503, i)
        assert not flow.silent
        await tried(503, 5)
        assert flow.silent
        assert flow.silence_error() is None
        await asyncio.sleep(119)
        assert flow.silence_error() is None
        await asyncio.sleep(1)
        assert flow.silence_error() == "has not answered for 120 s (5 tries, the last: HTTP 503)"
        await tried(200, 6)
        assert flow.silence_error() is None
        await tried(None, 7, nobody=True)  # no request can be the reason
        assert flow.silent

    timed(work)


def test_in_a_replay_nothing_waits() -> None:
    async def work(_: Flow) -> None:
        settings = configured(LlmSettings, base_url="http://a.example/v1", model="m", requests_per_minute=1)
        flow = Flow(settings, replayed=True)
        for i in range(100):
            send = await a_send(flow, i).__aenter__()
            send.note_response(answer(429, retry_after="30", ratelimit_remaining="0", ratelimit_reset="30"))
            send.note_outcome(Failure("no", None, unreachable=True))
        assert (now(), flow.silent, flow.silence_error()) == (0, False, None)

    timed(work)
