"""Our chat model beside LangChain's own on the same endpoint: the same requests to the byte, the same messages back."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from aiq.llm.calls import ROLE
from tests.llm.endpoint import USAGE, chunk, completed, http, streamed


@tool
def look_up(name: str, deep: bool = False) -> str:
    """Find a name."""
    return name


CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"name": "x"}'}}
BROKEN = {"id": "c2", "type": "function", "function": {"name": "look_up", "arguments": "{name"}}
TURNS: list[AnyMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("Größe, 高度?", name="user_1"),
    AIMessage("", tool_calls=[{"name": "look_up", "args": {"name": "é", "deep": True}, "id": "c0"}]),
    ToolMessage("found", tool_call_id="c0", name="look_up"),
    AIMessage("So?", invalid_tool_calls=[{"name": "look_up", "args": "{", "id": "c1", "error": None}]),
    ToolMessage("Error: no", tool_call_id="c1", status="error"),
    HumanMessage([{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "data:image/png,x"}}]),
]


def stock(b: Any) -> ChatOpenAI:
    """LangChain's chat model on the run's client."""
    client: Any = b.models.openai("a.b")
    return ChatOpenAI(
        model="m",
        base_url=b.endpoint.base_url,
        api_key=SecretStr("no-key"),
        http_async_client=client._client,
        default_headers={ROLE: "a.b"},
        max_retries=0,
        stream_usage=True,
    )


def sent(b: Any) -> list[str]:
    return [repr(got.body) for got in b.endpoint.got]  # in the order of its fields


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        (TURNS[:2], {}),
        (TURNS, {"parallel_tool_calls": True}),
        (TURNS, {"tool_choice": "any", "temperature": 0.2}),
        (TURNS, {"tool_choice": "look_up", "stop": ["END"], "max_completion_tokens": 9}),
        (TURNS, {"tool_choice": {"type": "function", "function": {"name": "look_up"}}}),
        (TURNS, {"tool_choice": None, "parallel_tool_calls": None}),
    ],
)
async def test_requests_are_those_of_langchains_own_model(
    bench: Any, messages: Sequence[AnyMessage], options: dict[str, Any]
) -> None:
    parts = streamed(chunk(content="he"), chunk("stop"), chunk(usage=USAGE))
    async with bench([http(200, completed())] * 2 + [parts]) as b:
        models = [model.bind_tools([look_up], **options) for model in (stock(b), b.models.chat("a.b"))]
        for model in models:
            await model.ainvoke(list(messages))
        for model in models:
            [_ async for _ in model.astream(list(messages))]
        theirs, ours, *streams = sent(b)
        assert ours == theirs
        assert streams[1] == streams[0]


async def test_completions_are_requested_as_by_openais_own_client(bench: Any) -> None:
    schema = {"name": "verdict", "schema": {"type": "object"}}
    async with bench([http(200, completed())]) as b:
        request: Any = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "temperature": 0.1}
        form: Any = {"type": "json_schema", "json_schema": schema}
        await b.models.openai("a.b").chat.completions.create(**request, response_format=form, max_completion_tokens=9)
        await b.ask("a.b", temperature=0.1, json_schema=schema, max_tokens=9)
        theirs, ours = sent(b)
        assert ours == theirs


async def test_a_request_without_tools_has_no_field_for_them(bench: Any) -> None:
    async with bench([http(200, completed())]) as b:
        for model in (stock(b), b.models.chat("a.b")):
            await model.ainvoke("hello")
        theirs, ours = sent(b)
        assert ours == theirs


@pytest.mark.parametrize(
    "answer",
    [
        completed("hello"),
        completed(None, tool_calls=[CALL, BROKEN], finish="tool_calls"),
        completed(None, tool_calls=[{"function": {"name": "look_up", "arguments": None}}]),
        completed(None, refusal="I cannot."),
        completed([{"type": "text", "text": "in parts"}], usage=None),
        completed("cut", finish="length", reasoning_content="Hm."),
    ],
)
async def test_answers_are_read_as_by_langchains_own_model(bench: Any, answer: dict[str, Any]) -> None:
    async with bench([http(200, answer)]) as b:
        theirs, ours = [await model.ainvoke("hello") for model in (stock(b), b.models.chat("a.b"))]
        for field in ("content", "tool_calls", "invalid_tool_calls", "usage_metadata"):
            assert getattr(ours, field) == getattr(theirs, field), field
        for field in ("finish_reason", "model_name", "model_provider", "id"):
            assert ours.response_metadata[field] == theirs.response_metadata[field]
        assert ours.additional_kwargs.get("refusal") == theirs.additional_kwargs.get("refusal")


async def test_streams_are_assembled_as_by_langchains_own_model(bench: Any) -> None:
    start = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"na'}}
    rest = {"index": 0, "function": {"arguments": 'me": "x"}'}}
    parts = [chunk(role="assistant", content="he"), chunk(content="llo"), chunk(tool_calls=[start])]
    script = streamed(*parts, chunk(tool_calls=[rest]), chunk("tool_calls"), chunk(usage=USAGE))
    async with bench([script]) as b:
        messages = []
        for model in (stock(b), b.models.chat("a.b")):
            events = [part async for part in model.astream("hello")]
            messages.append(sum(events[1:], events[0]))
        theirs, ours = messages
        for field in ("content", "tool_calls", "invalid_tool_calls", "usage_metadata"):
            assert getattr(ours, field) == getattr(theirs, field), field
        assert ours.response_metadata["finish_reason"] == "tool_calls"


async def test_invalid_events_and_arguments_do_not_end_a_call(bench: Any) -> None:
    deep = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"a":' * 2000}}
    script = streamed(chunk(content="he"), "garbage", [1], chunk(content="llo"), chunk("stop"), chunk(usage=USAGE))
    async with bench([script, http(200, completed(None, tool_calls=[deep]))]) as b:
        model = b.models.chat("a.b")
        assert "".join([str(part.content) async for part in model.astream("hello")]) == "hello"
        reply = await model.ainvoke("hello")
    assert [call["name"] for call in reply.invalid_tool_calls] == ["look_up"]
