"""The contract of an agent: one method, and a settings class beside it."""

from typing import Any, ClassVar, Protocol

from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.settings import Settings


class Agent(Protocol):
    """A system under test.

    Config names the class (`agent.target`); it is made once per run as `Class(Class.Settings(...))`
    and serves all samples at once, keeping nothing of any of them. Compiled graphs may be kept.
    """

    Settings: ClassVar[type[Settings]]

    def __init__(self, settings: Any) -> None: ...

    async def research(self, question: Question, session: Session) -> Report:
        """Answer one question. Raises AgentError, ModelError, LimitReached; never returns an error as a report."""
