"""`/v1/chat/completions` on the way out: replies as a completion, whole or streamed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aiq.core.seeds import derive
from aiq.offline.chat import ChatReply, ChatRequest, FunctionCall, ToolCall
from aiq.offline.protocol.chat_request import BYTES_PER_TOKEN, prompt_tokens, tokens

CREATED = 1_793_491_200
"""Every reply's `created` (2026-11-01T00:00:00Z, the closed world's day), so that equal requests have equal replies."""

PIECE_CHARS = 24
"""How much text a streamed event carries."""


def completion(request: ChatRequest, replies: Sequence[ChatReply], digest: str) -> dict[str, Any]:
    """The chat completion object of the replies, one a choice: cut to `stop` and token limit, with usage."""
    choices, spent, prompt = [], 0, prompt_tokens(request)
    for index, reply in enumerate(replies):
        said, reason = finished(request, reply, choice_digest(digest, index))
        spent += reply_tokens(said)
        choices.append({"index": index, "message": _message(said), "logprobs": None, "finish_reason": reason})
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "choices": choices,
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


def finished(request: ChatRequest, reply: ChatReply, digest: str) -> tuple[ChatReply, str]:
    """The reply as far as `parallel_tool_calls`, `stop` and the token limit let it go, and its finish reason.

    Calls without an id get one that follows from the digest.
    """
    text, calls = reply.text, reply.tool_calls if request.parallel_tool_calls else reply.tool_calls[:1]
    ends = [text.find(stop) for stop in request.stop if stop and stop in text]
    if ends:
        text, calls = text[: min(ends)], ()
    made = [ToolCall(id=c.id or f"call_{derive(digest, i):08x}", function=c.function) for i, c in enumerate(calls)]
    whole = ChatReply(text=text, tool_calls=tuple(made), refusal=reply.refusal)
    if request.token_limit is not None and reply_tokens(whole) > request.token_limit:
        return _cut(whole, request.token_limit), "length"
    return whole, "tool_calls" if made else "stop"


def reply_tokens(reply: ChatReply) -> int:
    """How many tokens a reply is taken to have."""
    called = (text for call in reply.tool_calls for text in (call.function.name, call.function.arguments))
    return tokens(reply.text, reply.refusal or "", *called)


def _cut(reply: ChatReply, left: int) -> ChatReply:
    """The reply's beginning of so many tokens; the first call that does not fit breaks off, and those after it go."""

    def beginning(text: str) -> str:
        nonlocal left
        kept = text.encode("utf-8", "replace")[: left * BYTES_PER_TOKEN].decode("utf-8", "ignore")
        left -= tokens(kept)
        return kept

    refusal = None if reply.refusal is None else beginning(reply.refusal)
    text, calls = beginning(reply.text), []
    for call in reply.tool_calls:
        name = beginning(call.function.name)
        if left > 0:
            function = FunctionCall(name=name, arguments=beginning(call.function.arguments))
            calls.append(ToolCall(id=call.id, function=function))
    return ChatReply(text=text, tool_calls=tuple(calls), refusal=refusal)


def _message(reply: ChatReply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.refusal is not None or (reply.tool_calls and not reply.text):
        message["content"] = None
    return message | ({"tool_calls": [call.model_dump() for call in reply.tool_calls]} if reply.tool_calls else {})


def stream_completion(answer: Mapping[str, Any], *, usage: bool) -> str:
    """The completion as server-sent events: role, content and tool-call deltas, finish, usage when asked for."""
    head = {**answer, "object": "chat.completion.chunk"}
    spent = {"usage": head.pop("usage")} if usage else {}
    events = []
    for choice in answer["choices"]:
        for delta, reason in _deltas(choice):
            part = {"index": choice["index"], "delta": delta, "logprobs": None, "finish_reason": reason}
            events.append({**head, **dict.fromkeys(spent), "choices": [part]})
    if usage:
        events.append({**head, **spent, "choices": []})
    return "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events) + "data: [DONE]\n\n"


def _deltas(choice: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """What the events add, and at the end the finish reason."""
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
    """The text in the pieces that are streamed."""
    return [text[i : i + PIECE_CHARS] for i in range(0, len(text), PIECE_CHARS)]
