"""Recording and replaying in tests: single requests (`deck`), and whole runs in a small project (`here`)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aiq.cassettes.recorder import Account, Recorder
from aiq.cassettes.redact import Redactor
from aiq.core.errors import AiqError
from aiq.core.events import Event, EventLog, ModelCalled
from aiq.core.llm_settings import LlmSettings
from aiq.core.models import Message
from aiq.core.run_settings import CassetteSettings, WebSettings
from aiq.core.samples import SampleKey
from aiq.core.session import Session
from aiq.core.tools import Tool, Toolbox
from aiq.core.usage import Limits
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.tools.live import LiveWeb
from tests.experiment.conftest import endpoint as endpoint
from tests.experiment.conftest import here as here
from tests.experiment.conftest import place as place
from tests.llm.endpoint import Endpoint
from tests.sessions import make_session
from tests.settings import configured
from tests.tools.conftest import pages_port as pages_port

CANARY = "Canary-5ecret-4711"
"""An environment variable's value for the redactor to remove."""


@dataclass
class Deck:
    """A session whose models, web and tools are behind a recorder, with its events and the notes at its end."""

    session: Session
    recorder: Recorder
    events: list[Event]
    notes: list[str] = field(default_factory=list)

    async def ask(self, text: str = "hello", **options: Any) -> str:
        """Return a model's answer."""
        reply = await self.session.models.complete("aiq.planner", [Message(role="user", content=text)], **options)
        return reply.text

    async def stream(self, text: str = "hello") -> list[str]:
        """Return the events that a stock client gets from a streamed answer."""
        stream = await self.session.openai("aiq.planner").chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}], stream=True
        )
        return [event.model_dump_json() async for event in stream]

    async def fetch(self, url: str) -> str:
        page = await self.session.web.fetch(url)
        return f"{page.final_url} {page.text}"

    async def call(self, tool: str, **arguments: Any) -> str:
        result = await self.session.call_tool(tool, arguments)
        return result.model_dump_json()


DeckMaker = Callable[..., Any]


@pytest.fixture
def deck(tmp_path: Path) -> DeckMaker:
    """`async with deck("record", base_url) as d`: a sample's work, recorded in this test's folder."""

    @asynccontextmanager
    async def make(
        mode: str,
        base_url: str = "http://127.0.0.1:1/v1",
        *,
        tools: Iterable[Tool] = (),
        web: dict[str, Any] | None = None,
        limits: Limits | None = None,
        first_seconds: float = 0.01,
        account: Account = "agent",
        from_start: bool = True,
        **llm: Any,
    ) -> AsyncIterator[Deck]:
        retry = {"attempts": 3, "first_seconds": first_seconds}
        settings = configured(LlmSettings, **{"base_url": base_url, "model": "m", "retry": retry, **llm})
        recorder = Recorder(configured(CassetteSettings, mode=mode), tmp_path / "cassettes", Redactor([CANARY]))
        events: list[Event] = []
        pages = {"kind": "live", "timeout_seconds": 1, **(web or {})}
        wrap, replays = recorder.transport, recorder.replays
        async with open_client(settings, offline_port=None, wrap=wrap, replayed=replays) as client:
            session = make_session(
                models=RunModels(settings, client),
                web=web and LiveWeb(configured(WebSettings, **pages), wrap=wrap),  # loads certificates
                tools=Toolbox(recorder.tool(tool) for tool in tools),
                limits=limits or configured(Limits),
                decide=recorder.decide,
                events=EventLog(events.append),
            )
            sample_deck = Deck(session, recorder, events)
            try:
                with recorder.for_sample(account, SampleKey("s1", 1)), session.bind():
                    yield sample_deck
                recorder.finish(from_start=from_start)
            finally:
                sample_deck.notes = recorder.close()

    return make


async def outcome_of(work: Any) -> tuple[str, str]:
    """Await work and return its outcome: ("value", text) or (error type and kind, message)."""
    try:
        return "value", str(await work)
    except (AiqError, TimeoutError) as error:
        return f"{type(error).__name__} {getattr(error, 'kind', '')}".strip(), str(error)


class Servers:
    """Endpoints with scripts, which `stop` ends before the test is over."""

    def __init__(self) -> None:
        self._running: list[asyncio.Server] = []

    async def __call__(self, script: list[bytes], **options: Any) -> Endpoint:
        endpoint = Endpoint(script, **options)
        self._running.append(await asyncio.start_server(endpoint.serve, "127.0.0.1", 0))
        endpoint.port = self._running[-1].sockets[0].getsockname()[1]
        return endpoint

    def stop(self) -> None:
        while self._running:
            self._running.pop().close()


@pytest.fixture
async def serve() -> AsyncIterator[Servers]:
    servers = Servers()
    yield servers
    servers.stop()


def model_calls(events: list[Any]) -> list[Any]:
    """The model calls that a session has recorded."""
    calls = [event for event in events if isinstance(event, ModelCalled)]
    return [(call.role, call.attempt, call.status, call.error, call.usage, call.reply) for call in calls]
