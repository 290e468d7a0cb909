"""Makes the sessions of a run: one for each attempt, one for each judge's work on it; and what they share.

An agent meets a user. Judges fetch a page once and pay for a question once a run, however often it is resumed; a
question has a seed of its own content, so that it makes no difference which report's turn it was.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from aiq.core.base import Record
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import EventLog
from aiq.core.models import Message, Models
from aiq.core.once import Locks
from aiq.core.prompts import Prompts
from aiq.core.samples import Sample, SampleKey
from aiq.core.session import ApprovingUser, FeedbackUser, RejectingUser, RunSpend, Session, User
from aiq.core.settings import RunSettings, UserSettings
from aiq.core.sources import Page
from aiq.core.tools import Reader, Web
from aiq.core.usage import Usage
from aiq.experiment.resources import Resources
from aiq.runs.events import EventFiles
from aiq.runs.folder import RunFolder
from aiq.runs.journal import KeyedJournal
from aiq.runs.rows import SampleRow, StoredPage

SIMULATED_USER: Final = "user.simulated"  # the role in which it asks the model
_TEMPLATES: Final = ("simulated_user.j2", "simulated_user_request.j2")


class Sessions:
    """The sessions of one run; all share its spend (`spent`: by earlier starts), judges its page store and answers."""

    def __init__(self, settings: RunSettings, resources: Resources, folder: RunFolder, spent: Usage) -> None:
        self._settings = settings
        self._resources = resources
        self._spend = RunSpend(spent)
        self._events = EventFiles(folder)
        self._pages = PageStore(resources.web, folder)
        self._answers = AnswerStore(folder)

    @contextmanager
    def agent(self, sample: Sample, epoch: int, attempt: int) -> Iterator[Session]:
        """A fresh session for an attempt."""
        key = SampleKey(sample.id, epoch)
        with self._events.session(key, attempt, "agent") as write:
            yield self._session(
                key=key,
                attempt=attempt,
                web=self._resources.web,
                user=make_user(self._settings.user, sample, self._resources.models),
                limits=self._settings.limits,
                events=EventLog(write),
                collection_name=sample.question.collection_name,
            )

    @contextmanager
    def judge(self, row: SampleRow) -> Iterator[Session]:
        """A session for one judge's work on a row, with the sources that the agent left, and only the run's limits.

        Whoever uses it writes the rows before leaving: then the answers it has paid for are kept as well.
        """
        answers = SharedAnswers(self._answers)
        with self._events.session(row.key, row.attempt, "judge") as write:
            session = self._session(
                key=row.key,
                attempt=row.attempt,
                web=self._pages,
                user=ApprovingUser(),
                limits=self._settings.limits.of_run(),
                events=EventLog(write),
                answers=answers,
            )
            for position, source in enumerate(row.sources):
                session.sources.add(source, (position,))
            try:
                yield session
            finally:
                answers.write()

    def _session(self, **own: Any) -> Session:
        """A session with what all of them share."""
        from aiq.citations.registry import SourceRegistry

        return Session(
            run_seed=self._settings.seed,
            now=self._settings.clock,
            models=self._resources.models,
            tools=self._resources.tools,
            sources=SourceRegistry(),
            citations=self._settings.citations,
            checkpointer=self._resources.checkpointer,
            spend=self._spend,
            **own,
        )

    def close(self) -> None:
        for files in (self._events, self._pages, self._answers):
            files.close()


def make_user(settings: UserSettings, sample: Sample, models: Models) -> User:
    """The user that the settings name, for one attempt at one sample."""
    if settings.kind == "feedback":
        return FeedbackUser(settings.feedback)
    if settings.kind == "simulated":
        return SimulatedUser(sample, models)
    return RejectingUser() if settings.kind == "reject" else ApprovingUser()


def user_prompt_hash(settings: UserSettings) -> str | None:
    """The hash of the prompts that such a user speaks by; None where it uses no model."""
    return _prompts().hash(*_TEMPLATES) if settings.kind == "simulated" else None


class SimulatedUser:
    """A model that plays the person who asked. It knows the question, the preferences and what was said, no more."""

    def __init__(self, sample: Sample, models: Models) -> None:
        self._sample = sample
        self._models = models
        self._said: list[str] = []

    async def answer(self, question: str) -> str:
        return await self._reply("question", question)

    async def review(self, plan: str) -> str:
        return await self._reply("plan", plan)

    async def _reply(self, kind: str, prompt: str) -> str:
        instructions, request = _TEMPLATES
        known = {"question": self._sample.question.text, "preferences": self._sample.preferences or ""}
        shown = _prompts().render(request, kind=kind, prompt=prompt, said=self._said, **known)
        asked = (Message(role="system", content=_prompts().render(instructions)), Message(role="user", content=shown))
        reply = (await self._models.complete(SIMULATED_USER, asked)).text.strip()
        self._said += [f"Assistant: {prompt}", f"You: {reply}"]
        return reply


@cache
def _prompts() -> Prompts:
    return Prompts(Path(__file__).parent / "prompts")


class StoredAnswer(Record):
    """A line of `answers.jsonl`: an answer that could be used. `key`: the digest of everything that decides it."""

    schema_version: Literal[1] = 1
    key: str
    text: str


class AnswerStore:
    """The answers of one run. One is written only after the spend on it, so that no killed run finds any unpaid for."""

    def __init__(self, folder: RunFolder) -> None:
        self.written = KeyedJournal(folder.answers_path, StoredAnswer, "key")
        self.unwritten: dict[str, StoredAnswer] = {}
        self.locks = Locks()

    def close(self) -> None:
        self.written.close()


class SharedAnswers:
    """Implements core `Answers` for one judge's work on one report, and knows what that work has paid for."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._paid: list[str] = []

    async def once(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        store = self._store
        async with store.locks.held(key):
            if key not in store.unwritten:
                if key in store.written:
                    return store.written.read(key).text
                store.unwritten[key] = StoredAnswer(key=key, text=await ask())
                self._paid.append(key)
            return store.unwritten[key].text

    def write(self) -> None:
        """Keep what was paid for; called when the spend has been written."""
        for key in self._paid:
            self._store.written.append(self._store.unwritten.pop(key))
        self._paid.clear()


class PageStore:
    """The web as the judges of one run see it: implements core `Web` over another; texts stay on the disk.

    A failure is remembered for as long as the process lives; a resumed run tries the page again.
    """

    def __init__(self, web: Web, folder: RunFolder) -> None:
        self._web = web
        self._pages = KeyedJournal(folder.pages_path, StoredPage, "asked")
        self._failed: dict[str, tuple[ToolErrorKind, str]] = {}
        self._locks = Locks()

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page, from the store or fetched now. Raises ToolError, typed."""
        asked = url if reader is None else reader.address(url)
        async with self._locks.held(asked):
            if asked in self._failed:
                raise ToolError(*self._failed[asked])
            if asked not in self._pages:
                try:
                    page = (await self._web.fetch(url, reader)).model_copy(update={"url": url})
                except ToolError as error:
                    self._failed[asked] = (error.kind, str(error))
                    raise
                self._pages.append(StoredPage(**page.model_dump(), asked=asked, digest=page.digest))
        return self._pages.read(asked).page()

    def close(self) -> None:
        self._pages.close()
