"""Makes the session of an attempt or of a judge's work on it, with its events file.

The user of an attempt: who answers an agent's questions and reviews its plans while nobody sits there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from aiq.core.events import AnyEvent, EventLog
from aiq.core.models import Message, Models
from aiq.core.once import Answers, NoAnswers
from aiq.core.prompts import Prompts
from aiq.core.samples import Sample, SampleKey
from aiq.core.session import ApprovingUser, FeedbackUser, RejectingUser, RunSpend, Session, User
from aiq.core.settings import RunSettings, UserSettings
from aiq.core.tools import Web
from aiq.core.usage import Limits
from aiq.experiment.resources import Resources
from aiq.experiment.stores import AnswerStore
from aiq.runs.folder import RunFolder
from aiq.runs.journal import cut_torn_line, json_line
from aiq.runs.rows import SampleRow

ROLE = "user.simulated"
TEMPLATES = ("simulated_user.j2", "simulated_user_request.j2")


def make_user(settings: UserSettings, sample: Sample, models: Models) -> User:
    """The user that the settings name, for one attempt at one sample."""
    match settings.kind:
        case "reject":
            return RejectingUser()
        case "feedback":
            return FeedbackUser(settings.feedback)
        case "simulated":
            return SimulatedUser(sample.question.text, sample.preferences or "", models)
        case _:
            return ApprovingUser()


def prompt_hash(settings: UserSettings) -> str | None:
    """The hash of the prompts that such a user speaks by; None where it uses no model."""
    return _prompts().hash(*TEMPLATES) if settings.kind == "simulated" else None


class SimulatedUser:
    """A model that plays the person who asked. It knows the question, the preferences and what was said, no more.

    Its calls are made in the attempt's session, under the role `user.simulated`.
    """

    def __init__(self, question: str, preferences: str, models: Models) -> None:
        self._question = question
        self._preferences = preferences
        self._models = models
        self._said: list[str] = []

    async def answer(self, question: str) -> str:
        return await self._reply("question", question)

    async def review(self, plan: str) -> str:
        return await self._reply("plan", plan)

    async def _reply(self, kind: str, prompt: str) -> str:
        variable = _prompts().render(
            "simulated_user_request.j2",
            kind=kind,
            question=self._question,
            preferences=self._preferences,
            said=self._said,
            prompt=prompt,
        )
        asked = (
            Message(role="system", content=_prompts().render("simulated_user.j2")),
            Message(role="user", content=variable),
        )
        reply = (await self._models.complete(ROLE, asked)).text.strip()
        self._said += [f"Assistant: {prompt}", f"You: {reply}"]
        return reply


@cache
def _prompts() -> Prompts:
    return Prompts(Path(__file__).parent / "prompts")


class EventFile:
    """Writes events as JSON lines, each handed to the system at once (not synced: events are no results)."""

    def __init__(self, path: Path, mode: str) -> None:
        cut_torn_line(path)
        self._file = path.open(mode, encoding="utf-8")

    def write(self, event: AnyEvent) -> None:
        """Append one event. After `close`, what stragglers of a cancelled attempt still say is dropped."""
        if not self._file.closed:
            self._file.write(json_line(event))
            self._file.flush()

    def close(self) -> None:
        self._file.close()


class Sessions:
    """Makes the sessions of one run; all share `spend`, which begins at what earlier starts have spent.

    Judges read the web through `pages` and share `answers`; the run keeps both.
    """

    def __init__(
        self,
        settings: RunSettings,
        resources: Resources,
        folder: RunFolder,
        spend: RunSpend,
        pages: Web,
        answers: AnswerStore,
    ) -> None:
        self._settings = settings
        self._resources = resources
        self._pages = pages
        self._answers = answers
        self._folder = folder
        self._spend = spend

    @contextmanager
    def agent(self, key: SampleKey, attempt: int, sample: Sample) -> Iterator[Session]:
        """A fresh session for an attempt; the events of an earlier attempt at the key, judges' too, make way."""
        self._folder.events_path(key, judge=True).unlink(missing_ok=True)
        events = EventFile(self._folder.events_path(key), "w")
        try:
            yield self._session(
                key,
                attempt,
                self._settings.limits,
                events,
                web=self._resources.web,
                user=make_user(self._settings.user, sample, self._resources.models),
                collection_name=sample.question.collection_name,
            )
        finally:
            events.close()

    @contextmanager
    def judge(self, row: SampleRow) -> Iterator[Session]:
        """A session for one judge's work on a row, with the sources that the agent left.

        Limits of a sample bind the agent alone; a judge only has the run's. The judges of a key write
        to one events file, one after the other. Whoever uses it writes the rows before leaving: then the
        answers it has paid for are kept as well.
        """
        events = EventFile(self._folder.events_path(row.key, judge=True), "a")
        limits = Limits(run_usd=self._settings.limits.run_usd)
        answers = self._answers.of_one()
        session = self._session(
            row.key, row.attempt, limits, events, web=self._pages, user=ApprovingUser(), answers=answers
        )
        for position, source in enumerate(row.sources):
            session.sources.add(source, (position,))
        try:
            yield session
        finally:
            answers.write()
            events.close()

    def _session(
        self,
        key: SampleKey,
        attempt: int,
        limits: Limits,
        events: EventFile,
        *,
        web: Web,
        user: User,
        collection_name: str | None = None,
        answers: Answers | None = None,
    ) -> Session:
        from aiq.citations.registry import SourceRegistry

        return Session(
            key=key,
            run_seed=self._settings.seed,
            now=self._settings.clock,
            models=self._resources.models,
            tools=self._resources.tools,
            web=web,
            user=user,
            limits=limits,
            events=EventLog(events.write),
            sources=SourceRegistry(),
            citations=self._settings.citations,
            checkpointer=self._resources.checkpointer,
            collection_name=collection_name,
            attempt=attempt,
            spend=self._spend,
            answers=answers or NoAnswers(),
        )
