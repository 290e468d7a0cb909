"""The agent that config names: picks the entry (chat, shallow or deep), verifies the answer, makes the report.

What each stage of an attempt cost, from the attempt's usage by role: `extras["stages"]` of a report.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from aiq.agents.ai_q.chat import ChatResearcher
from aiq.agents.ai_q.deep import DeepResearcher
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.agents.ai_q.states import ChatResearcherState, DeepResearchAgentState, ShallowResearchAgentState
from aiq.agents.toolkit.conversation import Threads, conversation, last_answer
from aiq.agents.toolkit.leaks import undisclosed
from aiq.agents.toolkit.toolset import check_sources, check_tools, documents_of, sources_of
from aiq.citations.verify import verify
from aiq.core.errors import AgentError, ConfigError
from aiq.core.events import ReportWritten
from aiq.core.reports import Audit, Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.tools import Toolbox
from aiq.core.usage import Usage, UsageLedger

STAGES = {
    "aiq.intent_classifier": "shallow",
    "aiq.shallow_researcher": "shallow",
    "aiq.escalation": "escalation",
    "aiq.clarifier": "deep",
    "aiq.clarifier_planner": "deep",
    "user.simulated": "deep",
    "aiq.orchestrator": "deep",
    "aiq.planner": "deep",
    "aiq.researcher": "deep",
}
"""The stage that a role's calls belong to.

`shallow` is what an answer costs that stops before deep research, `escalation` what deciding about it costs, and
`deep` all that going on brings, questions to the user and the plan included. Any other role is `other`.
"""


def by_stage(ledger: UsageLedger) -> dict[str, JsonValue]:
    """Usage of each stage that made a call, as `core.usage.Usage` has it (tokens as reported, US dollars)."""
    stages: dict[str, Usage] = {}
    for role, usage in ledger.by_role().items():
        stage = STAGES.get(role, "other")
        stages[stage] = stages.get(stage, Usage()) + usage
    return {stage: usage.model_dump(mode="json") for stage, usage in stages.items()}


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before verification, and the route that led to it."""

    text: str
    route: str
    extras: Mapping[str, JsonValue] = field(default_factory=dict)


PROMPTS: Final = Path(__file__).parent / "prompts"


class AiqAgent:
    """AI-Q as one agent: made once per run, serves all samples at once, keeps compiled graphs only."""

    Settings: ClassVar[type[AiqSettings]] = AiqSettings

    def __init__(self, settings: AiqSettings) -> None:
        self._settings = settings
        self._shallow = ShallowResearcher(settings.shallow)
        self._deep = DeepResearcher(settings.deep)
        self._chat = ChatResearcher(settings, self._shallow, self._deep)
        self._threads = Threads(self._chat.build(), settings.max_history)

    def check(self, tools: Toolbox) -> None:
        """Raises ConfigError where a setting names a data source or a tool that the run does not have."""
        check_sources(tools, self._settings.data_sources, "agent.data_sources")
        check_tools(tools, self._settings.shallow.tools, "agent.shallow.tools")
        check_tools(tools, self._settings.deep.tools, "agent.deep.tools")

    def check_user(self, kind: str) -> None:
        """Raises ConfigError for a user who only reviews plans where none is shown."""
        settings = self._settings
        needed = {
            "agent.entry=chat": settings.entry == "chat",
            "agent.enable_clarifier=true": settings.enable_clarifier,
            "agent.clarifier.enable_plan_approval=true": settings.clarifier.enable_plan_approval,
        }
        missing = [setting for setting, is_set in needed.items() if not is_set]
        if kind in ("reject", "feedback") and missing:
            raise ConfigError(f"user.kind={kind}: shown no plan, this user has no say; set {' '.join(missing)}")

    async def research(self, question: Question, session: Session) -> Report:
        """Answer one question. Raises AgentError, ModelError, LimitReached, RunAborted.

        Every researched answer is verified against what was retrieved, and the report's `audit` says what
        that did; a `meta` answer and a rejection cite nothing and have no audit.
        """
        report = _report(await self._draft(question, session), session)
        if self._settings.entry == "chat" and question.thread_id is not None:
            await self._threads.keep(question.thread_id, report.text, session)
        return report

    async def resume(self, thread_id: str, session: Session) -> Report | None:
        """Go on with a conversation that waits for its user (`session.user`); None where none does."""
        if self._settings.entry != "chat":
            return None
        state = await self._threads.resume(thread_id, session)
        if state is None:
            return None
        report = _report(self._of_chat(state), session)
        await self._threads.keep(thread_id, report.text, session)
        return report

    async def _draft(self, question: Question, session: Session) -> Draft:
        if self._settings.entry == "shallow":
            return await self._shallow_draft(question)
        if self._settings.entry == "deep":
            return await self._deep_draft(question)
        return self._of_chat(await self._threads.run(question, session, self._settings.data_sources))

    def _of_chat(self, state: ChatResearcherState) -> Draft:
        route, text = self._chat.answer(state)
        return Draft(text, route, self._chat.extras(state))

    async def _shallow_draft(self, question: Question) -> Draft:
        fields = self._fields(question)
        state = await self._shallow.run(ShallowResearchAgentState(**fields, collection_name=question.collection_name))
        return Draft(last_answer(state.messages), "shallow", {"tool_calls": state.tool_iterations})

    async def _deep_draft(self, question: Question) -> Draft:
        state = await self._deep.run(DeepResearchAgentState(**self._fields(question)))
        return Draft(last_answer(state.messages), "deep", {"subagents": len(state.subagents)})

    def _fields(self, question: Question) -> dict[str, Any]:
        """What both researchers' states take from a question."""
        sources = sources_of(question, self._settings.data_sources)
        return {
            "messages": conversation(question, self._settings.max_history),
            "data_sources": sources,
            "user_info": None if question.user_info is None else dict(question.user_info),
            "available_documents": documents_of(question, sources),
        }


def _report(draft: Draft, session: Session) -> Report:
    """The draft as a report; verified where it is researched and the run verifies. AgentError where it is blank."""
    text, researched = undisclosed(draft.text, PROMPTS, session), draft.route not in ("meta", "rejected")
    if not text.strip():
        raise AgentError(f"the {draft.route} answer is empty")
    audit: Audit | None = None
    if researched and session.citations.verify:
        verified = verify(text, session.sources.known(), session.citations)
        text, audit = verified.text, verified.audit
    report = Report(
        text=text,
        raw_text=draft.text,
        route=draft.route,
        outcome="rejected" if draft.route == "rejected" else "ok",
        audit=audit,
        extras={**draft.extras, "stages": by_stage(session.usage)},
    )
    session.events.emit(ReportWritten(text=report.text, raw_text=report.raw_text, route=report.route))
    return report
