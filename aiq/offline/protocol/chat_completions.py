"""`/v1/chat/completions`: reads a request, rejects a malformed one as the public API does, and writes the reply as a
completion, whole or streamed.

https://platform.openai.com/docs/api-reference/chat/create
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aiq.core.seeds import derive
from aiq.offline.chat import ChatReply, ChatRequest, FunctionCall, ToolCall
from aiq.offline.protocol.validation import ApiError, check, check_schema, not_among

CONTEXT_TOKENS = 131_072
"""The maximum number of tokens in a prompt, unless a setting says otherwise."""

BYTES_PER_TOKEN = 4
"""Tokens are estimated as UTF-8 bytes / 4, rounded up: close enough for English, and about right for Chinese."""

TOKENS_PER_MESSAGE = 4
"""What each message adds for its role and delimiters."""

CREATED = 1_793_491_200
"""`created` of every reply (2026-11-01T00:00:00Z, the closed world's day), so that equal requests get equal replies."""

PIECE_CHARS = 24
"""The number of characters in a streamed event."""


def read_chat(values: Mapping[str, Any], role: str, attempt: int, context_tokens: int = CONTEXT_TOKENS) -> ChatRequest:
    """Read the request from a body. Raises ApiError if it is malformed or too long for the context."""
    fields = check(values, "chat")
    _check_messages(fields["messages"])
    if fields.get("stream_options") and not fields.get("stream"):
        raise ApiError("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    for name in ("parallel_tool_calls", "tool_choice"):
        if name in fields and "tools" not in fields:
            raise _only_with_tools(name)
    if "max_tokens" in fields and "max_completion_tokens" in fields:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        raise ApiError(message, "max_tokens", "invalid_parameter_combination")
    request = ChatRequest.model_validate({**fields, "role": role, "attempt": attempt})
    return accepted(request, context_tokens, "messages", "tools[{}].function.parameters", "response_format")


def accepted(request: ChatRequest, context_tokens: int, messages: str, parameters: str, form: str) -> ChatRequest:
    """The checked request. The last arguments are the paths of its messages, a tool's parameters and the format schema.

    Raises ApiError for an invalid schema, a choice of a tool that is not offered, JSON output that no message mentions,
    and a prompt that is too long.
    """
    for number, tool in enumerate(request.tools):
        owner, path = f"function '{tool.function.name}'", parameters.format(number)
        code = "invalid_function_parameters"
        check_schema(tool.function.parameters, owner, path, code, strict=tool.function.strict is True)
    spec = request.response_format or {}
    if schema := spec.get("json_schema"):
        owner, strict = f"response_format '{schema['name']}'", schema.get("strict", False)
        check_schema(schema.get("schema", {}), owner, form, strict=strict)
    _check_tool_choice(request)
    if spec.get("type") == "json_object" and not any("json" in message.text.lower() for message in request.messages):
        rule = "must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        raise ApiError(f"'{messages}' {rule}", messages)
    count = prompt_tokens(request)
    if count > context_tokens:
        limit = f"This model's maximum context length is {context_tokens} tokens."
        remedy = f"However, your messages resulted in {count} tokens. Please reduce the length of the messages."
        raise ApiError(f"{limit} {remedy}", messages, "context_length_exceeded")
    return request


def _check_tool_choice(request: ChatRequest) -> None:
    choice, forced = request.tool_choice, request.forced_tool
    if choice not in (None, "none", "auto") and not request.tools:
        raise _only_with_tools("tool_choice")
    if isinstance(choice, str) and choice not in ("none", "auto", "required"):
        raise not_among("tool_choice", choice, ["none", "auto", "required"])
    if forced is not None and forced not in request.tool_names:
        raise ApiError(f"Tool choice '{forced}' not found in 'tools' parameter.", "tool_choice")


def _only_with_tools(param: str) -> ApiError:
    return ApiError(f"Invalid value for '{param}': '{param}' is only allowed when 'tools' are specified.", param)


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check that no message is empty and that each tool call, and nothing else, is answered right after its message."""
    call_ids, unanswered = list[str](), list[str]()
    for number, message in enumerate([*messages, {"content": ""}]):
        path, calls, answered_id = f"messages[{number}]", message.get("tool_calls"), message.get("tool_call_id")
        if not (calls or "content" in message or message.get("refusal")):
            raise ApiError("Invalid value for 'content': expected a string, got null.", f"{path}.content")
        if message.get("role") == "tool":
            if answered_id not in call_ids:
                rule = "must be a response to a preceeding message with 'tool_calls'"
                raise ApiError(f"Invalid parameter: messages with role 'tool' {rule}.", f"{path}.role")
            unanswered = [call_id for call_id in unanswered if call_id != answered_id]
        elif unanswered:
            rule = "must be followed by tool messages responding to each 'tool_call_id'"
            detail = f"The following tool_call_ids did not have response messages: {', '.join(unanswered)}"
            raise ApiError(f"An assistant message with 'tool_calls' {rule}. {detail}", f"{path}.role")
        else:
            call_ids = unanswered = [call["id"] for call in calls or ()]


def digest_of(values: Mapping[str, Any], role: str) -> str:
    """SHA-256 of role and canonical body: equal for equal requests, whatever their key order and whether streamed."""
    fields = {name: value for name, value in values.items() if name not in ("stream", "stream_options")}
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{role}\n{canonical}".encode()).hexdigest()


def tokens(*texts: str) -> int:
    """Estimate how many tokens the texts have."""
    return sum(-(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN) for text in texts)


def prompt_tokens(request: ChatRequest) -> int:
    """Estimate how many tokens the messages and tools have."""
    count = tokens(*(tool.model_dump_json(exclude_none=True) for tool in request.tools))
    for message in request.messages:
        calls = (call.function.name + call.function.arguments for call in message.tool_calls)
        count += TOKENS_PER_MESSAGE + tokens("".join([message.text, *calls]))
    return count


# replies


def completion(request: ChatRequest, replies: Sequence[ChatReply], digest: str) -> dict[str, Any]:
    """The chat completion object, one choice per reply, each cut at `stop` and at the token limit; with usage."""
    choices, reply_count, prompt_count = [], 0, prompt_tokens(request)
    for index, reply in enumerate(replies):
        answer, reason = finished(request, reply, choice_digest(digest, index))
        reply_count += reply_tokens(answer)
        choices.append({"index": index, "message": _message(answer), "logprobs": None, "finish_reason": reason})
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt_count,
            "completion_tokens": reply_count,
            "total_tokens": prompt_count + reply_count,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "system_fingerprint": "aiq-offline",
    }


def choice_digest(digest: str, index: int) -> str:
    """The seed for the ids and faults of a choice; for the first choice it is the digest of the request."""
    return f"{digest}/{index}" if index else digest


def finished(request: ChatRequest, reply: ChatReply, digest: str) -> tuple[ChatReply, str]:
    """The reply as limited by `parallel_tool_calls`, `stop` and the token limit, and its finish reason.

    Calls without an id get one derived from the digest.
    """
    text, raw = reply.text, reply.tool_calls if request.parallel_tool_calls else reply.tool_calls[:1]
    ends = [text.find(stop) for stop in request.stop if stop and stop in text]
    if ends:
        text, raw = text[: min(ends)], ()
    calls = [ToolCall(id=c.id or f"call_{derive(digest, i):08x}", function=c.function) for i, c in enumerate(raw)]
    whole = ChatReply(text=text, tool_calls=tuple(calls), refusal=reply.refusal)
    if request.token_limit is not None and reply_tokens(whole) > request.token_limit:
        return _truncate(whole, request.token_limit), "length"
    return whole, "tool_calls" if calls else "stop"


def reply_tokens(reply: ChatReply) -> int:
    """Estimate how many tokens a reply has."""
    texts = (text for call in reply.tool_calls for text in (call.function.name, call.function.arguments))
    return tokens(reply.text, reply.refusal or "", *texts)


def _truncate(reply: ChatReply, budget: int) -> ChatReply:
    """The first `budget` tokens of a reply; the first call that does not fit is cut, and those after it are dropped."""

    def take(text: str) -> str:
        nonlocal budget
        part = text.encode("utf-8", "replace")[: budget * BYTES_PER_TOKEN].decode("utf-8", "ignore")
        budget -= tokens(part)
        return part

    refusal = None if reply.refusal is None else take(reply.refusal)
    text, calls = take(reply.text), []
    for call in reply.tool_calls:
        name = take(call.function.name)
        if budget > 0:
            function = FunctionCall(name=name, arguments=take(call.function.arguments))
            calls.append(ToolCall(id=call.id, function=function))
    return ChatReply(text=text, tool_calls=tuple(calls), refusal=refusal)


def _message(reply: ChatReply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.refusal is not None or (reply.tool_calls and not reply.text):
        message["content"] = None
    return message | ({"tool_calls": [call.model_dump() for call in reply.tool_calls]} if reply.tool_calls else {})


def stream_completion(answer: Mapping[str, Any], *, usage: bool) -> str:
    """The completion as server-sent events: role, content and tool-call deltas, finish reason, usage if requested."""
    head = {**answer, "object": "chat.completion.chunk"}
    totals = {"usage": head.pop("usage")} if usage else {}
    events = []
    for choice in answer["choices"]:
        for delta, reason in _deltas(choice):
            part = {"index": choice["index"], "delta": delta, "logprobs": None, "finish_reason": reason}
            events.append({**head, **dict.fromkeys(totals), "choices": [part]})
    if usage:
        events.append({**head, **totals, "choices": []})
    return "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events) + "data: [DONE]\n\n"


def _deltas(choice: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The delta of each event, with the finish reason in the last."""
    message = choice["message"]
    yield {"role": "assistant", "content": "", "refusal": None}, None
    for part in ("content", "refusal"):
        for piece in pieces(message[part] or ""):
            yield {part: piece}, None
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        yield {"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]}, None
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
    yield {}, choice["finish_reason"]


def pieces(text: str) -> list[str]:
    """The text in the pieces it is streamed in."""
    return [text[i : i + PIECE_CHARS] for i in range(0, len(text), PIECE_CHARS)]
