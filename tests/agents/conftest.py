"""Agents against an endpoint whose replies a test writes: real client, transport, models, session and graphs."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.base import Resumable
from aiq.core.events import Event, EventLog
from aiq.core.llm_settings import LlmSettings, RetrySettings
from aiq.core.run_settings import CheckpointerSettings
from aiq.core.samples import Question, SampleKey
from aiq.core.session import ApprovingUser, Session, User
from aiq.core.settings import Settings
from aiq.core.sources import Source
from aiq.core.tools import Toolbox, ToolResult
from aiq.experiment.resources import open_checkpointer
from aiq.llm.http import AsyncBaseTransport, Request, Response
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.protocol.chat_completions import completion, digest_of, read_chat, stream_completion
from aiq.offline.protocol.validation import read_json
from aiq.tools.blocks import document
from aiq.tools.toolbox import Think
from tests.sessions import make_session
from tests.settings import configured

AgentT = TypeVar("AgentT")
Script = Callable[[ChatRequest], ChatReply | int]
PROMPTS = configured(AiqSettings).prompts()


def fenced(request: ChatRequest, label: str) -> str | None:
    """The text between the last `<label>` and `</label>` in any message, which is how our prompts mark data."""
    text = "\n".join(message.text for message in request.messages)
    return next(iter(re.findall(rf"<{label}>\n?(.*?)\n?</{label}>", text, re.DOTALL)[::-1]), None)


class Endpoint(AsyncBaseTransport):
    """Chat completions with replies from `script`: a number is an HTTP status (in a tuple with a text: its message),
    a dict a whole completion.

    Keeps each request and its read timeout in seconds.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[ChatRequest] = []
        self.seconds: list[float] = []

    async def handle_async_request(self, request: Request) -> Response:
        headers = request.headers
        values = read_json(await request.aread())
        role = headers.get("x-aiq-role", "")
        chat = read_chat(values, role, int(headers.get("x-aiq-attempt", "0")), context_tokens=10**9)
        self.requests.append(chat)
        self.seconds.append(request.extensions["timeout"]["read"])
        reply: Any = self.script(chat)
        if isinstance(reply, int | tuple):
            status, message = reply if isinstance(reply, tuple) else (reply, f"status {reply}")
            return Response(status, json={"error": {"message": message}}, request=request)
        if isinstance(reply, dict):
            return Response(200, json=reply, request=request)
        body = completion(chat, [reply], digest_of(values, role))
        if values.get("stream"):
            return Response(200, text=stream_completion(body, usage=True), request=request)
        return Response(200, json=body, request=request)

    def of(self, role: str) -> list[ChatRequest]:
        return [request for request in self.requests if request.role == role]


class QueryArguments(BaseModel):
    query: str = Field(description="what to search for")


@dataclass
class WebSearch:
    """Finds a separate page with this text for every query; a blank text is a result without pages."""

    name: str = "web_search_tool"
    description: str = "Searches the web."
    parameters: type[BaseModel] = QueryArguments
    data_source: str | None = "web"
    text: str = "{query} is well described."
    queries: list[str] = field(default_factory=list)

    async def run(self, arguments: BaseModel) -> ToolResult:
        query = str(getattr(arguments, "query", ""))
        self.queries.append(query)
        if not self.text.strip():
            return ToolResult(content=self.text)
        url, text = "https://pages.test/" + "-".join(query.lower().split()), self.text.format(query=query)
        return ToolResult(content=document(url, query, text), sources=(Source(url=url, title=query, text=text),))


@dataclass
class Bench:
    """An endpoint and a session on it; `events` are what the session logged."""

    endpoint: Endpoint
    session: Session
    search: WebSearch
    events: list[Event]

    def logged(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def ask(self, agent: Resumable, text: str, *, epoch: int = 1, user: User | None = None, **more: Any) -> Any:
        """The agent's report on a question (`more`: its other fields), in a new session."""
        session = self.another(epoch=epoch, user=user or self.session.user)
        with session.bind():
            return await agent.research(Question(text=text, **more), session)

    async def resume(self, agent: Resumable, thread: str, user: User | None = None) -> Any:
        session = self.another(user=user)
        with session.bind():
            return await agent.resume(thread, session)

    def another(self, epoch: int = 1, user: User | None = None) -> Session:
        """A session for another turn or epoch of the same run."""
        reused = {name: getattr(self.session, name) for name in ("models", "tools", "limits", "checkpointer")}
        own = {"key": SampleKey("s", epoch), "memory": "" if epoch == 1 else str(epoch)}
        return make_session(run_seed=0, user=user or ApprovingUser(), **own, **reused)


@asynccontextmanager
async def on_bench(
    script: Script, *, search: WebSearch | None = None, endpoint: Endpoint | None = None, llm: Any = None, **given: Any
) -> AsyncIterator[Bench]:
    """A bound session whose models answer as `script` says; `llm`: model settings, `given`: fields of the session."""
    endpoint = endpoint or Endpoint(script)
    settings = configured(
        LlmSettings,
        base_url="http://model.test/v1",
        model="test",
        retry=configured(RetrySettings, attempts=2, first_seconds=0, most_seconds=0),
        **llm or {},
    )
    events: list[Event] = []
    search = search or WebSearch()
    async with open_client(settings, offline_port=None, inner=endpoint) as client:
        session = make_session(
            run_seed=0,
            models=RunModels(settings, client),
            events=EventLog(events.append),
            **{"checkpointer": InMemorySaver(), "tools": Toolbox([search, Think()]), **given},
        )
        with session.bind():
            yield Bench(endpoint, session, search, events)


def shared(agent: Callable[[Any], AgentT], settings: Settings) -> AgentT:
    """One agent for all tests with these settings, since an agent keeps nothing of a sample."""
    instance: AgentT = _cached_agent(agent, settings)
    return instance


@cache
def _cached_agent(agent: Callable[[Any], Any], settings: Settings) -> Any:
    return agent(settings)


def agent(**settings: Any) -> AiqAgent:
    return shared(AiqAgent, configured(AiqSettings, **settings))


EACH_SAVER = pytest.mark.parametrize("saver", ["memory", "sqlite"], indirect=True)
"""Each kind of checkpointer that needs no server."""
IN_A_FILE = pytest.mark.parametrize("saver", ["sqlite"], indirect=True)


@pytest.fixture
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    kind = getattr(request, "param", "memory")
    settings = configured(CheckpointerSettings, kind=kind, path=str(tmp_path / "checkpoints.db"))
    async with open_checkpointer(settings) as checkpointer:
        yield checkpointer
