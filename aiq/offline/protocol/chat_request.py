"""Reads a chat-completions request, and refuses it as the public API does where it is malformed.

https://platform.openai.com/docs/api-reference/chat/create
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from aiq.offline.chat import ChatRequest, ToolCall
from aiq.offline.protocol.errors import ApiError, Body, check_schema, missing, not_among, read_body, wrong_type

CONTEXT_TOKENS = 131_072
"""The most tokens of a prompt, unless a setting says otherwise."""

BYTES_PER_TOKEN = 4
"""Tokens are estimated as UTF-8 bytes / 4, rounded up: near enough for English, and about right for Chinese."""

TOKENS_PER_MESSAGE = 4
"""What each message adds for its role and its borders."""

TOOL_CHOICES = ("none", "auto", "required")

Limit = Annotated[int | None, Field(ge=1)]
Format = Literal["text", "json_object", "json_schema"]
_Penalty = Annotated[float, Field(ge=-2.0, le=2.0)]


def one_or_more(items: str, item: Callable[[str], Any]) -> BeforeValidator:
    """For a field that is a string or an array of `items`: a list, to which a string adds itself as `item` has it."""

    def listed(value: Any) -> list[Any]:
        if not isinstance(value, str | list):
            raise wrong_type("", f"one of a string or an array of {items}", value)
        return [item(value)] if isinstance(value, str) else value

    return BeforeValidator(listed)


def content_of(kinds: Sequence[str], others: Sequence[str]) -> BeforeValidator:
    """For content: one text of a string, or of parts of `kinds`. Parts of `others` are what only some models read."""

    def text(content: Any) -> str:
        if isinstance(content, str):
            return content
        if not isinstance(content, list):
            raise wrong_type("", "one of a string or an array of objects", content)
        return "\n".join(part_text(part, f"[{number}]") for number, part in enumerate(content))

    def part_text(part: Any, param: str) -> str:
        if not isinstance(part, dict):
            raise wrong_type(param, "an object", part)
        kind = part.get("type")
        if kind is None:
            raise missing(f"{param}.type")
        if kind in others:
            message = f"Invalid content type. {kind} is only supported by certain models; this one reads text only."
            raise ApiError(message, f"{param}.type", "invalid_value")
        if kind not in kinds:
            raise not_among(f"{param}.type", kind, (*kinds, *others))
        value = part.get(name := "refusal" if kind == "refusal" else "text")
        if not isinstance(value, str):
            raise wrong_type(f"{param}.{name}", "a string", value)
        return value

    return BeforeValidator(text)


class _MadeCall(ToolCall):
    id: str


class MessageBody(Body):
    # the last five are what proxies and clients add to the messages that they send back
    ignored = (
        *("name", "annotations", "audio", "function_call"),
        *("provider_specific_fields", "reasoning_content", "thinking_blocks", "images", "parsed"),
    )
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str | None, content_of(("text", "refusal"), ("image_url", "input_audio", "file"))] = None
    tool_calls: list[_MadeCall] = Field(default=[], min_length=1)
    tool_call_id: str | None = None
    refusal: str | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.content is None and not (self.role == "assistant" and (self.tool_calls or self.refusal)):
            raise ApiError("Invalid value for 'content': expected a string, got null.", "content")
        if self.role == "tool" and self.tool_call_id is None:
            raise missing("tool_call_id")
        return self


class FunctionKind(Body):
    type: Literal["function"] = "function"


class FunctionBody(Body):
    name: str = Field(pattern="^[a-zA-Z0-9_-]+$", max_length=64)
    description: str = ""
    parameters: dict[str, Any] = Field(default={})
    strict: bool = False

    @model_validator(mode="after")
    def _has_a_schema(self) -> Self:
        what, code = f"function '{self.name}'", "invalid_function_parameters"
        check_schema(self.parameters, what, "parameters", code, strict=self.strict)
        return self


class ToolBody(FunctionKind):
    function: FunctionBody


class SchemaBody(Body):
    name: str
    content: dict[str, Any] = Field(default={}, alias="schema")
    description: str = ""
    strict: bool = False


class FormatBody(Body):
    """`response_format`."""

    type: Format
    json_schema: SchemaBody | None = None

    @model_validator(mode="after")
    def _has_a_schema(self) -> Self:
        asked = self.json_schema
        if self.type == "json_schema":
            if asked is None:
                raise missing("json_schema")
            check_schema(asked.content, f"response_format '{asked.name}'", "", None, strict=asked.strict)
        return self


class ModelBody(Body):
    """What requests of both endpoints may have."""

    ignored: ClassVar[Sequence[str]] = (
        *("service_tier", "store", "user", "safety_identifier"),
        *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
    )
    model: str
    tool_choice: Any = None
    parallel_tool_calls: bool = True
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    top_p: float | None = Field(default=None, ge=0.0, le=1.0)
    metadata: dict[str, str] | None = None


class ChatBody(ModelBody):
    """The request's fields with their ranges."""

    unsupported = (
        *("audio", "functions", "function_call", "logprobs", "moderation", "top_logprobs", "web_search_options"),
    )
    ignored = (*ModelBody.ignored, "prediction")
    messages: list[MessageBody] = Field(min_length=1)
    tools: list[ToolBody] = Field(default=[], min_length=1, max_length=128)
    response_format: FormatBody | None = None
    n: int = Field(default=1, ge=1, le=128)
    stop: Annotated[list[str], one_or_more("strings", str)] = Field(default=[], max_length=4)
    max_tokens: Limit = None
    max_completion_tokens: Limit = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    seed: int | None = Field(default=None, ge=-(2**63), le=2**63 - 1)
    presence_penalty: _Penalty = 0.0
    frequency_penalty: _Penalty = 0.0
    modalities: list[Literal["text"]] = Field(default=["text"], min_length=1)
    logit_bias: dict[str, Annotated[float, Field(ge=-100.0, le=100.0)]] = Field(default={})

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        _check_tool_messages(self.messages)
        names = [tool.function.name for tool in self.tools]
        check_tool_choice(self.tool_choice, names, ("function", "name"))
        if self.stream_options and not self.stream:
            raise ApiError("The '{param}' parameter is only allowed when 'stream' is enabled.", "stream_options")
        if "parallel_tool_calls" in self.model_fields_set and not names:
            message = "Invalid value for '{param}': '{param}' is only allowed when 'tools' are specified."
            raise ApiError(message, "parallel_tool_calls")
        if self.max_tokens is not None and self.max_completion_tokens is not None:
            message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
            raise ApiError(message, "max_tokens", "invalid_parameter_combination")
        return self


def read_chat(values: Mapping[str, Any], role: str, attempt: int, context_tokens: int = CONTEXT_TOKENS) -> ChatRequest:
    """The request of a body's object. Raises ApiError 400 when it is malformed or too long for the context."""
    asked = read_body(ChatBody, values).model_dump(by_alias=True, exclude_unset=True)
    return admitted(asked | {"role": role, "attempt": attempt}, "messages", context_tokens)


def admitted(asked: Mapping[str, Any], param: str, context_tokens: int) -> ChatRequest:
    """The request for the engine; `param` is where its messages come from.

    Raises ApiError 400 where it is too long, or no message mentions the JSON that its format asks for.
    """
    request = ChatRequest.model_validate(asked)
    free = (request.response_format or {}).get("type") == "json_object"
    if free and not any("json" in message.text.lower() for message in request.messages):
        wanted = "must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        raise ApiError(f"'{{param}}' {wanted}", param)
    count = prompt_tokens(request)
    if count > context_tokens:
        limit = f"This model's maximum context length is {context_tokens} tokens."
        remedy = f"However, your messages resulted in {count} tokens. Please reduce the length of the messages."
        raise ApiError(f"{limit} {remedy}", param, "context_length_exceeded")
    return request


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
    texts = [tool.model_dump_json(exclude_none=True) for tool in request.tools]
    for message in request.messages:
        made = (call.function.name + call.function.arguments for call in message.tool_calls)
        texts.append("".join([message.text, *made]))
    return TOKENS_PER_MESSAGE * len(request.messages) + sum(map(tokens, texts))


def check_tool_choice(choice: Any, names: Collection[str], path: Sequence[str]) -> None:
    """Raises ApiError 400 for a choice that tools of these names do not allow; `path` leads to a forced one's name."""
    if choice is None or choice == "none":
        return
    if not isinstance(choice, str | dict):
        raise wrong_type("tool_choice", "one of a string or an object", choice)
    if not names:
        message = "Invalid value for '{param}': '{param}' is only allowed when 'tools' are specified."
        raise ApiError(message, "tool_choice")
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
        raise missing(".".join(("tool_choice", *path)))
    if name not in names:
        raise ApiError(f"Tool choice '{name}' not found in 'tools' parameter.", "tool_choice")


def _check_tool_messages(messages: Sequence[MessageBody]) -> None:
    """Every tool call is answered right after the message that makes it, and nothing else is."""
    made, waiting = set[str](), list[str]()
    for number, message in enumerate([*messages, None]):
        param = f"messages[{number}].role"
        if message and message.role == "tool":
            if message.tool_call_id not in made:
                needs = "must be a response to a preceeding message with 'tool_calls'"
                raise ApiError(f"Invalid parameter: messages with role 'tool' {needs}.", param)
            waiting = [name for name in waiting if name != message.tool_call_id]
        elif waiting:
            needs = "must be followed by tool messages responding to each 'tool_call_id'"
            lack = f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            raise ApiError(f"An assistant message with 'tool_calls' {needs}. {lack}", param)
        elif message:
            waiting = [call.id for call in message.tool_calls]
            made = set(waiting)
