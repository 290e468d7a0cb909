"""A Python function as an agent: it is called with each question and returns the report."""

import asyncio
import inspect
from typing import Any, ClassVar

from pydantic import Field

from aiq.agents.toolkit.finish import finish
from aiq.core import plugins
from aiq.core.errors import AgentError, ConfigError
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.settings import Settings

ROUTE = "python"


class PythonSettings(Settings):
    function: str = Field(description="the function or other callable, as package.module:function")


class PythonAgent:
    """Calls the function with the question's text, or with the `Question` if its first parameter is annotated so.

    A parameter called `session` gets the session; the returned text is then verified against the session's sources.
    Without one there is nothing to verify against, and the text stays as it is; a `Report` always does. A function
    without `async` runs in a thread and must not take the session, whose work is all done in the run's event loop.
    Raises ConfigError for a function that cannot be called like this.
    """

    Settings: ClassVar[type[PythonSettings]] = PythonSettings

    def __init__(self, settings: PythonSettings) -> None:
        self._name = f"agent.function={settings.function}"
        self._function: Any = plugins.load(settings.function, "agent.function")
        if inspect.isclass(self._function):
            raise ConfigError(f"{self._name} is a class; write conf/agent/NAME.yaml with it as `target`: agent=NAME")
        if not callable(self._function):
            raise ConfigError(f"{self._name} is not a function but {type(self._function).__name__}")
        try:
            signature = inspect.signature(self._function)
            self._takes_session = "session" in signature.parameters
            signature.bind("", **({"session": None} if self._takes_session else {}))
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{self._name} cannot be called with a question (and session=...): {error}") from None
        self._takes_question = next(iter(signature.parameters.values())).annotation in (Question, "Question")
        call = getattr(self._function, "__call__", None)  # noqa: B004  for instances of a callable class
        self._is_async = any(map(inspect.iscoroutinefunction, (self._function, call)))
        if self._takes_session and not self._is_async:
            raise ConfigError(
                f"{self._name} takes the session, so it must be `async def`: synchronous model calls are not supported"
            )

    async def research(self, question: Question, session: Session) -> Report:
        """What the function returns. Raises AgentError if that is neither text nor a Report, or is blank."""
        argument = question if self._takes_question else question.text
        if self._is_async:
            answer = await self._function(argument, **({"session": session} if self._takes_session else {}))
        else:
            answer = await asyncio.to_thread(self._function, argument)
        if isinstance(answer, Report):
            return answer
        if not isinstance(answer, str):
            raise AgentError(f"{self._name} returned {type(answer).__name__}; return text or a Report")
        if self._takes_session:
            return finish(answer, ROUTE, None, session)
        return finish(answer, ROUTE, None, session, researched=False, citation_status="unverified")
