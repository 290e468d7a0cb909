"""The stock `openai` client's `responses` against the offline stack."""

import json
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from aiq.offline.chat import ChatReply
from aiq.offline.protocol.responses import read_responses, response, stream_response

QUESTION = "Who is the mayor of Tessmark?"
TOOL: Any = {
    "type": "function",
    "name": "lookup",
    "description": "Search the web",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    "strict": False,
}


class Builder(BaseModel):
    builder: str


def create(client: OpenAI, **options: Any) -> Any:
    return client.responses.create(**{"model": "offline-1", "input": QUESTION, **options})


def test_a_string_gets_the_answer_of_chat_completions(client: OpenAI) -> None:
    answer = create(client, instructions="You are helpful.")
    messages: Any = [{"role": "developer", "content": "You are helpful."}, {"role": "user", "content": QUESTION}]
    chat = client.chat.completions.create(model="offline-1", messages=messages)
    assert answer.output_text == chat.choices[0].message.content
    assert answer.status == "completed"
    assert chat.usage is not None
    assert answer.usage.total_tokens == chat.usage.total_tokens
    assert answer.instructions == "You are helpful."


def test_equal_requests_have_equal_responses(client: OpenAI) -> None:
    assert create(client, store=False) == create(client, store=False)


def test_a_whole_tool_round(client: OpenAI) -> None:
    first = create(client, tools=[TOOL], tool_choice="required")
    [call] = first.output
    assert call.type == "function_call"
    assert json.loads(call.arguments)["q"]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "Ilan Corvey"}
    items = [{"role": "user", "content": QUESTION}, call.model_dump(exclude_none=True), result]
    final = create(client, input=items, tools=[TOOL], tool_choice="none")
    assert final.output_text
    parts = [*items[:2], {**result, "output": [{"type": "input_text", "text": "Ilan Corvey"}]}]
    from_parts = create(client, input=parts, tools=[TOOL], tool_choice="none")
    assert from_parts.output_text == final.output_text
    with pytest.raises(openai.BadRequestError, match=f"No tool output found for function call {call.call_id}"):
        create(client, input=items[:2], tools=[TOOL])


def test_calls_made_together_are_one_message() -> None:
    calls = [{"type": "function_call", "call_id": c, "name": "f", "arguments": "{}"} for c in "ab"]
    outputs = [{"type": "function_call_output", "call_id": c, "output": c} for c in "ba"]
    thought = {"type": "reasoning", "id": "r", "summary": []}
    values = {"model": "m", "input": [{"role": "user", "content": "x"}, calls[0], thought, calls[1], *outputs]}
    request = read_responses(values, "", 0, 1000)
    assert [m.role for m in request.messages] == ["user", "assistant", "tool", "tool"]
    assert [m.text for m in request.messages[2:]] == ["a", "b"]


def test_a_named_tool_is_called(client: OpenAI) -> None:
    choice = {"type": "function", "name": "archive"}
    answer = create(client, tools=[TOOL, {**TOOL, "name": "archive"}], tool_choice=choice)
    assert [item.name for item in answer.output if item.type == "function_call"] == ["archive"]


def test_a_schema_is_followed(client: OpenAI) -> None:
    text = "Who built the mill?\n<page>\nAda Kestrel built the mill.\n</page>"
    answer = client.responses.parse(model="offline-1", input=text, text_format=Builder)
    assert answer.output_parsed == Builder(builder="Ada Kestrel")


def test_events_build_the_same_response(client: OpenAI) -> None:
    whole = create(client)
    events = list(create(client, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    names = list(dict.fromkeys(event.type for event in events))
    assert names == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == whole.output_text
    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.output == whole.output
    assert last.response.usage == whole.usage


async def test_streamed_tool_calls(offline_port: int) -> None:
    request: Any = {"model": "offline-1", "input": QUESTION, "tools": [TOOL], "tool_choice": "required"}
    async with (
        AsyncOpenAI(base_url=f"http://127.0.0.1:{offline_port}/v1", api_key="none", max_retries=0) as client,
        client.responses.stream(**request) as events,
    ):
        deltas = [event.delta async for event in events if event.type == "response.function_call_arguments.delta"]
        final = await events.get_final_response()
    [call] = final.output
    assert call.type == "function_call"
    assert "".join(deltas) == call.arguments


def test_a_cut_answer_is_incomplete(client: OpenAI) -> None:
    answer = create(client, input=f"{QUESTION} " * 20, max_output_tokens=16)
    whole = create(client, input=f"{QUESTION} " * 20)
    assert whole.usage.output_tokens > 16, "the answer is too short to be cut"
    assert answer.status == "incomplete"
    assert answer.incomplete_details.reason == "max_output_tokens"
    assert whole.output_text.startswith(answer.output_text)


def test_a_refusal_has_its_own_part_and_events() -> None:
    values = {"model": "m", "input": "x"}
    answer = response(values, read_responses(values, "", 0, 1000), ChatReply(refusal="There is nothing to go by."), "d")
    [item] = answer["output"]
    assert item["content"] == [{"type": "refusal", "refusal": "There is nothing to go by."}]
    events = [json.loads(line[6:]) for line in stream_response(answer).splitlines() if line.startswith("data: ")]
    deltas = [event["delta"] for event in events if event["type"] == "response.refusal.delta"]
    assert "".join(deltas) == "There is nothing to go by."
