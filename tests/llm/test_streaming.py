"""Streamed answers: passed on as they come, booked when whole, an error when cut."""

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import ModelError
from aiq.llm.calls import ROLE
from aiq.llm.streaming import StreamReader
from tests.llm.endpoint import USAGE, chunk, completed, error, http, streamed


async def stream(b: Any, **options: Any) -> str:
    """The text of one streamed call through the stock client."""
    events = await opened(b, **options)
    return "".join([e.choices[0].delta.content or "" async for e in events if e.choices])


async def opened(b: Any, **options: Any) -> Any:
    request = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
    return await b.models.openai("a.b").chat.completions.create(**request, **options)


async def test_usage_of_a_streamed_answer_with_and_without_it(bench: Any) -> None:
    start = chunk(role="assistant", content="")
    script = [streamed(start, chunk(content="he"), chunk(content="llo"), chunk("stop"), chunk(usage=USAGE))]
    async with bench(script) as b:
        assert await stream(b) == "hello"
        assert b.endpoint.got[0].body["stream_options"] == {"include_usage": True}
        usage = b.session.usage.total()
        assert (usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1, 100, 40, 20)
        (event,) = b.calls
        assert event.reply == {"role": "assistant", "content": "hello"}
        assert event.finish_reason == "stop"
    async with bench([streamed(chunk(content="x"), chunk("stop"), done=False)]) as b:
        assert await stream(b) == "x"
        assert b.session.usage.total().unreported_calls == 1


async def test_a_caller_that_asks_for_no_usage_gets_no_event_with_it(bench: Any) -> None:
    events = [chunk(content="he"), chunk(content="llo"), chunk("stop"), chunk(usage=USAGE)]
    async with bench([streamed(*events), streamed(*events, done=False)]) as b:
        for _ in range(2):
            assert "".join([e.choices[0].delta.content or "" async for e in await opened(b)]) == "hello"
        received = [event async for event in await opened(b, stream_options={"include_usage": True})]
        assert [event.usage.prompt_tokens for event in received if event.usage] == [100]
        assert (b.session.usage.total().calls, b.session.usage.total().output_tokens) == (3, 60)


async def test_streamed_tool_calls_are_assembled(bench: Any) -> None:
    def part(index: int, call_id: str | None = None, **function: str) -> Any:
        return chunk(tool_calls=[{"index": index, "id": call_id, "type": "function", "function": function}])

    script = [
        part(0, "c1", name="f", arguments=""),
        part(0, arguments='{"a"'),
        part(0, arguments=":1}"),
        part(1, "c2", name="g", arguments=""),
        chunk("tool_calls"),
    ]
    async with bench([streamed(*script)]) as b:
        await stream(b)
        calls = [(c["id"], *c["function"].values()) for c in b.calls[0].reply["tool_calls"]]
        assert calls == [("c1", "f", '{"a":1}'), ("c2", "g", "")]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (streamed(chunk(content="half of"), done=False, cut=True), "broke off its stream"),
        (streamed(chunk(content="half of"), done=False), "broke off its stream: it ended in the middle"),
        (streamed(chunk(content="half of"), {"error": {"message": "overloaded"}}), "overloaded"),
        (streamed(chunk(content="half of"), chunk("error")), "broke off its stream: finish_reason error"),
    ],
)
async def test_a_cut_stream_is_an_error_and_booked(bench: Any, answer: bytes, said: str) -> None:
    async with bench([answer]) as b:
        with pytest.raises(ModelError, match=said):
            await stream(b)
        assert b.session.usage.total().unreported_calls == 1
        assert b.calls[0].reply == {"role": "assistant", "content": "half of"}


async def test_an_answer_that_is_not_a_stream_is_reported(bench: Any) -> None:
    async with bench([http(200, completed())]) as b:
        with pytest.raises(ModelError, match="this endpoint sends no events"):
            await stream(b)


async def test_a_stream_that_is_kept_alive_without_an_event_runs_out_of_time(bench: Any) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    first = head + f"data: {json.dumps(chunk(content='It '))}\n\n".encode()
    async with bench([first], timeout_seconds=0.3, blank_every=0.02) as b:
        with pytest.raises(ModelError, match="broke off its stream: no event in time"):
            await stream(b)
        assert not any(b.session.usage.in_flight.values())


async def test_a_stream_refused_or_empty_at_its_start_is_retried(bench: Any) -> None:
    good = streamed(chunk(content="ok"), chunk("stop"))
    async with bench([error(503), streamed(done=False, cut=True), good]) as b:
        assert await stream(b) == "ok"
        assert len(b.endpoint.got) == 3


async def test_a_stream_given_up_is_booked(bench: Any) -> None:
    async with bench([streamed(*(chunk(content="x" * 1000) for _ in range(200)), chunk("stop"))]) as b:
        events = await opened(b)
        await anext(events.__aiter__())
        await events.close()
        assert b.calls[0].error == "given up by the caller"
        assert not any(b.session.usage.in_flight.values())


async def test_compressed_answers(bench: Any) -> None:
    packed = http(200, gzip.compress(json.dumps(completed()).encode()), content_encoding="gzip")
    async with bench([packed]) as b:
        raw = await b.models._client.post(
            f"{b.endpoint.base_url}/chat/completions", json={"model": "m", "messages": []}, headers={ROLE: "a.b"}
        )
        assert raw.json()["choices"][0]["message"]["content"] == "hello"
        assert "content-encoding" not in raw.headers


@given(
    st.lists(st.text(max_size=8), max_size=6), st.lists(st.integers(1, 30), min_size=1), st.sampled_from(["\n", "\r\n"])
)
def test_reader_does_not_depend_on_how_the_bytes_are_cut(texts: list[str], cuts: list[int], end: str) -> None:
    choices = [{"index": 0, "delta": {"content": text}} for text in texts]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    events = [json.dumps({"choices": [choice]}, ensure_ascii=False) for choice in choices]
    data = "".join(f": ping{end}data: {event}{end}{end}" for event in events).encode() + b"data: [DONE]\n\n"
    reader = StreamReader()
    position = 0
    while position < len(data):
        size = cuts[position % len(cuts)]
        reader.feed(data[position : position + size])
        position += size
    assert (reader.done, reader.finish_reason) == (True, "stop")
    assert (reader.message["content"] or "") == "".join(texts)


@given(st.binary(max_size=200))
def test_reader_takes_any_bytes(data: bytes) -> None:
    reader = StreamReader()
    reader.feed(data + b'\ndata: [1]\ndata: {"choices": null}\n')
    assert reader.message["role"] == "assistant"


@pytest.mark.parametrize(
    "event", [{"choices": 5}, {"choices": [None]}, {"choices": [{"delta": {"tool_calls": [None]}}]}]
)
def test_an_event_of_another_shape_is_an_error(event: object) -> None:
    reader = StreamReader()
    reader.feed(f"data: {json.dumps(event)}\n".encode())
    assert reader.error == "one of its events is not part of a completion"


async def test_a_stream_left_midway_is_booked_when_the_work_ends(bench: Any) -> None:
    async with bench([streamed(chunk(content="Hello "), chunk(content="world"), chunk("stop"))]) as b:
        messages: Any = [{"role": "user", "content": "hello"}]
        stream = await b.session.openai("a.b").chat.completions.create(model="m", messages=messages, stream=True)
        async for _ in stream:
            break
        assert b.session.usage.total().calls == 0
        b.session.end()
        assert b.session.usage.total().unreported_calls == 1
        assert not any(b.session.usage.in_flight.values())
        await stream.close()
        assert [call.error for call in b.calls] == ["still open when the work ended"]
