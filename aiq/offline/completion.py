"""The chat-completions protocol on the way out: a program's reply as a completion, whole or streamed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from aiq.offline.chat import ChatMessage, ChatReply, ChatRequest, FunctionCall, ToolCall

CREATED = 1_793_491_200
"""Every reply's `created` (2026-11-01T00:00:00Z, the closed world's day), so that equal requests have equal replies."""

BYTES_PER_TOKEN = 4
"""Tokens are estimated as UTF-8 bytes / 4, rounded up: near enough for English, and about right for Chinese."""

TOKENS_PER_MESSAGE = 4
"""What each message adds for its role and its borders."""


def tokens(text: str) -> int:
    """How many tokens a text is taken to have."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def _prompt_tokens(request: ChatRequest) -> int:
    count = sum(TOKENS_PER_MESSAGE + tokens(_written(message)) for message in request.messages)
    return count + sum(tokens(tool.model_dump_json()) for tool in request.tools)


def _written(message: ChatMessage) -> str:
    return message.text + "".join(call.function.name + call.function.arguments for call in message.tool_calls)


def completion(request: ChatRequest, reply: ChatReply, digest: str, *, refused: bool = False) -> dict[str, Any]:
    """The chat completion object of a reply: numbered calls, cut to the token limit, with usage.

    `refused`: the text says why there is no answer in the asked format.
    """
    text, finish = reply.text, "tool_calls" if reply.tool_calls else "stop"
    calls = reply.tool_calls if request.parallel_tool_calls else reply.tool_calls[:1]
    limit = request.max_completion_tokens or request.max_tokens
    if limit is not None and tokens(text) > limit:
        text, finish, calls = _cut(text, limit), "length", ()
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if refused:
        message |= {"content": None, "refusal": text}
    if calls:
        message |= {"content": text or None, "tool_calls": [_call(call, digest, i) for i, call in enumerate(calls)]}
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": _usage(_prompt_tokens(request), tokens(text) + sum(tokens(c.model_dump_json()) for c in calls)),
        "system_fingerprint": "aiq-offline",
    }


def _cut(text: str, limit: int) -> str:
    return text.encode()[: limit * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def _call(call: ToolCall, digest: str, index: int) -> dict[str, Any]:
    function: FunctionCall = call.function
    name = call.id or "call_" + hashlib.sha256(f"{digest}\n{index}".encode()).hexdigest()[:24]
    return {"id": name, "type": "function", "function": {"name": function.name, "arguments": function.arguments}}


def _usage(prompt: int, completion_tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def stream_events(answer: Mapping[str, Any], *, usage: bool) -> list[str]:
    """The completion as server-sent events: role, content and tool-call deltas, finish, usage when asked for."""
    head = {name: answer[name] for name in ("id", "created", "model", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"
    choice = answer["choices"][0]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    for part in ("content", "refusal"):
        deltas += [{part: piece} for piece in _pieces(choice["message"][part] or "")]
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]})
        for piece in _pieces(call["function"]["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    unknown = {"usage": None} if usage else {}
    steps = [(delta, None) for delta in deltas] + [({}, choice["finish_reason"])]
    events = [
        {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], **unknown}
        for delta, finish in steps
    ]
    if usage:
        events.append({**head, "choices": [], "usage": answer["usage"]})
    return [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events] + ["data: [DONE]\n\n"]


def _pieces(text: str, size: int = 24) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]
