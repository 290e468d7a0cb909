"""Sessions for judges over the real offline stack with the shipped world."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from aiq.core.samples import SampleKey
from aiq.core.session import Session
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.tools.toolbox import build_toolbox, build_web
from tests.sessions import make_session
from tests.settings import against_offline

OfflineMaker = Callable[..., AbstractAsyncContextManager[Session]]


@pytest.fixture
def offline(world_port: int) -> OfflineMaker:
    """`async with offline(seed=..., sample_id=...) as session`: the offline model and web, over HTTP."""

    @asynccontextmanager
    async def make(seed: int = 7, sample_id: str = "1") -> AsyncIterator[Session]:
        settings = against_offline()
        async with open_client(settings.llm, offline_port=world_port) as client:
            web = build_web(settings, client)
            session = make_session(
                key=SampleKey(sample_id, 1),
                run_seed=seed,
                models=RunModels(settings.llm, client),
                tools=build_toolbox(settings, web, client),
                web=web,
            )
            with session.bind():
                yield session

    return make
