"""The contract of an agent: one method, and a settings class beside it."""

from typing import Any, ClassVar, Protocol, runtime_checkable

from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.core.tools import Toolbox


class Agent(Protocol):
    """A system under test.

    Config names the class (`agent.target`); it is made once per run as `Class(Class.Settings(...))`
    and serves all samples at once, keeping nothing of any of them. Compiled graphs may be kept.
    """

    Settings: ClassVar[type[Settings]]

    def __init__(self, settings: Any) -> None: ...

    async def research(self, question: Question, session: Session) -> Report:
        """Answer one question. Raises AgentError, ModelError, LimitReached; never returns an error as a report."""


@runtime_checkable
class Checked(Protocol):
    """What an agent offers beside `research` whose settings may not fit the run's tools."""

    def check(self, tools: Toolbox) -> None:
        """Raises ConfigError where they do not: before the first question, so that nothing is paid for."""


@runtime_checkable
class Asking(Protocol):
    """What an agent offers beside `research` that asks its user only where its settings say so."""

    def check_user(self, kind: str) -> None:
        """Raises ConfigError where such a user (`user.kind`) would have no say: before anything is spent."""


@runtime_checkable
class Resumable(Protocol):
    """What an agent offers beside `research` whose conversations can wait for a person and outlive the process."""

    async def resume(self, thread_id: str, session: Session) -> Report | None:
        """Ask `session.user` what the thread waits for and go on; None where it waits for nothing."""
