"""Research rounds, and the plan they follow, as code bounds them, whatever the orchestrator's prompt says.

A round is one reply of the orchestrator that dispatches researcher-agent at least once. Dispatches beyond
`max_researcher_calls` are answered as over budget, in order, without being executed. After round `max_loops` the
`task` tool is withdrawn and a synthesis anchor is the last message. Each round is an event with its queries, the
sources it added, and the gaps that the orchestrator stated after it.

The planner's plan is read, checked against the bounds that its prompt states, repaired where that is safe, and kept.
The orchestrator sees the plan as it was reviewed; every repair, and every fault that remains, is in the events.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware.types import AgentState, ExtendedModelResponse, PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, Field, model_validator

from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.toolkit.langchain import (
    Execute,
    Middleware,
    ToolAnswer,
    messages_of,
    over_budget,
    replies_in,
    since_question,
)
from aiq.agents.toolkit.middleware import Call, Request, Response, tool_names, without_tools
from aiq.agents.toolkit.structured import read_object
from aiq.agents.toolkit.subagents import TASK
from aiq.core.events import Decision, Recovery, Round
from aiq.core.session import current

PLANNER = "planner-agent"
RESEARCHER = "researcher-agent"

SYNTHESIS_ANCHOR = (
    "The research rounds are over. Write the final report now from the findings above, in the language of the task, "
    "with the citations [1], [2] and the '## References' format. Do not dispatch any further subagent."
)

STEPS_TO_SPARE = 12
"""Graph steps that a last reply needs, with room; nearer to the recursion limit the orchestrator must finish."""

PLAN_FILE = "/shared/plan.json"

MAX_SECTIONS = 8
"""As the planner's prompt states it."""

_GAPS = re.compile(r"^\W*gaps\W*:[\s*_]*(.*)$", re.IGNORECASE)
_QUERIES = re.compile(r"^\W*queries\W*:[\s*_]*(.*)$", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.*\S)\s*$")


class RoundsState(AgentState[Any]):
    """`sources_before`: how many sources the registry held when the running round was dispatched."""

    sources_before: NotRequired[Annotated[int, PrivateStateAttr]]


class Rounds(Middleware):
    """Orchestrator only: counts, bounds and reports the rounds."""

    state_schema = RoundsState

    def __init__(self, settings: DeepSettings) -> None:
        super().__init__()
        self._settings = settings

    async def awrap_model_call(self, request: Request, handler: Call) -> Any:
        dispatched = dispatches(request.messages)
        cause = self._why_last(len(dispatched))
        if cause:
            if not dispatched or replies_in(request.messages)[-1] is dispatched[-1]:
                current().events.emit(Decision(name="synthesis_anchor", value=True, cause=cause))
            hidden = [TASK] if cause == "max_loops" else tool_names(request)
            request = without_tools(request, hidden, SYNTHESIS_ANCHOR)
        response: Response = await handler(request)
        reply = replies_in(response.result)[-1]
        starts = bool(researcher_calls(reply))
        if dispatched and (starts or not reply.tool_calls):
            self._report(request, len(dispatched), dispatched[-1], reply)
        if not starts or cause:
            return response
        before = {"sources_before": len(current().sources.all())}
        return ExtendedModelResponse(model_response=response, command=Command(update=before))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        refusal = self._refusal(request)
        return await handler(request) if refusal is None else over_budget(request.tool_call, refusal)

    def _why_last(self, rounds: int) -> str | None:
        """The setting that makes this the orchestrator's last phase, or None."""
        if rounds >= self._settings.max_loops:
            return "max_loops"
        step = int(get_config().get("metadata", {}).get("langgraph_step", 0))
        return "recursion_limit" if step + STEPS_TO_SPARE >= self._settings.recursion_limit else None

    def _refusal(self, request: ToolCallRequest) -> str | None:
        """Why a dispatch of the researcher is not executed; None for every other call."""
        if not is_researcher_call(request.tool_call):
            return None
        dispatched = dispatches(messages_of(request.state))
        if len(dispatched) > self._settings.max_loops:
            return f"the {self._settings.max_loops} research rounds are over; write the report"
        most = self._settings.max_researcher_calls
        ids = [call["id"] for call in researcher_calls(dispatched[-1])]
        if ids.index(request.tool_call["id"]) >= most:
            return f"at most {most} researchers work in one round; this one was not dispatched"
        return None

    def _report(self, request: Request, number: int, dispatch: AIMessage, reply: AIMessage) -> None:
        """Emit the round that ends with this reply."""
        if number > self._settings.max_loops:
            return  # a dispatch that was refused as a whole is no round
        position = max(i for i, message in enumerate(request.messages) if message is dispatch)
        executed = researcher_calls(dispatch)[: self._settings.max_researcher_calls]
        before = int(cast("Any", request.state).get("sources_before", 0))
        current().events.emit(
            Round(
                number=number,
                queries=tuple(query for call in executed for query in queries_in(str(call["args"]["description"]))),
                new_sources=tuple(s.address for s in current().sources.all()[before:]),
                gaps=gaps_in([*replies_in(request.messages[position + 1 :]), reply]),
            )
        )


def dispatches(messages: Sequence[AnyMessage]) -> list[AIMessage]:
    """Replies since the last question that dispatch the researcher: one a round."""
    return [reply for reply in replies_in(since_question(messages)) if researcher_calls(reply)]


def researcher_calls(reply: AIMessage) -> list[Any]:
    return [call for call in reply.tool_calls if is_researcher_call(call)]


def is_researcher_call(call: Any) -> bool:
    """Whether a tool call dispatches the researcher; one without a task text is refused by the tool itself."""
    arguments = call["args"]
    return bool(call["name"] == TASK and arguments.get("subagent_type") == RESEARCHER and arguments.get("description"))


def queries_in(task: str) -> list[str]:
    """The list below a `Queries:` line; without one, the task's first line."""
    return _listed_below(task.splitlines(), _QUERIES) or task.strip().splitlines()[:1]


def gaps_in(replies: Sequence[AIMessage]) -> tuple[str, ...]:
    """The lists below `Gaps:` lines in replies and in the thoughts they record; `none` is no gap."""
    found: list[str] = []
    for reply in replies:
        if not reply.tool_calls:
            continue  # the report itself; what it calls gaps is its own matter
        thoughts = [str(call["args"].get("thought", "")) for call in reply.tool_calls]
        for text in (*thoughts, str(reply.text)):
            found += _listed_below(text.splitlines(), _GAPS)
    return tuple(gap for gap in dict.fromkeys(found) if gap.strip(" .").lower() not in ("none", "无"))


def _listed_below(lines: Sequence[str], heading: re.Pattern[str]) -> list[str]:
    """Items of the list that follows the first line that matches; a text on that line itself is an item."""
    for number, line in enumerate(lines):
        if match := heading.match(line):
            items = [match.group(1).strip()] if match.group(1).strip() else []
            for following in lines[number + 1 :]:
                item = _ITEM.match(following)
                if item is None:
                    break
                items.append(item.group(1))
            return items
    return []


def file_data(text: str) -> dict[str, str]:
    """A file of the virtual file system as deepagents keeps it, dated by the run's clock."""
    moment = current().now.isoformat()
    return {"content": text, "encoding": "utf-8", "created_at": moment, "modified_at": moment}


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


class PlanReview(Middleware):
    """Orchestrator only: reviews what the planner returned or wrote, and keeps it in the plan file.

    Once there is a plan, the planner is not asked again: research goes on in rounds.
    """

    def __init__(self, settings: DeepSettings) -> None:
        super().__init__()
        self._settings = settings

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        call = request.tool_call
        if call["name"] != TASK or call["args"].get("subagent_type") != PLANNER:
            return await handler(request)
        if PLAN_FILE in request.state.get("files", {}):
            return over_budget(request.tool_call, "the plan is made; research its queries or write the report")
        result = await handler(request)
        if not isinstance(result, Command) or not isinstance(result.update, Mapping):
            return result
        update = dict(result.update)
        answer: ToolMessage = update["messages"][-1]
        written = update.get("files", {}).get(PLAN_FILE) or {}
        answered = read_object(str(answer.text), ResearchPlan)
        found = answered or read_object(str(written.get("content", "")), ResearchPlan)
        if found is None:
            _note(None, [], ["no plan with sections and queries could be read"])
            return result
        plan, repairs, faults = reviewed(found, self._settings.min_queries, self._settings.max_queries)
        _note(plan, repairs, faults)
        text = json.dumps(plan.model_dump(), ensure_ascii=False, indent=2)
        update["files"] = {**update.get("files", {}), PLAN_FILE: file_data(text)}
        if repairs or answered is None:
            update["messages"] = [*update["messages"][:-1], answer.model_copy(update={"content": text})]
        return Command(update=update)


def _note(plan: ResearchPlan | None, repairs: Sequence[str], faults: Sequence[str]) -> None:
    """The plan as a decision; repairs and faults as a recovery."""
    events = current().events
    if repairs or faults:
        events.emit(Recovery(what="plan", detail="; ".join([*repairs, *(f"not repaired: {f}" for f in faults)])))
    queries = plan.queries if plan else []
    mapped = {query.query: list(query.sections) for query in queries}
    cause = "unreadable" if plan is None else "repaired" if repairs else "as planned"
    events.emit(Decision(name="plan", value=len(queries), cause=cause, detail={"queries": mapped}))
