"""The base class of sub-agents, and the registry, which finds all sub-agents of this package.

To add one, write one file with a subclass of `SubAgent`, here or anywhere else (`agent.subagents`): the models of its
input and output, the arguments that it takes from the state, and what its output changes there.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, JsonValue

from aiq.agents.planner.errors import Category, Floors, UnknownSubAgent, categorise
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import Arguments, PlannerState
from aiq.agents.planner.tools import DataTools
from aiq.agents.toolkit.structured import StructuredCall
from aiq.agents.toolkit.toolset import parameter_schemas
from aiq.core.errors import AgentError, ConfigError, ModelError
from aiq.core.events import Recovery
from aiq.core.plugins import load
from aiq.core.prompts import Prompts
from aiq.core.session import current

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)
AnswerT = TypeVar("AnswerT", bound=BaseModel)
Changes = dict[str, Any]
"""Fields of the state, with their new values."""


@dataclass(frozen=True)
class Research:
    """What a sub-agent works with: the tools of the research, and the state when the call began."""

    tools: DataTools
    state: PlannerState


class SubAgent(Generic[In, Out]):
    """One sub-agent; it serves all samples at once and keeps no state.

    The planner is told `speed` and `cost`. `floors`: the arguments to halve after hitting a token limit, with their
    minimums. `brings_data`: whether a successful call counts as a batch of data.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    input_model: ClassVar[type[BaseModel]]
    output_model: ClassVar[type[BaseModel]]
    speed: ClassVar[Literal["fast", "medium", "slow"]] = "fast"
    cost: ClassVar[Literal["low", "medium", "high"]] = "low"
    floors: ClassVar[Floors] = {}
    brings_data: ClassVar[bool] = False

    def __init__(self, settings: PlannerSettings, prompts: Prompts) -> None:
        self.settings, self.prompts = settings, prompts

    def defaults(self, state: PlannerState) -> Arguments:
        """Values from the state and the settings for arguments that a call leaves out."""
        return {}

    def allowed_arguments(self, arguments: Mapping[str, Any]) -> Arguments:
        """The plan's non-empty arguments that it is allowed to set; records always come from the state."""
        allowed = _plain_parameters(self.input_model)
        return {name: value for name, value in arguments.items() if name in allowed and value not in (None, "", [], {})}

    def completed(self, arguments: Mapping[str, Any], state: PlannerState) -> Arguments:
        """The plan's arguments, completed by defaults."""
        return self.defaults(state) | self.allowed_arguments(arguments)

    async def run(self, arguments: Arguments, research: Research) -> Out:
        """The validated output for completed arguments.

        Raises ValidationError if arguments or output do not fit the models, and whatever `execute` raises.
        """
        inputs: Any = self.input_model.model_validate(arguments)
        output: Any = self.output_model.model_validate(dict(await self.execute(inputs, research)))
        return output  # type: ignore[no-any-return]

    async def execute(self, given: In, research: Research) -> Out:
        raise NotImplementedError

    def accumulate(self, state: PlannerState, out: Out, arguments: Arguments) -> Changes:
        """The changes that the output makes to the state."""
        raise NotImplementedError

    async def ask(
        self, answer: type[AnswerT], else_: str, request: str | None = None, **variables: Any
    ) -> AnswerT | None:
        """Ask this sub-agent's role (`planner.NAME`) for such an object, with `REQUEST_request.j2` (None: its name).

        None, logged as `else_`, if there is no readable reply or only the budget for the report is left. Raises
        ModelError if the endpoint has never answered, and if the prompt was too long: a shorter one may work.
        """
        options = {"seconds": self.settings.calls.timeout_seconds}
        call = StructuredCall(
            f"planner.{self.name}", answer, self.prompts, request or self.name, options, repair="repair.j2"
        )
        spent = current().spent()
        reason = spent or "no reply, repaired or not, has the form that it is asked for"
        try:
            if not spent and (reply := await call.ask(**variables)) is not None:
                return reply
        except ModelError as error:
            if error.never_answered or categorise(error) is Category.TOKEN_LIMIT:
                raise
            reason = str(error)
        current().events.emit(Recovery(what=else_, detail=f"{self.name} failed: {reason}"))
        return None

    async def asked(self, answer: type[AnswerT], **variables: Any) -> AnswerT:
        """Like `ask`, for an answer that is indispensable: raises AgentError instead of returning None."""
        if (reply := await self.ask(answer, "no_reply", **variables)) is None:
            raise AgentError(f"{self.name} failed: there is no reply that can be read")
        return reply


AnySubAgent = SubAgent[Any, Any]


class Registry:
    """The sub-agents by name: those of this package, and those named in `agent.subagents`.

    Raises ConfigError if one of the latter is not a sub-agent, is incomplete, or has the name of another.
    """

    def __init__(self, settings: PlannerSettings, prompts: Prompts) -> None:
        package = __name__.rpartition(".")[0]
        path = importlib.import_module(package).__path__
        modules = [importlib.import_module(f"{package}.{module.name}") for module in pkgutil.iter_modules(path)]
        shipped = [kind for module in modules for kind in vars(module).values() if _is_subagent(kind, module.__name__)]
        custom = [load(target, "agent.subagents") for target in settings.subagents]
        self._agents: dict[str, AnySubAgent] = {}
        for kind in (*shipped, *custom):
            if not (isinstance(kind, type) and issubclass(kind, SubAgent)):
                raise ConfigError(f"agent.subagents: {kind} must subclass aiq.agents.planner.subagents.base:SubAgent")
            if missing := [part for part in SubAgent.__annotations__ if not hasattr(kind, part)]:
                raise ConfigError(f"agent.subagents: {kind.__name__} must set {', '.join(missing)}")
            if kind.name in self._agents:
                raise ConfigError(f"agent.subagents: two sub-agents are called '{kind.name}'; rename one")
            self._agents[kind.name] = kind(settings, prompts)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._agents)

    def get(self, name: str) -> AnySubAgent:
        """The sub-agent of that name. Raises UnknownSubAgent."""
        if name not in self._agents:
            raise UnknownSubAgent(f"Unknown sub-agent: {name}; there are: {', '.join(self._agents)}")
        return self._agents[name]

    def listing(self) -> list[dict[str, JsonValue]]:
        """The sub-agents as the planner's prompt lists them, with the arguments that it may set."""
        return [
            {
                "name": agent.name,
                "description": f"{agent.description} ({agent.speed}, cost {agent.cost})",
                "parameters": _plain_parameters(agent.input_model),
            }
            for agent in self._agents.values()
        ]


def _is_subagent(kind: Any, module: str) -> bool:
    return isinstance(kind, type) and issubclass(kind, SubAgent) and kind.__module__ == module and hasattr(kind, "name")


def _plain_parameters(model: type[BaseModel]) -> dict[str, JsonValue]:
    """The arguments that are not records: records come from the state."""
    return {
        name: {key: schema[key] for key in ("type", "description", "enum") if key in schema}
        for name, schema in parameter_schemas(model).items()
        if "$ref" not in str(schema)
    }
