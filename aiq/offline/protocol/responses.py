"""`/v1/responses`, translated to and from chat completions: reads a request, writes the response or its events.

https://platform.openai.com/docs/api-reference/responses/create
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.protocol.chat_completions import accepted, completion, pieces
from aiq.offline.protocol.validation import ApiError, check

_ECHOED = ("instructions", "max_output_tokens", "metadata", "model", "reasoning", "temperature", "text", "top_p")
"""Request fields that a response repeats if they were given; it always repeats those about tools."""

_STREAMED = {"text": "output_text", "refusal": "refusal", "arguments": "function_call_arguments"}
"""The field that holds an item's text, and the name of that text in its events."""


def read_responses(values: Mapping[str, Any], role: str, attempt: int, context_tokens: int) -> ChatRequest:
    """Read the request from a body. Raises ApiError if it is malformed, too long, or refers to a stored response."""
    fields = check(values, "responses")
    if name := fields.get("previous_response_id"):
        message = (
            f"Previous response with id '{name}' not found: this server stores no responses; send the whole input."
        )
        raise ApiError(message, "previous_response_id", "previous_response_not_found")
    form, choice, system = fields.get("text", {}).get("format"), fields.get("tool_choice"), fields.get("instructions")
    value = fields["input"]
    items = [{"type": "message", "role": "user", "content": value}] if isinstance(value, str) else value
    chat = {
        "model": fields["model"],
        "messages": [*([{"role": "developer", "content": system}] if system else ()), *_messages(items)],
        "tools": [{"function": tool} for tool in fields.get("tools", ())],
        "tool_choice": {"type": "function", "function": choice} if isinstance(choice, dict) else choice,
        "parallel_tool_calls": fields.get("parallel_tool_calls", True),
        "response_format": form and {"type": form["type"], "json_schema": form if "schema" in form else None},
        "max_tokens": fields.get("max_output_tokens"),
        "role": role,
        "attempt": attempt,
    }
    return accepted(ChatRequest.model_validate(chat), context_tokens, "input", "tools[{}].parameters", "text.format")


def _messages(items: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The items as messages: calls made together share one, and outputs follow their calls, wherever they were."""
    outputs = {item["call_id"]: item["output"] for item in items if item["type"] == "function_call_output"}
    for kind, group in groupby((item for item in items if item["type"] != "reasoning"), lambda item: item["type"]):
        if kind == "message":
            yield from ({"role": item["role"], "content": item["content"]} for item in group)
        elif kind == "function_call":
            calls = [{"id": item["call_id"], "function": item} for item in group]
            yield {"role": "assistant", "tool_calls": calls}
            for name in (call["id"] for call in calls):
                if name not in outputs:
                    raise ApiError(f"No tool output found for function call {name}.", "input")
                yield {"role": "tool", "tool_call_id": name, "content": outputs.pop(name)}
    for name in outputs:
        raise ApiError(f"No tool call found for function call output with call_id {name}.", "input")


def response(values: Mapping[str, Any], request: ChatRequest, reply: ChatReply, digest: str) -> dict[str, Any]:
    """The response object for a reply: a message, function calls, or both."""
    chat = completion(request, [reply], digest)
    [choice], usage = chat["choices"], chat["usage"]
    cut = choice["finish_reason"] == "length"
    status = "incomplete" if cut else "completed"
    return {
        **{name: values[name] for name in _ECHOED if name in values},
        "parallel_tool_calls": request.parallel_tool_calls,
        "tool_choice": values.get("tool_choice") or "auto",
        "tools": values.get("tools") or [],
        "id": f"resp_{digest[:48]}",
        "object": "response",
        "created_at": chat["created"],
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [{**item, "status": status} for item in _output(choice["message"], digest)],
        "service_tier": "default",
        "usage": {
            "input_tokens": usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage["total_tokens"],
        },
    }


def _output(message: Mapping[str, Any], digest: str) -> Iterator[dict[str, Any]]:
    if message["refusal"] is not None:
        part = {"type": "refusal", "refusal": message["refusal"]}
    else:
        part = {"type": "output_text", "text": message["content"], "annotations": [], "logprobs": []}
    calls = message.get("tool_calls", ())
    if message["refusal"] or message["content"] or not calls:
        yield {"id": f"msg_{digest[:48]}", "type": "message", "role": "assistant", "content": [part]}
    for call in calls:
        name = call["id"].removeprefix("call_")
        yield {"id": f"fc_{name}", "type": "function_call", "call_id": call["id"], **call["function"]}


def stream_response(answer: Mapping[str, Any]) -> str:
    """The response as server-sent events with the public API's names and sequence numbers."""
    chunks = []
    for number, (name, fields) in enumerate(_events(answer)):
        event = json.dumps({"type": f"response.{name}", "sequence_number": number, **fields}, ensure_ascii=False)
        chunks.append(f"event: response.{name}\ndata: {event}\n\n")
    return "".join(chunks)


def _events(answer: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The names and fields of the events. An item has one text: that of a message's part, or a call's arguments."""
    initial = {**answer, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    for name in ("created", "in_progress"):
        yield name, {"response": initial}
    for index, item in enumerate(answer["output"]):
        parts = item.get("content", ())
        text = (*parts, item)[0]
        field = next(field for field in _STREAMED if field in text)
        name, position = _STREAMED[field], {"output_index": index, "item_id": item["id"]}
        empty: dict[str, Any] = {"content": []} if parts else {"arguments": ""}
        yield "output_item.added", {"output_index": index, "item": {**item, "status": "in_progress", **empty}}
        position |= {"content_index": 0} if parts else {}
        if parts:
            yield "content_part.added", {**position, "part": {**text, field: ""}}
        extras: dict[str, Any] = {"logprobs": []} if field == "text" else {}
        for piece in pieces(text[field]):
            yield f"{name}.delta", {**position, "delta": piece, **extras}
        yield f"{name}.done", {**position, field: text[field], **extras}
        if parts:
            yield "content_part.done", {**position, "part": text}
        yield "output_item.done", {"output_index": index, "item": item}
    yield answer["status"], {"response": answer}
