"""Sends that fail, over real HTTP: what is sent again and what is not, time limits, what the error says."""

import asyncio
from typing import Any

import pytest

from aiq.core.errors import ModelError, RunAborted
from aiq.core.events import Recovery
from aiq.core.models import Message

HELLO = [Message(role="user", content="hello")]


async def test_retries_count_as_attempts_and_exchanges(bench: Any, answers: Any) -> None:
    script = [answers.error(500), answers.CUT, answers.OK]
    async with bench(script, prices={"m": {"input": 1, "output": 1}}) as b:
        assert (await b.models.complete("aiq.planner", HELLO)).text == "hello"
        assert [g.headers["x-aiq-attempt"] for g in b.endpoint.got] == ["0", "1", "2"]
        assert len({repr(g.body) for g in b.endpoint.got}) == 1
        usage = b.session.usage.total()
        assert (usage.calls, usage.unreported_calls, usage.input_tokens) == (3, 1, 100)
        assert [e.status for e in b.calls] == [500, None, 200]
        assert len({e.request_sha256 for e in b.calls}) == 1
        assert len([e for e in b.events if isinstance(e, Recovery)]) == 2


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
async def test_exhausted_retries_end_in_an_error_never_in_an_answer(bench: Any, answers: Any, status: int) -> None:
    async with bench([answers.error(status, "overloaded")]) as b:
        with pytest.raises(ModelError, match=f"after 3 attempts: HTTP {status}: overloaded") as caught:
            await b.models.complete("aiq.planner", HELLO)
        assert caught.value.status == status
        assert len(b.endpoint.got) == 3


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_other_refusals_are_not_retried(bench: Any, answers: Any, status: int) -> None:
    async with bench([answers.error(status, "bad schema")]) as b:
        with pytest.raises(ModelError, match=f"HTTP {status}: bad schema"):
            await b.models.complete("aiq.planner", HELLO)
        assert len(b.endpoint.got) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_wrong_key_stops_the_run_and_names_the_variable(
    bench: Any, answers: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-secret")
    async with bench([answers.error(status, "Incorrect API key: sk-secret")], api_key_env="TEST_KEY") as b:
        with pytest.raises(RunAborted, match=r"check the key in \$TEST_KEY") as caught:
            await b.models.complete("aiq.planner", HELLO)
        assert len(b.endpoint.got) == 1
        assert b.endpoint.got[0].headers["authorization"] == "Bearer sk-secret"
        assert "sk-secret" not in str(caught.value) + "".join(e.model_dump_json() for e in b.events)


async def test_an_empty_account_stops_the_run(bench: Any, answers: Any) -> None:
    spent = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    for answer in (answers.error(402), answers.http(429, spent)):
        async with bench([answer]) as b:
            with pytest.raises(RunAborted, match="nothing left to spend"):
                await b.models.complete("aiq.planner", HELLO)
            assert len(b.endpoint.got) == 1


async def test_uncounted_model_apis_are_refused(bench: Any, answers: Any) -> None:
    async with bench([answers.OK]) as b:
        with pytest.raises(RuntimeError, match="chat completions only"):
            await b.models._openai.responses.create(model="m", input="x")
        assert b.endpoint.got == []


async def test_redirect_names_the_place(bench: Any, answers: Any) -> None:
    async with bench([answers.http(308, b"", location="https://other/v1")]) as b:
        with pytest.raises(ModelError, match=r"redirects to https://other/v1; set llm\.base_url"):
            await b.models.complete("aiq.planner", HELLO)


@pytest.mark.parametrize(
    "body", [b"<html>gateway</html>", b'{"choices": []}', b'{"error": {"message": "boom"}}', b"[1]"]
)
async def test_an_answer_without_choices_is_sent_for_again(bench: Any, answers: Any, body: bytes) -> None:
    async with bench([answers.http(200, body), answers.OK]) as b:
        assert (await b.models.complete("aiq.planner", HELLO)).text == "hello"
        assert b.session.usage.total().calls == 2


async def test_cut_body_is_sent_for_again(bench: Any, answers: Any) -> None:
    async with bench([answers.OK[:-30], answers.OK]) as b:
        assert (await b.models.complete("aiq.planner", HELLO)).text == "hello"
        assert b.session.usage.total().unreported_calls == 1


async def test_timeout_is_retried_and_typed(bench: Any, answers: Any) -> None:
    async with bench([answers.OK], delay=0.5, timeout_seconds=0.1) as b:
        with pytest.raises(ModelError, match="no answer in time"):
            await b.models.complete("aiq.planner", HELLO)
        assert len(b.calls) == 3


@pytest.mark.parametrize(("of_all", "of_this_one"), [(60, 0.1), (0.1, 60)])
async def test_a_call_may_have_a_shorter_time_of_its_own(
    bench: Any, answers: Any, of_all: float, of_this_one: float
) -> None:
    async with bench([answers.OK], delay=0.5, timeout_seconds=of_all) as b:
        with pytest.raises(ModelError, match="after 3 attempts: no answer in time"):
            await b.models.complete("aiq.planner", HELLO, seconds=of_this_one)


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_is_kept_alive_but_never_ends_runs_out_of_time(bench: Any, status: int) -> None:
    """Some endpoints send blanks while a model thinks: there is no silence that would be too long."""
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n".encode()
    async with bench([head], timeout_seconds=60, blank_every=0.02) as b:
        with pytest.raises(ModelError, match="after 3 attempts: no answer in time"):
            await b.models.complete("aiq.planner", HELLO, seconds=0.1)


async def test_refused_connection_is_no_exchange(bench: Any, answers: Any) -> None:
    async with bench([answers.OK], base_url="http://127.0.0.1:9/v1") as b:
        with pytest.raises(ModelError, match="after 3 attempts") as caught:
            await b.models.complete("aiq.planner", HELLO)
        assert caught.value.status is None
        assert b.session.usage.total().calls == 0
        assert len(b.calls) == 3


async def test_retry_after_is_honoured(bench: Any, answers: Any) -> None:
    async with bench([answers.error(429, retry_after="0.4"), answers.OK]) as b:
        start = asyncio.get_running_loop().time()
        await b.models.complete("aiq.planner", HELLO)
        assert asyncio.get_running_loop().time() - start >= 0.4


async def test_retry_after_a_day_is_an_error_at_once(bench: Any, answers: Any) -> None:
    async with bench([answers.error(429, "quota spent", retry_after="86400")]) as b:
        with pytest.raises(ModelError, match="quota spent"):
            await b.models.complete("aiq.planner", HELLO)
        assert len(b.endpoint.got) == 1
