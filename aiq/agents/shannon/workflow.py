"""The order of the stages: memory, compress, refine, decompose, execute, entity filter, cite, synthesize, gaps (while
there are any), reflect and, if configured, place citations and verify."""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from aiq.agents.shannon.cite import Cite
from aiq.agents.shannon.compress import Compress
from aiq.agents.shannon.decompose import Decompose
from aiq.agents.shannon.entity_filter import EntityFilter
from aiq.agents.shannon.execute import Execute
from aiq.agents.shannon.gaps import Gaps
from aiq.agents.shannon.memory import Recall
from aiq.agents.shannon.placing import Place
from aiq.agents.shannon.records import ResearchState
from aiq.agents.shannon.refine import Refine
from aiq.agents.shannon.reflect import Reflect
from aiq.agents.shannon.settings import ShannonSettings
from aiq.agents.shannon.synthesize import Synthesize
from aiq.agents.shannon.verify import Verify
from aiq.core.events import Decision, StageChanged
from aiq.core.prompts import Prompts
from aiq.core.session import current, nested_call

Graph = CompiledStateGraph[ResearchState, Any, Any, Any]
Stage = Callable[[ResearchState], Awaitable[Any]]

SPARED = ("find_gaps", "fill_gaps", "reflect", "verify")
"""Stages that are skipped once the sample's budget is spent."""


class Workflow:
    """Its graph is compiled once and serves all samples at once."""

    def __init__(self, settings: ShannonSettings, prompts: Prompts) -> None:
        execute, cite = Execute(settings, prompts), Cite(settings.citations)
        self.synthesize = Synthesize(settings, prompts)
        gaps = Gaps(settings, prompts, execute, cite, self.synthesize)
        self.memory = Recall(settings.memory)
        research: dict[str, Stage] = {
            "memory": self.memory.run,
            "compress": Compress(settings.compression, prompts).run,
            "refine": Refine(settings.refine, prompts, settings.synthesis_style).run,
            "decompose": Decompose(settings.decompose, prompts).run,
            "execute": execute.run,
            "entity_filter": EntityFilter(settings.citations).run,
            "cite": cite.run,
            "synthesize": self.synthesize.run,
            "find_gaps": gaps.find,
        }
        review: dict[str, Stage] = {"reflect": Reflect(settings, prompts, self.synthesize).run}
        if settings.citations.placement == "after":
            strict = settings.citations.strict_marks
            review["place_citations"] = Place(settings.synthesis_model_tier, prompts, strict=strict).run
        if settings.of("enable_verification"):
            review["verify"] = Verify(settings.verification, prompts).run

        graph = StateGraph(ResearchState)
        for position, (name, stage) in enumerate({**research, "fill_gaps": gaps.fill, **review}.items()):
            graph.add_node(name, _as_node(name, position, stage))
        for source, target in [*pairwise([START, *research]), *pairwise([*review, END])]:
            graph.add_edge(source, target)
        graph.add_conditional_edges("find_gaps", _if_gaps("fill_gaps"), ["fill_gaps", "reflect"])
        graph.add_conditional_edges("fill_gaps", _if_gaps("find_gaps"), ["find_gaps", "reflect"])
        self.graph: Graph = graph.compile(checkpointer=False)


def _if_gaps(stage: str) -> Callable[[ResearchState], str]:
    """Route to this stage while there are gaps to fill, then to reflection."""
    return lambda state: stage if state.gaps else "reflect"


def _as_node(name: str, position: int, stage: Stage) -> Any:
    """A stage as a node that emits its event; sources are numbered in the order of the stages."""

    async def node(state: ResearchState) -> Any:
        session = current()
        session.events.emit(StageChanged(stage=name))
        if name in SPARED and (spent := session.spent()):
            session.events.emit(Decision(name="stage_spared", value=name, cause=spent))
            return {"gaps": ()}
        with nested_call(position, state.gap_iteration, None):
            return await stage(state)

    return node
