"""Reads a chat-completions request, and refuses it as the public API does where it is malformed.

https://platform.openai.com/docs/api-reference/chat/create
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from aiq.offline.chat import ChatMessage, ChatRequest, FunctionSpec, ToolCall, ToolSpec
from aiq.offline.protocol.errors import Anything, Body, either, invalid, missing, not_among, read_body, wrong_type
from aiq.offline.protocol.schemas import check_schema

CONTEXT_TOKENS = 131_072
"""The most tokens of a prompt, unless a setting says otherwise."""

BYTES_PER_TOKEN = 4
"""Tokens are estimated as UTF-8 bytes / 4, rounded up: near enough for English, and about right for Chinese."""

TOKENS_PER_MESSAGE = 4
"""What each message adds for its role and its borders."""

TOOL_CHOICES = ("none", "auto", "required")
FORMATS = ("text", "json_object", "json_schema")
NOT_TEXT = ("image_url", "input_audio", "file")
EFFORTS = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=64)]
Limit = Annotated[int | None, Field(ge=1)]
Penalty = Annotated[float, Field(ge=-2.0, le=2.0)]
StringOrObject = either("one of a string or an object", str, dict)


class ToolCallBody(ToolCall, Body):
    model_config = ConfigDict(extra="ignore")  # clients send back what streams add, such as `index`

    id: str


class MessageBody(ChatMessage, Body):
    """A message of the request; what the engine does not read is accepted and dropped."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[
        str | list[dict[str, Any]] | None, either("one of a string or an array of objects", str, list)
    ] = None
    tool_calls: Annotated[tuple[ToolCallBody, ...], Field(strict=False, min_length=1)] = ()
    name: str | None = None
    refusal: str | None = None
    annotations: Anything = None
    audio: Anything = None
    function_call: Anything = None


class FunctionBody(FunctionSpec, Body):
    name: Name


class ToolBody(ToolSpec, Body):
    function: FunctionBody


class ModelBody(Body):
    """What requests of both endpoints may have; what stands below `stream_options` has no effect here."""

    tool_choice: Annotated[str | dict[str, Any] | None, StringOrObject] = None
    parallel_tool_calls: bool = True
    temperature: Annotated[float | None, Field(ge=0.0, le=2.0)] = None
    top_p: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority", "fast"] | None = None
    store: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: Anything = None
    prompt_cache_retention: Anything = None


class ChatBody(ModelBody, ChatRequest):
    """The request's fields with their ranges; those below `verbosity` have no effect here."""

    model_config = ModelBody.model_config  # not that of ChatRequest, which lets unknown fields pass
    unsupported = (
        *("audio", "functions", "function_call", "logprobs", "moderation", "top_logprobs", "web_search_options"),
    )
    messages: Annotated[tuple[MessageBody, ...], Field(strict=False, min_length=1)]
    tools: Annotated[tuple[ToolBody, ...], Field(strict=False, min_length=1, max_length=128)] = ()
    seed: Annotated[int | None, Field(ge=-(2**63), le=2**63 - 1)] = None
    n: Annotated[int, Field(ge=1, le=128)] = 1
    presence_penalty: Penalty = 0.0
    frequency_penalty: Penalty = 0.0
    stop: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
        either("one of a string or an array of strings", str, list),
        Field(strict=False, max_length=4),
    ] = ()
    max_tokens: Limit = None
    max_completion_tokens: Limit = None
    reasoning_effort: EFFORTS | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    modalities: list[Literal["text"]] = Field(default=["text"], min_length=1)
    logit_bias: dict[str, Annotated[float, Field(ge=-100.0, le=100.0)]] = Field(default_factory=dict)
    prediction: dict[str, Any] | None = None


def read_chat(values: Mapping[str, Any], role: str, attempt: int, context_tokens: int = CONTEXT_TOKENS) -> ChatBody:
    """The request of a body's object. Raises ApiError 400 when it is malformed or too long for the context."""
    for name in filter(values.__contains__, ("role", "attempt")):  # of the request, but from headers
        raise invalid(name, ChatBody.unknown.format(name), "unknown_parameter")
    body = read_body(ChatBody, values)
    for number, message in enumerate(body.messages):
        _check_message(message, f"messages[{number}]")
    _check_tool_messages(body.messages)
    for number, tool in enumerate(body.tools):
        check_function(tool.function, f"tools[{number}].function.parameters")
    check_tool_choice(body.tool_choice, body.tool_names, ("function", "name"))
    _check_format(body)
    _check_options(values, body)
    check_context(body, "messages", context_tokens)
    return body.model_copy(update={"role": role, "attempt": attempt})


def digest_of(values: Mapping[str, Any], role: str) -> str:
    """SHA-256 of role and canonical body, streamed or not: equal for equal requests, whatever the order of keys."""
    asked = {name: value for name, value in values.items() if name not in ("stream", "stream_options")}
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{role}\n{canonical}".encode()).hexdigest()


def tokens(text: str) -> int:
    """How many tokens a text is taken to have."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def prompt_tokens(request: ChatRequest) -> int:
    """How many tokens messages and tools are taken to have."""
    count = sum(TOKENS_PER_MESSAGE + tokens("".join(_written(message))) for message in request.messages)
    return count + sum(tokens(tool.model_dump_json(exclude_none=True)) for tool in request.tools)


def _written(message: ChatMessage) -> Iterator[str]:
    yield message.text
    for call in message.tool_calls:
        yield call.function.name + call.function.arguments


def check_context(request: ChatRequest, param: str, limit: int) -> None:
    """Raises ApiError 400 `context_length_exceeded` when the prompt has more tokens than `limit`."""
    count = prompt_tokens(request)
    if count > limit:
        message = (
            f"This model's maximum context length is {limit} tokens. However, your messages resulted in {count} tokens."
        )
        raise invalid(param, f"{message} Please reduce the length of the messages.", "context_length_exceeded")


def check_text_part(part: Mapping[str, Any], param: str, kinds: Sequence[str], others: Sequence[str]) -> None:
    """Raises ApiError 400 for a content part that is no text; `kinds` are text, `others` what other models read."""
    kind = part.get("type")
    if kind is None:
        raise missing(f"{param}.type")
    if kind in others:
        message = f"Invalid content type. {kind} is only supported by certain models; this one reads text only."
        raise invalid(f"{param}.type", message)
    if kind not in kinds:
        raise not_among(f"{param}.type", kind, (*kinds, *others))
    if not isinstance(part.get(text := "refusal" if kind == "refusal" else "text"), str):
        raise wrong_type(f"{param}.{text}", "a string", part.get(text))


def _check_message(message: MessageBody, param: str) -> None:
    if message.content is None and not (message.role == "assistant" and (message.tool_calls or message.refusal)):
        raise invalid(f"{param}.content", "Invalid value for 'content': expected a string, got null.", None)
    if isinstance(message.content, list):
        for number, part in enumerate(message.content):
            check_text_part(part, f"{param}.content[{number}]", ("text", "refusal"), NOT_TEXT)
    if message.role == "tool" and message.tool_call_id is None:
        name = f"{param}.tool_call_id"
        raise missing(name)


def _check_tool_messages(messages: Sequence[ChatMessage]) -> None:
    """Every tool call is answered right after the message that makes it, and nothing else is."""
    waiting: list[str] = []
    known: set[str] = set()
    for number, message in enumerate([*messages, ChatMessage(role="end")]):
        param = f"messages[{number}].role"
        if message.role == "tool":
            if message.tool_call_id not in known:
                needs = "must be a response to a preceeding message with 'tool_calls'"
                raise invalid(param, f"Invalid parameter: messages with role 'tool' {needs}.", None)
            waiting = [name for name in waiting if name != message.tool_call_id]
            continue
        if waiting:
            needs = "must be followed by tool messages responding to each 'tool_call_id'"
            lack = f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            raise invalid(param, f"An assistant message with 'tool_calls' {needs}. {lack}", None)
        waiting = [call.id for call in message.tool_calls]
        known = set(waiting)


def check_function(function: FunctionSpec, param: str) -> None:
    """Raises ApiError 400 where a tool's parameters are no schema that the public API takes."""
    code = "invalid_function_parameters"
    check_schema(function.parameters, f"function '{function.name}'", param, code, strict=bool(function.strict))


def check_tool_choice(choice: str | dict[str, Any] | None, names: Sequence[str], path: Sequence[str]) -> None:
    """Raises ApiError 400 for a choice that the tools do not allow; `path` leads to the name of a forced one."""
    if choice is None:
        return
    if not names and choice != "none":
        message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise invalid("tool_choice", message, None)
    if isinstance(choice, str):
        if choice not in TOOL_CHOICES:
            raise not_among("tool_choice", choice, TOOL_CHOICES)
        return
    if choice.get("type") != "function":
        raise not_among("tool_choice.type", choice.get("type"), ("function",))
    name: Any = choice
    for part in path:
        name = name.get(part) if isinstance(name, dict) else None
    if not isinstance(name, str):
        param = ".".join(("tool_choice", *path))
        raise missing(param)
    if name not in names:
        raise invalid("tool_choice", f"Tool choice '{name}' not found in 'tools' parameter.", None)


def check_format(form: Mapping[str, Any], schema: Any, param: str) -> None:
    """Raises ApiError 400 where a format is unknown, or `schema`, the object of its name and schema, malformed."""
    kind = form.get("type")
    if kind not in FORMATS:
        raise not_among(f"{param}.type", kind, FORMATS)
    if kind != "json_schema":
        return
    inner = param if schema is form else f"{param}.json_schema"
    if not isinstance(schema, dict):
        raise missing(inner)
    for name in ("name", "schema") if schema is form or schema.get("strict") else ("name",):
        if name not in schema:
            raise missing(f"{inner}.{name}")
    content = schema.get("schema", {})
    if not isinstance(content, dict):
        raise wrong_type(f"{inner}.schema", "an object", content)
    what = f"response_format '{schema['name']}'"
    check_schema(content, what, param, None, strict=schema.get("strict") is True)


def check_mentions_json(request: ChatRequest, where: str) -> None:
    """Raises ApiError 400 where JSON is asked for by format and in no message, as the public API insists."""
    if not any("json" in message.text.lower() for message in request.messages):
        wanted = "must contain the word 'json' in some form, to use"
        raise invalid(where, f"'{where}' {wanted} 'response_format' of type 'json_object'.", None)


def _check_format(body: ChatBody) -> None:
    form = body.response_format
    if form is None:
        return
    check_format(form, form.get("json_schema"), "response_format")
    if form["type"] == "json_object":
        check_mentions_json(body, "messages")


def _check_options(values: Mapping[str, Any], body: ChatBody) -> None:
    """What two fields may not be at once."""
    if values.get("stream_options") is not None and not body.stream:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise invalid("stream_options", message, None)
    if values.get("parallel_tool_calls") is not None and not body.tools:
        message = "'parallel_tool_calls' is only allowed when 'tools' are specified."
        raise invalid("parallel_tool_calls", f"Invalid value for 'parallel_tool_calls': {message}", None)
    if body.max_tokens is not None and body.max_completion_tokens is not None:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        raise invalid("max_tokens", message, "invalid_parameter_combination")
