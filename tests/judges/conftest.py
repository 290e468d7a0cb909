"""Sessions for judges over the real offline stack with the shipped world."""

import gzip
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aiq.core.files import shipped
from aiq.core.samples import SampleKey
from aiq.core.session import Session
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.tools.toolbox import build_toolbox, build_web
from tests.sessions import make_session
from tests.settings import against_offline


@pytest.fixture(scope="session")
def stack_port() -> Iterator[int]:
    """The port of a real offline stack with the closed world's pages."""
    command = [sys.executable, "-m", "aiq.offline", "--pages", str(shipped("benchmarks/world") / "pages.jsonl")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        yield int(json.loads(child.stdout.readline())["port"])
        child.stdin.close()


OfflineMaker = Callable[..., AbstractAsyncContextManager[Session]]


@pytest.fixture
def offline(stack_port: int) -> OfflineMaker:
    """`async with offline(seed=..., sample_id=...) as session`: the offline model and web, over HTTP."""

    @asynccontextmanager
    async def make(seed: int = 7, sample_id: str = "1") -> AsyncIterator[Session]:
        settings = against_offline()
        async with open_client(settings.llm, offline_port=stack_port) as client:
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


@pytest.fixture(scope="session")
def read_rows() -> Callable[[Path], list[dict[str, Any]]]:
    """The rows of a JSONL file, gzipped or not."""

    def read(path: Path) -> list[dict[str, Any]]:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return [json.loads(line) for line in raw.decode().splitlines() if line.strip()]

    return read
