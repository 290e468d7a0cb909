"""`/v1/responses` on the way out: a reply as a response object, whole or as the events of its making."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.protocol.chat_completions import CREATED, call_id, end, pieces, reply_tokens
from aiq.offline.protocol.chat_request import prompt_tokens
from aiq.offline.protocol.responses_request import ResponsesBody

_ECHOED = (
    *("instructions", "max_output_tokens", "max_tool_calls", "metadata", "parallel_tool_calls", "previous_response_id"),
    *("prompt_cache_key", "reasoning", "safety_identifier", "store", "temperature", "text", "tool_choice", "tools"),
    *("top_p", "truncation", "user"),
)
"""Fields of the request that a response repeats."""


def response(body: ResponsesBody, request: ChatRequest, reply: ChatReply, digest: str) -> dict[str, Any]:
    """The response object of a reply: a message, or function calls, or both."""
    reply, reason = end(request, reply)
    cut = reason == "length"
    status = "incomplete" if cut else "completed"
    prompt, spent = prompt_tokens(request), reply_tokens(reply)
    return {
        "id": f"resp_{digest[:48]}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "model": body.model,
        "output": _output(reply, digest, status),
        "service_tier": "default",
        **body.model_dump(mode="json", include=set(_ECHOED)),
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": spent,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + spent,
        },
    }


def _output(reply: ChatReply, digest: str, status: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.refusal is not None or reply.text or not reply.tool_calls:
        part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        if reply.refusal is not None:
            part = {"type": "refusal", "refusal": reply.refusal}
        message = {"id": f"msg_{digest[:48]}", "type": "message", "status": status, "role": "assistant"}
        items.append(message | {"content": [part]})
    for index, call in enumerate(reply.tool_calls if reply.refusal is None else ()):
        name = call_id(call, digest, index)
        function = {"call_id": name, "name": call.function.name, "arguments": call.function.arguments}
        items.append({"id": f"fc_{name.removeprefix('call_')}", "type": "function_call", "status": status, **function})
    return items


def stream_response(answer: Mapping[str, Any]) -> str:
    """The response as server-sent events with the public names and sequence numbers."""
    written = []
    for number, (name, fields) in enumerate(_events(answer)):
        event = {"type": f"response.{name}", "sequence_number": number, **fields}
        written.append(f"event: response.{name}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n")
    return "".join(written)


def _events(answer: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each event's name and fields."""
    begun = {**answer, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield "created", {"response": begun}
    yield "in_progress", {"response": begun}
    for index, item in enumerate(answer["output"]):
        place = {"output_index": index}
        empty: dict[str, Any] = {"content": []} if item["type"] == "message" else {"arguments": ""}
        yield "output_item.added", {**place, "item": {**item, "status": "in_progress", **empty}}
        inside = {**place, "item_id": item["id"]}
        yield from _message(item["content"][0], inside) if item["type"] == "message" else _call(item, inside)
        yield "output_item.done", {**place, "item": item}
    yield answer["status"], {"response": answer}


def _message(part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    field = "refusal" if part["type"] == "refusal" else "text"
    place = {**place, "content_index": 0}
    more: dict[str, Any] = {"logprobs": []} if field == "text" else {}
    yield "content_part.added", {**place, "part": {**part, field: ""}}
    for piece in pieces(part[field]):
        yield f"{part['type']}.delta", {**place, "delta": piece, **more}
    yield f"{part['type']}.done", {**place, field: part[field], **more}
    yield "content_part.done", {**place, "part": part}


def _call(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for piece in pieces(item["arguments"]):
        yield "function_call_arguments.delta", {**place, "delta": piece}
    yield "function_call_arguments.done", {**place, "name": item["name"], "arguments": item["arguments"]}
