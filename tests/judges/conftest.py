"""Sessions for judges: over the real offline stack with the shipped world, or over scripted answers."""

import gzip
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aiq.citations.registry import SourceRegistry
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import EventLog
from aiq.core.files import shipped
from aiq.core.reports import Report
from aiq.core.samples import Question, Rubric, Sample, SampleKey
from aiq.core.session import ApprovingUser, Session
from aiq.core.settings import LlmSettings, SearchSettings, WebSettings
from aiq.core.sources import Page
from aiq.core.tools import Reader, Web
from aiq.core.usage import Limits
from aiq.llm.http import AsyncBaseTransport, Request, Response
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.tools.toolbox import build_toolbox, build_web
from tests.judges.cards import RUBRIC

CLOCK = datetime(2026, 11, 1, 9, tzinfo=UTC)


class Pages:
    """A web that holds these pages and nothing else."""

    def __init__(self, pages: dict[str, str]) -> None:
        self._pages = pages

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        if url not in self._pages:
            raise ToolError(ToolErrorKind.NOT_AVAILABLE, f"{url} is not here")
        return Page(url=url, final_url=url, title="A page", text=self._pages[url])


def make_session(models: RunModels, tools: Any, web: Web, seed: int = 7, sample_id: str = "1") -> Session:
    return Session(
        key=SampleKey(sample_id, 1),
        run_seed=seed,
        now=CLOCK,
        models=models,
        tools=tools,
        web=web,
        user=ApprovingUser(),
        limits=Limits(),
        events=EventLog(lambda event: None),
        sources=SourceRegistry(),
    )


@dataclass
class Scripted(AsyncBaseTransport):
    """An endpoint below the run's transports; answers from `script` in turn (or by a function of the request)."""

    script: Sequence[str] | Callable[[dict[str, Any]], str]
    got: list[dict[str, Any]] = field(default_factory=list)

    async def handle_async_request(self, request: Request) -> Response:
        body = json.loads(await request.aread())
        self.got.append({**body, "role": request.headers["x-aiq-role"]})
        script = self.script
        text = script(self.got[-1]) if callable(script) else script[min(len(self.got), len(script)) - 1]
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return Response(200, json={**answer, "usage": usage}, request=request)

    def prompt(self, number: int = -1) -> str:
        """The user message of a request."""
        text: str = self.got[number]["messages"][-1]["content"]
        return text


ScriptedMaker = Callable[..., AbstractAsyncContextManager[tuple[Session, Scripted]]]


@pytest.fixture
def scripted() -> ScriptedMaker:
    """`async with scripted(answers, pages={url: text}, **llm) as (session, endpoint)`: our client, their words."""

    @asynccontextmanager
    async def make(
        answers: Sequence[str] | Callable[[dict[str, Any]], str],
        pages: dict[str, str] | None = None,
        sample_id: str = "1",
        **llm: Any,
    ) -> AsyncIterator[tuple[Session, Scripted]]:
        endpoint = Scripted(answers)
        settings = LlmSettings(**{"base_url": "http://model.example/v1", "model": "m", **llm})
        async with open_client(settings, offline_port=None, inner=endpoint) as client:
            session = make_session(RunModels(settings, client), None, Pages(pages or {}), sample_id=sample_id)
            with session.bind():
                yield session, endpoint

    return make


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
        llm = LlmSettings(base_url="http://model.offline.example/v1", model="offline")
        search = SearchSettings(provider="tavily", base_url="http://search.offline.example")
        async with open_client(llm, offline_port=stack_port) as client:
            web = build_web(WebSettings(kind="offline"), search, client=client)
            session = make_session(RunModels(llm, client), build_toolbox(search, web, client), web, seed, sample_id)
            with session.bind():
                yield session

    return make


def as_report(text: str) -> Report:
    return Report(text=text, raw_text=text, route="shallow")


@pytest.fixture
def report() -> Callable[[str], Report]:
    """A report with this text."""
    return as_report


@pytest.fixture
def rubric() -> Rubric:
    """Two criteria a dimension, one of them heavier; dimension weights as the benchmark has them."""
    return RUBRIC


@pytest.fixture
def task(rubric: Rubric) -> Sample:
    """A research task with criteria and a reference report."""
    return Sample(
        id="7",
        question=Question(text="Describe the port of Tessmark.", language="en"),
        reference="# Tessmark\n\nThe port of Tessmark moved 12 ships in 2025 [1].\n\n## References\n[1] P - https://p.example/",
        rubric=rubric,
    )


@pytest.fixture(scope="session")
def read_rows() -> Callable[[Path], list[dict[str, Any]]]:
    """The rows of a JSONL file, gzipped or not."""

    def read(path: Path) -> list[dict[str, Any]]:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return [json.loads(line) for line in raw.decode().splitlines() if line.strip()]

    return read
