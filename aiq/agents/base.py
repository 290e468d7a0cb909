"""The contract of an agent: one method and a settings class, plus optional protocols."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from aiq.core.models import Models
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.core.tools import Toolbox
from aiq.core.usage import Usage

if TYPE_CHECKING:
    from aiq.agents.toolkit.conversation import Threads


class Agent(Protocol):
    """A system under test.

    Config names the class (`agent.target`); it is instantiated once per run, as `Class(Class.Settings(...))`,
    and serves all samples at once without keeping state between them.
    """

    Settings: ClassVar[type[Settings]]

    def __init__(self, settings: Any) -> None: ...

    async def research(self, question: Question, session: Session) -> Report:
        """Answer one question. Raises AgentError, ModelError, LimitReached; never returns an error as a report."""


@runtime_checkable
class Checked(Protocol):
    """An agent whose settings may not fit the run's tools."""

    def check(self, tools: Toolbox) -> None:
        """Raises ConfigError if they do not, before the first question, so that no money is spent."""


@runtime_checkable
class OwnModels(Protocol):
    """An agent with roles that are served by other models than those configured."""

    models: Mapping[str, str]
    """The model by role."""


@runtime_checkable
class Adjustable(Protocol):
    """An agent with settings that clients of `aiq serve` may choose; never one that names a file, host or code."""

    adjustable: Sequence[str]
    """The names of these settings, at the top level of the agent's section."""


@runtime_checkable
class AsksUser(Protocol):
    """An agent that asks its user questions only if its settings say so."""

    def check_user(self, kind: str) -> None:
        """Raises ConfigError if a user of this kind (`user.kind`) would never be asked, before any money is spent."""


@runtime_checkable
class Resumable(Protocol):
    """An agent whose conversations can wait for a person and outlive the process."""

    @property
    def threads(self) -> "Threads[Any] | None":
        """Its conversations; None if its settings say that it keeps none."""

    async def research(self, question: Question, session: Session) -> Report:
        """See `Agent`."""

    async def resume(self, thread_id: str, session: Session) -> Report | None:
        """Ask `session.user` what the thread waits for, or resume interrupted work; None if nothing is pending."""


class Recorded(NamedTuple):
    """An attempt of an earlier run. `usage`: by role. `events`: plain JSON in order, read lazily."""

    report: Report
    usage: Mapping[str, Usage]
    events: Callable[[], Iterable[Mapping[str, Any]]]


class Redecided(NamedTuple):
    """What other settings would have made of recorded attempts.

    `branch`: the position of the attempt whose report it would have been. None: no attempt took that route; then
    `report` has the route and extras but no text, and `usage` is what is known of it.
    """

    branch: int | None
    report: Report
    usage: Mapping[str, Usage]


@runtime_checkable
class Redecides(Protocol):
    """An agent with settings that only decide between things already recorded: sweeping them needs no model calls."""

    deciding: Sequence[str]
    """These settings, by their path in the agent's section; one that ends in `.*` means all below it."""

    def redecide(self, recorded: Sequence[Recorded]) -> Redecided | str:
        """What this agent, with its settings, would have made of the first attempt; or the reason why that is unknown.

        The others are attempts at the same question with other values of these settings, for what the first lacks.
        """


class Drawing(NamedTuple):
    """A compiled LangGraph graph, and a description of it in Markdown."""

    name: str
    text: str
    graph: Any


@runtime_checkable
class Drawable(Protocol):
    """An agent that is built from graphs."""

    def graphs(self, models: Models) -> Sequence[Drawing]:
        """All its graphs, the outermost first. Makes no model calls."""
