"""The stock `openai` client against the offline stack: it cannot tell the difference."""

import json
from typing import Any, cast

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI
from pydantic import BaseModel

from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.offline.faults import Faults
from aiq.offline.protocol.chat_completions import completion, digest_of, read_chat, stream_completion, tokens
from aiq.offline.protocol.work import Work

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


class Builder(BaseModel):
    builder: str


def create(client: OpenAI, **options: Any) -> Any:
    return client.chat.completions.create(**{"model": "offline-1", "messages": HELLO, **options})


def call_tool(client: OpenAI, **options: Any) -> Any:
    return create(client, tools=TOOLS, **options).choices[0]


def test_models_list(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["offline-1"]
    assert client.models.retrieve("offline-1").id == "offline-1"
    with pytest.raises(openai.NotFoundError, match="'gpt-9' does not exist"):
        client.models.retrieve("gpt-9")


def test_sync_completion_is_deterministic(client: OpenAI) -> None:
    first, second = (create(client, seed=3) for _ in range(2))
    assert first == second
    assert first.choices[0].message.content
    assert first.choices[0].finish_reason == "stop"
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens > 20
    assert first.usage.prompt_tokens_details.cached_tokens == 0


def test_streaming_gives_the_same_answer_in_pieces_with_usage(client: OpenAI) -> None:
    whole = create(client)
    parts = list(create(client, stream=True, stream_options={"include_usage": True}))
    assert "".join(p.choices[0].delta.content or "" for p in parts if p.choices) == whole.choices[0].message.content
    assert parts[-1].choices == []
    assert parts[-1].usage == whole.usage
    assert all(part.usage is None for part in parts[:-1])
    assert parts[-2].choices[0].finish_reason == "stop"
    without = list(create(client, stream=True))
    assert len(without) == len(parts) - 1


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
    call_message = call_tool(client, tool_choice="required").message
    results = [{"role": "tool", "tool_call_id": c.id, "content": "Ilan Corvey"} for c in call_message.tool_calls]
    messages = cast("Any", [*HELLO, call_message.model_dump(exclude_none=True), *results])
    final = create(client, messages=messages, tools=TOOLS, tool_choice="none")
    assert final.choices[0].message.content
    for broken in (messages[:-1], [*HELLO, *results]):
        with pytest.raises(openai.BadRequestError, match="tool"):
            create(client, messages=broken, tools=TOOLS)


def test_json_schema(client: OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "Who built the mill?\n<page>\nAda Kestrel built the mill.\n</page>"}]
    response = client.chat.completions.parse(model="offline-1", messages=messages, response_format=Builder)
    assert response.choices[0].message.parsed == Builder(builder="Ada Kestrel")
    free: Any = [{"role": "system", "content": 'Reply with one JSON object: {"builder": "who built it"}'}, *messages]
    reply = create(client, messages=free, response_format={"type": "json_object"})
    assert json.loads(reply.choices[0].message.content or "") == {"builder": "Ada Kestrel"}


def test_values_that_the_request_does_not_support_are_refused(client: OpenAI) -> None:
    refused = client.chat.completions.parse(model="offline-1", messages=HELLO, response_format=Builder).choices[0]
    assert refused.message.parsed is None
    assert refused.message.refusal


def test_max_tokens_cuts_text_and_tool_calls_and_says_so(client: OpenAI) -> None:
    text = create(client, max_completion_tokens=2)
    assert (text.choices[0].finish_reason, text.usage.completion_tokens) == ("length", 2)
    cut = call_tool(client, tool_choice="required", max_completion_tokens=7)
    assert cut.finish_reason == "length"
    [only] = cut.message.tool_calls
    whole = call_tool(client, tool_choice="required").message.tool_calls[0]
    assert whole.function.arguments.startswith(only.function.arguments)
    assert len(only.function.arguments) < len(whole.function.arguments)


@pytest.mark.parametrize("as_list", [False, True])
def test_stop_ends_the_text_before_it(client: OpenAI, as_list: bool) -> None:
    whole = create(client).choices[0].message.content or ""
    stop = whole[10:13]
    stops: Any = ["not there", stop] if as_list else stop
    choice = create(client, stop=stops).choices[0]
    assert choice.message.content == whole[: whole.index(stop)]
    assert choice.finish_reason == "stop"


def test_several_choices(client: OpenAI) -> None:
    answer = create(client, n=3, seed=1)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert all(choice.message.content for choice in answer.choices)
    single = create(client, seed=1)
    assert answer.choices[0] == single.choices[0]
    assert answer.usage.prompt_tokens == single.usage.prompt_tokens
    assert answer.usage.completion_tokens > single.usage.completion_tokens
    parts = list(create(client, n=3, seed=1, stream=True))
    for choice in answer.choices:
        pieces = [c.delta.content or "" for part in parts for c in part.choices if c.index == choice.index]
        assert "".join(pieces) == choice.message.content
    calls = create(client, tools=TOOLS, tool_choice="required", n=2).choices
    assert len({call.id for choice in calls for call in choice.message.tool_calls or ()}) == 2


def test_text_in_parts_is_text(client: OpenAI) -> None:
    parts: Any = [{"role": m["role"], "content": [{"type": "text", "text": m["content"]}]} for m in HELLO]
    whole, split = (create(client, messages=m).choices for m in (HELLO, parts))
    assert whole == split


# Tests without a server.


def request(**values: Any) -> ChatRequest:
    return ChatRequest.model_validate({"model": "offline-1", "messages": [{"role": "user", "content": "x"}], **values})


def answered(reply: ChatReply, **values: Any) -> Any:
    return completion(request(**values), [reply], "d")


def test_parallel_calls_are_cut_to_the_first_if_the_request_says_so() -> None:
    reply = ChatReply(tool_calls=(call("f", a=1), call("f", a=2)))
    parallel = answered(reply)["choices"][0]["message"]
    assert len({c["id"] for c in parallel["tool_calls"]}) == 2
    assert parallel["content"] is None
    sequential = answered(reply, parallel_tool_calls=False)["choices"][0]["message"]
    assert sequential["tool_calls"] == parallel["tool_calls"][:1]


def test_a_refusal_replaces_the_content() -> None:
    answer = answered(ChatReply(refusal="I was not told the form."))
    message = answer["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "I was not told the form.")
    deltas = [
        json.loads(e[6:])["choices"][0]["delta"] for e in stream_completion(answer, usage=False).split("\n\n")[:-2]
    ]
    assert "".join(delta.get("refusal") or "" for delta in deltas) == "I was not told the form."


def test_equal_requests_have_equal_digests_whatever_their_key_order() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "seed": 1}
    digest = digest_of(body, "a.b")
    assert digest == digest_of(dict(reversed(body.items())), "a.b")
    assert digest == digest_of({**body, "stream": True}, "a.b")
    assert len({digest, digest_of(body, "a.c"), digest_of({**body, "seed": 2}, "a.b")}) == 3


@given(st.binary(max_size=100))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    for path in ("/v1/chat/completions", "/v1/responses", "/v1/embeddings"):
        assert Work(Faults({}, 0)).answer(path, "", "", body).status == 400


def test_nulls_mean_left_out() -> None:
    message = {"role": "assistant", "content": "x", "tool_calls": None, "refusal": None}
    assert read_chat({"model": "m", "messages": [message], "tools": None, "stop": None}, "", 0).tools == ()


@given(st.text(), st.integers(1, 20))
def test_cut_text_has_at_most_the_requested_tokens(text: str, limit: int) -> None:
    [choice] = answered(ChatReply(text=text), max_tokens=limit)["choices"]
    assert tokens(choice["message"]["content"]) <= limit
    assert text.startswith(choice["message"]["content"])
    assert (choice["finish_reason"] == "length") == (tokens(text) > limit)


@given(st.text())
def test_stream_carries_the_whole_text(text: str) -> None:
    events = stream_completion(answered(ChatReply(text=text)), usage=False).split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    deltas = [json.loads(event[6:])["choices"][0]["delta"] for event in events[:-2]]
    assert "".join(delta.get("content") or "" for delta in deltas) == text
