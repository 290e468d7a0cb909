"""`/v1/responses` on the way out: a reply as a response object, whole or as the events of its making."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.protocol.chat_completions import CREATED, finished, pieces, reply_tokens
from aiq.offline.protocol.chat_request import prompt_tokens
from aiq.offline.protocol.responses_request import ResponsesBody

_NOT_ECHOED = {"input", "stream", "stream_options"}
"""Fields of the request that a response does not repeat."""

Event = tuple[str, dict[str, Any]]
"""An event's name and fields."""


def response(body: ResponsesBody, request: ChatRequest, reply: ChatReply, digest: str) -> dict[str, Any]:
    """The response object of a reply: a message, or function calls, or both."""
    said, reason = finished(request, reply, digest)
    cut = reason == "length"
    prompt, spent = prompt_tokens(request), reply_tokens(said)
    return {
        **body.model_dump(by_alias=True, exclude=_NOT_ECHOED),
        "tool_choice": body.tool_choice or "auto",
        "id": f"resp_{digest[:48]}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if cut else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": list(_output(said, digest, "incomplete" if cut else "completed")),
        "service_tier": "default",
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": spent,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + spent,
        },
    }


def _output(reply: ChatReply, digest: str, status: str) -> Iterator[dict[str, Any]]:
    if reply.refusal is not None or reply.text or not reply.tool_calls:
        part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        if reply.refusal is not None:
            part = {"type": "refusal", "refusal": reply.refusal}
        message = {"id": f"msg_{digest[:48]}", "type": "message", "role": "assistant"}
        yield {**message, "status": status, "content": [part]}
    for call in reply.tool_calls:
        name = call.id.removeprefix("call_")
        made = {"id": f"fc_{name}", "type": "function_call", "call_id": call.id, **call.function.model_dump()}
        yield {**made, "status": status}


def stream_response(answer: Mapping[str, Any]) -> str:
    """The response as server-sent events with the public names and sequence numbers."""
    written = []
    for number, (name, fields) in enumerate(_events(answer)):
        event = {"type": f"response.{name}", "sequence_number": number, **fields}
        written.append(f"event: response.{name}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n")
    return "".join(written)


def _events(answer: Mapping[str, Any]) -> Iterator[Event]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    for name in ("created", "in_progress"):
        yield name, {"response": begun}
    for index, item in enumerate(answer["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        message = item["type"] == "message"
        empty: dict[str, Any] = {"content": []} if message else {"arguments": ""}
        yield "output_item.added", {"output_index": index, "item": {**item, "status": "in_progress", **empty}}
        yield from _message(item["content"][0], place) if message else _call(item, place)
        yield "output_item.done", {"output_index": index, "item": item}
    yield answer["status"], {"response": answer}


def _message(part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[Event]:
    field = "refusal" if part["type"] == "refusal" else "text"
    place = {**place, "content_index": 0}
    more = {name: part[name] for name in ("logprobs",) if name in part}
    yield "content_part.added", {**place, "part": {**part, field: ""}}
    for piece in pieces(part[field]):
        yield f"{part['type']}.delta", {**place, "delta": piece, **more}
    yield f"{part['type']}.done", {**place, field: part[field], **more}
    yield "content_part.done", {**place, "part": part}


def _call(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[Event]:
    for piece in pieces(item["arguments"]):
        yield "function_call_arguments.delta", {**place, "delta": piece}
    yield "function_call_arguments.done", {**place, "name": item["name"], "arguments": item["arguments"]}
