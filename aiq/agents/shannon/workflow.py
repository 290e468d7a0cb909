"""The order of the stages: memory, compress, refine, decompose, execute, entity filter, cite, synthesize, fill gaps
(as long as there are any), reflect, verify."""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from aiq.agents.shannon.cite import Cite
from aiq.agents.shannon.compress import Compress
from aiq.agents.shannon.decompose import Decompose
from aiq.agents.shannon.entity_filter import EntityFilter
from aiq.agents.shannon.execute import Execute
from aiq.agents.shannon.gaps import FillGaps
from aiq.agents.shannon.memory import Recall
from aiq.agents.shannon.placing import Place
from aiq.agents.shannon.refine import Refine
from aiq.agents.shannon.reflect import Reflect
from aiq.agents.shannon.settings import ShannonSettings
from aiq.agents.shannon.state import ResearchState
from aiq.agents.shannon.synthesize import Synthesize
from aiq.agents.shannon.verify import Verify
from aiq.core.events import StageChanged
from aiq.core.prompts import Prompts
from aiq.core.session import current, nested_call

Graph = CompiledStateGraph[ResearchState, Any, Any, Any]
Stage = Callable[[ResearchState], Awaitable[dict[str, Any]]]


class Workflow:
    """Its graph is compiled once and serves all samples at once."""

    def __init__(self, settings: ShannonSettings, prompts: Prompts) -> None:
        execute, cite = Execute(settings, prompts), Cite(settings.citations)
        synthesize = Synthesize(settings.synthesis, prompts, settings.synthesis_style)
        gaps = FillGaps(settings, prompts, execute, cite, synthesize)
        reflect = Reflect(settings, prompts, synthesize)

        async def write(state: ResearchState) -> dict[str, Any]:
            written = await synthesize.run(state, settings.synthesis_model_tier)
            found = await gaps.detect(state.model_copy(update=written))
            return {**written, "gaps": tuple(found)}

        self.memory = Recall(settings.memory)
        self._stages: dict[str, Stage] = {
            "memory": self.memory.run,
            "compress": Compress(settings.compression, prompts).run,
            "refine": Refine(settings.refine, prompts, settings.synthesis_style).run,
            "decompose": Decompose(settings.decompose, prompts).run,
            "execute": execute.run,
            "entity_filter": EntityFilter(settings.citations).run,
            "cite": cite.run,
            "synthesize": write,
            "fill_gaps": gaps.run,
            "reflect": reflect.run,
            "place_citations": Place(
                settings.synthesis_model_tier, prompts, strict=settings.citations.strict_marks
            ).run,
            "verify": Verify(settings.verification, prompts).run,
        }
        self.graph = self._compile(settings)

    def _compile(self, settings: ShannonSettings) -> Graph:
        graph = StateGraph(ResearchState)
        for place, (name, stage) in enumerate(self._stages.items()):
            graph.add_node(name, _as_node(name, place, stage))
        straight = ("memory", "compress", "refine", "decompose", "execute", "entity_filter", "cite", "synthesize")
        graph.add_edge(START, "memory")
        for before, after in pairwise(straight):
            graph.add_edge(before, after)
        graph.add_conditional_edges("synthesize", after_writing)
        graph.add_conditional_edges("fill_gaps", after_writing)
        last = "verify" if settings.of("enable_verification") else END
        if settings.citations.placement == "after":
            graph.add_edge("reflect", "place_citations")
            graph.add_edge("place_citations", last)
        else:
            graph.add_edge("reflect", last)
        graph.add_edge("verify", END)
        return graph.compile(checkpointer=False)


def after_writing(state: ResearchState) -> Literal["fill_gaps", "reflect"]:
    """Gaps are filled for as long as `FillGaps.detect` finds any."""
    return "fill_gaps" if state.gaps else "reflect"


def _as_node(name: str, place: int, stage: Stage) -> Any:
    """A stage with its event; its sources are numbered in the order of the stages."""

    async def node(state: ResearchState) -> dict[str, Any]:
        current().events.emit(StageChanged(stage=name))
        with nested_call(place, state.gap_iteration, None):
            return await stage(state)

    return node
