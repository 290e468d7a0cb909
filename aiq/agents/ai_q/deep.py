"""AI-Q's deep researcher: an orchestrator with planner and researcher subagents, on deepagents.

Whatever differs between samples is in the state, from which the system prompt is rendered for each call.
`tests/agents/ai_q/test_deepagents_contract.py` fails first when a new version of deepagents changes this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import add
from typing import Annotated, Any, NotRequired

from deepagents import GeneralPurposeSubagentProfile, HarnessProfile, create_deep_agent, register_harness_profile
from deepagents.graph import DeepAgentState
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents.middleware import TodoListMiddleware
from langchain.agents.middleware.types import OmitFromInput
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt.tool_node import ToolCallRequest

from aiq.agents.ai_q.rounds import PLANNER, RESEARCHER, PlanReview, Rounds
from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.ai_q.states import DeepResearchAgentState
from aiq.agents.toolkit.conversation import last_answer
from aiq.agents.toolkit.finish import HEADING
from aiq.agents.toolkit.langchain import TASK, Execute, ToolAnswer, as_langchain
from aiq.agents.toolkit.middleware import (
    Call,
    CallRepair,
    EmptyContentFix,
    Middleware,
    ModelRetry,
    Request,
    Response,
    SessionCalls,
    SubagentStatus,
    ToolBudget,
    ToolNameSanitization,
    ToolResultPruning,
)
from aiq.agents.toolkit.toolset import listing, tools_for
from aiq.core.errors import AgentError
from aiq.core.events import StageChanged
from aiq.core.models import Models
from aiq.core.prompts import Prompts
from aiq.core.replies import RawReply, read_reply, why_cut_off, why_no_answer
from aiq.core.session import current
from aiq.core.tools import Tool

REPORT_FILE, DRAFT_FILE = "/report.md", "/shared/draft.md"

REPORT_CHARACTERS = 400
"""A last message of at least this length with a heading is a report; a shorter one may only announce the file."""

ROLES = {"orchestrator": "aiq.orchestrator", PLANNER: "aiq.planner", RESEARCHER: "aiq.researcher"}

SUBAGENTS = {
    PLANNER: "Searches, and plans the report's sections and the queries to research.",
    RESEARCHER: "Searches for the given queries and returns cited findings.",
}
"""The descriptions that the orchestrator is shown."""

TASK_DESCRIPTION = """Gives a task to a subagent and returns its reply.

{available_agents}

A subagent sees nothing but the description. Calls in one reply run at the same time."""

FILE_TOOLS = {
    "ls": "Lists the shared files below a path such as /shared.",
    "read_file": "Reads a shared file.",
    "write_file": "Writes a text to a shared file; a file of that name is replaced.",
}

Graph = CompiledStateGraph[Any, Any, Any, Any]


class DeepState(DeepAgentState):
    """What prompts show and what `SubagentStatus` adds; `todos` and `files` come with their middleware."""

    tools_info: NotRequired[list[dict[str, Any]]]
    subagents: NotRequired[Annotated[list[dict[str, Any]], OmitFromInput, add]]
    clarifier_result: NotRequired[str | None]
    available_documents: NotRequired[list[Any] | None]


class ReportDraft(Middleware):
    """Orchestrator only: a report or draft written to its file is kept at once, so that no later failure loses it.

    It also counts as a complete reply of the model, so that a cut-off reply that repeats it does not make it partial.
    """

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        result, arguments = await handler(request), request.tool_call["args"]
        writes_report = "/" + str(arguments.get("file_path", "")).lstrip("/") in (REPORT_FILE, DRAFT_FILE)
        failed = isinstance(result, ToolMessage) and result.status == "error"
        if request.tool_call["name"] == "write_file" and writes_report and not failed:
            session, text = current(), str(arguments["content"])
            session.keep_draft(text)
            session.replies.append(read_reply(ROLES["orchestrator"], {"content": text}, None))
        return result


@dataclass(eq=False)
class RolePrompt(Middleware):
    """Innermost: sets an agent's system prompt and the bound session's model of its role."""

    role: str
    prompts: Prompts
    settings: DeepSettings

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        session, state = current(), request.state
        prompt = self.prompts.render(
            f"{self.role.removeprefix('aiq.')}.j2",
            current_datetime=session.now.isoformat(),
            tools=state.get("tools_info") or [],
            clarifier_result=state.get("clarifier_result"),
            available_documents=state.get("available_documents") or [],
            limits=self.settings,
        )
        model = session.models.chat(self.role)
        return await handler(request.override(system_message=SystemMessage(prompt), model=model))


class DeepResearcher:
    """Serves all samples concurrently; keeps one compiled graph per set of tools."""

    def __init__(self, settings: DeepSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        self._graphs: dict[tuple[str, ...], Graph] = {}

    async def run(self, state: DeepResearchAgentState) -> DeepResearchAgentState:
        """Plan, research in rounds, write. The last message is the report as written.

        Raises AgentError if no report was written, ConfigError for an unknown data source, ModelError,
        LimitReached, RunAborted. A report that was written before one of these is in `session.draft`.
        """
        session, settings = current(), self._settings
        tools = tools_for(state.data_sources, settings.tools)
        inputs: dict[str, Any] = {
            "messages": state.messages,
            "tools_info": state.tools_info or listing([tool for tool in tools if tool.data_source]),
            "clarifier_result": state.clarifier_result,
            "available_documents": state.available_documents,
        }
        config: Any = {"recursion_limit": settings.recursion_limit}
        result = {"todos": [], "subagents": []} | await self.graph(session.models, tools).ainvoke(inputs, config)
        files = {path: str(file["content"]) for path, file in result.get("files", {}).items()}
        file_text, draft = (files.get(path, "") for path in (REPORT_FILE, DRAFT_FILE))
        report, partial = final_report(last_answer(result["messages"]), file_text, draft, session.replies)
        session.keep_draft(report)
        if settings.verbose:
            detail: dict[str, Any] = {
                "todos": result["todos"],
                "files": {path: len(text) for path, text in files.items()},
                "subagents": [f"{entry['name']}: {entry['status']}" for entry in result["subagents"]],
            }
            session.events.emit(StageChanged(stage="deep_research_done", detail=detail))
        update = {name: result[name] for name in ("tools_info", "todos", "subagents")}
        update["partial"] = partial
        messages = [*result["messages"], AIMessage(report)]
        return state.model_copy(update={**update, "messages": messages, "files": files})

    def graph(self, models: Models, tools: Sequence[Tool]) -> Graph:
        """The compiled graph for these tools; the session's models answer, whichever it was compiled with."""
        names = tuple(tool.name for tool in tools)
        if names not in self._graphs:
            self._graphs[names] = self._compile(models, tools)
        return self._graphs[names]

    def _compile(self, models: Models, tools: Sequence[Tool]) -> Graph:
        register_profile()
        settings, langchain_tools = self._settings, [as_langchain(tool) for tool in tools]
        research_names = [tool.name for tool in tools if tool.data_source]
        budget = ToolBudget(settings.max_searches_per_researcher, research_names)
        subagents: list[Any] = [
            {
                "name": name,
                "description": description,
                "model": models.chat(ROLES[name]),
                "tools": langchain_tools,
                "middleware": [_files(), budget, *self._shared(name)],
            }
            for name, description in SUBAGENTS.items()
        ]
        text = "Replaces your list of steps, each pending, in_progress or completed."
        todos: list[Middleware] = [TodoListMiddleware(tool_description=text)] if settings.enable_todos else []
        controls: list[Middleware] = [Rounds(settings), PlanReview(settings), ReportDraft()]
        return create_deep_agent(
            models.chat(ROLES["orchestrator"]),
            [tool for tool in langchain_tools if tool.name not in research_names],
            subagents=subagents,
            middleware=[_files(), *todos, *controls, *self._shared("orchestrator"), SubagentStatus()],
            state_schema=DeepState,
            checkpointer=False,  # the chat graph keeps conversations; nobody resumes the steps of an inner graph
            name="deep_research",
        )

    def _shared(self, name: str) -> list[Middleware]:
        """The middleware that the orchestrator and every subagent have, outermost first."""
        return [
            SessionCalls(),
            CallRepair(),
            ToolNameSanitization(),
            EmptyContentFix(),
            ToolResultPruning(self._settings.pruning, exempt=(TASK,)),  # findings are all that the writer sees
            ModelRetry(self._settings.max_model_retries),
            RolePrompt(ROLES[name], self._prompts, self._settings),
        ]


def is_report(text: str) -> bool:
    """Whether a text is long enough for a report and has a heading, unlike a remark about the report."""
    return len(text.strip()) >= REPORT_CHARACTERS and any(map(HEADING.match, text.splitlines()))


def final_report(last: str, file_text: str, draft: str, replies: Sequence[RawReply]) -> tuple[str, bool]:
    """The report, and whether it is only the draft: the first complete report of last message, file and draft.

    If none is one: the first of file, last message and draft that is not blank. `replies` tell whether the message was
    cut off, and why it is no answer. Raises AgentError if all are blank.
    """
    is_complete = not (why_no_answer(last, replies) or why_cut_off(last, replies))
    reports = filter(is_report, (last if is_complete else "", file_text, draft))
    report = next((text.strip() for text in (*reports, file_text, last, draft) if text.strip()), None)
    if report is None:
        reason = why_no_answer("", replies)
        raise AgentError(f"the deep researcher wrote no report: there is no {REPORT_FILE}, and {reason}")
    return report, report not in (last.strip(), file_text.strip())


@cache
def register_profile() -> None:
    """Disable deepagents' own subagent and its summariser, which calls models; its registry is global, by provider."""
    profile = HarnessProfile(
        general_purpose_subagent=GeneralPurposeSubagentProfile(enabled=False),
        excluded_middleware=frozenset({"SummarizationMiddleware"}),
        tool_description_overrides={TASK: TASK_DESCRIPTION},
    )
    register_harness_profile("openai", profile)


def _files() -> FilesystemMiddleware[Any, Any]:
    """A minimal virtual file system: long results stay in the conversation, where the endpoint sees them."""
    return FilesystemMiddleware(
        tools=["ls", "read_file", "write_file"],
        tool_token_limit_before_evict=None,
        human_message_token_limit_before_evict=None,
        custom_tool_descriptions=FILE_TOOLS,
    )
