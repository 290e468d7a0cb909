"""Stage 3.5, gap filling: areas that the report does not cover are searched for again, and the report rewritten."""

from typing import Any

from aiq.agents.shannon.cite import Cite
from aiq.agents.shannon.execute import Execute
from aiq.agents.shannon.gap_model import GapModel
from aiq.agents.shannon.records import AgentResult, Subtask
from aiq.agents.shannon.rules import detect_gaps, extract_domain, gap_queries
from aiq.agents.shannon.settings import ShannonSettings
from aiq.agents.shannon.state import ResearchState
from aiq.agents.shannon.synthesize import Synthesize
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.core.events import Round
from aiq.core.prompts import Prompts
from aiq.core.session import current


class FillGaps:
    def __init__(
        self, settings: ShannonSettings, prompts: Prompts, execute: Execute, cite: Cite, synthesize: Synthesize
    ) -> None:
        self._settings, self._execute, self._cite, self._synthesize = settings, execute, cite, synthesize
        self._model = GapModel(settings.gaps, settings.verification.tier, prompts)

    async def detect(self, state: ResearchState) -> list[str]:
        """What to search for now, areas or (of a model) queries: nothing once the passes are used up, or where off."""
        settings, most = self._settings, self._settings.of("gap_filling_max_iterations")
        if not settings.of("gap_filling_enabled") or state.gap_iteration >= most:
            return []
        if settings.gaps.evaluator == "model":
            return await self._model.queries(state, most)
        return detect_gaps(
            state.written,
            state.sections,
            settings.of("gap_filling_max_gaps"),
            settings.of("gap_filling_check_citations"),
            settings.gaps.min_citations,
        )

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """One pass over the gaps found: searched, cited, written again."""
        number = state.gap_iteration + 1
        by_model = self._settings.gaps.evaluator == "model"
        queries = list(state.gaps) if by_model else gap_queries(state.gaps, state.query)
        tasks = [
            Subtask(id=f"gap-{number}-{place}", description=query, parent_area=area)
            for place, (area, query) in enumerate(zip(state.gaps, queries, strict=True), start=1)
        ]

        async def one(task: Subtask) -> AgentResult:
            return await self._execute.react(state, task, self._settings.gaps.max_iterations)

        works = [lambda task=task: one(task) for task in tasks]
        found = await gather_ordered(works, self._settings.gaps.at_once, number)
        known = {citation.url for citation in state.citations}
        first = state.first_urls or tuple(sorted(known))
        update = {"filled": (*found, *state.filled), "gap_iteration": number, "first_urls": first}
        filled = state.model_copy(update=update)
        filled = filled.model_copy(update=await self._cite.run(filled))
        new = tuple(citation.url for citation in filled.citations if citation.url not in known)
        event = Round(number=number, queries=tuple(queries), new_sources=new, gaps=state.gaps)
        current().events.emit(event)
        domains = {extract_domain(url) for url in new} - {extract_domain(url) for url in known}
        if by_model and len(new) < self._settings.gaps.new_urls and not domains:
            return {"gap_iteration": number, "gaps": ()}  # nothing worth a new report
        if filled.citations:
            tier = self._settings.gap_model_tier or self._settings.synthesis_model_tier
            filled = filled.model_copy(update=await self._synthesize.run(filled, tier))
        changed = ("filled", "first_urls", "gap_iteration", "citations", "stats", "written")
        return {name: getattr(filled, name) for name in changed} | {"gaps": tuple(await self.detect(filled))}
