"""What the offline model takes and returns: typed requests and replies.

`protocol/` handles HTTP, JSON, validation, streaming and usage; requests to either endpoint reach the engine like this.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class FunctionCall(_Wire):
    name: str
    arguments: str

    @property
    def parsed(self) -> dict[str, Any]:
        """The arguments as an object; empty if they are not a JSON object."""
        try:
            value = json.loads(self.arguments)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class ToolCall(_Wire):
    id: str = ""
    type: Literal["function"] = "function"
    function: FunctionCall


class ChatMessage(_Wire):
    """One message; content that was sent in parts is joined into one text."""

    role: str
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        return self.content or ""


class FunctionSpec(_Wire):
    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    strict: bool | None = None


class ToolSpec(_Wire):
    type: Literal["function"] = "function"
    function: FunctionSpec


class ChatRequest(_Wire):
    """A request for an assistant message. `role` and `attempt` come from our own clients' headers; both may be absent.

    Limits and ranges are checked before the engine sees it; `stop` and token limits are applied to its reply.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool = True
    response_format: dict[str, Any] | None = None
    seed: int | None = None
    n: int = 1
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    role: str = ""
    attempt: int = 0

    @cached_property
    def system(self) -> str:
        """All system and developer messages, joined by blank lines."""
        return "\n\n".join(m.text for m in self.messages if m.role in ("system", "developer"))

    @cached_property
    def last_user(self) -> str:
        """The last user message's text, or an empty string."""
        return next((m.text for m in reversed(self.messages) if m.role == "user"), "")

    @cached_property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(tool.function.name for tool in self.tools)

    @cached_property
    def forced_tool(self) -> str | None:
        """The function that `tool_choice` names, if it names one."""
        if isinstance(self.tool_choice, dict):
            function = self.tool_choice.get("function")
            return str(function.get("name")) if isinstance(function, dict) else ""
        return None

    @cached_property
    def wants_json(self) -> bool:
        """Whether `response_format` asks for JSON, with or without a schema."""
        return (self.response_format or {}).get("type") in ("json_object", "json_schema")

    @cached_property
    def token_limit(self) -> int | None:
        """The maximum number of tokens in a reply."""
        return self.max_completion_tokens or self.max_tokens

    @cached_property
    def json_schema(self) -> Mapping[str, Any] | None:
        """The schema in `response_format`, if there is one."""
        if self.response_format and self.response_format.get("type") == "json_schema":
            schema: Mapping[str, Any] = self.response_format["json_schema"].get("schema", {})
            return schema
        return None


class ChatReply(_Wire):
    """The assistant's message: text, or tool calls (ids are filled in by the server), or both.

    `refusal` replaces both: it says why there is no answer in the requested form.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None


def call(tool: str, /, **arguments: Any) -> ToolCall:
    """A tool call with JSON arguments."""
    return ToolCall(function=FunctionCall(name=tool, arguments=json.dumps(arguments, ensure_ascii=False)))
