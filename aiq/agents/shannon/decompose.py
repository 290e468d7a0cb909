"""Stage 1, decompose: plan subtasks with their dependencies, and rate the question's complexity."""

from typing import Any

from pydantic import Field

from aiq.agents.shannon.calls import ask, attributed_to
from aiq.agents.shannon.records import Plan, ResearchState, Subtask
from aiq.agents.shannon.rules import repair_subtasks
from aiq.agents.shannon.settings import DecomposeSettings
from aiq.agents.toolkit.structured import LenientRecord, StructuredCall
from aiq.agents.toolkit.toolset import listing, research_tools
from aiq.core.errors import AgentError
from aiq.core.prompts import Prompts

AGENT = "decomposer"


class ToolParameters(LenientRecord):
    """The one tool call that does a subtask."""

    tool: str = Field("", description="a name from the list of tools; empty where the agent decides")
    query: str = Field("", description="search words for the subtask; empty without a tool")


class PlannedTask(LenientRecord):
    id: str = ""
    description: str = Field(description="what to find out, as one full sentence")
    dependencies: tuple[str, ...] = Field((), description="ids of subtasks whose results it needs")
    parent_area: str = Field("", description="the research area that it serves, word for word")
    suggested_tools: tuple[str, ...] = Field((), description="names from the list of tools")
    tool_parameters: ToolParameters | None = None

    def subtask(self) -> Subtask:
        parameters = self.tool_parameters.model_dump(exclude_defaults=True) if self.tool_parameters else {}
        return Subtask(**{**self.model_dump(), "tool_parameters": parameters if "tool" in parameters else {}})


class ContractedTask(PlannedTask):
    """A subtask that says what is expected of it, on lines after its description."""

    output_format: str = Field("", description="what to bring: a list, figures with their dates, a comparison")
    source_guidance: str = Field("", description="which kinds of sources to prefer")
    search_budget: int = Field(0, ge=0, description="searches at most; 0: any number")
    boundaries: str = Field("", description="what is not part of it")

    def subtask(self) -> Subtask:
        budget = f"{self.search_budget} searches at most" if self.search_budget else ""
        contract = {"Bring": self.output_format, "Prefer": self.source_guidance, "Use": budget, "Not": self.boundaries}
        terms = [f"{name}: {text}" for name, text in contract.items() if text]
        return super().subtask().model_copy(update={"description": "\n".join([self.description, *terms])})


class Decomposition(LenientRecord):
    """What the model is asked for."""

    complexity_score: float = Field(0.5, ge=0, le=1, description="0 for a lookup, 1 for a report with many parts")
    subtasks: tuple[PlannedTask, ...] = ()
    agent_types: tuple[str, ...] = Field((), description="the role of each subtask's agent, in their order")


class Contracted(Decomposition):
    subtasks: tuple[ContractedTask, ...] = ()


class Decompose:
    def __init__(self, settings: DecomposeSettings, prompts: Prompts) -> None:
        options: dict[str, Any] = {
            "seconds": settings.timeout_seconds,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
        }
        role = f"shannon.{settings.tier}.decomposer"
        answer = Contracted if settings.contracts else Decomposition
        self._call: StructuredCall[Decomposition] = StructuredCall(role, answer, prompts, "decomposer", options, ask)

    async def run(self, state: ResearchState) -> dict[str, Plan]:
        """The plan. Raises ModelError, and AgentError if no reply can be read: there is no research without a plan."""
        query, areas = state.refined.refined_query, state.refined.research_areas
        tools = listing(research_tools(state.data_sources))
        with attributed_to(AGENT):
            reply = await self._call.ask(question=state.query, refined=query, areas=areas, tools=tools, **state.context)
        if reply is None:
            raise AgentError("the query could not be decomposed: no reply, repaired or not, was a plan")
        tasks = repair_subtasks([task.subtask() for task in reply.subtasks], query, reply.complexity_score)
        return {"plan": Plan(complexity=reply.complexity_score, subtasks=tasks, agent_types=reply.agent_types)}
