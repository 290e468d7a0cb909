"""Stage 3, cite: the citations of all tool outputs, deduplicated, ranked, diverse in domain and about the entity."""

from typing import Any

from aiq.agents.shannon.records import ResearchState
from aiq.agents.shannon.rules import citation_stats, collect_citations, filter_by_entity
from aiq.agents.shannon.settings import CollectionSettings
from aiq.core.events import Decision
from aiq.core.session import current


class Cite:
    def __init__(self, settings: CollectionSettings) -> None:
        self._settings = settings

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """The citations of all results, including those that fill gaps, and their statistics."""
        settings, refined, session = self._settings, state.refined, current()
        citations, _ = collect_citations(
            [*state.filled, *state.results],
            session.now,
            settings.most,
            settings.per_domain,
            least_text=settings.least_text,
            prefer_fetched=settings.prefer_fetched,
        )
        if settings.entity_filter:
            citations = filter_by_entity(
                citations,
                refined.canonical_name,
                refined.exact_queries,
                refined.official_domains,
                settings.entity_threshold,
                settings.entity_keep,
                short_alias=settings.short_alias,
                least_left=settings.least_left,
                least_share=settings.least_share,
            )
        stats = citation_stats(citations)
        session.events.emit(Decision(name="citations", value=len(citations), cause="", detail=stats.model_dump()))
        return {"citations": tuple(citations), "stats": stats}
