"""Reads a chat-completions request, and refuses it as the public API does where it is malformed.

https://platform.openai.com/docs/api-reference/chat/create
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from aiq.offline.chat import ChatRequest
from aiq.offline.protocol.validation import ApiError, check, check_schema, not_among

CONTEXT_TOKENS = 131_072
"""The most tokens of a prompt, unless a setting says otherwise."""

BYTES_PER_TOKEN = 4
"""Tokens are estimated as UTF-8 bytes / 4, rounded up: near enough for English, and about right for Chinese."""

TOKENS_PER_MESSAGE = 4
"""What each message adds for its role and its borders."""


def read_chat(values: Mapping[str, Any], role: str, attempt: int, context_tokens: int = CONTEXT_TOKENS) -> ChatRequest:
    """The request of a body. Raises ApiError when it is malformed or too long for the context."""
    asked = check(values, "chat")
    _check_messages(asked["messages"])
    if asked.get("stream_options") and not asked.get("stream"):
        raise ApiError("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    for name in ("parallel_tool_calls", "tool_choice"):
        if name in asked and "tools" not in asked:
            raise _only_with_tools(name)
    if "max_tokens" in asked and "max_completion_tokens" in asked:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        raise ApiError(message, "max_tokens", "invalid_parameter_combination")
    request = ChatRequest.model_validate({**asked, "role": role, "attempt": attempt})
    return accepted(request, context_tokens, "messages", "tools[{}].function.parameters", "response_format")


def accepted(request: ChatRequest, context_tokens: int, messages: str, parameters: str, form: str) -> ChatRequest:
    """The request. The last arguments are the paths to its messages, to a tool's parameters and to the format's schema.

    Raises ApiError for a schema that is none, a choice of no tool, a format of JSON that no message mentions, and a
    prompt that is too long.
    """
    for number, tool in enumerate(request.tools):
        what, place = f"function '{tool.function.name}'", parameters.format(number)
        code = "invalid_function_parameters"
        check_schema(tool.function.parameters, what, place, code, strict=tool.function.strict is True)
    asked = request.response_format or {}
    if schema := asked.get("json_schema"):
        what, strict = f"response_format '{schema['name']}'", schema.get("strict", False)
        check_schema(schema.get("schema", {}), what, form, strict=strict)
    _check_tool_choice(request)
    if asked.get("type") == "json_object" and not any("json" in message.text.lower() for message in request.messages):
        wanted = "must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        raise ApiError(f"'{messages}' {wanted}", messages)
    count = prompt_tokens(request)
    if count > context_tokens:
        limit = f"This model's maximum context length is {context_tokens} tokens."
        remedy = f"However, your messages resulted in {count} tokens. Please reduce the length of the messages."
        raise ApiError(f"{limit} {remedy}", messages, "context_length_exceeded")
    return request


def _check_tool_choice(request: ChatRequest) -> None:
    choice, demanded = request.tool_choice, request.forced_tool
    if choice not in (None, "none", "auto") and not request.tools:
        raise _only_with_tools("tool_choice")
    if isinstance(choice, str) and choice not in ("none", "auto", "required"):
        raise not_among("tool_choice", choice, ["none", "auto", "required"])
    if demanded is not None and demanded not in request.tool_names:
        raise ApiError(f"Tool choice '{demanded}' not found in 'tools' parameter.", "tool_choice")


def _only_with_tools(param: str) -> ApiError:
    return ApiError(f"Invalid value for '{param}': '{param}' is only allowed when 'tools' are specified.", param)


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    """Each says something, and every tool call is answered right after the message that makes it; nothing else is."""
    made, waiting = list[str](), list[str]()
    for number, message in enumerate([*messages, {"content": ""}]):
        place, calls, answered = f"messages[{number}]", message.get("tool_calls"), message.get("tool_call_id")
        if not (calls or "content" in message or message.get("refusal")):
            raise ApiError("Invalid value for 'content': expected a string, got null.", f"{place}.content")
        if message.get("role") == "tool":
            if answered not in made:
                needs = "must be a response to a preceeding message with 'tool_calls'"
                raise ApiError(f"Invalid parameter: messages with role 'tool' {needs}.", f"{place}.role")
            waiting = [name for name in waiting if name != answered]
        elif waiting:
            needs = "must be followed by tool messages responding to each 'tool_call_id'"
            lack = f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            raise ApiError(f"An assistant message with 'tool_calls' {needs}. {lack}", f"{place}.role")
        else:
            made = waiting = [call["id"] for call in calls or ()]


def digest_of(values: Mapping[str, Any], role: str) -> str:
    """SHA-256 of role and canonical body, streamed or not: equal for equal requests, whatever the order of keys."""
    asked = {name: value for name, value in values.items() if name not in ("stream", "stream_options")}
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{role}\n{canonical}".encode()).hexdigest()


def tokens(*texts: str) -> int:
    """How many tokens texts are taken to have."""
    return sum(-(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN) for text in texts)


def prompt_tokens(request: ChatRequest) -> int:
    """How many tokens messages and tools are taken to have."""
    count = tokens(*(tool.model_dump_json(exclude_none=True) for tool in request.tools))
    for message in request.messages:
        made = (call.function.name + call.function.arguments for call in message.tool_calls)
        count += TOKENS_PER_MESSAGE + tokens("".join([message.text, *made]))
    return count
