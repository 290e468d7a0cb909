"""Makes the session of an attempt or of a judge's work on it, with its events file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiq.core.events import AnyEvent, EventLog
from aiq.core.limits import Limits
from aiq.core.once import Answers, NoAnswers
from aiq.core.samples import Sample, SampleKey
from aiq.core.session import RunSpend, Session
from aiq.core.settings import RunSettings
from aiq.core.tools import Web
from aiq.core.users import ApprovingUser
from aiq.experiment.answers import AnswerStore
from aiq.experiment.folder import RunFolder
from aiq.experiment.journal import cut_torn_line, json_line
from aiq.experiment.records import SampleRow
from aiq.experiment.resources import Resources
from aiq.experiment.users import make_user


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
            session = self._session(key, "agent", attempt, self._settings.limits, events)
            session.user = make_user(self._settings.user, sample, session.models)
            yield session
        finally:
            events.close()

    @contextmanager
    def judge(self, row: SampleRow) -> Iterator[Session]:
        """A session for one judge's work on a row, with the sources and the audit that the agent left.

        Limits of a sample bind the agent alone; a judge only has the run's. The judges of a key write
        to one events file, one after the other. Whoever uses it writes the rows before leaving: then the
        answers it has paid for are kept as well.
        """
        events = EventFile(self._folder.events_path(row.key, judge=True), "a")
        limits = Limits(run_usd=self._settings.limits.run_usd)
        answers = self._answers.of_one()
        session = self._session(row.key, "judge", row.attempt, limits, events, answers)
        for position, source in enumerate(row.sources):
            session.sources.add(source, (position,))
        session.audit = row.audit
        try:
            yield session
        finally:
            answers.write()
            events.close()

    def _session(
        self,
        key: SampleKey,
        account: str,
        attempt: int,
        limits: Limits,
        events: EventFile,
        answers: Answers | None = None,
    ) -> Session:
        from aiq.citations.registry import SourceRegistry

        return Session(
            key=key,
            account="judge" if account == "judge" else "agent",
            run_seed=self._settings.seed,
            now=self._settings.clock,
            models=self._resources.models,
            tools=self._resources.tools,
            web=self._pages if account == "judge" else self._resources.web,
            user=ApprovingUser(),
            limits=limits,
            events=EventLog(events.write),
            sources=SourceRegistry(),
            citations=self._settings.citations,
            checkpointer=self._resources.checkpointer,
            attempt=attempt,
            spend=self._spend,
            answers=answers or NoAnswers(),
        )
