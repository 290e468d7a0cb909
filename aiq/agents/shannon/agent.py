"""Shannon as an agent: runs the workflow on a question, and citation verification on its report."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import JsonValue

from aiq.agents.base import Drawing
from aiq.agents.shannon.calls import CallLedger, use_ledger
from aiq.agents.shannon.records import ResearchState
from aiq.agents.shannon.rules import format_report
from aiq.agents.shannon.settings import REQUESTED, ShannonSettings
from aiq.agents.shannon.workflow import Workflow
from aiq.agents.toolkit.finish import LeakFilter, finish
from aiq.agents.toolkit.toolset import check_tools, sources_of
from aiq.core.models import Models
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.tools import Toolbox

ROUTE = "deep"


class ShannonAgent:
    """Created once per run, serves all samples at once, keeps no state but its compiled workflow."""

    Settings: ClassVar[type[ShannonSettings]] = ShannonSettings
    adjustable: ClassVar[Sequence[str]] = REQUESTED

    def __init__(self, settings: ShannonSettings) -> None:
        prompts = settings.prompts()
        self._settings, self._leaks = settings, LeakFilter(prompts)
        self._workflow = Workflow(settings, prompts)

    def check(self, tools: Toolbox) -> None:
        """Raises ConfigError if a setting names a data source that the run does not have."""
        check_tools(tools, "agent.data_sources", data_sources=self._settings.data_sources)

    def graphs(self, models: Models) -> Sequence[Drawing]:
        """The workflow."""
        return (Drawing("shannon", "In `workflow.py`; each stage is the file of its name.", self._workflow.graph),)

    async def research(self, question: Question, session: Session) -> Report:
        """Answer one question. Raises AgentError, ModelError, LimitReached, RunAborted."""
        initial_state = ResearchState(
            query=question.text,
            history=question.history,
            thread=question.thread_id or "",
            data_sources=sources_of(question, self._settings.data_sources),
            user_info=question.user_info,
        )
        ledger = CallLedger(session, self._settings.budget_agent_max, zero_tokens=self._settings.record_zero_token)
        with use_ledger(ledger), self._workflow.memory.shared(session):
            state = ResearchState.model_validate(await self._workflow.graph.ainvoke(initial_state))
            text = format_report(state.written, state.citations)
            outcome = "partial" if state.cut_off else "ok"
            report = finish(text, ROUTE, self._leaks, session, outcome=outcome)
            await self._workflow.memory.keep(initial_state, report.text)
        extras = {"usage": ledger.summary(), **self._extras(report, state)}
        return report.model_copy(update={"extras": extras})

    def _extras(self, report: Report, state: ResearchState) -> dict[str, JsonValue]:
        """What the row keeps beside the report: among it the areas that are not covered, and why."""
        return {
            "research_areas": list(state.refined.research_areas),
            "not_covered": dict(self._workflow.synthesize.uncovered(report.text, state)),
            "gap_iterations": state.gap_iteration,
            "quality": state.quality,
            "citations": state.stats.model_dump(mode="json"),
            "verification": None if state.verification is None else state.verification.model_dump(mode="json"),
        }
