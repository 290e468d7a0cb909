"""Makes the sessions of a run: one for each attempt, one for each judge's work on it; and the user an agent meets."""

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
    """The sessions of one run; all share its `spend`, which earlier starts may have begun, and judges their stores.

    `waiting` is told why a failed call is sent again, and how many seconds that has cost and will.
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
        heard: Callable[[Event], None] | None = None,
        **own: Any,
    ) -> Iterator[Session]:
        """A fresh session for an attempt. `heard` is told each event too; `own` are fields with other values."""
        key = SampleKey(sample.id, epoch)
        fields: dict[str, Any] = {
            "spend": self._spend,
            "collection_name": sample.question.collection_name,
            "memory": f"{self._run}.{sample.id}.{epoch}.{attempt}",
            **own,
        }
        if "user" not in fields:
            fields["user"] = make_user(self._settings.user, sample, self._resources.models)
        with self._opened("agent", agent, key, attempt, heard) as events:
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
        """A session for one judge's work on a row, with the sources that the agent left, and only the run's limits.

        Whoever uses it writes the rows before leaving: then the answers it has paid for are kept as well.
        """
        answers = SharedAnswers(self._answers)
        with self._opened("judge", judge, row.key, row.attempt) as events:
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
    def _opened(
        self, account: Account, name: str, key: SampleKey, attempt: int, heard: Callable[[Event], None] | None = None
    ) -> Iterator[EventLog]:
        """What a session tells goes to its file, into its span and to who hears it; what it asks for is recorded."""
        with (
            self._events.session(key, attempt, account) as write,
            self._span.session(account, name, key, attempt) if self._span else nullcontext() as traced,
            self._recorder.lent(account, key),
        ):
            listeners = [listener for listener in (write, traced, heard) if listener is not None]

            def told(event: Event) -> None:
                for listener in listeners:
                    listener(event)
                if isinstance(event, Recovery) and event.seconds is not None:
                    self._waiting(event.detail, event.lasted + event.seconds)

            yield EventLog(told)

    def stop(self) -> None:
        """What is under way is being cancelled: no recording keeps how that ends."""
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
        asks = "\n\n".join((*self._sample.turns, self._sample.question.text))
        known = {"question": asks, "preferences": self._sample.preferences or ""}
        shown = _prompts().render(request, kind=kind, prompt=prompt, said=self._said, **known)
        asked = (Message(role="system", content=_prompts().render(instructions)), Message(role="user", content=shown))
        reply = (await self._models.complete(SIMULATED_USER, asked)).text.strip()
        self._said += [f"Assistant: {prompt}", f"You: {reply}"]
        return reply


@cache
def _prompts() -> Prompts:
    return Prompts(Path(__file__).parent / "prompts")
