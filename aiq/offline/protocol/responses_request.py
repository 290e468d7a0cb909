"""Reads a `/v1/responses` request as the chat request that the engine answers.

https://platform.openai.com/docs/api-reference/responses/create
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from aiq.offline.chat import ChatMessage, ChatRequest, FunctionCall, FunctionSpec, ToolCall, ToolSpec
from aiq.offline.protocol.chat_request import (
    EFFORTS,
    Limit,
    ModelBody,
    Name,
    StringOrObject,
    check_context,
    check_format,
    check_function,
    check_mentions_json,
    check_text_part,
    check_tool_choice,
)
from aiq.offline.protocol.errors import Anything, Body, either, invalid, missing, not_among, read_body, wrong_type

ROLES = ("assistant", "system", "developer", "user")
ITEMS = ("message", "function_call", "function_call_output", "reasoning")
NOT_TEXT = ("input_image", "input_file", "input_audio")


class ResponsesTool(Body):
    type: Literal["function"]
    name: Name
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    strict: bool | None = None


class TextBody(Body):
    format: dict[str, Any] = Field(default={"type": "text"})
    verbosity: Literal["low", "medium", "high"] = "medium"


class ReasoningBody(Body):
    """Taken as a wish; this model shows no reasoning, so that a summary of it is never there."""

    effort: EFFORTS | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Anything = None
    context: Anything = None
    mode: Anything = None


class ResponsesBody(ModelBody):
    """The request; the fields below `previous_response_id` have no effect here."""

    unknown = "Unknown parameter: '{}'."
    unsupported = (
        *("access_programs", "background", "background_options", "context_management", "conversation", "image"),
        *("moderation", "prompt", "top_logprobs"),
    )
    model: str
    input: Annotated[
        str | list[dict[str, Any]], either("one of a string or an array of input items", str, list), Field(min_length=1)
    ]
    instructions: str | None = None
    tools: Annotated[tuple[ResponsesTool, ...], Field(strict=False, max_length=128)] = ()
    tool_choice: Annotated[str | dict[str, Any], StringOrObject] = "auto"
    text: TextBody = TextBody()
    reasoning: ReasoningBody = ReasoningBody()
    max_output_tokens: Annotated[Limit, Field(ge=16)] = None
    previous_response_id: str | None = None
    truncation: Literal["auto", "disabled"] = "disabled"
    max_tool_calls: Limit = None
    include: Anything = None


def read_responses(
    values: Mapping[str, Any], role: str, attempt: int, context_tokens: int
) -> tuple[ResponsesBody, ChatRequest]:
    """The request as it was written, and for the engine. Raises ApiError 400 when it is malformed or too long."""
    body = read_body(ResponsesBody, values)
    if body.previous_response_id is not None:
        remedy = "this server stores no responses; send the whole conversation as 'input'"
        message = f"Previous response with id '{body.previous_response_id}' not found: {remedy}."
        raise invalid("previous_response_id", message, "previous_response_not_found")
    request = _chat_request(body).model_copy(update={"role": role, "attempt": attempt})
    for number, tool in enumerate(request.tools):
        check_function(tool.function, f"tools[{number}].parameters")
    if body.tools or body.tool_choice not in ("auto", "none"):
        check_tool_choice(body.tool_choice, request.tool_names, ("name",))
    check_format(body.text.format, body.text.format, "text.format")
    if body.text.format["type"] == "json_object":
        check_mentions_json(request, "input")
    check_context(request, "input", context_tokens)
    return body, request


def _chat_request(body: ResponsesBody) -> ChatRequest:
    form, choice = body.text.format, body.tool_choice
    if form.get("type") == "json_schema":
        form = {"type": "json_schema", "json_schema": {name: form[name] for name in form if name != "type"}}
    if isinstance(choice, dict):
        choice = {"type": "function", "function": {"name": choice.get("name")}}
    items = [{"role": "user", "content": body.input}] if isinstance(body.input, str) else body.input
    opening = [ChatMessage(role="developer", content=body.instructions)] if body.instructions else []
    return ChatRequest(
        model=body.model,
        messages=(*opening, *_messages(items)),
        tools=tuple(ToolSpec(function=FunctionSpec(**tool.model_dump(exclude={"type"}))) for tool in body.tools),
        tool_choice=choice,
        parallel_tool_calls=body.parallel_tool_calls,
        response_format=form,
        temperature=body.temperature,
        max_tokens=body.max_output_tokens,
        reasoning_effort=body.reasoning.effort,
        verbosity=body.text.verbosity,
    )


def _messages(items: Sequence[Mapping[str, Any]]) -> Iterator[ChatMessage]:
    """The items as messages: calls made together in one, each answered by its output, wherever that is in the list."""
    outputs = _outputs(items)
    calls: list[ToolCall] = []
    for number, item in enumerate(items):
        kind = _kind(item, f"input[{number}]")
        if kind == "function_call":
            calls.append(_call(item, f"input[{number}]"))
        elif kind == "message":
            yield from _answered(calls, outputs)
            calls = []
            yield _message(item, f"input[{number}]")
        elif kind == "function_call_output" and calls:
            yield from _answered(calls, outputs)
            calls = []
    yield from _answered(calls, outputs)
    if outputs:
        raise invalid("input", f"No tool call found for function call output with call_id {next(iter(outputs))}.", None)


def _outputs(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the tools returned, by the call's id."""
    found = {}
    for number, item in enumerate(items):
        if item.get("type") == "function_call_output":
            param = f"input[{number}]"
            found[_string(item, "call_id", param)] = _text(item.get("output"), f"{param}.output")
    return found


def _answered(calls: Sequence[ToolCall], outputs: dict[str, str]) -> Iterator[ChatMessage]:
    """The message that makes the calls, and those that answer them; their outputs are taken out."""
    if not calls:
        return
    yield ChatMessage(role="assistant", tool_calls=tuple(calls))
    for call in calls:
        if call.id not in outputs:
            raise invalid("input", f"No tool output found for function call {call.id}.", None)
        yield ChatMessage(role="tool", tool_call_id=call.id, content=outputs.pop(call.id))


def _kind(item: Mapping[str, Any], param: str) -> str:
    kind = item.get("type") or ("message" if "role" in item else None)
    if kind is None:
        raise missing(f"{param}.type")
    if kind == "item_reference":
        message = f"Item with id '{item.get('id')}' not found: this server stores no items; send the item itself."
        raise invalid(param, message, None)
    if kind not in ITEMS:
        raise not_among(f"{param}.type", kind, ITEMS)
    return str(kind)


def _message(item: Mapping[str, Any], param: str) -> ChatMessage:
    role = _string(item, "role", param)
    if role not in ROLES:
        raise not_among(f"{param}.role", role, ROLES)
    return ChatMessage(role=role, content=_text(item.get("content"), f"{param}.content"))


def _call(item: Mapping[str, Any], param: str) -> ToolCall:
    name, arguments = _string(item, "name", param), _string(item, "arguments", param)
    return ToolCall(id=_string(item, "call_id", param), function=FunctionCall(name=name, arguments=arguments))


def _text(content: Any, param: str) -> str:
    """Content as text: a string, or its text parts joined by newlines."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise wrong_type(param, "one of a string or an array of content parts", content)
    for number, part in enumerate(content):
        check_text_part(part, f"{param}[{number}]", ("input_text", "output_text", "refusal"), NOT_TEXT)
    return "\n".join(part["refusal" if part["type"] == "refusal" else "text"] for part in content)


def _string(item: Mapping[str, Any], name: str, param: str) -> str:
    value = item.get(name)
    if value is None:
        raise missing(f"{param}.{name}")
    if not isinstance(value, str):
        raise wrong_type(f"{param}.{name}", "a string", value)
    return value
