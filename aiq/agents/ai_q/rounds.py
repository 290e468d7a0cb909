"""Research rounds and the plan they follow, with limits enforced in code whatever the orchestrator's prompt says."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from pydantic import ConfigDict, Field, model_validator

from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.toolkit.langchain import (
    TASK,
    Execute,
    ToolAnswer,
    messages_of,
    over_budget,
    replies_in,
    since_question,
    steps_left,
)
from aiq.agents.toolkit.middleware import Call, Middleware, Request, Response, tool_names, without_tools
from aiq.agents.toolkit.structured import LenientRecord, read_object, text_or_none
from aiq.core.events import Decision, Recovery, Round
from aiq.core.session import current

PLANNER = "planner-agent"
RESEARCHER = "researcher-agent"

SYNTHESIS_ANCHOR = (
    "The research rounds are over. Write the final report now from the findings above, in the language of the task, "
    "with the citations [1], [2] and the '## References' format. Do not dispatch any further subagent."
)

STEPS_TO_SPARE = 12
"""Graph steps that a last reply needs, with a margin; with no more than these left the orchestrator must finish."""

PLAN_FILE = "/shared/plan.json"

MAX_SECTIONS = 8
"""The limit that the planner's prompt states."""

_SOURCES_BEFORE = "sources_before"
"""Metadata key of a reply that dispatches researchers: how many sources the registry held at that time."""

_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.*\S)\s*$")


@dataclass(eq=False)
class Rounds(Middleware):
    """Orchestrator only: counts, limits and reports the rounds, the replies that dispatch researcher-agent.

    Dispatches beyond `max_researcher_calls` are answered as over budget, in order, without being executed. After
    round `max_loops` the `task` tool is withdrawn and a synthesis anchor is the last message. Each round is an event
    with its queries, the sources it added, and the gaps that the orchestrator stated after it.
    """

    settings: DeepSettings

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        replies, rounds = replies_in(request.messages), dispatches(request.messages)
        cause = self._why_last(len(rounds))
        if cause:
            if not rounds or replies[-1] is rounds[-1]:
                current().events.emit(Decision(name="synthesis_anchor", value=True, cause=cause))
            request = without_tools(request, [TASK] if cause == "max_loops" else tool_names(request), SYNTHESIS_ANCHOR)
        response = await handler(request)
        reply = replies_in(response.result)[-1]
        is_dispatch = bool(researcher_calls(reply))
        if 0 < len(rounds) <= self.settings.max_loops and (is_dispatch or not reply.tool_calls):
            self._report(len(rounds), rounds[-1], [*replies, reply])
        if is_dispatch:
            reply.response_metadata[_SOURCES_BEFORE] = len(current().sources.all())
        return response

    def _report(self, number: int, dispatch: AIMessage, replies: Sequence[AIMessage]) -> None:
        """Emit the event of the round that ends with the last of the replies."""
        calls = researcher_calls(dispatch)[: self.settings.max_researcher_calls]
        new_sources = current().sources.all()[dispatch.response_metadata[_SOURCES_BEFORE] :]
        current().events.emit(
            Round(
                number=number,
                queries=tuple(query for call in calls for query in queries_in(call["args"]["description"])),
                new_sources=tuple(source.address for source in new_sources),
                gaps=gaps_in(replies[replies.index(dispatch) + 1 :]),
            )
        )

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        call, messages = request.tool_call, messages_of(request.state)
        max_loops, max_calls = self.settings.max_loops, self.settings.max_researcher_calls
        ids = [dispatch["id"] for dispatch in researcher_calls(replies_in(messages)[-1])]
        if call["id"] in ids and len(dispatches(messages)) > max_loops:
            return over_budget(call, f"the {max_loops} research rounds are over; write the report")
        if call["id"] in ids[max_calls:]:
            return over_budget(call, f"at most {max_calls} researchers work in one round; this one was not dispatched")
        return await handler(request)

    def _why_last(self, rounds: int) -> str | None:
        """The setting or limit that makes this the orchestrator's last phase, or None."""
        if spent := current().spent():
            return spent
        if steps_left() <= STEPS_TO_SPARE:
            return "recursion_limit"
        return "max_loops" if rounds >= self.settings.max_loops else None


def dispatches(messages: Sequence[AnyMessage]) -> list[AIMessage]:
    """Replies since the last question that dispatch the researcher: one per round."""
    return [reply for reply in replies_in(since_question(messages)) if researcher_calls(reply)]


def researcher_calls(reply: AIMessage) -> list[Any]:
    """The calls that dispatch the researcher; one whose task is not a string is refused by the tool itself."""
    to_researcher = (call for call in reply.tool_calls if is_task(call, RESEARCHER))
    return [call for call in to_researcher if isinstance(call["args"].get("description"), str)]


def is_task(call: Any, agent: str) -> bool:
    return bool(call["name"] == TASK and call["args"].get("subagent_type") == agent)


def queries_in(task: str) -> list[str]:
    """The list below a `Queries:` line; without one, the task's first line."""
    return _items_below(task, "queries") or task.strip().splitlines()[:1]


def gaps_in(replies: Sequence[AIMessage]) -> tuple[str, ...]:
    """The items below `Gaps:` lines in replies and in the thoughts they record; `none` is not a gap."""
    gaps: list[str] = []
    for reply in replies:
        if reply.tool_calls:  # otherwise it is the report, whose own `Gaps:` do not count
            for text in (*(str(call["args"].get("thought", "")) for call in reply.tool_calls), str(reply.text)):
                gaps += _items_below(text, "gaps")
    return tuple(filter(text_or_none, dict.fromkeys(gaps)))


def _items_below(text: str, heading: str) -> list[str]:
    """Items of the list below the first `heading:` line; other text on that line is an item too."""
    lines = iter(text.splitlines())
    for line in lines:
        if match := re.match(rf"\W*{heading}\W*:[\s*_]*(.*)$", line, re.IGNORECASE):
            items = takewhile(bool, map(_ITEM.match, lines))
            return list(filter(None, [match[1].strip(), *(item[1] for item in items if item)]))
    return []


def file_data(text: str) -> dict[str, str]:
    """A file of the virtual file system as deepagents stores it, dated by the run's clock."""
    timestamp = current().now.isoformat()
    return {"content": text, "encoding": "utf-8", "created_at": timestamp, "modified_at": timestamp}


class _Part(LenientRecord):
    """A part of a plan; fields that we do not check are passed on."""

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


def repair_plan(plan: ResearchPlan, minimum: int, maximum: int) -> tuple[ResearchPlan, list[str], list[str]]:
    """(plan, repairs, remaining faults).

    Repairs: blank and repeated queries and those beyond `maximum` are dropped; queries lose sections that the plan does
    not have; if there are fewer than `minimum`, one is added for each section that no query serves.
    """
    titles = [section.title for section in plan.sections]
    titles_by_key = {title.strip().casefold(): title for title in titles}
    distinct = {text: query for query in reversed(plan.queries) if (text := query.query.strip().casefold())}
    queries = sorted(distinct.values(), key=plan.queries.index)[:maximum]
    repairs: list[str] = []
    if repeated := len(plan.queries) - len(distinct):
        repairs.append(f"{repeated} blank or repeated queries dropped")
    if surplus := len(distinct) - len(queries):
        repairs.append(f"{surplus} queries beyond {maximum} dropped")
    for i, query in enumerate(queries):
        sections = [titles_by_key[key] for name in query.sections if (key := name.strip().casefold()) in titles_by_key]
        if sections != query.sections:
            repairs.append(f"sections of {query.query!r} put right")
            queries[i] = query.model_copy(update={"sections": sections})
    faults: list[str] = []
    for title in titles[:-1] or titles:  # the last of several sections concludes and needs no query
        if any(title in query.sections for query in queries):
            continue
        if len(queries) < minimum:
            queries.append(PlannedQuery(query=f"{plan.title}: {title}".lstrip(": "), sections=[title]))
            repairs.append(f"a query for {title!r} added")
        else:
            faults.append(f"no query serves {title!r}")
    faults += [f"{query.query!r} serves no section" for query in queries if not query.sections]
    if len(queries) < minimum:
        faults.append(f"{len(queries)} queries, fewer than {minimum}")
    if len(titles) > MAX_SECTIONS:
        faults.append(f"{len(titles)} sections, more than {MAX_SECTIONS}")
    return plan.model_copy(update={"queries": queries}), repairs, faults


@dataclass(eq=False)
class PlanReview(Middleware):
    """Orchestrator only: reviews the plan that the planner returned or wrote, and stores it in the plan file.

    The orchestrator sees the reviewed plan; the events show every repair and every fault that remains.
    Once there is a plan, the planner is not called again: research proceeds in rounds.
    """

    settings: DeepSettings

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        call = request.tool_call
        if not is_task(call, PLANNER):
            return await handler(request)
        if read_plan(request.state.get("files", {})):
            return over_budget(call, "the plan is made; research its queries or write the report")
        result = await handler(request)
        if not isinstance(result, Command):
            return result
        update: dict[str, Any] = dict(result.update or {})
        *earlier, answer = update["messages"]
        files = update.get("files", {})
        inline_plan = read_object(str(answer.text), ResearchPlan)
        draft = inline_plan or read_plan(files)
        if draft is None:
            _emit_plan([], [], ["no plan with sections and queries could be read"], "unreadable")
            return result
        plan, repairs, faults = repair_plan(draft, self.settings.min_queries, self.settings.max_queries)
        _emit_plan(plan.queries, repairs, faults, "repaired" if repairs else "as planned")
        text = json.dumps(plan.model_dump(), ensure_ascii=False, indent=2)
        if repairs or inline_plan is None:
            answer = answer.model_copy(update={"content": text})
        new_files = {**files, PLAN_FILE: file_data(text)}
        return Command(update={**update, "messages": [*earlier, answer], "files": new_files})


def read_plan(files: Mapping[str, Any]) -> ResearchPlan | None:
    """The plan in these files, or None if none can be read."""
    return read_object(files.get(PLAN_FILE, {}).get("content", ""), ResearchPlan)


def _emit_plan(queries: Sequence[PlannedQuery], repairs: Sequence[str], faults: Sequence[str], cause: str) -> None:
    """Emit the plan as a decision, and repairs and faults as a recovery."""
    emit = current().events.emit
    if repairs or faults:
        emit(Recovery(what="plan", detail="; ".join([*repairs, *(f"not repaired: {fault}" for fault in faults)])))
    sections = {query.query: list(query.sections) for query in queries}
    emit(Decision(name="plan", value=len(queries), cause=cause, detail={"queries": sections}))
