"""Stage 0, refine: the query, the areas of the report, and the entity that the question is about."""

from typing import Any

from aiq.agents.shannon.calls import ask, or_none, working_as
from aiq.agents.shannon.records import Refinement
from aiq.agents.shannon.rules import detect_language, peel_quotes
from aiq.agents.shannon.settings import RefineSettings
from aiq.agents.shannon.state import ResearchState
from aiq.agents.toolkit.structured import StructuredCall
from aiq.core.prompts import Prompts

AGENT = "research-refiner"


class Refine:
    def __init__(self, settings: RefineSettings, prompts: Prompts, style: str) -> None:
        self._settings, self._comprehensive = settings, style == "comprehensive"
        self._call = StructuredCall(
            f"shannon.{settings.tier}.refiner",
            Refinement,
            prompts,
            "refiner",
            {"seconds": settings.timeout_seconds},
            ask,
        )

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """What was understood of the question; the question itself, its only area, where nothing could be read."""
        language, query = self._language(state.query), state.query
        found = None
        if self._settings.enabled:
            asked = self._call.ask(query=query, limits=self._settings, language=language, **state.context)
            with working_as(AGENT):
                found = await or_none(asked, "refine_skipped")
        refined = self._read(found, query)
        sections = refined.research_areas if self._comprehensive else ()
        return {"refined": refined, "language": language, "sections": sections}

    def _language(self, query: str) -> str:
        settings = self._settings
        return detect_language(
            query, settings.cjk_share, ignore_urls=settings.ignore_urls, han_by_kana=settings.han_by_kana
        )

    def _read(self, found: Refinement | None, query: str) -> Refinement:
        """A reply within its bounds; of an entity without a name the first exact query is the name."""
        if found is None or not found.refined_query.strip():
            failed = "Query refinement failed, using original query" if self._settings.enabled else ""
            return Refinement(refined_query=query, research_areas=(query,), rationale=failed)
        areas = dict.fromkeys(area.strip() for area in found.research_areas if area.strip())
        name = found.canonical_name.strip() or peel_quotes(next(iter(found.exact_queries), ""))
        changed = {
            "refined_query": found.refined_query.strip()[: self._settings.query_chars],
            "research_areas": tuple(areas)[: self._settings.max_areas] or (query,),
            "canonical_name": name,
        }
        return found.model_copy(update=changed)
