"""Which program answers a request, and that its answer is what the request allows."""

import importlib
import json
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from aiq.offline import shapes
from aiq.offline.chat import ChatReply, ChatRequest, ToolCall, ToolSpec, call
    return judge(request) or respond(request)

ROLES = "aiq.offline.roles"
ASSISTANT = f"{ROLES}.assistant"
"""Answers every request whose role has no program of its own."""

_ROLE = re.compile(r"[a-z_]+(\.[a-z_]+)+")


def answer(request: ChatRequest) -> ChatReply:
    """The role's reply, within `tools`, `tool_choice` and `response_format`."""
    from aiq.offline.engine import respond

    return judge(request) or respond(request)


def _program(role: str) -> Callable[[ChatRequest], ChatReply]:
    module = _module(f"{ROLES}.{role}") if _ROLE.fullmatch(role) else None
    program: Callable[[ChatRequest], ChatReply] = (module or importlib.import_module(ASSISTANT)).reply
    return program


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            return None
        raise


def _offered(request: ChatRequest) -> ChatRequest:
    """The request with the tools that `tool_choice` leaves."""
    forced = request.forced_tool
    if request.tool_choice == "none":
        return _with_tools(request, ())
    if forced is not None:
        return _with_tools(request, tuple(t for t in request.tools if t.function.name == forced))
    return request


def _with_tools(request: ChatRequest, tools: tuple[ToolSpec, ...]) -> ChatRequest:
    """The same request with other tools; not `model_copy`, which would keep what is cached of the old ones."""
    fields = {name: getattr(request, name) for name in ChatRequest.model_fields}
    return ChatRequest.model_construct(**{**fields, "tools": tools})


def _must_call(request: ChatRequest) -> bool:
    return request.tool_choice == "required" or request.forced_tool is not None


def _any_call(request: ChatRequest) -> ToolCall:
    """A call of the first tool, its arguments filled from what the user said."""
    function = request.tools[0].function
    arguments = shapes.fill(function.parameters, request.last_user)
    return call(function.name, **(arguments if isinstance(arguments, dict) else {}))


def refuses(request: ChatRequest, reply: ChatReply) -> bool:
    """Whether the reply is words where JSON was asked for: a program that found no such instruction in its prompt."""
    return request.wants_json and not reply.tool_calls and _parsed(reply.text) is None


def _in_shape(request: ChatRequest, text: str) -> str:
    """The plain assistant's words in the asked shape: it writes no JSON of its own accord."""
    schema, value = request.json_schema or {}, _parsed(text)
    if value is not None and shapes.fits(schema, value):
        return text
    return json.dumps(shapes.fill(schema, text), ensure_ascii=False)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
