"""Stage 2.5, entity filter: leaves out results that used tools but do not name the question's entity."""

from aiq.agents.shannon.records import AgentResult, ResearchState
from aiq.agents.shannon.rules import filter_results
from aiq.agents.shannon.settings import CollectionSettings
from aiq.core.events import Decision
from aiq.core.session import current


class EntityFilter:
    def __init__(self, settings: CollectionSettings) -> None:
        self._settings = settings

    async def run(self, state: ResearchState) -> dict[str, tuple[AgentResult, ...]]:
        """The results for synthesis to read; citations are still collected from all results (`cite.py`)."""
        refined, results = state.refined, state.results
        if not self._settings.entity_filter or not refined.canonical_name.strip():
            return {"kept": results}
        kept = filter_results(results, refined.canonical_name, refined.exact_queries, refined.official_domains)
        agent_ids = [result.agent_id for result in results if result not in kept]
        if agent_ids:
            cause = f"{', '.join(agent_ids)} do not name {refined.canonical_name}"
            current().events.emit(Decision(name="entity_filter", value=len(agent_ids), cause=cause))
        return {"kept": tuple(kept)}
