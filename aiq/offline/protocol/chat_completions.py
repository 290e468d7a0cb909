"""`/v1/chat/completions` on the way out: replies as a completion, whole or streamed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from aiq.offline.chat import ChatReply, ChatRequest, FunctionCall, ToolCall
from aiq.offline.protocol.chat_request import BYTES_PER_TOKEN, prompt_tokens, tokens

CREATED = 1_793_491_200
"""Every reply's `created` (2026-11-01T00:00:00Z, the closed world's day), so that equal requests have equal replies."""

PIECE_CHARS = 24
"""How much text a streamed event carries."""


def completion(request: ChatRequest, replies: Sequence[ChatReply], digest: str) -> dict[str, Any]:
    """The chat completion object of the replies, one a choice: cut to `stop` and token limit, with usage."""
    ended = [end(request, reply) for reply in replies]
    spent = sum(reply_tokens(reply) for reply, _ in ended)
    prompt = prompt_tokens(request)
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "choices": [
            {
                "index": i,
                "message": _message(reply, choice_digest(digest, i)),
                "logprobs": None,
                "finish_reason": why,
            }
            for i, (reply, why) in enumerate(ended)
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": spent,
            "total_tokens": prompt + spent,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "system_fingerprint": "aiq-offline",
    }


def choice_digest(digest: str, index: int) -> str:
    """What ids and faults of a choice are drawn from; the first one's are those of the request."""
    return f"{digest}/{index}" if index else digest


def end(request: ChatRequest, reply: ChatReply) -> tuple[ChatReply, str]:
    """The reply as far as `parallel_tool_calls`, `stop` and the token limit let it go, and its finish reason."""
    calls = reply.tool_calls if request.parallel_tool_calls else reply.tool_calls[:1]
    text, reason = reply.text, "tool_calls" if calls else "stop"
    ends = [text.find(stop) for stop in request.stop if stop and stop in text]
    if ends:
        text, calls, reason = text[: min(ends)], (), "stop"
    whole = ChatReply(text=text, tool_calls=calls, refusal=reply.refusal)
    if request.token_limit is None or reply_tokens(whole) <= request.token_limit:
        return whole, reason
    return _cut(whole, request.token_limit), "length"


def reply_tokens(reply: ChatReply) -> int:
    """How many tokens a reply is taken to have."""
    calls = sum(_call_tokens(call) for call in reply.tool_calls)
    return tokens(reply.text) + tokens(reply.refusal or "") + calls


def _call_tokens(call: ToolCall) -> int:
    return tokens(call.function.name) + tokens(call.function.arguments)


def _cut(reply: ChatReply, limit: int) -> ChatReply:
    """The reply's beginning: its text, and the calls that fit; the first that does not breaks off."""
    text = _beginning(reply.text, limit)
    refusal = None if reply.refusal is None else _beginning(reply.refusal, limit)
    left, calls = limit - tokens(text), list[ToolCall]()
    for call in reply.tool_calls:
        left -= tokens(call.function.name)
        if left > 0:
            arguments = _beginning(call.function.arguments, left)
            calls.append(ToolCall(id=call.id, function=FunctionCall(name=call.function.name, arguments=arguments)))
            left -= tokens(arguments)
    return ChatReply(text=text, tool_calls=tuple(calls), refusal=refusal)


def _beginning(text: str, limit: int) -> str:
    return text.encode("utf-8", "replace")[: limit * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def call_id(call: ToolCall, digest: str, index: int) -> str:
    """The call's own id, or one that follows from the request."""
    return call.id or "call_" + hashlib.sha256(f"{digest}\n{index}".encode()).hexdigest()[:24]


def _message(reply: ChatReply, digest: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.refusal is not None:
        return message | {"content": None}
    if reply.tool_calls:
        calls = [
            {
                "id": call_id(call, digest, i),
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for i, call in enumerate(reply.tool_calls)
        ]
        return message | {"content": reply.text or None, "tool_calls": calls}
    return message


def stream_completion(answer: Mapping[str, Any], *, usage: bool) -> str:
    """The completion as server-sent events: role, content and tool-call deltas, finish, usage when asked for."""
    head = {name: answer[name] for name in ("id", "created", "model", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"
    unknown = {"usage": None} if usage else {}
    events = []
    for choice in answer["choices"]:
        steps = [(delta, None) for delta in _deltas(choice["message"])] + [({}, choice["finish_reason"])]
        for delta, reason in steps:
            step = {"index": choice["index"], "delta": delta, "logprobs": None, "finish_reason": reason}
            events.append({**head, "choices": [step], **unknown})
    if usage:
        events.append({**head, "choices": [], "usage": answer["usage"]})
    return "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events) + "data: [DONE]\n\n"


def _deltas(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    for part in ("content", "refusal"):
        deltas += [{part: piece} for piece in pieces(message[part] or "")]
    for index, call in enumerate(message.get("tool_calls", ())):
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]})
        for piece in pieces(call["function"]["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return deltas


def pieces(text: str) -> list[str]:
    """The text in the pieces that are streamed."""
    return [text[i : i + PIECE_CHARS] for i in range(0, len(text), PIECE_CHARS)]
