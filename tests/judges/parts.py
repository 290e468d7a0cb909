"""Shared parts of the judges' tests: a task with criteria, reports, answers of judge models, scripted sessions."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.llm_settings import LlmSettings
from aiq.core.reports import Report, Score
from aiq.core.samples import Criterion, Question, Rubric, Sample, SampleKey
from aiq.core.session import Session
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.judges.base import Judge
from aiq.judges.race_scores import DIMENSIONS
from aiq.llm.http import AsyncBaseTransport, Request, Response
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from tests.sessions import make_session
from tests.settings import configured

Answers = Sequence[str] | Callable[[dict[str, Any]], str | Response]

RUBRIC = Rubric(
    dimension_weight=dict(zip(DIMENSIONS, (0.3, 0.35, 0.2, 0.15), strict=True)),
    criteria={
        name: (
            Criterion(criterion=f"Depth of {name}", explanation="How deep it goes.", weight=0.7),
            Criterion(criterion=f"Use of figures in {name}", explanation="Whether it has numbers.", weight=0.3),
        )
        for name in DIMENSIONS
    },
)
"""Two criteria per dimension, one of them heavier; dimension weights are the benchmark's."""

TASK = Sample(
    id="7",
    question=Question(text="Describe the port of Tessmark.", language="en"),
    reference="# Tessmark\n\nThe port of Tessmark moved 12 ships in 2025 [1].\n\n## References\n[1] P - https://p.example/",
    rubric=RUBRIC,
)
CHINESE_TASK = TASK.model_copy(update={"question": TASK.question.model_copy(update={"language": "zh-CN"})})


def as_report(text: str, **more: Any) -> Report:
    return Report(text=text, raw_text=text, route="deep", **more)


Card = dict[str, Any]


def card(rubric: Rubric, first: float = 6.0, second: float = 4.0) -> Card:
    """A complete answer with the same two scores everywhere."""
    return _card(rubric, article_1_score=first, article_2_score=second)


def points(rubric: Rubric, score: float = 7.0) -> Card:
    """A complete answer about a report that is judged on its own, with the same score everywhere."""
    return _card(rubric, score=score)


def _card(rubric: Rubric, **scores: float) -> Card:
    return {
        name: [{"criterion": c.criterion, "analysis": "a", **scores} for c in rubric.criteria[name]]
        for name in DIMENSIONS
    }


class Pages:
    """A web that consists of these pages only."""

    def __init__(self, pages: dict[str, str]) -> None:
        self._pages = pages

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        if url not in self._pages:
            raise ToolError(ToolErrorKind.NOT_AVAILABLE, f"{url} is not here")
        return Page(url=url, final_url=url, title="A page", text=self._pages[url])


@dataclass
class Scripted(AsyncBaseTransport):
    """An endpoint below the run's transports; answers from `script` in turn (or by a function of the request)."""

    script: Answers
    finish: str = "stop"
    got: list[dict[str, Any]] = field(default_factory=list)

    async def handle_async_request(self, request: Request) -> Response:
        body = json.loads(await request.aread())
        self.got.append({**body, "role": request.headers["x-aiq-role"]})
        script = self.script
        text = script(self.got[-1]) if callable(script) else script[min(len(self.got), len(script)) - 1]
        if isinstance(text, Response):
            return Response(text.status_code, content=text.content, request=request)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": self.finish}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return Response(200, json={**answer, "usage": usage}, request=request)

    def prompt(self, number: int = -1) -> str:
        """The user message of a request."""
        text: str = self.got[number]["messages"][-1]["content"]
        return text


@asynccontextmanager
async def scripted(
    answers: Answers, pages: dict[str, str] | None = None, sample_id: str = "1", finish: str = "stop", **llm: Any
) -> AsyncIterator[tuple[Session, Scripted]]:
    """A session with our client, an endpoint that gives these answers, and a web of these pages."""
    endpoint = Scripted(answers, finish)
    settings = configured(LlmSettings, **{"base_url": "http://model.example/v1", "model": "m", **llm})
    async with open_client(settings, offline_port=None, inner=endpoint) as client:
        session = make_session(key=SampleKey(sample_id, 1), models=RunModels(settings, client), web=Pages(pages or {}))
        with session.bind():
            yield session, endpoint


async def judged(
    judge: Judge, answers: Answers, text: str, sample: Sample = TASK, **given: Any
) -> tuple[list[Score], Scripted]:
    """The scores of a report with this text, and the endpoint that was asked."""
    async with scripted(answers, **given) as (session, endpoint):
        return await judge.score(sample, as_report(text), session), endpoint
