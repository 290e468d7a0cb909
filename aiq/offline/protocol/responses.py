"""`/v1/responses`: reads a request as the chat request that the engine answers, and writes the response or its events.

https://platform.openai.com/docs/api-reference/responses/create
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from aiq.offline.chat import ChatMessage, ChatReply, ChatRequest, FunctionCall, ToolCall
from aiq.offline.protocol.chat_completions import CREATED, finished, pieces, reply_tokens
from aiq.offline.protocol.chat_request import (
    Format,
    FunctionBody,
    FunctionKind,
    ModelBody,
    admitted,
    check_tool_choice,
    content_of,
    one_or_more,
    prompt_tokens,
)
from aiq.offline.protocol.errors import ApiError, Body, check_schema, missing, read_body

_NEEDS = {
    "message": ("role", "content"),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "reasoning": (),
}
"""The fields that an item must have, by its type."""

_Text = Annotated[
    str | None,
    content_of(("input_text", "output_text", "refusal"), ("input_image", "input_file", "input_audio")),
]

_NOT_ECHOED = {"input", "stream", "stream_options"}
"""Fields of the request that a response does not repeat."""

Event = tuple[str, dict[str, Any]]
"""An event's name and fields."""


class Item(Body, extra="ignore"):
    """One item of the input: a message, a call, a call's output, or reasoning, which is not read."""

    type: Literal["message", "function_call", "function_call_output", "reasoning"]
    role: Literal["assistant", "system", "developer", "user"] | None = None
    content: _Text = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    output: _Text = None

    @model_validator(mode="before")
    @classmethod
    def _of_a_kind(cls, item: Any) -> Any:
        if not isinstance(item, dict):
            return item
        kind = item.get("type") or ("message" if "role" in item else None)
        if kind == "item_reference":
            remedy = "this server stores no items; send the item itself"
            raise ApiError(f"Item with id '{item.get('id')}' not found: {remedy}.", "")
        needs = _NEEDS.get(kind, ()) if isinstance(kind, str) else ()
        for name in needs:
            if item.get(name) is None:
                raise missing(name)
        return {name: item[name] for name in needs} | {"type": kind}


class _Tool(FunctionBody, FunctionKind):
    """A function, flat."""


class _Format(Body):
    """`text.format`: a response format, flat."""

    type: Format
    name: str | None = None
    content: dict[str, Any] | None = Field(default=None, alias="schema")
    description: str = ""
    strict: bool = False

    @model_validator(mode="after")
    def _has_a_schema(self) -> Self:
        if self.type == "json_schema":
            if self.name is None or self.content is None:
                raise missing("schema" if self.name else "name")
            check_schema(self.content, f"response_format '{self.name}'", "", None, strict=self.strict)
        return self


class _TextOptions(Body):
    ignored = ("verbosity",)
    format: _Format = _Format(type="text")


class ResponsesBody(ModelBody):
    unknown = "Unknown parameter: '{param}'."
    unsupported = (
        *("access_programs", "background", "background_options", "context_management", "conversation", "image"),
        *("moderation", "prompt", "top_logprobs"),
    )
    ignored = (*ModelBody.ignored, "include", "max_tool_calls", "truncation")
    input: Annotated[
        list[Item], one_or_more("input items", lambda text: {"role": "user", "content": text}), Field(min_length=1)
    ]
    instructions: str | None = None
    tools: list[_Tool] = Field(default=[], max_length=128)
    text: _TextOptions = _TextOptions()
    reasoning: dict[str, Any] | None = None
    max_output_tokens: int | None = Field(default=None, ge=16)
    previous_response_id: str | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.tools or self.tool_choice != "auto":
            check_tool_choice(self.tool_choice, [tool.name for tool in self.tools], ("name",))
        if self.previous_response_id is not None:
            remedy = "this server stores no responses; send the whole conversation as 'input'"
            message = f"Previous response with id '{self.previous_response_id}' not found: {remedy}."
            raise ApiError(message, "previous_response_id", "previous_response_not_found")
        return self


def read_responses(
    values: Mapping[str, Any], role: str, attempt: int, context_tokens: int
) -> tuple[ResponsesBody, ChatRequest]:
    """The request as it was written, and for the engine. Raises ApiError 400 when it is malformed or too long."""
    body = read_body(ResponsesBody, values)
    form, choice = body.text.format, body.tool_choice
    opening = [ChatMessage(role="developer", content=body.instructions)] if body.instructions else []
    asked = {
        "model": body.model,
        "messages": (*opening, *_messages(body.input)),
        "tools": [{"function": tool.model_dump()} for tool in body.tools],
        "tool_choice": {**choice, "function": {"name": choice["name"]}} if isinstance(choice, dict) else choice,
        "parallel_tool_calls": body.parallel_tool_calls,
        "response_format": {"type": form.type, "json_schema": form.model_dump(by_alias=True, exclude={"type"})},
        "max_tokens": body.max_output_tokens,
    }
    return body, admitted(asked | {"role": role, "attempt": attempt}, "input", context_tokens)


def _messages(items: Sequence[Item]) -> Iterator[ChatMessage]:
    """The items as messages: calls made together in one, each answered by its output, wherever that is in the list."""
    outputs = {item.call_id: item.output for item in items if item.type == "function_call_output"}
    for kind, group in groupby((item for item in items if item.type != "reasoning"), lambda item: item.type):
        if kind == "message":
            yield from (ChatMessage(role=item.role or "", content=item.content) for item in group)
        elif kind == "function_call":
            calls = [
                ToolCall(id=item.call_id, function=FunctionCall(name=item.name, arguments=item.arguments))
                for item in group
            ]
            yield ChatMessage(role="assistant", tool_calls=tuple(calls))
            for call in calls:
                if call.id not in outputs:
                    raise ApiError(f"No tool output found for function call {call.id}.", "input")
                yield ChatMessage(role="tool", tool_call_id=call.id, content=outputs.pop(call.id))
    if outputs:
        raise ApiError(f"No tool call found for function call output with call_id {next(iter(outputs))}.", "input")


def response(body: ResponsesBody, request: ChatRequest, reply: ChatReply, digest: str) -> dict[str, Any]:
    """The response object of a reply: a message, or function calls, or both."""
    said, reason = finished(request, reply, digest)
    cut = reason == "length"
    prompt, spent = prompt_tokens(request), reply_tokens(said)
    return {
        **body.model_dump(by_alias=True, exclude=_NOT_ECHOED),
        "tool_choice": body.tool_choice or "auto",
        "id": f"resp_{digest[:48]}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if cut else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": list(_output(said, digest, "incomplete" if cut else "completed")),
        "service_tier": "default",
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": spent,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + spent,
        },
    }


def _output(reply: ChatReply, digest: str, status: str) -> Iterator[dict[str, Any]]:
    if reply.refusal is not None or reply.text or not reply.tool_calls:
        part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        if reply.refusal is not None:
            part = {"type": "refusal", "refusal": reply.refusal}
        message = {"id": f"msg_{digest[:48]}", "type": "message", "role": "assistant"}
        yield {**message, "status": status, "content": [part]}
    for call in reply.tool_calls:
        name = call.id.removeprefix("call_")
        made = {"id": f"fc_{name}", "type": "function_call", "call_id": call.id, **call.function.model_dump()}
        yield {**made, "status": status}


def stream_response(answer: Mapping[str, Any]) -> str:
    """The response as server-sent events with the public names and sequence numbers."""
    written = []
    for number, (name, fields) in enumerate(_events(answer)):
        event = {"type": f"response.{name}", "sequence_number": number, **fields}
        written.append(f"event: response.{name}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n")
    return "".join(written)


def _events(answer: Mapping[str, Any]) -> Iterator[Event]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    for name in ("created", "in_progress"):
        yield name, {"response": begun}
    for index, item in enumerate(answer["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        message = item["type"] == "message"
        empty: dict[str, Any] = {"content": []} if message else {"arguments": ""}
        yield "output_item.added", {"output_index": index, "item": {**item, "status": "in_progress", **empty}}
        yield from _message_events(item["content"][0], place) if message else _call_events(item, place)
        yield "output_item.done", {"output_index": index, "item": item}
    yield answer["status"], {"response": answer}


def _message_events(part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[Event]:
    field = "refusal" if part["type"] == "refusal" else "text"
    place = {**place, "content_index": 0}
    more = {name: part[name] for name in ("logprobs",) if name in part}
    yield "content_part.added", {**place, "part": {**part, field: ""}}
    for piece in pieces(part[field]):
        yield f"{part['type']}.delta", {**place, "delta": piece, **more}
    yield f"{part['type']}.done", {**place, field: part[field], **more}
    yield "content_part.done", {**place, "part": part}


def _call_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[Event]:
    for piece in pieces(item["arguments"]):
        yield "function_call_arguments.delta", {**place, "delta": piece}
    yield "function_call_arguments.done", {**place, "name": item["name"], "arguments": item["arguments"]}
