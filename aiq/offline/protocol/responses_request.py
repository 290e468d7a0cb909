"""Reads a `/v1/responses` request as the chat request that the engine answers.

https://platform.openai.com/docs/api-reference/responses/create
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from aiq.offline.chat import ChatMessage, ChatRequest, FunctionCall, ToolCall
from aiq.offline.protocol.chat_request import (
    Effort,
    Format,
    FunctionBody,
    FunctionKind,
    ModelBody,
    Verbosity,
    admitted,
    check_tool_choice,
    content_of,
)
from aiq.offline.protocol.errors import ApiError, Body, missing, read_body, wrong_type
from aiq.offline.protocol.schemas import check_schema

_NEEDS = {
    "message": ("role", "content"),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "reasoning": (),
}
"""The fields that an item must have, by its type."""

_Text = Annotated[
    str | None,
    BeforeValidator(content_of(("input_text", "output_text", "refusal"), ("input_image", "input_file", "input_audio"))),
]


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
    format: _Format = _Format(type="text")
    verbosity: Verbosity = "medium"


class _Reasoning(Body):
    """Taken as a wish; this model shows no reasoning, so that a summary of it is never there."""

    ignored = ("summary", "generate_summary", "context", "mode")
    effort: Effort | None = None


def _items(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise wrong_type("", "one of a string or an array of input items", value)
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


class ResponsesBody(ModelBody):
    unknown = "Unknown parameter: '{param}'."
    unsupported = (
        *("access_programs", "background", "background_options", "context_management", "conversation", "image"),
        *("moderation", "prompt", "top_logprobs"),
    )
    ignored = (*ModelBody.ignored, "include", "max_tool_calls", "truncation")
    input: Annotated[list[Item], BeforeValidator(_items)] = Field(min_length=1)
    instructions: str | None = None
    tools: list[_Tool] = Field(default=[], max_length=128)
    text: _TextOptions = _TextOptions()
    reasoning: _Reasoning = _Reasoning()
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
        "temperature": body.temperature,
        "max_tokens": body.max_output_tokens,
        "reasoning_effort": body.reasoning.effort,
        "verbosity": body.text.verbosity,
        "role": role,
        "attempt": attempt,
    }
    return body, admitted(asked, "input", context_tokens)


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
