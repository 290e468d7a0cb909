"""The chat-completions protocol on the way in: requests read and refused, errors in OpenAI's shape."""

import hashlib
import json
from typing import Any

from pydantic import ValidationError

from aiq.core.plugins import describe
from aiq.offline.chat import ChatRequest


class ApiError(Exception):
    """An answer in OpenAI's error shape."""

    def __init__(
        self, status: int, message: str, *, kind: str = "invalid_request_error", code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": None, "code": code}}


def read_request(body: bytes, role: str, attempt: str) -> tuple[ChatRequest, str]:
    """The request and its digest: SHA-256 of role and canonical body, streamed or not.

    Raises ApiError 400 when malformed.
    """
    try:
        values = json.loads(body)
    except ValueError as error:
        raise ApiError(400, f"We could not parse the JSON body of your request: {error}") from None
    if not isinstance(values, dict):
        raise ApiError(400, "The body of your request must be a JSON object.")
    if values.get("n") not in (None, 1):
        raise ApiError(400, "This model gives one choice a request: leave n out or set it to 1.")
    try:
        request = ChatRequest.model_validate({**_given(values), "role": role, "attempt": int(attempt or 0)})
    except ValidationError as error:
        raise ApiError(400, describe(error)) from None
    except ValueError:
        raise ApiError(400, f"x-aiq-attempt must be a number, not '{attempt}'.") from None
    _check(request)
    asked = {name: value for name, value in values.items() if name not in ("stream", "stream_options")}
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return request, hashlib.sha256(f"{role}\n{canonical}".encode()).hexdigest()


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """The fields that say something: clients write null for what they leave out, in messages too."""
    given = {name: value for name, value in values.items() if value is not None and name not in ("role", "attempt")}
    if isinstance(messages := given.get("messages"), list):
        given["messages"] = [
            {name: value for name, value in message.items() if value is not None}
            if isinstance(message, dict)
            else message
            for message in messages
        ]
    return given


def _check(request: ChatRequest) -> None:
    if not request.messages:
        raise ApiError(400, "messages: must hold at least one message")
    forced = forced_tool(request)
    if forced is not None and forced not in request.tool_names:
        raise ApiError(400, f"tool_choice names '{forced}', which is not among the tools")
    if request.tool_choice == "required" and not request.tools:
        raise ApiError(400, "tool_choice is 'required' but there are no tools")
    kind = (request.response_format or {}).get("type", "text")
    if kind not in ("text", "json_object", "json_schema"):
        raise ApiError(400, f"response_format.type '{kind}' is none of text, json_object, json_schema")
    if kind == "json_schema" and not isinstance((request.response_format or {}).get("json_schema"), dict):
        raise ApiError(400, "response_format.json_schema must be an object with name and schema")
    _check_tool_messages(request)


def _check_tool_messages(request: ChatRequest) -> None:
    """Every tool call is answered right after the message that makes it, and nothing else is."""
    waiting: set[str] = set()
    for message in request.messages:
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                raise ApiError(
                    400, f"tool message '{message.tool_call_id}' answers no tool call of the message before it"
                )
            waiting.discard(message.tool_call_id)
            continue
        if waiting:
            break
        waiting = {call.id for call in message.tool_calls}
    if waiting:
        raise ApiError(400, f"tool calls must be answered by tool messages; without one: {', '.join(sorted(waiting))}")


def forced_tool(request: ChatRequest) -> str | None:
    """The function that `tool_choice` names, if it names one."""
    if isinstance(request.tool_choice, dict):
        return str((request.tool_choice.get("function") or {}).get("name", ""))
    return None


def wants_json(request: ChatRequest) -> bool:
    return (request.response_format or {}).get("type") in ("json_object", "json_schema")
