"""What the offline model is given and what it gives: a chat-completions request and reply, typed.

The protocol (HTTP, JSON, streaming, usage) is in `server.py`; here is only what a role's program works on.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class FunctionCall(_Wire):
    name: str
    arguments: str

    @property
    def parsed(self) -> dict[str, Any]:
        """The arguments as an object; an empty one where they are no JSON object."""
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
    """One message; `text` flattens content given as parts."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part.get("text", "")) for part in self.content or ())


class FunctionSpec(_Wire):
    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class ToolSpec(_Wire):
    type: Literal["function"] = "function"
    function: FunctionSpec


class ChatRequest(_Wire):
    """A chat-completions request, plus the role header and the retry count that came with it."""

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool = True
    response_format: dict[str, Any] | None = None
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: bool = False
    stream_options: dict[str, Any] | None = None
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
    def json_schema(self) -> Mapping[str, Any] | None:
        """The schema of `response_format`, where one is asked for."""
        if self.response_format and self.response_format.get("type") == "json_schema":
            schema: Mapping[str, Any] = self.response_format["json_schema"].get("schema", {})
            return schema
        return None

    def fenced(self, label: str) -> str | None:
        """The text between the last `<label>` and `</label>` of any message: how our prompts mark data."""
        found = None
        for message in self.messages:
            for match in re.finditer(rf"<{label}>\n?(.*?)\n?</{label}>", message.text, re.DOTALL):
                found = match.group(1)
        return found

    @cached_property
    def now(self) -> datetime | None:
        """The date the prompt states ("Current date and time: ..."); None where it states none."""
        match = re.search(
            r"[Cc]urrent date(?: and time)?:\s*(\d{4}-\d\d-\d\d(?:T[\d:]+(?:[+-]\d\d:\d\d|Z)?)?)", self.system
        )
        match = match or re.search(
            r"[Cc]urrent date(?: and time)?:\s*(\d{4}-\d\d-\d\d)", "\n".join(m.text for m in self.messages)
        )
        return datetime.fromisoformat(match.group(1)) if match else None


class ChatReply(_Wire):
    """The assistant's message: text, or tool calls (ids are filled in by the server), or both."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


def call(tool: str, **arguments: Any) -> ToolCall:
    """A tool call with JSON arguments."""
    return ToolCall(function=FunctionCall(name=tool, arguments=json.dumps(arguments, ensure_ascii=False)))
