"""The planner on a scripted endpoint, over the real protocol, with a tool over the shipped events in real SQLite."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import BaseModel

from aiq.agents.planner.agent import PlannerAgent
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import DataDocument, PlannerState, ResearchFinding, SubQuestion
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.sources import Source
from aiq.core.tools import Tool, Toolbox, ToolResult
from aiq.core.usage import Limits
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.tools.mcp.events import AnalyzeEvents, query_of
from aiq.tools.mcp.events_sqlite import SqliteEvents
from aiq.tools.toolbox import Think
from tests.agents.conftest import Bench, on_bench, shared
from tests.settings import configured
from tests.tools.mcp.shipped_events import shipped_engine

INDIA = '{"country": "India"}'
QUESTIONS = [
    "What are the main event themes in India?",
    "How are events distributed across themes?",
    "Which themes have the most events?",
]
REPORT = "# India events by theme\n\n- AI leads with 50 of 165 events [1].\n- Cloud follows with 40 events."


@dataclass
class EventsTool:
    """`analyze_events` of the events server, in this process: the same arguments, engine and answers."""

    engine: SqliteEvents = field(default_factory=cache(shipped_engine))  # it is only read
    name: str = "analyze_events"
    description: str = "Filter, count and page through events."
    parameters: type[BaseModel] = AnalyzeEvents
    data_source: str | None = "events"
    calls: list[dict[str, Any]] = field(default_factory=list)

    async def run(self, arguments: Any) -> ToolResult:
        self.calls.append(arguments.model_dump(exclude_defaults=True))
        answer = await self.engine.analyze(query_of(arguments, self.engine.fields))
        sources = tuple(Source(url=str(row["url"]), title=str(row["title"])) for row in answer.documents)
        return ToolResult(content=answer.model_dump_json(), sources=sources)


class PagesArguments(BaseModel):
    page_size: int = 10
    search_after: str = ""
    group_by: str = ""


@dataclass
class Pages:
    """A tool with scripted answers by page: objects, texts, or errors to raise."""

    answers: Sequence[Any]
    name: str = "pages"
    description: str = "Pages of documents."
    parameters: type[BaseModel] = PagesArguments
    data_source: str | None = "pages"
    calls: list[PagesArguments] = field(default_factory=list)

    async def run(self, arguments: PagesArguments) -> ToolResult:
        answer = self.answers[min(len(self.calls), len(self.answers) - 1)]
        self.calls.append(arguments)
        if isinstance(answer, Exception):
            raise answer
        return ToolResult(content=answer if isinstance(answer, str) else json.dumps(answer))


def plan(*agents: Any, tools: Sequence[tuple[str, Mapping[str, Any]]] = (), **more: Any) -> dict[str, Any]:
    """A plan of sub-agents (a name, optionally with arguments and `depends_on`) and tools."""
    calls = [(agent,) if isinstance(agent, str) else agent for agent in agents]
    return {
        "sub_agent_calls": [dict(zip(("agent_name", "arguments", "depends_on"), call, strict=False)) for call in calls],
        "tool_calls": [{"tool": name, "arguments": dict(arguments)} for name, arguments in tools],
        **more,
    }


FIRST = plan("decomposer", tools=[("analyze_events", {"filters": INDIA, "group_by": "event_theme"})])

DECOMPOSED = {"sub_questions": [{"id": f"sq_{n}", "question": q} for n, q in enumerate(QUESTIONS, 1)], "reasoning": ""}


def found(request: ChatRequest) -> dict[str, Any]:
    """Three findings in each batch, from its first three documents."""
    claims = [f"Document {n} of batch {request.last_user.count('<document>')} is an event." for n in (1, 2, 3)]
    return {"findings": [{"claim": c, "sources": [n], "themes": ["AI"]} for n, c in enumerate(claims, 1)]}


Said = Any
"""A text, an object to send as JSON, an HTTP status, or a function of the request that returns one of these."""


def roles(plans: Sequence[Said], **said: Said) -> Callable[[ChatRequest], ChatReply | int]:
    """One plan per iteration, the last one repeating; the other roles say what is given, or by default the simplest."""
    remaining = list(plans)
    defaults: dict[str, Said] = {
        "decomposer": DECOMPOSED,
        "scanner": found,
        "extractor": found,
        "aggregator": {"insights": ["AI leads."]},
        "perspective": {"perspectives": [{"name": "Analyst", "focus": "trends"}]},
        "validator": {"validation_passed": True, "issues": [], "overall_confidence": 0.9},
        "gap_analyzer": {"gaps": [], "reasoning": ""},
        "synthesizer": REPORT,
    }

    def script(request: ChatRequest) -> ChatReply | int:
        role = request.role.removeprefix("planner.")
        reply = {**defaults, **said}.get(role)
        if role == "planner":
            reply = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, int | tuple):
            failure: Any = reply
            return failure  # type: ignore[no-any-return]
        return ChatReply(text=reply if isinstance(reply, str) else json.dumps(reply))

    return script


def planner(**changes: Any) -> PlannerAgent:
    """An agent that does not wait before retries."""
    calls = {"first_seconds": 0, **changes.pop("calls", {})}
    return shared(PlannerAgent, configured(PlannerSettings, calls=calls, **changes))


@asynccontextmanager
async def planned(
    script: Any, *tools: Tool, asked: Mapping[str, Any] | None = None, limits: Limits | None = None, **settings: Any
) -> AsyncIterator[tuple[Report, Bench]]:
    """A research with these tools (by default the one over the shipped events), and the bench that it ran on.

    `asked`: further fields of the question.
    """
    box = Toolbox([*(tools or (EventsTool(),)), Think()])
    async with on_bench(script, tools=box, limits=limits or configured(Limits)) as bench:
        question = Question(**{"text": "India events by theme", **(asked or {})})
        yield await planner(**settings).research(question, bench.session), bench


def document(key: str, **more: Any) -> DataDocument:
    return DataDocument(key=key, **{"title": key, "url": f"https://docs.test/{key}", **more})


def finding(claim: str = "A claim.", *documents: str, **more: Any) -> ResearchFinding:
    return ResearchFinding(id="f_1", claim=claim, doc_ids=documents, **more)


def state(**more: Any) -> PlannerState:
    return PlannerState(query="India events by theme", **more)


def questions(*priorities: int) -> tuple[SubQuestion, ...]:
    return tuple(SubQuestion(id=f"sq_{n}", question=f"Question {n}?", priority=p) for n, p in enumerate(priorities, 1))
