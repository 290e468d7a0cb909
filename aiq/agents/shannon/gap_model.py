"""Gaps by a model: how far the report covers the question, what is critical, and what to search for next."""

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none
from aiq.agents.shannon.records import LenientRecord
from aiq.agents.shannon.rules import extract_domain, needs_more_research
from aiq.agents.shannon.settings import GapSettings
from aiq.agents.shannon.state import ResearchState
from aiq.agents.toolkit.structured import StructuredCall
from aiq.core.prompts import Prompts

AGENT = "coverage-evaluator"

UNREAD = 0.6
"""Coverage and confidence that a reply which cannot be read stands for (specification, later improvements)."""


class Coverage(LenientRecord):
    """What the model is asked for."""

    coverage: float = Field(UNREAD, ge=0, le=1, description="share of the question that the report answers")
    confidence: float = Field(UNREAD, ge=0, le=1, description="how sure you are that nothing important is missing")
    critical_gaps: tuple[str, ...] = Field((), description="what is missing without which the question is not answered")
    queries: tuple[str, ...] = Field((), description="what to search for next, each complete by itself")


class GapModel:
    def __init__(self, settings: GapSettings, tier: str, prompts: Prompts) -> None:
        self._settings = settings
        self._call = StructuredCall(f"shannon.{tier}.coverage", Coverage, prompts, "coverage", complete=ask)

    async def queries(self, state: ResearchState) -> list[str]:
        """What to search for in the next pass; nothing where the report is good enough."""
        settings, done = self._settings, state.gap_iteration
        urls = {citation.url for citation in state.citations} - set(state.first_urls)
        domains = {extract_domain(url) for url in urls} - {extract_domain(url) for url in state.first_urls}
        if done and (len(urls) >= settings.stop_urls or len(domains) >= settings.stop_domains):
            return []
        areas = state.refined.research_areas
        asked = self._call.ask(query=state.query, report=state.written, areas=areas, most=settings.queries)
        found = await or_none(asked, "coverage_unknown", AGENT) or Coverage(queries=areas)
        critical, sure = bool(found.critical_gaps), found.confidence
        if not needs_more_research(found.coverage, critical, sure, done + 1, state.written, settings.confidence):
            return []
        return [query for query in dict.fromkeys(map(str.strip, found.queries)) if query][: settings.queries]
