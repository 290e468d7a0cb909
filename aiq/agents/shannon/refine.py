"""Stage 0, refine: determine the query, the areas of the report, and the entity that the question is about."""

from typing import Any

from aiq.agents.shannon.calls import ask, or_none
from aiq.agents.shannon.records import Refinement, ResearchState
from aiq.agents.shannon.rules import detect_language, peel_quotes
from aiq.agents.shannon.settings import RefineSettings
from aiq.agents.toolkit.structured import StructuredCall
from aiq.core.prompts import Prompts

AGENT = "research-refiner"

UNREAD = "Query refinement failed, using original query"


class Refine:
    def __init__(self, settings: RefineSettings, prompts: Prompts, style: str) -> None:
        self._settings, self._comprehensive = settings, style == "comprehensive"
        options = {"seconds": settings.timeout_seconds}
        self._call = StructuredCall(f"shannon.{settings.tier}.refiner", Refinement, prompts, "refiner", options, ask)

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """The refined question, its language and the report's sections.

        If the reply cannot be read, the question stays as it is and is its own only area; if refining is off or the
        call failed, it has no areas.
        """
        settings, query = self._settings, state.query
        language = detect_language(
            query, settings.cjk_share, ignore_urls=settings.ignore_urls, han_by_kana=settings.han_by_kana
        )
        refined = Refinement(refined_query=query)
        if settings.enabled:
            refined = await or_none(self._refine(state, language), "refine_skipped", AGENT) or refined
        sections = refined.research_areas if self._comprehensive else ()
        return {"refined": refined, "language": language, "sections": sections}

    async def _refine(self, state: ResearchState, language: str) -> Refinement:
        """The model's reply, cut to the limits; an entity without a name is called by its first exact query."""
        query, settings = state.query, self._settings
        reply = await self._call.ask(query=query, limits=settings, language=language, **state.context)
        if reply is None or not reply.refined_query.strip():
            return Refinement(refined_query=query, research_areas=(one_line(query),), rationale=UNREAD)
        areas = dict.fromkeys(one_line(area) for area in reply.research_areas if area.strip())
        name = reply.canonical_name.strip() or peel_quotes(next(iter(reply.exact_queries), ""))
        changes = {
            "refined_query": reply.refined_query.strip()[: settings.query_chars],
            "research_areas": tuple(areas)[: settings.max_areas] or (one_line(query),),
            "canonical_name": name,
        }
        return reply.model_copy(update=changes)


def one_line(text: str) -> str:
    """The text on one line, as in a heading."""
    return " ".join(text.split())
