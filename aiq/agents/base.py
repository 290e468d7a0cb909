"""The contract of an agent: one method, a settings class beside it, and what it may offer besides."""

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

    Config names the class (`agent.target`); it is made once per run as `Class(Class.Settings(...))`
    and serves all samples at once, keeping nothing of any of them.
    """

    Settings: ClassVar[type[Settings]]

    def __init__(self, settings: Any) -> None: ...

    async def research(self, question: Question, session: Session) -> Report:
        """Answer one question. Raises AgentError, ModelError, LimitReached; never returns an error as a report."""


@runtime_checkable
class Checked(Protocol):
    """An agent whose settings may not fit the run's tools."""

    def check(self, tools: Toolbox) -> None:
        """Raises ConfigError where they do not: before the first question, so that nothing is paid for."""


@runtime_checkable
class OwnModels(Protocol):
    """An agent some of whose roles are served by other models than config has for them."""

    models: Mapping[str, str]
    """The model by role."""


@runtime_checkable
class Adjustable(Protocol):
    """An agent some settings of which whoever asks `aiq serve` may choose: none that names a file, host or code."""

    adjustable: Sequence[str]
    """Their names, at the top of the agent's section."""


@runtime_checkable
class AsksUser(Protocol):
    """An agent that asks its user only where its settings say so."""

    def check_user(self, kind: str) -> None:
        """Raises ConfigError where such a user (`user.kind`) would have no say: before anything is spent."""


@runtime_checkable
class Resumable(Protocol):
    """An agent whose conversations can wait for a person and outlive the process."""

    @property
    def threads(self) -> "Threads[Any] | None":
        """Its conversations; None where its settings say that it keeps none."""

    async def research(self, question: Question, session: Session) -> Report:
        """As `Agent` has it."""

    async def resume(self, thread_id: str, session: Session) -> Report | None:
        """Ask `session.user` what the thread waits for, or take up what broke off; None where nothing is open."""


class Recorded(NamedTuple):
    """An attempt of an earlier run. `usage`: by role. `events`: plain JSON in order, read when they are asked for."""

    report: Report
    usage: Mapping[str, Usage]
    events: Callable[[], Iterable[Mapping[str, Any]]]


class Redecided(NamedTuple):
    """What other settings would have made of recorded attempts.

    `branch`: the place of the attempt whose report it would have been. None: no attempt went that way; then `report`
    has its route and extras and no text, and `usage` is what is known of it.
    """

    branch: int | None
    report: Report
    usage: Mapping[str, Usage]


@runtime_checkable
class Redecides(Protocol):
    """An agent some settings of which only decide on what an attempt has already: to sweep them takes no model."""

    deciding: Sequence[str]
    """These settings, by their place in the agent's section; one that ends in `.*` means all below."""

    def redecide(self, recorded: Sequence[Recorded]) -> Redecided | str:
        """What this agent would have made of the first attempt; a reason where that cannot be known.

        The others, at the same question with other such settings, have what the first did not do.
        """


class Drawing(NamedTuple):
    """A compiled LangGraph graph, and what to say of it in Markdown."""

    name: str
    text: str
    graph: Any


@runtime_checkable
class Drawable(Protocol):
    """An agent that is made of graphs."""

    def graphs(self, models: Models) -> Sequence[Drawing]:
        """All of them, the outermost first. No model is asked anything."""
