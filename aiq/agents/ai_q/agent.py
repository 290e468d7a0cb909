"""The agent that config names: the entry (chat, shallow or deep), the report, and what each stage of it cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import JsonValue

from aiq.agents.ai_q.chat import ChatResearcher
from aiq.agents.ai_q.deep import SUBAGENTS, DeepResearcher
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.agents.ai_q.states import (
    CHECKPOINTED,
    ChatResearcherState,
    DeepResearchAgentState,
    ShallowResearchAgentState,
)
from aiq.agents.base import Drawing
from aiq.agents.toolkit.conversation import Threads, conversation, last_answer
from aiq.agents.toolkit.finish import Draft, LeakFilter, finish
from aiq.agents.toolkit.toolset import check_sources, check_tools, documents_of, sources_of
from aiq.core.errors import ConfigError
from aiq.core.models import Models
from aiq.core.reports import Report
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


class AiqAgent:
    """AI-Q as one agent: made once per run, serves all samples at once, keeps compiled graphs only."""

    Settings: ClassVar[type[AiqSettings]] = AiqSettings

    def __init__(self, settings: AiqSettings) -> None:
        prompts = settings.prompts()
        self._settings = settings
        self._leaks = LeakFilter(prompts)
        self._shallow = ShallowResearcher(settings.shallow, prompts)
        self._deep = DeepResearcher(settings.deep, prompts)
        self._chat = ChatResearcher(settings, prompts, self._shallow, self._deep)
        self._threads = Threads(self._chat.build(), ChatResearcherState, CHECKPOINTED, last="deep_research")

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
        thread = question.thread_id if self._settings.entry == "chat" else None
        return await self._finish(await self._draft(question, session), thread, session)

    async def resume(self, thread_id: str, session: Session) -> Report | None:
        """Go on with a conversation that waits for its user (`session.user`); None where none does."""
        waits = self._settings.entry == "chat"
        state = await self._threads.resume(thread_id, session) if waits else None
        return None if state is None else await self._finish(self._chat.draft(state), thread_id, session)

    def graphs(self, models: Models) -> Sequence[Drawing]:
        """The chat graph and what runs inside its nodes."""
        subagents = "".join(f"\n* `{name}`: {does}" for name, does, _ in SUBAGENTS)
        chat = "`agent.entry=chat`, in `chat.py`. Each of the other graphs runs inside the node of its name."
        clarifier = "In `clarifier.py`. `ask_for_clarification` and `plan_preview` interrupt it until the user answers."
        deep = (
            "The orchestrator, in `deep.py`, as deepagents and LangChain compile it. Middleware that only wraps calls\n"
            "of models and tools has no node. `tools` runs `task`, which dispatches a subagent, a graph of this kind:\n"
        )
        return (
            Drawing("chat", chat, self._chat.build().compile()),
            Drawing("clarifier", clarifier, self._chat.clarifier.build().compile()),
            Drawing("shallow_research", "In `shallow.py`.", self._shallow.graph(())),
            Drawing("deep_research", deep + subagents, self._deep.graph(models, ())),
        )

    async def _draft(self, question: Question, session: Session) -> Draft:
        sources = sources_of(question, self._settings.data_sources)
        told: dict[str, Any] = {
            "messages": conversation(question, self._settings.max_history),
            "data_sources": sources,
            "user_info": None if question.user_info is None else dict(question.user_info),
            "available_documents": documents_of(question, sources),
        }
        if self._settings.entry == "shallow":
            given = ShallowResearchAgentState(**told, collection_name=question.collection_name)
            shallow = await self._shallow.run(given)
            return Draft(last_answer(shallow.messages), "shallow", extras={"tool_calls": shallow.tool_iterations})
        if self._settings.entry == "deep":
            deep = await self._deep.run(DeepResearchAgentState(**told))
            return Draft(last_answer(deep.messages), "deep", extras={"subagents": len(deep.subagents)})
        return self._chat.draft(await self._threads.run(ChatResearcherState(**told), question.thread_id, session))

    async def _finish(self, draft: Draft, thread: str | None, session: Session) -> Report:
        """The report; a thread keeps it as its user is shown it."""
        extras = {**draft.extras, "stages": by_stage(session.usage)}
        report = finish(replace(draft, extras=extras), self._leaks, session)
        if thread is not None:
            await self._threads.keep(thread, report.text, session)
        return report
