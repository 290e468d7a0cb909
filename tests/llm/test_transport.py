"""What the session's transport adds, counts, limits, refuses and retries, over real HTTP."""

import asyncio
import re
from contextlib import nullcontext
from typing import Any

import pytest

from aiq.core.errors import LimitReached, ModelError, RunAborted
from aiq.core.events import Recovery
from aiq.core.models import retrying
from aiq.core.usage import Limits
from aiq.llm.http import AsyncClient, Timeout
from aiq.llm.transport import open_client
from tests.llm.endpoint import CUT, OK, chunk, completed, error, http, streamed
from tests.settings import configured


async def test_request_carries_role_attempt_and_seed_and_no_cookie(bench: Any) -> None:
    async with bench([http(200, completed(), set_cookie="a=b")]) as b:
        for role, vote in (("aiq.planner", 0), ("aiq.planner", 1), ("aiq.planner", 0), ("judge.race", 0)):
            await b.ask(role, vote=vote)
        first, second, repeated, judge = b.endpoint.got
        assert (first.headers["x-aiq-role"], judge.headers["x-aiq-role"]) == ("aiq.planner", "judge.race")
        assert [g.headers["x-aiq-attempt"] for g in b.endpoint.got] == ["0", "0", "1", "0"]
        assert first.body["seed"] == b.session.seed() == repeated.body["seed"]
        assert second.body["seed"] == b.session.seed(1) != first.body["seed"]
        assert not any({"x-aiq-vote", "cookie"} & set(g.headers) for g in b.endpoint.got)
        assert list(b.session.usage.by_role()) == ["aiq.planner", "judge.race"]


async def test_usage_price_and_event(bench: Any) -> None:
    async with bench([OK], prices={"m": {"input": 2.0, "output": 10.0, "cached_input": 1.0}}) as b:
        reply = await b.ask("judge.race")
        assert (reply.text, reply.model, reply.finish_reason) == ("hello", "m", "stop")
        usage = b.session.usage.by_role()["judge.race"]
        assert (usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1, 100, 40, 20)
        assert usage.cost_usd == pytest.approx((60 * 2 + 40 * 1 + 20 * 10) / 1e6)
        assert b.session.spend.total() == b.session.usage.total()
        (event,) = b.calls
        assert (event.role, event.model, event.status, event.finish_reason) == ("judge.race", "m", 200, "stop")
        assert event.messages == [{"role": "user", "content": "hello"}]
        assert event.reply == {"role": "assistant", "content": "hello"}
        assert event.usage == usage
        assert len(event.request_sha256) == 64


async def test_what_has_no_price_or_usage_is_unknown_not_zero(bench: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with bench([OK, http(200, completed(usage=None))]) as b:
        await b.ask("judge.race")
        await b.ask("judge.race")
        usage = b.session.usage.total()
        assert (usage.calls, usage.unreported_calls, usage.input_tokens, usage.cost_usd) == (2, 1, 100, None)
        assert [r.getMessage() for r in caplog.records if "llm.prices" in r.getMessage()] == [
            "llm.prices has no price for model 'm': its cost is unknown"
        ]


DOLLAR = {"m": {"input": 0, "output": 50_000}}
"""Prices at which each call costs a dollar."""


@pytest.mark.parametrize(
    ("limits", "prices", "sends"),
    [({"sample_model_calls": 2}, {}, 2), ({"sample_usd": 1.5}, DOLLAR, 2), ({"run_usd": 1.0}, DOLLAR, 1)],
)
async def test_limits_are_checked_before_the_paid_call(bench: Any, limits: Any, prices: Any, sends: int) -> None:
    async with bench([OK], limits=configured(Limits, **limits), prices=prices) as b:
        for _ in range(sends):
            await b.ask()
        with pytest.raises(LimitReached, match=rf"limits\.{next(iter(limits))}"):
            await b.ask()
        assert len(b.endpoint.got) == sends


async def test_a_money_limit_without_a_price_stops_before_anything_is_paid(bench: Any) -> None:
    async with bench([OK], limits=configured(Limits, run_usd=1.0)) as b:
        with pytest.raises(RunAborted, match=r"run_usd cannot be enforced: llm\.prices has no price for model 'm'"):
            await b.ask()
        assert b.endpoint.got == []


@pytest.mark.parametrize("limits", [{"sample_model_calls": 3}, {"sample_usd": 2.5}, {"run_usd": 2.5}])
async def test_parallel_calls_cannot_pass_a_limit_together(bench: Any, limits: Any) -> None:
    setup = {"prices": DOLLAR, "max_tokens": 20, "limits": configured(Limits, **limits)}  # a reply of a dollar at most
    async with bench([OK], delay=0.05, **setup) as b:
        calls = (b.ask(text=str(i)) for i in range(8))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(o, LimitReached) for o in outcomes) == 5
        assert len(b.endpoint.got) == 3
        ledgers = (b.session.usage, b.session.spend)
        assert not any(amount for ledger in ledgers for amount in ledger.in_flight.values())


async def test_a_cancelled_call_is_booked(bench: Any) -> None:
    async with bench([OK], delay=5) as b:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(b.ask(), 0.2)
        assert (b.session.usage.total().calls, b.session.usage.total().unreported_calls) == (1, 1)
        assert b.calls[0].error == "CancelledError"
        assert not any(b.session.usage.in_flight.values())


async def test_calls_that_could_not_be_counted_are_bugs(bench: Any) -> None:
    message = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    async with bench([OK]) as b:
        with pytest.raises(RuntimeError, match="x-aiq-role"):
            await b.models.openai("a.b").with_options(set_default_headers={}).chat.completions.create(**message)
        with pytest.raises(RuntimeError, match="chat completions and embeddings only"):
            await b.models.openai("a.b").responses.create(model="m", input="x")
        assert b.endpoint.got == []
    async with open_client(b.models._settings, offline_port=None) as client:
        with pytest.raises(RuntimeError, match="no session is bound"):
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


@pytest.mark.parametrize("status", [400, 403, 404])
async def test_a_refusal_by_a_model_that_has_answered_is_about_one_request(bench: Any, status: int) -> None:
    async with bench([OK, error(status, "your input was flagged")]) as b:
        await b.ask()
        with pytest.raises(ModelError, match=f"HTTP {status}: your input was flagged") as caught:
            await b.ask()
        assert not caught.value.never_answered
        b.endpoint.script[:] = [error(401)]
        with pytest.raises(RunAborted, match="refuses the key"):
            await b.ask()


async def test_a_field_that_is_refused_whenever_it_is_sent_stops_the_run(bench: Any) -> None:
    async with bench([OK, error(400, "'temperature' is not supported with this model"), OK]) as b:
        await b.ask()
        for never_taken in (True, False):
            with pytest.raises(ModelError, match=r"llm\.quirks\.temperature=false sends none") as caught:
                await b.ask("judge.race", temperature=0)
            assert caught.value.never_answered is never_taken
            if never_taken:
                await b.ask("judge.race", temperature=1)
                b.endpoint.script[:] = [error(400, "temperature 0 is refused today")]


async def test_a_missing_model_of_another_role_stops_the_run_even_if_the_first_answers(
    bench: Any,
) -> None:
    async with bench([OK, error(400, "flagged"), error(404, "no model x")], roles={"judge": {"model": "x"}}) as b:
        await b.ask()
        with pytest.raises(ModelError, match="HTTP 400: flagged") as caught:
            await b.ask("judge.race")
        assert caught.value.never_answered
        with pytest.raises(RunAborted, match=r"HTTP 404: no model x; check the model of judge\.race \(it is 'x': llm"):
            await b.ask("judge.race")


@pytest.mark.parametrize(
    ("asked", "waited"), [("1", 1.0), ("0", 0.01), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.01), (None, 0.01)]
)
async def test_a_requested_wait_is_kept_exactly(bench: Any, asked: str | None, waited: float) -> None:
    headers = {} if asked is None else {"retry_after": asked}
    async with bench([error(429, **headers), OK]) as b:
        start = asyncio.get_running_loop().time()
        await b.ask()
        assert waited / 2 <= asyncio.get_running_loop().time() - start < waited + 0.3
        (wait,) = [event.seconds for event in b.events if isinstance(event, Recovery)]
        assert wait == waited or waited < 1


async def test_half_a_character_of_a_reply_can_be_written(bench: Any) -> None:
    parts = [chunk(content="\ud83d"), chunk(content="\ude00"), chunk("stop", content="\ud83d")]
    async with bench([http(200, completed("caf\u00e9 \ud83d")), streamed(*parts)]) as b:
        assert (await b.ask()).text == "caf\u00e9 \ufffd"
        [_ async for _ in b.models.chat("aiq.planner").astream("Hi")]
        assert b.calls[1].reply["content"] == "\U0001f600\ufffd"
        assert "\ufffd" in b.calls[0].model_dump_json() + b.calls[1].model_dump_json()


@pytest.mark.parametrize(
    ("policy", "answers", "sends", "said"),
    [
        (3, [error(503)], 11, "failed after 11 attempts"),
        (1, [error(503)] * 3 + [OK], 4, None),
        (3, [error(400)], 1, "HTTP 400"),
    ],
)
async def test_a_callers_retries_replace_the_policys_and_are_not_multiplied(
    bench: Any, policy: int, answers: list[bytes], sends: int, said: str | None
) -> None:
    async with bench(answers, retry={"attempts": policy, "first_seconds": 0.0}) as b:
        with retrying(10), nullcontext() if said is None else pytest.raises(ModelError, match=said):
            await b.models.chat("aiq.planner").ainvoke("Hi")
        assert len(b.endpoint.got) == b.session.usage.total().calls == sends


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


BROKEN_OFF = b'{"choices": [{"message": {"content": "half"}, "finish_reason": null, "error": {"message": "boom"}}]}'
SPENT = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
FAILURES: list[tuple[bytes, type[Exception], str, int]] = [
    *((error(n, "overloaded"), ModelError, f"after 3 attempts: HTTP {n}: overloaded", 3) for n in (408, 409, 429)),
    *((error(n, "overloaded"), ModelError, f"after 3 attempts: HTTP {n}: overloaded", 3) for n in (500, 503, 529)),
    *((error(n, "bad schema"), ModelError, f"failed: HTTP {n}: bad schema", 1) for n in (400, 413, 422)),
    *((error(n, "no such path"), RunAborted, f"answers HTTP {n}: no such path; check", 1) for n in (404, 405, 410)),
    (error(402), RunAborted, "nothing left to spend", 1),
    (http(429, SPENT), RunAborted, "nothing left to spend", 1),
    (error(400, "Your credit balance is too low"), RunAborted, "nothing left to spend (HTTP 400: Your credit", 1),
    (error(429, "quota spent", retry_after="86400"), RunAborted, "a wait of 1440 minutes (HTTP 429: quota spent)", 1),
    (http(502, b"<!DOCTYPE html><head><title>\nBad gateway</title>"), ModelError, "HTTP 502: Bad gateway", 3),
    (http(200, completed("half", finish="error")), ModelError, "the endpoint broke off its answer (finish_reason e", 3),
    (http(308, b"", location="https://other/v1"), RunAborted, "redirects to https://other/v1; set llm.base_url", 1),
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
    monkeypatch.setenv("TEST_KEY", "sk-abcdefghijklmnop")
    message = "Incorrect API key: sk-abcdefghijklmnop, sk-abcde********mnop."
    async with bench([error(status, message)], api_key_env="TEST_KEY") as b:
        with pytest.raises(RunAborted, match=r"check the key in \$TEST_KEY") as caught:
            await b.ask()
        assert len(b.endpoint.got) == 1
        assert b.endpoint.got[0].headers["authorization"] == "Bearer sk-abcdefghijklmnop"
        messages = [str(caught.value)]
        for padding in range(270, 300, 5):  # a piece of the key may be left where a message is cut
            b.endpoint.script[:] = [error(400, "x" * padding + "sk-abcdefghijklmnop")]
            with pytest.raises(ModelError) as raised:
                await b.ask()
            messages.append(str(raised.value))
        assert "sk-" not in "".join([*messages, *(event.model_dump_json() for event in b.events)])


@pytest.mark.parametrize(
    "body",
    [b"<html>gateway</html>", b"", b'{"choices": []}', b'{"error": {"message": "boom"}}', b"[1]", BROKEN_OFF, None],
)
async def test_an_unreadable_answer_is_requested_again(bench: Any, body: bytes | None) -> None:
    cut, errors = (
        OK[:-30],
        {
            b"<html>gateway</html>": "the answer is not JSON: <html>gateway</html>",
            b"": "the answer is not JSON: it is empty",
            b'{"choices": []}': 'an answer without choices: {"choices": []}',
            b'{"error": {"message": "boom"}}': "an answer without choices: boom",
        },
    )
    async with bench([cut if body is None else http(200, body), OK]) as b:
        assert (await b.ask()).text == "hello"
        assert b.session.usage.total().calls == 2
        assert b.session.usage.total().unreported_calls == 1
        assert b.calls[0].error == errors.get(body or b"?", b.calls[0].error)


@pytest.mark.parametrize(("of_all", "of_this_one"), [(60, 0.1), (0.1, 60), (0.1, None)])
async def test_a_late_answer_is_requested_again(bench: Any, of_all: float, of_this_one: float | None) -> None:
    async with bench([OK], delay=0.5, timeout_seconds=of_all) as b:
        reason = r"\(0\.1 s: llm\.timeout_seconds\)" if of_all == 0.1 else r"\(ReadTimeout\)"
        with pytest.raises(ModelError, match=f"after 3 attempts: no answer in time {reason}"):
            await b.ask(seconds=of_this_one)
        assert len(b.calls) == 3
        durations = [event.lasted for event in b.events if isinstance(event, Recovery)]
        assert len(durations) == 2
        assert min(durations) >= 0.1


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_is_kept_alive_but_never_ends_runs_out_of_time(bench: Any, status: int) -> None:
    """Some endpoints send blanks while a model thinks, so that the silence is never too long."""
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n".encode()
    async with bench([head], timeout_seconds=60, blank_every=0.02) as b:
        with pytest.raises(ModelError, match="after 3 attempts: no answer in time"):
            await b.ask(seconds=0.1)


async def test_a_refused_connection_is_not_an_exchange(bench: Any) -> None:
    async with bench([OK], base_url="http://127.0.0.1:9/v1") as b:
        with pytest.raises(ModelError, match="after 3 attempts") as caught:
            await b.ask()
        assert (caught.value.status, b.session.usage.total().calls, len(b.calls)) == (None, 0, 3)


async def test_a_requested_wait_is_kept_even_if_the_caller_retries(bench: Any) -> None:
    async with bench([error(429, retry_after="0.3"), OK]) as b:
        start = asyncio.get_running_loop().time()
        with retrying(10):
            await b.ask()
        assert asyncio.get_running_loop().time() - start >= 0.3


@pytest.mark.parametrize("refused", [False, True])
async def test_an_endpoint_that_is_gone_stops_the_run_in_one_line(bench: Any, refused: bool) -> None:
    retry = {"attempts": 2, "first_seconds": 0.01}  # fewer than it takes
    async with bench([OK, error(503, "no backend")], give_up_seconds=0.6, retry=retry) as b:
        await b.ask()
        b.endpoint.delay = 0.5  # so that all are under way before one is retried
        if refused:
            b.endpoint.close()
        calls = (b.ask(text=str(i)) for i in range(1 if refused else 6))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        reason = r"\[Errno 111\] Connect call failed \(.*\)" if refused else "HTTP 503: no backend"
        line = rf"http://127\.0\.0\.1:\d+/v1 has not answered for \d+ s \(\d+ tries, the last: {reason}\)"
        assert [type(outcome) for outcome in outcomes] == [RunAborted] * len(outcomes)
        assert all(re.fullmatch(line, str(outcome)) for outcome in outcomes)


async def test_slow_pages_take_no_connection_from_the_model(bench: Any) -> None:
    async with bench([OK], delay=3600) as slow, bench([OK]) as b:
        client = b.models._client
        pages = [asyncio.create_task(client.get(f"{slow.endpoint.base_url}/{i}", timeout=None)) for i in range(80)]
        while len(slow.endpoint.got) < 64:  # noqa: ASYNC110  as many as there may be
            await asyncio.sleep(0.01)
        assert (await b.ask()).text == "hello"
        assert len(slow.endpoint.got) == 64
        for page in pages:
            page.cancel()
        await asyncio.gather(*pages, return_exceptions=True)


async def test_an_endpoint_of_an_agents_own_does_not_wait_for_the_runs(bench: Any) -> None:
    async with bench([OK]) as other, bench([error(429, retry_after="500")]) as b:
        waiting = asyncio.create_task(b.ask())
        while not b.calls:  # noqa: ASYNC110  until the wait is known
            await asyncio.sleep(0.01)
        client = b.models.openai("a.b").with_options(base_url=other.endpoint.base_url)
        await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        assert (len(other.endpoint.got), waiting.done()) == (1, False)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_stock_client_gets_an_answer_with_its_request_and_its_time(bench: Any) -> None:
    async with bench([http(200, completed(), x_own="a")]) as b:
        messages: Any = [{"role": "user", "content": "hello"}]
        raw = await b.models.openai("a.b").chat.completions.with_raw_response.create(model="m", messages=messages)
        assert raw.parse().choices[0].message.content == "hello"
        assert raw.headers["x-own"] == "a"
        assert str(raw.http_request.url) == f"{b.endpoint.base_url}/chat/completions"
        assert raw.elapsed.total_seconds() > 0


async def test_a_stock_clients_request_has_what_any_other_client_would_send(bench: Any) -> None:
    options: dict[str, Any] = {
        "headers": [("Accept", "text/x-own"), ("X-Own", "a")],
        "content": b"{}",
        "timeout": Timeout(3.0),
    }
    async with bench([OK]) as b:
        client, target = b.models._client, ("POST", f"{b.endpoint.base_url}/chat/completions")
        ours, theirs = client.build_request(*target, **options), AsyncClient.build_request(client, *target, **options)
    added = {"host": ours.url.netloc.decode(), "content-length": "2"}  # which the transport writes anew for each send
    assert {**added, **ours.headers} == dict(theirs.headers)
    assert (await ours.aread(), ours.extensions) == (await theirs.aread(), theirs.extensions)
    plain = client.build_request(*target, json={})
    assert (plain.headers["accept"], plain.headers["content-length"]) == (client.headers["accept"], "2")
