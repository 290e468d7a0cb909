"""What the session's transport adds, counts, limits and refuses, over real HTTP."""

import asyncio
from typing import Any

import pytest
from openai import AsyncOpenAI

from aiq.core.errors import LimitReached, ModelError, RunAborted
from aiq.core.models import Message, retrying
from aiq.core.usage import Limits
from aiq.llm.transport import open_client

HELLO = [Message(role="user", content="hello")]


async def test_request_carries_role_attempt_and_seed(bench: Any, answers: Any) -> None:
    async with bench([answers.OK]) as b:
        await b.models.complete("aiq.planner", HELLO)
        await b.models.complete("aiq.planner", HELLO, vote=1)
        await b.models.complete("aiq.planner", HELLO)
        first, vote, again = b.endpoint.got
        assert first.headers["x-aiq-role"] == "aiq.planner"
        assert [g.headers["x-aiq-attempt"] for g in b.endpoint.got] == ["0", "0", "1"]
        assert first.body["seed"] == b.session.seed() == again.body["seed"]
        assert vote.body["seed"] == b.session.seed(1) != first.body["seed"]
        assert all("x-aiq-vote" not in g.headers for g in b.endpoint.got)


async def test_another_role_is_another_request(bench: Any, answers: Any) -> None:
    async with bench([answers.OK]) as b:
        await b.models.complete("aiq.planner", HELLO)
        await b.models.complete("judge.race", HELLO)
        assert [g.headers["x-aiq-attempt"] for g in b.endpoint.got] == ["0", "0"]
        assert list(b.session.usage.by_role()) == ["aiq.planner", "judge.race"]


async def test_usage_price_and_event(bench: Any, answers: Any) -> None:
    prices = {"m": {"input": 2.0, "output": 10.0, "cached_input": 1.0}}
    async with bench([answers.OK], prices=prices) as b:
        reply = await b.models.complete("judge.race", HELLO)
        assert (reply.text, reply.model, reply.finish_reason) == ("hello", "m", "stop")
        usage = b.session.usage.by_role()["judge.race"]
        assert (usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1, 100, 40, 20)
        assert usage.cost_usd == pytest.approx((60 * 2 + 40 * 1 + 20 * 10) / 1e6)
        assert b.session.spend.total == b.session.usage.total()
        (event,) = b.calls
        assert (event.role, event.model, event.status, event.finish_reason) == ("judge.race", "m", 200, "stop")
        assert event.messages == [{"role": "user", "content": "hello"}]
        assert event.reply == {"role": "assistant", "content": "hello"}
        assert event.usage == usage
        assert len(event.request_sha256) == 64


async def test_model_without_price_costs_null_and_warns_once(
    bench: Any, answers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench([answers.OK]) as b:
        await b.models.complete("judge.race", HELLO)
        await b.models.complete("judge.race", HELLO)
        assert b.session.usage.total().cost_usd is None
        assert [r.getMessage() for r in caplog.records if "llm.prices" in r.getMessage()] == [
            "llm.prices has no price for model 'm': its cost is unknown"
        ]


async def test_missing_usage_is_counted_as_unreported(bench: Any, answers: Any) -> None:
    async with bench([answers.http(200, answers.completed(usage=None))]) as b:
        await b.models.complete("judge.race", HELLO)
        usage = b.session.usage.total()
        assert (usage.calls, usage.unreported_calls, usage.input_tokens) == (1, 1, 0)


async def test_limit_is_checked_before_the_paid_call(bench: Any, answers: Any) -> None:
    async with bench([answers.OK], limits=Limits(sample_model_calls=2)) as b:
        for _ in range(2):
            await b.models.complete("aiq.planner", HELLO)
        with pytest.raises(LimitReached, match=r"limits\.sample_model_calls=2"):
            await b.models.complete("aiq.planner", HELLO)
        assert len(b.endpoint.got) == 2


async def test_parallel_calls_cannot_pass_a_limit_together(bench: Any, answers: Any) -> None:
    async with bench([answers.OK], limits=Limits(sample_model_calls=3), delay=0.05) as b:
        calls = (b.models.complete("aiq.planner", [Message(role="user", content=str(i))]) for i in range(8))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(o, LimitReached) for o in outcomes) == 5
        assert len(b.endpoint.got) == 3
        assert b.session.usage.in_flight == 0


async def test_money_limit(bench: Any, answers: Any) -> None:
    prices = {"m": {"input": 0, "output": 50_000}}  # one dollar a call
    async with bench([answers.OK], limits=Limits(sample_usd=1.5), prices=prices) as b:
        for _ in range(2):
            await b.models.complete("aiq.planner", HELLO)
        with pytest.raises(LimitReached, match=r"limits\.sample_usd"):
            await b.models.complete("aiq.planner", HELLO)


async def test_cancelled_call_is_on_the_books(bench: Any, answers: Any) -> None:
    async with bench([answers.OK], delay=5) as b:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(b.models.complete("aiq.planner", HELLO), 0.2)
        assert (b.session.usage.total().calls, b.session.usage.total().unreported_calls) == (1, 1)
        assert b.calls[0].error == "CancelledError"
        assert b.session.usage.in_flight == 0


async def test_call_without_role_or_session_is_a_bug(bench: Any, answers: Any) -> None:
    async with bench([answers.OK]) as b:
        client = open_client(b.models._settings, offline_port=None)
        stranger = AsyncOpenAI(base_url=b.endpoint.base_url, api_key="k", http_client=client, max_retries=0)
        with pytest.raises(RuntimeError, match="x-aiq-role"):
            await stranger.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        await client.aclose()
    with pytest.raises(RuntimeError, match="no session is bound"):
        async with open_client(b.models._settings, offline_port=None) as client:
            await client.post(f"{b.endpoint.base_url}/chat/completions", json={}, headers={"x-aiq-role": "a.b"})


async def test_requests_per_minute_spaces_sends(bench: Any, answers: Any) -> None:
    async with bench([answers.OK], requests_per_minute=600) as b:
        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(b.models.complete("aiq.planner", HELLO, vote=i) for i in range(4)))
        assert asyncio.get_running_loop().time() - start >= 0.3


async def test_searches_and_pages_pass_through(bench: Any, answers: Any) -> None:
    script = [answers.error(503), answers.http(200, {"results": []})]
    async with bench(script) as b:
        client = b.models._client
        base = f"http://127.0.0.1:{b.endpoint.port}"
        assert (await client.post(f"{base}/search", json={"query": "q"})).json() == {"results": []}
        assert [g.path for g in b.endpoint.got] == ["/search", "/search"]
        b.endpoint.script[:] = [answers.error(503)]
        assert (await client.get(f"{base}/page")).status_code == 503
        assert len(b.endpoint.got) == 5
        assert (await client.post(f"{base}/mcp", json={})).status_code == 503
        assert len(b.endpoint.got) == 6
        assert b.session.usage.total().calls == 0


async def test_cookies_of_one_sample_do_not_reach_another(bench: Any, answers: Any) -> None:
    async with bench([answers.http(200, answers.completed(), set_cookie="a=b")]) as b:
        await b.models.complete("aiq.planner", HELLO)
        await b.models.complete("aiq.planner", HELLO)
        assert "cookie" not in b.endpoint.got[1].headers


async def test_a_refusal_of_one_request_is_no_wrong_key(bench: Any, answers: Any) -> None:
    async with bench([answers.OK, answers.error(403, "your input was flagged")]) as b:
        await b.models.complete("aiq.planner", HELLO)
        with pytest.raises(ModelError, match="HTTP 403: your input was flagged"):
            await b.models.complete("aiq.planner", HELLO)
        b.endpoint.script[:] = [answers.error(401)]
        with pytest.raises(RunAborted, match="refuses the key"):
            await b.models.complete("aiq.planner", HELLO)


@pytest.mark.parametrize("before", range(270, 300, 5))
async def test_no_piece_of_the_key_is_left_where_a_message_is_cut(
    bench: Any, answers: Any, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-abcdefghijklmnop")
    refusal = answers.error(400, "x" * before + "sk-abcdefghijklmnop")
    async with bench([refusal], api_key_env="TEST_KEY") as b:
        with pytest.raises(ModelError) as caught:
            await b.models.complete("aiq.planner", HELLO)
        assert "sk-" not in str(caught.value) + "".join(e.model_dump_json() for e in b.events)


async def test_a_money_limit_without_a_price_stops_before_anything_is_paid(bench: Any, answers: Any) -> None:
    async with bench([answers.OK], limits=Limits(run_usd=1.0)) as b:
        with pytest.raises(RunAborted, match=r"limits\.run_usd cannot be kept: llm\.prices has no price for model 'm'"):
            await b.models.complete("aiq.planner", HELLO)
        assert b.endpoint.got == []


async def test_half_a_character_of_a_reply_can_be_written(bench: Any, answers: Any) -> None:
    cut = answers.http(200, answers.completed("caf\u00e9 \ud83d"))
    async with bench([cut]) as b:
        reply = await b.models.complete("aiq.planner", HELLO)
        assert reply.text == "caf\u00e9 \ufffd"
        assert "\ufffd" in b.calls[0].model_dump_json()
    parts = [answers.chunk(content="\ud83d"), answers.chunk(content="\ude00"), answers.chunk("stop", content="\ud83d")]
    async with bench([answers.streamed(*parts)]) as b:
        [_ async for _ in b.models.chat("aiq.planner").astream("Hi")]
        assert b.calls[0].reply["content"] == "\U0001f600\ufffd"
        b.calls[0].model_dump_json()


async def test_a_callers_retries_take_the_place_of_the_policys_and_are_not_multiplied(bench: Any, answers: Any) -> None:
    async with bench([answers.error(503)] * 40, retry={"attempts": 3, "first_seconds": 0.0}) as b:
        with retrying(10), pytest.raises(ModelError, match="failed after 11 attempts"):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert len(b.endpoint.got) == 11
        assert b.session.usage.total().calls == 11
        with pytest.raises(ModelError, match="failed after 3 attempts"):
            await b.models.chat("aiq.planner").ainvoke("Hi")
    async with bench([answers.error(503)] * 3 + [answers.OK], retry={"attempts": 1, "first_seconds": 0.0}) as b:
        with retrying(10):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert len(b.endpoint.got) == 4
    async with bench([answers.error(429, "later", **{"retry-after": "0.3"}), answers.OK]) as b:
        start = asyncio.get_running_loop().time()
        with retrying(10):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert asyncio.get_running_loop().time() - start >= 0.3
    async with bench([answers.error(400)] * 2) as b:
        with retrying(10), pytest.raises(ModelError, match="HTTP 400"):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert len(b.endpoint.got) == 1
