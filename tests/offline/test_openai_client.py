"""The stock `openai` client against the offline stack: it cannot tell the difference."""

import json
from collections.abc import Iterator
from typing import Any, cast

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Search the web",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        },
    }
    for name in ("web_search_tool", "archive_search_tool")
]
HELLO: Any = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "Who is the mayor of Tessmark?"},
]


class Verdict(BaseModel):
    reason: str
    grade: int
    final: bool


@pytest.fixture
def client(offline_port: int) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"http://127.0.0.1:{offline_port}/v1", api_key="none", max_retries=0) as made:
        yield made


def test_models_list(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["offline-1"]
    assert client.models.retrieve("offline-1").id == "offline-1"
    with pytest.raises(openai.NotFoundError, match="'gpt-9' does not exist"):
        client.models.retrieve("gpt-9")


def test_sync_completion_is_deterministic(client: OpenAI) -> None:
    first, second = (client.chat.completions.create(model="offline-1", messages=HELLO, seed=3) for _ in range(2))
    assert first == second
    assert first.choices[0].message.content
    assert first.choices[0].finish_reason == "stop"
    assert first.usage is not None
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens > 20
    assert first.usage.prompt_tokens_details is not None
    assert first.usage.prompt_tokens_details.cached_tokens == 0


async def test_async_completion(offline_port: int) -> None:
    async with AsyncOpenAI(base_url=f"http://127.0.0.1:{offline_port}/v1", api_key="none", max_retries=0) as client:
        answer = await client.chat.completions.create(model="offline-1", messages=HELLO)
        parts = [
            part async for part in await client.chat.completions.create(model="offline-1", messages=HELLO, stream=True)
        ]
    assert "".join(part.choices[0].delta.content or "" for part in parts) == answer.choices[0].message.content


def test_streaming_gives_the_same_answer_in_pieces_with_usage(client: OpenAI) -> None:
    whole = client.chat.completions.create(model="offline-1", messages=HELLO)
    options: Any = {"include_usage": True}
    parts = list(client.chat.completions.create(model="offline-1", messages=HELLO, stream=True, stream_options=options))
    assert "".join(p.choices[0].delta.content or "" for p in parts if p.choices) == whole.choices[0].message.content
    assert parts[-1].choices == []
    assert parts[-1].usage == whole.usage
    assert all(part.usage is None for part in parts[:-1])
    assert parts[-2].choices[0].finish_reason == "stop"
    without = list(client.chat.completions.create(model="offline-1", messages=HELLO, stream=True))
    assert len(without) == len(parts) - 1


def call_tool(client: OpenAI, **options: Any) -> Any:
    return client.chat.completions.create(model="offline-1", messages=HELLO, tools=TOOLS, **options).choices[0]


def test_tool_choice(client: OpenAI) -> None:
    required = call_tool(client, tool_choice="required")
    assert required.finish_reason == "tool_calls"
    assert json.loads(required.message.tool_calls[0].function.arguments)["query"]
    assert required.message.tool_calls[0].id.startswith("call_")
    named = call_tool(client, tool_choice={"type": "function", "function": {"name": "archive_search_tool"}})
    assert [c.function.name for c in named.message.tool_calls] == ["archive_search_tool"]
    none = call_tool(client, tool_choice="none")
    assert none.message.tool_calls is None
    assert none.message.content


def test_streamed_tool_calls_are_the_unstreamed_ones(client: OpenAI) -> None:
    whole = call_tool(client, tool_choice="required").message.tool_calls
    with client.chat.completions.stream(
        model="offline-1", messages=HELLO, tools=TOOLS, tool_choice="required"
    ) as stream:
        final = stream.get_final_completion()
    calls = final.choices[0].message.tool_calls
    assert calls is not None
    assert [(c.id, c.function.name, c.function.arguments) for c in calls] == [
        (c.id, c.function.name, c.function.arguments) for c in whole
    ]


def test_a_whole_tool_round(client: OpenAI) -> None:
    asked = call_tool(client, tool_choice="required").message
    answered = [{"role": "tool", "tool_call_id": call.id, "content": "Ilan Corvey"} for call in asked.tool_calls]
    messages = cast("Any", [*HELLO, asked.model_dump(exclude_none=True), *answered])
    done = client.chat.completions.create(model="offline-1", messages=messages, tools=TOOLS, tool_choice="none")
    assert done.choices[0].message.content
    for broken in (messages[:-1], [*HELLO, *answered]):
        with pytest.raises(openai.BadRequestError, match="tool"):
            client.chat.completions.create(model="offline-1", messages=broken, tools=TOOLS)


def test_json_schema(client: OpenAI) -> None:
    parsed = client.chat.completions.parse(model="offline-1", messages=HELLO, response_format=Verdict)
    verdict = parsed.choices[0].message.parsed
    assert isinstance(verdict, Verdict)
    assert verdict.reason
    free = client.chat.completions.create(model="offline-1", messages=HELLO, response_format={"type": "json_object"})
    assert isinstance(json.loads(free.choices[0].message.content or ""), dict)


def test_max_tokens_cuts_and_says_so(client: OpenAI) -> None:
    cut = client.chat.completions.create(model="offline-1", messages=HELLO, max_completion_tokens=2)
    assert cut.choices[0].finish_reason == "length"
    assert cut.usage is not None
    assert cut.usage.completion_tokens == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"messages": []}, "at least one message"),
        ({"n": 2}, "one choice"),
        ({"tool_choice": "required"}, "no tools"),
        ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "'x'"),
        ({"response_format": {"type": "xml"}}, "'xml'"),
        ({"temperature": "hot"}, "temperature"),
    ],
)
def test_malformed_requests_are_refused(client: OpenAI, change: Any, says: str) -> None:
    with pytest.raises(openai.BadRequestError, match=says) as caught:
        client.chat.completions.create(**{"model": "offline-1", "messages": HELLO, **change})
    assert caught.value.type == "invalid_request_error"


def test_unknown_path(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="Unknown request URL"):
        client.embeddings.create(model="offline-1", input="x")
