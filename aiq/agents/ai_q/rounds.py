"""Research rounds, as the harness counts and bounds them, whatever the orchestrator's prompt says.

A round is one reply of the orchestrator that dispatches researcher-agent at least once. Dispatches beyond
`max_researcher_calls` are answered as over budget, in order, without being executed. After round `max_loops` the
`task` tool is withdrawn and a synthesis anchor stands last. Each round is an event with its queries, the sources
it added, and the gaps that the orchestrator stated after it.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import AgentState, ExtendedModelResponse, PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from aiq.agents.ai_q.middleware import Call, Request, Response, over_budget, tool_name, without_tools
from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.langchain_tools import Execute, messages_of
from aiq.core.events import Decision, Round
from aiq.core.session import current

RESEARCHER = "researcher-agent"
TASK = "task"

SYNTHESIS_ANCHOR = (
    "The research rounds are over. Write the final report now from the findings above, in the language of the task, "
    "with the citations [1], [2] and the '## References' format. Do not dispatch any further subagent."
)

STEPS_TO_SPARE = 12
"""Graph steps that a last reply needs, with room; nearer to the recursion limit the orchestrator must finish."""

_GAPS = re.compile(r"^\W*gaps\W*:[\s*_]*(.*)$", re.IGNORECASE)
_QUERIES = re.compile(r"^\W*queries\W*:[\s*_]*(.*)$", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.*\S)\s*$")


class RoundsState(AgentState[Any]):
    """`sources_before`: how many sources the registry held when the running round was dispatched."""

    sources_before: NotRequired[Annotated[int, PrivateStateAttr]]


class Rounds(AgentMiddleware[Any, Any, Any]):
    """Orchestrator only; see the module."""

    state_schema = RoundsState

    def __init__(self, settings: DeepSettings) -> None:
        super().__init__()
        self._settings = settings

    async def awrap_model_call(self, request: Request, handler: Call) -> Any:
        dispatched = dispatches(request.messages)
        cause = self._why_last(len(dispatched))
        if cause:
            if not dispatched or _last_reply(request.messages) is dispatched[-1]:
                current().events.emit(Decision(name="synthesis_anchor", value=True, cause=cause))
            hidden = [TASK] if cause == "max_loops" else [name for t in request.tools if (name := tool_name(t))]
            request = without_tools(request, hidden, SYNTHESIS_ANCHOR)
        response: Response = await handler(request)
        reply = next((m for m in reversed(response.result) if isinstance(m, AIMessage)), None)
        starts = reply is not None and bool(researcher_calls(reply))
        if dispatched and reply is not None and (starts or not reply.tool_calls):
            self._report(request, len(dispatched), dispatched[-1], reply)
        if not starts or cause:
            return response
        before = {"sources_before": len(current().sources.all())}
        return ExtendedModelResponse(model_response=response, command=Command(update=before))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> "ToolMessage | Command[Any]":
        refusal = self._refusal(request)
        if refusal is None:
            return await handler(request)
        return over_budget(request, refusal)

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
        said = [*request.messages[position + 1 :], reply]
        executed = researcher_calls(dispatch)[: self._settings.max_researcher_calls]
        before = int(cast("Any", request.state).get("sources_before", 0))
        current().events.emit(
            Round(
                number=number,
                queries=tuple(query for call in executed for query in queries_in(str(call["args"]["description"]))),
                new_sources=tuple(s.url or s.citation_key or "" for s in current().sources.all()[before:]),
                gaps=gaps_in([message for message in said if isinstance(message, AIMessage)]),
            )
        )


def dispatches(messages: Sequence[AnyMessage]) -> list[AIMessage]:
    """Replies since the last question that dispatch the researcher: one a round."""
    asked = max((i for i, message in enumerate(messages) if isinstance(message, HumanMessage)), default=-1)
    return [m for m in messages[asked + 1 :] if isinstance(m, AIMessage) and researcher_calls(m)]


def _last_reply(messages: Sequence[AnyMessage]) -> AIMessage | None:
    return next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)


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
