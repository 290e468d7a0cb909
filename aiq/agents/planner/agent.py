"""The planner as an agent: runs the graph on a question, and citation verification on its report."""

import json
from collections.abc import Sequence
from typing import ClassVar

from pydantic import JsonValue

from aiq.agents.base import Drawing
from aiq.agents.planner.graph import PlannerGraph
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import PlannerState
from aiq.agents.planner.subagents.gap_analyzer import coverage
from aiq.agents.toolkit.finish import LeakFilter, finish
from aiq.agents.toolkit.toolset import check_tools, sources_of
from aiq.core.models import Models
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.tools import Toolbox

ROUTE = "deep"


class PlannerAgent:
    """Created once per run, serves all samples at once, keeps no state but its compiled graph."""

    Settings: ClassVar[type[PlannerSettings]] = PlannerSettings

    def __init__(self, settings: PlannerSettings) -> None:
        prompts = settings.prompts()
        self._settings, self._leaks = settings, LeakFilter(prompts)
        self._graph = PlannerGraph(settings, prompts)

    def check(self, tools: Toolbox) -> None:
        """Raises ConfigError if a setting names a data source that the run does not have."""
        check_tools(tools, "agent.data_sources", data_sources=self._settings.data_sources)

    def graphs(self, models: Models) -> Sequence[Drawing]:
        """The only graph; sub-agents are classes that its nodes call."""
        return (Drawing("planner", "In `graph.py`; sub-agents are in `subagents/`.", self._graph.graph),)

    async def research(self, question: Question, session: Session) -> Report:
        """Answer one question. Raises AgentError, ModelError, LimitReached, RunAborted."""
        preferences = json.dumps(question.user_info, ensure_ascii=False, sort_keys=True) if question.user_info else ""
        state = PlannerState(
            query=question.text,
            history=question.history,
            data_sources=sources_of(question, self._settings.data_sources),
            user_preferences=preferences,
        )
        state = await self._graph.run(state)
        session.keep_draft(state.report)
        return finish(state.report, ROUTE, self._leaks, session, extras=extras_of(state))


def extras_of(state: PlannerState) -> dict[str, JsonValue]:
    """What the row keeps beside the report."""
    return {
        "iterations": state.iteration,
        "why": state.why,
        "sub_questions": [question.question for question in state.sub_questions],
        "findings": len(state.findings),
        "aggregations": len(state.aggregations),
        "documents": state.docs_fetched,
        "total_documents": state.total_docs,
        "coverage": coverage(state.docs_fetched, state.total_docs),
        "confidence": round(state.confidence, 2),
        "key_findings": list(state.key_findings),
        "limitations": list(state.limitations),
    }
