"""Short requests in the form that agents send."""

import json
from typing import Any

from aiq.offline.chat import ChatRequest


def tool(name: str, description: str, /, *required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """A function tool; parameters given only by name are strings."""
    known = {**{n: {"type": "string"} for n in required}, **properties}
    parameters = {"type": "object", "properties": known, "required": list(required or properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def called(*results: tuple[str, dict[str, Any], Any]) -> list[dict[str, Any]]:
    """The messages of calls made one after the other, each with its result."""
    messages: list[dict[str, Any]] = []
    for number, (name, arguments, result) in enumerate(results):
        function = {"name": name, "arguments": json.dumps(arguments)}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]})
        content = result if isinstance(result, str) else json.dumps(result)
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return messages


def ask(
    user: str, *then: dict[str, Any], system: str = "You help people.", tools: tuple[Any, ...] = (), **rest: Any
) -> ChatRequest:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}, *then]
    return ChatRequest.model_validate({"model": "any", "messages": messages, "tools": tools, **rest})
