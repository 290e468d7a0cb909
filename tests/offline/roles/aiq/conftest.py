"""Requests as AI-Q's deep and chat agents make them, with the real prompts, for the offline programs."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from aiq.agents.ai_q.settings import DeepSettings
from aiq.core.prompts import Prompts, fence
from aiq.offline.chat import ChatMessage, ChatRequest, FunctionSpec, ToolSpec

PROMPTS = Prompts(Path(__file__).parents[4] / "aiq" / "agents" / "ai_q" / "prompts")
ARGUMENTS = {
    "web_search_tool": "query",
    "fetch_page": "url",
    "think": "thought",
    "write_todos": "todos",
    "task": "description",
    "write_file": "content",
}


def tool(name: str) -> ToolSpec:
    parameters = {"type": "object", "properties": {ARGUMENTS[name]: {"type": "string"}}}
    return ToolSpec(function=FunctionSpec(name=name, parameters=parameters))


def document(url: str, title: str, text: str) -> str:
    return f'<Document href="{url}">\n<title>\n{title}\n</title>\n{text}\n</Document>'


@pytest.fixture
def page() -> Callable[[str, str, str], str]:
    """A search result of one page: (url, title, text)."""
    return document


@pytest.fixture
def system() -> Callable[..., str]:
    """The rendered system prompt of a deep role, with settings."""

    def render(template: str, **settings: Any) -> str:
        return PROMPTS.render(
            f"{template}.j2",
            current_datetime="2026-11-01T09:00:00+00:00",
            tools=[{"name": "web_search_tool", "description": "Searches the web."}],
            available_documents=[],
            clarifier_result=None,
            limits=DeepSettings.model_validate(settings),
        )

    return render


@pytest.fixture
def classify() -> Callable[..., ChatRequest]:
    """A request with a static prompt and the user's text fenced under a label."""

    def make(template: str, label: str, text: str, more: str = "", prompt: str | None = None) -> ChatRequest:
        system_text = PROMPTS.render(template) if prompt is None else prompt
        user = f"{fence(text, label)}\n{more}"
        messages = (ChatMessage(role="system", content=system_text), ChatMessage(role="user", content=user))
        return ChatRequest(model="m", messages=messages)

    return make


@pytest.fixture
def request_of() -> Callable[..., ChatRequest]:
    """A request: system prompt, user text, then pairs of (tool calls made, their results)."""

    def make(
        system_text: str,
        user: str,
        *turns: Sequence[tuple[Any, str]],
        tools: Sequence[str] = ("web_search_tool", "fetch_page", "think"),
        seed: int = 1,
    ) -> ChatRequest:
        messages = [ChatMessage(role="system", content=system_text), ChatMessage(role="user", content=user)]
        for number, turn in enumerate(turns):
            calls = tuple(c.model_copy(update={"id": f"c{number}-{i}"}) for i, (c, _) in enumerate(turn))
            messages.append(ChatMessage(role="assistant", tool_calls=calls))
            messages += [
                ChatMessage(role="tool", content=result, tool_call_id=f"c{number}-{i}")
                for i, (_, result) in enumerate(turn)
            ]
        return ChatRequest(model="m", messages=tuple(messages), tools=tuple(tool(name) for name in tools), seed=seed)

    return make


@pytest.fixture
def as_json() -> Callable[[str], Any]:
    return json.loads
