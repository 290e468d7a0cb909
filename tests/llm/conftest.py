"""`bench`: an endpoint with scripted answers, our client on it, and a bound session."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from aiq.core.events import Event, EventLog, ModelCalled
from aiq.core.llm_settings import LlmSettings
from aiq.core.models import Message, Reply
from aiq.core.session import Session
from aiq.core.usage import Limits
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from tests.llm.endpoint import Endpoint
from tests.sessions import make_session
from tests.settings import configured


@dataclass
class Bench:
    """An endpoint, a client with our transport on it, the run's models, and a bound session."""

    endpoint: Endpoint
    models: RunModels
    session: Session
    events: list[Event]

    @property
    def calls(self) -> list[ModelCalled]:
        return [event for event in self.events if isinstance(event, ModelCalled)]

    async def ask(self, role: str = "aiq.planner", text: str = "hello", **options: Any) -> Reply:
        return await self.models.complete(role, [Message(role="user", content=text)], **options)


@pytest.fixture
def bench() -> Callable[..., Any]:
    """`async with bench([answers], limits=..., llm settings...) as b`: everything real, retries without long waits."""

    @contextlib.asynccontextmanager
    async def make(
        script: list[bytes],
        *,
        limits: Limits | None = None,
        delay: float = 0.0,
        blank_every: float | None = None,
        **llm: Any,
    ) -> AsyncIterator[Bench]:
        endpoint = Endpoint(script, delay=delay, blank_every=blank_every)
        server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
        endpoint.close = server.close
        endpoint.port = server.sockets[0].getsockname()[1]
        retry = {"attempts": 3, "first_seconds": 0.01}
        settings = configured(LlmSettings, **{"base_url": endpoint.base_url, "model": "m", "retry": retry, **llm})
        events: list[Event] = []
        async with server, open_client(settings, offline_port=None) as client:
            session = make_session(
                models=RunModels(settings, client),
                limits=limits or configured(Limits),
                events=EventLog(events.append),
            )
            with session.bind():
                yield Bench(endpoint, RunModels(settings, client), session, events)

    return make
