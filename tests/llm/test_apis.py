"""Embeddings over real HTTP: sent, counted, limited and retried like chat completions; and invalid answers."""

import base64
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from aiq.core.errors import LimitReached, ModelError, RunAborted
from aiq.core.usage import Limits, Usage
from aiq.llm.models import TEXTS_AT_ONCE
from tests.llm.endpoint import OK, error, http
from tests.settings import configured

ROLE = "a.memory"


def embedded(*vectors: Any, prompt_tokens: int = 7) -> bytes:
    """An answer with these vectors, in this order; entries of other types as given."""
    usage = {"prompt_tokens": prompt_tokens, "total_tokens": prompt_tokens}
    data = [
        vector if isinstance(vector, dict) else {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    return http(200, {"object": "list", "model": "m", "data": data, "usage": usage})


async def test_a_request_has_no_optional_field_and_is_booked_under_its_role(bench: Any) -> None:
    options = {
        "temperature": 0.3,
        "max_tokens": 9,
        "extra_body": {"top_k": 1},
        "prices": {"e": {"input": 2, "output": 9}},
    }
    async with bench([error(429, retry_after="0.01"), embedded([1, 0], [0, 1])], **options) as b:
        assert await b.models.embed(ROLE, ["one", "two\ud800"], model="e") == [[1, 0], [0, 1]]
        first, second = b.endpoint.got
        assert first.body == second.body == {"model": "e", "input": ["one", "two\ufffd"]}
        assert (first.path, first.headers["authorization"]) == ("/v1/embeddings", "Bearer no-key")
        assert [got.headers["x-aiq-attempt"] for got in b.endpoint.got] == ["0", "1"]
        refused, event = b.calls
        assert (refused.status, event.status, event.role, event.model) == (429, 200, ROLE, "e")
        assert event.messages == [{"role": "user", "content": "one"}, {"role": "user", "content": "two\ufffd"}]
        assert event.reply == {"content": "2 vectors of 2 numbers"}
        assert event.usage == Usage(calls=1, input_tokens=7, cost_usd=14 / 1e6)
        assert b.session.usage.by_role() == {ROLE: Usage(calls=2, input_tokens=7, cost_usd=14 / 1e6)}
        assert b.session.replies == []  # no reply is recorded


async def test_the_roles_own_model_and_extra_body_are_sent(bench: Any) -> None:
    roles = {ROLE: {"model": "e", "temperature": 0, "extra_body": {"dimensions": 2}}}
    async with bench([embedded([1, 0])], roles=roles, extra_body={"top_k": 1}) as b:
        await b.models.embed(ROLE, ["one"])
        assert b.endpoint.got[0].body == {"model": "e", "input": ["one"], "dimensions": 2}


async def test_limits_count_embeddings_before_they_are_sent(bench: Any) -> None:
    dollar = {"m": {"input": 1e6, "output": 0}}
    for limits in ({"sample_model_calls": 2}, {"sample_usd": 8.0}):
        async with bench([embedded([1.0])], limits=configured(Limits, **limits), prices=dollar) as b:
            await b.models.embed(ROLE, ["one"])
            await b.models.embed(ROLE, ["two"])
            with pytest.raises(LimitReached, match=rf"limits\.{next(iter(limits))}"):
                await b.models.embed(ROLE, ["three"])
            assert len(b.endpoint.got) == 2


async def test_many_texts_take_several_requests_and_come_back_in_order(bench: Any) -> None:
    count = TEXTS_AT_ONCE + 2
    answers = [embedded(*([[n] for n in range(TEXTS_AT_ONCE)])), embedded([128], [129])]
    async with bench(answers) as b:
        assert await b.models.embed(ROLE, [f"text {n}" for n in range(count)]) == [[n] for n in range(count)]
        assert [len(got.body["input"]) for got in b.endpoint.got] == [TEXTS_AT_ONCE, 2]
    async with bench([answers[0], embedded([1, 2], [3, 4])]) as b:
        with pytest.raises(ModelError, match=r"a\.memory: .*/embeddings answered with embeddings of 1 and 2 numbers"):
            await b.models.embed(ROLE, [f"text {n}" for n in range(count)])
    async with bench([OK]) as b:
        assert await b.models.embed(ROLE, []) == []
        assert b.endpoint.got == []


async def test_entries_are_in_the_order_of_their_texts(bench: Any) -> None:
    entries = ({"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]})
    async with bench([embedded(*entries)]) as b:
        assert await b.models.embed(ROLE, ["one", "two"]) == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (embedded([1, 0]), r"an answer with 1 embeddings for 2 texts: \{.*\"embedding\": \[1, 0\]"),
        (embedded([1, 0], [1]), "an answer with embeddings of 2 and 1 numbers"),
        (embedded([], []), "an answer with embeddings of 0 numbers"),
        (embedded([1, float("nan")], [1, 0]), "a number in an embedding that is not finite"),
        (embedded([1, "x"], [1, 0]), "an answer without embeddings"),
        (embedded("no base64!", "AACAPw=="), "an answer without embeddings"),
        (http(200, {"error": {"message": "no model is loaded"}}), "an answer without embeddings: no model is loaded"),
        (http(200, b"<html>"), "the answer is not JSON"),
    ],
)
async def test_an_invalid_embedding_is_retried_and_ends_in_an_error_that_shows_it(
    bench: Any, answer: bytes, said: str
) -> None:
    async with bench([answer]) as b:
        with pytest.raises(ModelError, match=rf"a\.memory: .*/embeddings failed after 3 attempts: .*{said}"):
            await b.models.embed(ROLE, ["one", "two"])
        assert b.session.usage.total().calls == 3


async def test_an_endpoint_without_embeddings_stops_the_run_by_the_name_of_its_settings(bench: Any) -> None:
    async with bench([error(404, "no such path")]) as b:
        with pytest.raises(RunAborted, match=r"HTTP 404: no such path; check the model of a\.memory .*/v1$"):
            await b.models.embed(ROLE, ["one"])


async def test_a_stock_client_gets_its_base64_and_is_counted(bench: Any) -> None:
    packed = base64.b64encode(struct.pack("<2f", 0.5, -1)).decode()
    async with bench([embedded(packed)]) as b:
        answer = await b.session.openai(ROLE).embeddings.create(model="m", input="one")
        assert answer.data[0].embedding == [0.5, -1]
        await b.session.openai(ROLE).embeddings.create(model="m", input=[1, 2, 3])
        assert b.calls[1].messages == [{"role": "user", "content": "[1, 2, 3]"}]
        assert b.endpoint.got[0].body["encoding_format"] == "base64"
        assert b.session.usage.by_role()[ROLE].input_tokens == 14


async def test_the_offline_stack_embeds(bench: Any, world_port: int) -> None:
    def similarity(first: Sequence[float], second: Sequence[float]) -> float:
        return sum(x * y for x, y in zip(first, second, strict=True))

    async with bench([OK], base_url=f"http://127.0.0.1:{world_port}/v1", model="offline-1") as b:
        texts = ["Who founded the company?", "The founder of the company", "Rainfall in the hills"]
        question, paraphrase, second = await b.models.embed(ROLE, texts)
        assert similarity(question, paraphrase) > similarity(question, second) + 0.3
        assert b.session.usage.by_role()[ROLE].input_tokens > 10
