"""What the session's transport adds, counts, limits, refuses and sends again, over real HTTP."""

import asyncio
import re
from typing import Any

import pytest
from openai import AsyncOpenAI

from aiq.core.errors import LimitReached, ModelError, RunAborted
from aiq.core.events import Recovery
from aiq.core.models import retrying
from aiq.core.usage import Limits
from aiq.llm.transport import open_client
from tests.llm.endpoint import CUT, OK, chunk, completed, error, http, streamed
from tests.settings import configured


async def test_request_carries_role_attempt_and_seed(bench: Any) -> None:
    async with bench([OK]) as b:
        await b.ask()
        await b.ask(vote=1)
        await b.ask()
        first, vote, again = b.endpoint.got
        assert first.headers["x-aiq-role"] == "aiq.planner"
        assert [g.headers["x-aiq-attempt"] for g in b.endpoint.got] == ["0", "0", "1"]
        assert first.body["seed"] == b.session.seed() == again.body["seed"]
        assert vote.body["seed"] == b.session.seed(1) != first.body["seed"]
        assert all("x-aiq-vote" not in g.headers for g in b.endpoint.got)


async def test_another_role_is_another_request(bench: Any) -> None:
    async with bench([OK]) as b:
        await b.ask()
        await b.ask("judge.race")
        assert [g.headers["x-aiq-attempt"] for g in b.endpoint.got] == ["0", "0"]
        assert list(b.session.usage.by_role()) == ["aiq.planner", "judge.race"]


async def test_usage_price_and_event(bench: Any) -> None:
    prices = {"m": {"input": 2.0, "output": 10.0, "cached_input": 1.0}}
    async with bench([OK], prices=prices) as b:
        reply = await b.ask("judge.race")
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


async def test_model_without_price_costs_null_and_warns_once(bench: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with bench([OK]) as b:
        await b.ask("judge.race")
        await b.ask("judge.race")
        assert b.session.usage.total().cost_usd is None
        assert [r.getMessage() for r in caplog.records if "llm.prices" in r.getMessage()] == [
            "llm.prices has no price for model 'm': its cost is unknown"
        ]


async def test_missing_usage_is_counted_as_unreported(bench: Any) -> None:
    async with bench([http(200, completed(usage=None))]) as b:
        await b.ask("judge.race")
        usage = b.session.usage.total()
        assert (usage.calls, usage.unreported_calls, usage.input_tokens) == (1, 1, 0)


async def test_limit_is_checked_before_the_paid_call(bench: Any) -> None:
    async with bench([OK], limits=configured(Limits, sample_model_calls=2)) as b:
        for _ in range(2):
            await b.ask()
        with pytest.raises(LimitReached, match=r"limits\.sample_model_calls=2"):
            await b.ask()
        assert len(b.endpoint.got) == 2


async def test_parallel_calls_cannot_pass_a_limit_together(bench: Any) -> None:
    async with bench([OK], limits=configured(Limits, sample_model_calls=3), delay=0.05) as b:
        calls = (b.ask(text=str(i)) for i in range(8))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(o, LimitReached) for o in outcomes) == 5
        assert len(b.endpoint.got) == 3
        assert b.session.usage.in_flight == 0


async def test_money_limit(bench: Any) -> None:
    prices = {"m": {"input": 0, "output": 50_000}}  # one dollar a call
    async with bench([OK], limits=configured(Limits, sample_usd=1.5), prices=prices) as b:
        for _ in range(2):
            await b.ask()
        with pytest.raises(LimitReached, match=r"limits\.sample_usd"):
            await b.ask()


async def test_cancelled_call_is_on_the_books(bench: Any) -> None:
    async with bench([OK], delay=5) as b:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(b.ask(), 0.2)
        assert (b.session.usage.total().calls, b.session.usage.total().unreported_calls) == (1, 1)
        assert b.calls[0].error == "CancelledError"
        assert b.session.usage.in_flight == 0


async def test_call_without_role_or_session_is_a_bug(bench: Any) -> None:
    async with bench([OK]) as b:
        client = open_client(b.models._settings, offline_port=None)
        stranger = AsyncOpenAI(base_url=b.endpoint.base_url, api_key="k", http_client=client, max_retries=0)
        with pytest.raises(RuntimeError, match="x-aiq-role"):
            await stranger.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        await client.aclose()
    with pytest.raises(RuntimeError, match="no session is bound"):
        async with open_client(b.models._settings, offline_port=None) as client:
            await client.post(f"{b.endpoint.base_url}/chat/completions", json={}, headers={"x-aiq-role": "a.b"})


async def test_requests_per_minute_spaces_sends(bench: Any) -> None:
    async with bench([OK], requests_per_minute=600) as b:
        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(b.ask(vote=i) for i in range(4)))
        assert asyncio.get_running_loop().time() - start >= 0.3


async def test_searches_and_pages_pass_through(bench: Any) -> None:
    script = [error(503), http(200, {"results": []})]
    async with bench(script) as b:
        client = b.models._client
        base = f"http://127.0.0.1:{b.endpoint.port}"
        assert (await client.post(f"{base}/search", json={"query": "q"})).json() == {"results": []}
        assert [g.path for g in b.endpoint.got] == ["/search", "/search"]
        b.endpoint.script[:] = [error(503)]
        assert (await client.get(f"{base}/page")).status_code == 503
        assert len(b.endpoint.got) == 5
        assert (await client.post(f"{base}/mcp", json={})).status_code == 503
        assert len(b.endpoint.got) == 6
        assert b.session.usage.total().calls == 0


async def test_cookies_of_one_sample_do_not_reach_another(bench: Any) -> None:
    async with bench([http(200, completed(), set_cookie="a=b")]) as b:
        await b.ask()
        await b.ask()
        assert "cookie" not in b.endpoint.got[1].headers


async def test_a_refusal_of_one_request_is_no_wrong_key(bench: Any) -> None:
    async with bench([OK, error(403, "your input was flagged")]) as b:
        await b.ask()
        with pytest.raises(ModelError, match="HTTP 403: your input was flagged"):
            await b.ask()
        b.endpoint.script[:] = [error(401)]
        with pytest.raises(RunAborted, match="refuses the key"):
            await b.ask()


@pytest.mark.parametrize("before", range(270, 300, 5))
async def test_no_piece_of_the_key_is_left_where_a_message_is_cut(
    bench: Any, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-abcdefghijklmnop")
    refusal = error(400, "x" * before + "sk-abcdefghijklmnop")
    async with bench([refusal], api_key_env="TEST_KEY") as b:
        with pytest.raises(ModelError) as caught:
            await b.ask()
        assert "sk-" not in str(caught.value) + "".join(e.model_dump_json() for e in b.events)


async def test_a_money_limit_without_a_price_stops_before_anything_is_paid(bench: Any) -> None:
    async with bench([OK], limits=configured(Limits, run_usd=1.0)) as b:
        with pytest.raises(RunAborted, match=r"limits\.run_usd cannot be kept: llm\.prices has no price for model 'm'"):
            await b.ask()
        assert b.endpoint.got == []


async def test_half_a_character_of_a_reply_can_be_written(bench: Any) -> None:
    cut = http(200, completed("caf\u00e9 \ud83d"))
    async with bench([cut]) as b:
        reply = await b.ask()
        assert reply.text == "caf\u00e9 \ufffd"
        assert "\ufffd" in b.calls[0].model_dump_json()
    parts = [chunk(content="\ud83d"), chunk(content="\ude00"), chunk("stop", content="\ud83d")]
    async with bench([streamed(*parts)]) as b:
        [_ async for _ in b.models.chat("aiq.planner").astream("Hi")]
        assert b.calls[0].reply["content"] == "\U0001f600\ufffd"
        b.calls[0].model_dump_json()


async def test_a_callers_retries_take_the_place_of_the_policys_and_are_not_multiplied(bench: Any) -> None:
    async with bench([error(503)] * 40, retry={"attempts": 3, "first_seconds": 0.0}) as b:
        with retrying(10), pytest.raises(ModelError, match="failed after 11 attempts"):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert len(b.endpoint.got) == 11
        assert b.session.usage.total().calls == 11
        with pytest.raises(ModelError, match="failed after 3 attempts"):
            await b.models.chat("aiq.planner").ainvoke("Hi")
    async with bench([error(503)] * 3 + [OK], retry={"attempts": 1, "first_seconds": 0.0}) as b:
        with retrying(10):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert len(b.endpoint.got) == 4
    async with bench([error(429, "later", **{"retry-after": "0.3"}), OK]) as b:
        start = asyncio.get_running_loop().time()
        with retrying(10):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert asyncio.get_running_loop().time() - start >= 0.3
    async with bench([error(400)] * 2) as b:
        with retrying(10), pytest.raises(ModelError, match="HTTP 400"):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert len(b.endpoint.got) == 1


# sends that fail


async def test_retries_count_as_attempts_and_exchanges(bench: Any) -> None:
    script = [error(500), CUT, OK]
    async with bench(script, prices={"m": {"input": 1, "output": 1}}) as b:
        assert (await b.ask()).text == "hello"
        assert [g.headers["x-aiq-attempt"] for g in b.endpoint.got] == ["0", "1", "2"]
        assert len({repr(g.body) for g in b.endpoint.got}) == 1
        usage = b.session.usage.total()
        assert (usage.calls, usage.unreported_calls, usage.input_tokens) == (3, 1, 100)
        assert [e.status for e in b.calls] == [500, None, 200]
        assert len({e.request_sha256 for e in b.calls}) == 1
        assert len([e for e in b.events if isinstance(e, Recovery)]) == 2


SPENT = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
FAILURES: list[tuple[bytes, type[Exception], str, int]] = [
    *((error(n, "overloaded"), ModelError, f"after 3 attempts: HTTP {n}: overloaded", 3) for n in (408, 409, 429)),
    *((error(n, "overloaded"), ModelError, f"after 3 attempts: HTTP {n}: overloaded", 3) for n in (500, 503, 529)),
    *((error(n, "bad schema"), ModelError, f"failed: HTTP {n}: bad schema", 1) for n in (400, 404, 422)),
    (error(402), RunAborted, "nothing left to spend", 1),
    (http(429, SPENT), RunAborted, "nothing left to spend", 1),
    (error(429, "quota spent", retry_after="86400"), ModelError, "quota spent", 1),
    (http(308, b"", location="https://other/v1"), ModelError, "redirects to https://other/v1; set llm.base_url", 1),
]
"""An answer that comes again and again, the error in the end, what it says, and how many sends it costs."""


@pytest.mark.parametrize(("answer", "kind", "said", "sends"), FAILURES)
async def test_a_refusal_ends_in_an_error_never_in_an_answer(
    bench: Any, answer: bytes, kind: type[Exception], said: str, sends: int
) -> None:
    async with bench([answer]) as b:
        with pytest.raises(kind, match=re.escape(said)) as caught:
            await b.ask()
        assert len(b.endpoint.got) == sends
    if isinstance(caught.value, ModelError):
        assert str(caught.value.status).encode() in answer


@pytest.mark.parametrize("status", [401, 403])
async def test_wrong_key_stops_the_run_and_names_the_variable(
    bench: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-secret")
    async with bench([error(status, "Incorrect API key: sk-secret")], api_key_env="TEST_KEY") as b:
        with pytest.raises(RunAborted, match=r"check the key in \$TEST_KEY") as caught:
            await b.ask()
        assert len(b.endpoint.got) == 1
        assert b.endpoint.got[0].headers["authorization"] == "Bearer sk-secret"
        assert "sk-secret" not in str(caught.value) + "".join(e.model_dump_json() for e in b.events)


async def test_uncounted_model_apis_are_refused(bench: Any) -> None:
    async with bench([OK]) as b:
        with pytest.raises(RuntimeError, match="chat completions only"):
            await b.models._openai.responses.create(model="m", input="x")
        assert b.endpoint.got == []


@pytest.mark.parametrize(
    "body",
    [b"<html>gateway</html>", b'{"choices": []}', b'{"error": {"message": "boom"}}', b"[1]", None],
)
async def test_an_answer_that_cannot_be_read_is_sent_for_again(bench: Any, body: bytes | None) -> None:
    cut = OK[:-30]
    async with bench([cut if body is None else http(200, body), OK]) as b:
        assert (await b.ask()).text == "hello"
        assert b.session.usage.total().calls == 2
        assert body is not None or b.session.usage.total().unreported_calls == 1


@pytest.mark.parametrize(("of_all", "of_this_one"), [(60, 0.1), (0.1, 60), (0.1, None)])
async def test_an_answer_that_is_late_is_sent_for_again(bench: Any, of_all: float, of_this_one: float | None) -> None:
    async with bench([OK], delay=0.5, timeout_seconds=of_all) as b:
        with pytest.raises(ModelError, match="after 3 attempts: no answer in time"):
            await b.ask(seconds=of_this_one)
        assert len(b.calls) == 3


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_is_kept_alive_but_never_ends_runs_out_of_time(bench: Any, status: int) -> None:
    """Some endpoints send blanks while a model thinks: there is no silence that would be too long."""
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n".encode()
    async with bench([head], timeout_seconds=60, blank_every=0.02) as b:
        with pytest.raises(ModelError, match="after 3 attempts: no answer in time"):
            await b.ask(seconds=0.1)


async def test_refused_connection_is_no_exchange(bench: Any) -> None:
    async with bench([OK], base_url="http://127.0.0.1:9/v1") as b:
        with pytest.raises(ModelError, match="after 3 attempts") as caught:
            await b.ask()
        assert caught.value.status is None
        assert b.session.usage.total().calls == 0
        assert len(b.calls) == 3


async def test_retry_after_is_honoured(bench: Any) -> None:
    async with bench([error(429, retry_after="0.4"), OK]) as b:
        start = asyncio.get_running_loop().time()
        await b.ask()
        assert asyncio.get_running_loop().time() - start >= 0.4
