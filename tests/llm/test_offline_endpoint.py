"""Our transport against the offline stack: planted endpoint faults cost sends, never an answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aiq.core.models import Message
from aiq.core.settings import OfflineSettings
from aiq.offline.launch import OfflineStack
from tests.llm.endpoint import OK
from tests.settings import configured

pytestmark = pytest.mark.slow

QUESTIONS = [[Message(role="user", content=f"What is {i} and why?")] for i in range(12)]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "pages.jsonl").write_text('{"url": "https://a.offline.example/", "title": "A", "text": "B."}\n')
    return tmp_path


@asynccontextmanager
async def stack(world: Path, **faults: float) -> AsyncIterator[int]:
    child = OfflineStack(configured(OfflineSettings, world=str(world), faults=faults), seed=1)
    try:
        yield await child.start()
    finally:
        await child.stop()


async def test_endpoint_faults_change_no_answer(bench: Any, world: Path) -> None:
    async def replies(**faults: float) -> tuple[list[str], int]:
        async with stack(world, **faults) as port:
            llm = {"base_url": f"http://127.0.0.1:{port}/v1", "retry": {"attempts": 12, "first_seconds": 0.001}}
            async with bench([OK], **llm) as b:
                texts = [(await b.models.complete("test.plain", question)).text for question in QUESTIONS]
                streamed = [part.content async for part in b.models.chat("test.plain").astream("Who?")]
                counts = (await b.models._client.get(f"http://127.0.0.1:{port}/stats")).json()
                assert counts["chat"] == b.session.usage.total().calls
                assert counts["repeated"] == 0
                return [*texts, "".join(streamed)], counts["chat"]

    calm, sends = await replies()
    assert sends == len(QUESTIONS) + 1
    rough, more = await replies(http_500=0.3)
    assert rough == calm
    assert more > sends
    async with stack(world, cut_connection=0.4) as port:
        llm = {"base_url": f"http://127.0.0.1:{port}/v1", "retry": {"attempts": 12, "first_seconds": 0.001}}
        async with bench([OK], **llm) as b:
            assert [(await b.models.complete("test.plain", question)).text for question in QUESTIONS] == calm[:-1]
            assert b.session.usage.total().unreported_calls > 0
