"""AI-Q against the real offline stack: child process, HTTP, search, pages, and the closed world that ships with it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.settings import AiqSettings
from aiq.core.events import Event, EventLog, Round
from aiq.core.files import shipped
from aiq.core.reports import Report
from aiq.core.samples import Question, SampleKey, Truth
from aiq.core.session import Session
from aiq.core.settings import OfflineSettings
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from aiq.offline.launch import OfflineStack
from aiq.tools.toolbox import build_toolbox, build_web
from tests.sessions import make_session
from tests.settings import against_offline, configured

RUN = against_offline()


def task(number: str) -> tuple[str, Truth]:
    """Prompt and truth of one of the shipped research tasks."""
    folder = shipped("benchmarks/drb_mini")
    rows = [json.loads(line) for line in (folder / "query.jsonl").read_text(encoding="utf-8").splitlines()]
    truths = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    prompt = next(row["prompt"] for row in rows if str(row["id"]) == number)
    truth = next(row for row in truths if row["sample_id"] == number)
    return prompt, Truth.model_validate({name: truth[name] for name in Truth.model_fields})


@asynccontextmanager
async def stack() -> AsyncIterator[Any]:
    """`await ask(prompt, epoch=1, **settings)` gives (report, session, events)."""
    child = OfflineStack(configured(OfflineSettings), 0)
    async with open_client(RUN.llm, offline_port=await child.start()) as client:
        models, web = RunModels(RUN.llm, client), build_web(RUN, client)
        tools = build_toolbox(RUN, web, client)

        async def ask(prompt: str, epoch: int = 1, **settings: Any) -> tuple[Report, Session, list[Event]]:
            events: list[Event] = []
            session = make_session(
                key=SampleKey("s", epoch),
                run_seed=0,
                models=models,
                tools=tools,
                web=web,
                events=EventLog(events.append),
            )
            with session.bind():
                agent = AiqAgent(configured(AiqSettings, **settings))
                return await agent.research(Question(text=prompt), session), session, events

        yield ask
    await child.stop()


def stated(report: Report, truth: Truth) -> int:
    """How many needed facts stand in one line of the report, numbers without separators."""
    lines = report.text.replace(",", "").replace(". ", ".\n").splitlines()
    return sum(
        any(all(part.strip() in line for part in form.split("&")) for form in fact.forms for line in lines)
        for fact in truth.facts
    )


@pytest.mark.slow
async def test_more_rounds_state_more_of_what_the_task_needs() -> None:
    prompt, truth = task("1")
    async with stack() as ask:
        found = []
        for loops in (1, 2, 3):
            report, _, events = await ask(prompt, entry="deep", deep={"max_loops": loops})
            found.append(stated(report, truth))
            rounds = [event for event in events if isinstance(event, Round)]
            assert [event.number for event in rounds] == list(range(1, loops + 1))
            assert all(event.queries and event.new_sources for event in rounds)
            assert report.audit is not None
            assert report.audit.removed_citations == ()
            assert len(report.audit.valid_citations) >= 5
    assert found[0] < found[1] < found[2]


@pytest.mark.slow
async def test_the_chat_routes_and_the_same_request_gives_the_same_report() -> None:
    prompt, _ = task("3")
    async with stack() as ask:
        deep, _, _ = await ask(prompt)
        again, _, _ = await ask(prompt)
        other_epoch, _, _ = await ask(prompt, epoch=2)
        meta, _, _ = await ask("Hello!")
    assert (deep.route, meta.route) == ("deep", "meta")
    assert again == deep
    assert other_epoch.text != deep.text
    assert "## References" in deep.text
    assert 300 <= len(deep.text.split()) <= 1800
