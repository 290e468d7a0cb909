"""The planner's plan: read, checked against the bounds that its prompt states, repaired where that is safe, kept.

The orchestrator sees the plan as it was reviewed; every repair, and every fault that stays, is in the events.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, Field, model_validator

from aiq.agents.ai_q.middleware import over_budget
from aiq.agents.ai_q.replies import parse
from aiq.agents.ai_q.rounds import TASK
from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.ai_q.subagents import PLANNER, file_data
from aiq.agents.langchain_tools import Execute
from aiq.core.events import Decision, Recovery
from aiq.core.session import current

PLAN_FILE = "/shared/plan.json"

MAX_SECTIONS = 8
"""As the planner's prompt states it (specification 3.5)."""


class _Part(BaseModel):
    """A part of a plan; what it holds beyond the fields that we check is passed on."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _text_is_its_first_field(cls, value: object) -> object:
        """Models write `"sections": ["A", "B"]` where objects are asked for."""
        return {next(iter(cls.model_fields)): value} if isinstance(value, str) else value


class Section(_Part):
    title: str = Field(min_length=1)


class PlannedQuery(_Part):
    """`sections`: titles of the sections that the query serves."""

    query: str
    sections: list[str] = Field(default_factory=list)


class ResearchPlan(_Part):
    title: str = ""
    sections: list[Section] = Field(min_length=1)
    queries: list[PlannedQuery] = Field(min_length=1)


def reviewed(plan: ResearchPlan, least: int, most: int) -> tuple[ResearchPlan, list[str], list[str]]:
    """(plan, repairs, remaining faults).

    Repairs: blank and repeated queries and those beyond `most` go; sections that the plan does not have are taken
    off queries; too few queries are made up by one for each section that none serves.
    """
    titles = [section.title for section in plan.sections]
    known = {title.strip().casefold(): title for title in titles}
    queries, repairs = _distinct(plan.queries)
    if len(queries) > most:
        repairs.append(f"{len(queries) - most} queries beyond {most} dropped")
        queries = queries[:most]
    mapped = []
    for query in queries:
        sections = [known[name.strip().casefold()] for name in query.sections if name.strip().casefold() in known]
        if sections != query.sections:
            repairs.append(f"sections of {query.query!r} put right")
        mapped.append(query.model_copy(update={"sections": sections}))
    for title in _unserved(titles, mapped):
        if len(mapped) < least:
            mapped.append(PlannedQuery(query=f"{plan.title}: {title}".lstrip(": "), sections=[title]))
            repairs.append(f"a query for {title!r} added")
    faults = [f"no query serves {title!r}" for title in _unserved(titles, mapped)]
    faults += [f"{query.query!r} serves no section" for query in mapped if not query.sections]
    if len(mapped) < least:
        faults.append(f"{len(mapped)} queries, fewer than {least}")
    if len(titles) > MAX_SECTIONS:
        faults.append(f"{len(titles)} sections, more than {MAX_SECTIONS}")
    return plan.model_copy(update={"queries": mapped}), repairs, faults


def _distinct(queries: Sequence[PlannedQuery]) -> tuple[list[PlannedQuery], list[str]]:
    """Each query once, without blank ones; what was dropped, as a repair."""
    found: dict[str, PlannedQuery] = {}
    for query in queries:
        if query.query.strip():
            found.setdefault(query.query.strip().casefold(), query)
    dropped = len(queries) - len(found)
    return list(found.values()), [f"{dropped} blank or repeated queries dropped"] if dropped else []


def _unserved(titles: Sequence[str], queries: Sequence[PlannedQuery]) -> list[str]:
    """Sections without a query; the last one of several concludes and needs none."""
    served = {title for query in queries for title in query.sections}
    return [title for title in (titles[:-1] or titles) if title not in served]


class PlanReview(AgentMiddleware[Any, Any, Any]):
    """Orchestrator only: reviews what the planner returned or wrote, and keeps it in the plan file.

    Once there is a plan, the planner is not asked again: research goes on in rounds.
    """

    def __init__(self, settings: DeepSettings) -> None:
        super().__init__()
        self._settings = settings

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> "ToolMessage | Command[Any]":
        call = request.tool_call
        if call["name"] != TASK or call["args"].get("subagent_type") != PLANNER:
            return await handler(request)
        if PLAN_FILE in request.state.get("files", {}):
            return over_budget(request, "the plan is made; research its queries or write the report")
        result = await handler(request)
        if not isinstance(result, Command) or not isinstance(result.update, Mapping):
            return result
        update = dict(result.update)
        answer: ToolMessage = update["messages"][-1]
        written = update.get("files", {}).get(PLAN_FILE) or {}
        found = _read(str(answer.text)) or _read(str(written.get("content", "")))
        if found is None:
            _note(None, [], ["no plan with sections and queries could be read"])
            return result
        plan, repairs, faults = reviewed(found, self._settings.min_queries, self._settings.max_queries)
        _note(plan, repairs, faults)
        text = json.dumps(plan.model_dump(), ensure_ascii=False, indent=2)
        update["files"] = {**update.get("files", {}), PLAN_FILE: file_data(text)}
        if repairs or _read(str(answer.text)) is None:
            update["messages"] = [*update["messages"][:-1], answer.model_copy(update={"content": text})]
        return Command(update=update)


def _read(text: str) -> ResearchPlan | None:
    return parse(text, ResearchPlan, "queries")


def _note(plan: ResearchPlan | None, repairs: Sequence[str], faults: Sequence[str]) -> None:
    """The plan as a decision; repairs and faults as a recovery."""
    events = current().events
    if repairs or faults:
        events.emit(Recovery(what="plan", detail="; ".join([*repairs, *(f"not repaired: {f}" for f in faults)])))
    queries = plan.queries if plan else []
    mapped = {query.query: list(query.sections) for query in queries}
    cause = "unreadable" if plan is None else "repaired" if repairs else "as planned"
    events.emit(Decision(name="plan", value=len(queries), cause=cause, detail={"queries": mapped}))
