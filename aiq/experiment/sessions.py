"""Makes the sessions of a run, one for each attempt and one for each judge's work on it, and the user of an agent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Final

from aiq.core.events import Event, EventLog, Recovery
from aiq.core.models import Message, Models
from aiq.core.prompts import Prompts
from aiq.core.run_settings import RunSettings, UserSettings
from aiq.core.samples import Sample, SampleKey
from aiq.core.session import ApprovingUser, RejectingUser, Session, User
from aiq.core.usage import UsageLedger
from aiq.experiment.resources import Resources
from aiq.experiment.stores import AnswerStore, PageStore, SharedAnswers
from aiq.experiment.telemetry import RunSpan
from aiq.runs.events import Account, EventFiles
from aiq.runs.folder import RunFolder
from aiq.runs.rows import SampleRow

SIMULATED_USER: Final = "user.simulated"  # the role in which it asks the model
_TEMPLATES: Final = ("simulated_user.j2", "simulated_user_request.j2")


class Sessions:
    """The sessions of one run; all share its `spend`, which includes earlier starts, and judges share their stores.

    `waiting` is called with the reason for retrying a failed call, and the seconds that the failure costs in all.
    """

    def __init__(
        self,
        settings: RunSettings,
        resources: Resources,
        folder: RunFolder,
        spend: UsageLedger,
        waiting: Callable[[str, float], None],
    ) -> None:
        self._settings = settings
        self._resources = resources
        self._run = folder.run_id
        self._spend = spend
        self._events = EventFiles(folder)
        self._recorder = resources.recorder
        self._pages = PageStore(resources.judges_web, folder)
        self._answers = AnswerStore(folder)
        self._waiting = waiting
        self._span = resources.telemetry and RunSpan(resources.telemetry, settings.name, folder.run_id)

    @contextmanager
    def agent(
        self,
        agent: str,
        sample: Sample,
        epoch: int,
        attempt: int,
        on_event: Callable[[Event], None] | None = None,
        **own: Any,
    ) -> Iterator[Session]:
        """A new session for an attempt. `on_event` receives each event too; `own`: fields with other values."""
        key = SampleKey(sample.id, epoch)
        fields: dict[str, Any] = {
            "spend": self._spend,
            "collection_name": sample.question.collection_name,
            "memory": f"{self._run}.{sample.id}.{epoch}.{attempt}",
            **own,
        }
        if "user" not in fields:
            fields["user"] = make_user(self._settings.user, sample, self._resources.models)
        with self._open_events("agent", agent, key, attempt, on_event) as events:
            yield self._resources.session(
                self._settings,
                key=key,
                attempt=attempt,
                events=events,
                check=self._recorder.check,
                decide=self._recorder.decide,
                **fields,
            )

    @contextmanager
    def judge(self, judge: str, row: SampleRow) -> Iterator[Session]:
        """A session for one judge's work on a row, with the sources that the agent found, and only the run's limits.

        The caller must write the rows before leaving, since leaving stores the answers that were paid for.
        """
        answers = SharedAnswers(self._answers)
        with self._open_events("judge", judge, row.key, row.attempt) as events:
            session = self._resources.session(
                self._settings,
                spend=self._spend,
                key=row.key,
                attempt=row.attempt,
                web=self._pages,
                limits=self._settings.limits.of_run(),
                events=events,
                answers=answers,
            )
            for position, source in enumerate(row.sources):
                session.sources.add(source, (position,))
            try:
                yield session
            finally:
                answers.write()

    @contextmanager
    def _open_events(
        self, account: Account, name: str, key: SampleKey, attempt: int, on_event: Callable[[Event], None] | None = None
    ) -> Iterator[EventLog]:
        """The event log of a session, which writes to its file, its span and a listener; its requests are recorded."""
        with (
            self._events.session(key, attempt, account) as write,
            self._span.session(account, name, key, attempt) if self._span else nullcontext() as span_listener,
            self._recorder.for_sample(account, key),
        ):
            listeners = [listener for listener in (write, span_listener, on_event) if listener is not None]

            def emit(event: Event) -> None:
                for listener in listeners:
                    listener(event)
                if isinstance(event, Recovery) and event.seconds is not None:
                    self._waiting(event.detail, event.lasted + event.seconds)

            yield EventLog(emit)

    def stop(self) -> None:
        """Note that work in flight is being cancelled, so that no recording keeps how it ends."""
        self._recorder.stopping = True

    def close(self) -> None:
        for files in (self._events, self._pages, self._answers):
            files.close()
        if self._span:
            self._span.close()


def make_user(settings: UserSettings, sample: Sample, models: Models) -> User:
    """The user that the settings name, for one attempt at one sample."""
    if settings.kind == "simulated":
        return SimulatedUser(sample, models)
    if settings.kind == "reject":
        return RejectingUser()
    return ApprovingUser(settings.feedback)


def user_prompt_hash(settings: UserSettings) -> str | None:
    """The hash of the prompts of such a user; None if it uses no model."""
    return _prompts().hash(*_TEMPLATES) if settings.kind == "simulated" else None


class SimulatedUser:
    """A model that plays the person who asked. It knows only the question, the preferences and the conversation."""

    def __init__(self, sample: Sample, models: Models) -> None:
        self._sample = sample
        self._models = models
        self._conversation: list[str] = []

    async def answer(self, question: str) -> str:
        return await self._reply("question", question)

    async def review(self, plan: str) -> str:
        return await self._reply("plan", plan)

    async def _reply(self, kind: str, prompt: str) -> str:
        instructions, request = _TEMPLATES
        questions = "\n\n".join((*self._sample.turns, self._sample.question.text))
        context = {"question": questions, "preferences": self._sample.preferences or ""}
        text = _prompts().render(request, kind=kind, prompt=prompt, said=self._conversation, **context)
        messages = (Message(role="system", content=_prompts().render(instructions)), Message(role="user", content=text))
        reply = (await self._models.complete(SIMULATED_USER, messages)).text.strip()
        self._conversation += [f"Assistant: {prompt}", f"You: {reply}"]
        return reply


@cache
def _prompts() -> Prompts:
    return Prompts(Path(__file__).parent / "prompts")
