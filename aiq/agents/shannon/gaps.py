"""Stage 3.5, gaps: find areas that the report does not cover, search for them, and rewrite the report."""

from typing import Any

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none
from aiq.agents.shannon.cite import Cite
from aiq.agents.shannon.execute import Execute
from aiq.agents.shannon.records import AgentResult, ResearchState, Subtask
from aiq.agents.shannon.rules import detect_gaps, extract_domain, gap_queries, needs_more_research
from aiq.agents.shannon.settings import ShannonSettings
from aiq.agents.shannon.synthesize import Synthesize
from aiq.agents.toolkit.structured import LenientRecord, StructuredCall
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.core.events import Decision, Round
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "coverage-evaluator"

UNREAD = 0.6
"""Coverage and confidence assumed if the reply cannot be read (specification, later improvements)."""


class Coverage(LenientRecord):
    """What the model is asked for."""

    coverage: float = Field(UNREAD, ge=0, le=1, description="share of the question that the report answers")
    confidence: float = Field(UNREAD, ge=0, le=1, description="how sure you are that nothing important is missing")
    critical_gaps: tuple[str, ...] = Field((), description="what is missing without which the question is not answered")
    queries: tuple[str, ...] = Field((), description="what to search for next, each complete by itself")


class Gaps:
    def __init__(
        self, settings: ShannonSettings, prompts: Prompts, execute: Execute, cite: Cite, synthesize: Synthesize
    ) -> None:
        self._settings, self._execute, self._cite, self._synthesize = settings, execute, cite, synthesize
        role = f"shannon.{settings.verification.tier}.coverage"
        self._coverage = StructuredCall(role, Coverage, prompts, "coverage", complete=ask)
        self._by_model = settings.gaps.evaluator == "model"

    async def find(self, state: ResearchState) -> dict[str, tuple[str, ...]]:
        """The gaps to fill: areas or, from a model, queries; none if gap filling is off or its passes are used up."""
        settings = self._settings
        if not settings.of("gap_filling_enabled") or state.gap_iteration >= settings.of("gap_filling_max_iterations"):
            return {"gaps": ()}
        if self._by_model:
            gaps = await self._model_queries(state)
        else:
            check, min_citations = settings.of("gap_filling_check_citations"), settings.gaps.min_citations
            gaps = detect_gaps(state.written, state.sections, settings.of("gap_filling_max_gaps"), check, min_citations)
        detail = {"iteration": state.gap_iteration, "gaps": list(gaps)}
        current().events.emit(Decision(name="gaps", value=len(gaps), cause=settings.gaps.evaluator, detail=detail))
        return {"gaps": tuple(gaps)}

    async def _model_queries(self, state: ResearchState) -> list[str]:
        """The queries that a model asks for in the next pass; empty if the report is good enough."""
        settings, done = self._settings.gaps, state.gap_iteration
        urls = {citation.url for citation in state.citations} - set(state.first_urls)
        domains = {extract_domain(url) for url in urls} - {extract_domain(url) for url in state.first_urls}
        if done and (len(urls) >= settings.stop_urls or len(domains) >= settings.stop_domains):
            return []
        areas = state.refined.research_areas
        call = self._coverage.ask(query=state.query, report=state.written, areas=areas, most=settings.queries)
        reply = await or_none(call, "coverage_unknown", AGENT) or Coverage(queries=areas)
        critical, confidence = bool(reply.critical_gaps), reply.confidence
        if not needs_more_research(reply.coverage, critical, confidence, done + 1, state.written, settings.confidence):
            return []
        return [query for query in dict.fromkeys(map(str.strip, reply.queries)) if query][: settings.queries]

    async def fill(self, state: ResearchState) -> dict[str, Any]:
        """One pass over the gaps: search, cite, rewrite the report; it stays as it is if rewriting fails."""
        number, known_urls = state.gap_iteration + 1, [citation.url for citation in state.citations]
        queries = list(state.gaps) if self._by_model else gap_queries(state.gaps, state.query)
        results = await self._search(state, queries, number)
        update = {
            "filled": (*results, *state.filled),
            "gap_iteration": number,
            "first_urls": state.first_urls or tuple(known_urls),
        }
        filled = state.model_copy(update=update)
        filled = filled.model_copy(update=(cite_update := await self._cite.run(filled)))
        new_urls = tuple(citation.url for citation in filled.citations if citation.url not in known_urls)
        current().events.emit(Round(number=number, queries=tuple(queries), new_sources=new_urls))
        if self._by_model and not self._is_useful(new_urls, known_urls):
            return {"gap_iteration": number, "gaps": ()}
        rewrite = await self._synthesize.write(filled, tier=self._settings.gap_model_tier) if filled.citations else {}
        return {**update, **cite_update, **rewrite} if rewrite else update

    async def _search(self, state: ResearchState, queries: list[str], number: int) -> list[AgentResult]:
        tasks = [
            Subtask(id=f"gap-{number}-{i}", description=query, parent_area=area)
            for i, (area, query) in enumerate(zip(state.gaps, queries, strict=True), start=1)
        ]
        iterations = self._settings.gaps.max_iterations or self._settings.of("react_max_iterations", 3)
        works = [lambda task=task: self._execute.react(state, task, iterations) for task in tasks]
        return await gather_ordered(works, self._settings.gaps.at_once, number)

    def _is_useful(self, new_urls: tuple[str, ...], known_urls: list[str]) -> bool:
        """Whether a pass found enough new pages, or one from a new domain."""
        domains = {extract_domain(url) for url in new_urls} - {extract_domain(url) for url in known_urls}
        return len(new_urls) >= self._settings.gaps.new_urls or bool(domains)
