"""The session of one attempt: all that an agent or a judge may use, with nothing global; and the user they talk to.

The run makes a session per attempt and binds it with `bind`; transports, tools and prompts find it with `current`.
"""

import asyncio
import itertools
import json
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from pydantic import ValidationError

from aiq.core.concurrency import being_cancelled, binding
from aiq.core.errors import OUTAGES, AiqError, LimitReached, ToolError, ToolErrorKind, message_of, traceback_of
from aiq.core.events import EventLog, ToolCalled, ToolReturned, call_path, parent_call
from aiq.core.models import Models
from aiq.core.plugins import describe
from aiq.core.replies import RawReply
from aiq.core.run_settings import CitationSettings
from aiq.core.samples import SampleKey
from aiq.core.secrets import mask_secrets
from aiq.core.seeds import derive
from aiq.core.sources import Registry, SourceKind
from aiq.core.text import json_value, utf8_safe_value
from aiq.core.tools import Toolbox, ToolResult, Web
from aiq.core.usage import TOOL_CALL_LIMITS, Limits, Usage, UsageLedger, account

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class User(Protocol):
    """Who answers an agent's questions and reviews its plans: in evaluations a program, in `aiq chat` a person."""

    async def answer(self, question: str) -> str:
        """Reply to a clarifying question."""

    async def review(self, plan: str) -> str:
        """Reply to a plan preview: `approve`, `reject`, or feedback in words."""


class ApprovingUser:
    """Skips every question, so that headless runs never wait; makes its remarks, one per plan, and then approves."""

    def __init__(self, remarks: Iterable[str] = ()) -> None:
        self._remarks = iter(remarks)

    async def answer(self, question: str) -> str:
        return "skip"

    async def review(self, plan: str) -> str:
        return next(self._remarks, "approve")


class RejectingUser(ApprovingUser):
    """Skips every question and rejects every plan."""

    async def review(self, plan: str) -> str:
        return "reject"


class Answers:
    """Model answers to questions whose answer does not depend on who asks; this base class stores none."""

    async def get_or_ask(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        """The answer under `key` (a digest of everything that determines it), asked for if there is none yet.

        An error of `ask` propagates, and the next caller asks again.
        """
        return await ask()


async def no_store() -> Any:
    """The default of a session that is given no store."""
    raise RuntimeError("this session has no store to remember in: make it with store=")


BUDGET_SPENT: Final = "The budget of this sample is spent: answer now with what you have, and call no further tool"
"""What a model is told instead of a tool's result, and instead of being given tools."""

T = TypeVar("T")

_current: ContextVar["Session | None"] = ContextVar("session", default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """Everything that one attempt, or a judge's work on one, may use: complete when it is made.

    `now` is the run's frozen clock. `attempt` counts from 1. `spend` is what the whole run has spent, agents and judges
    together. `replies`: the models' replies so far in the current turn; `open_calls`: how to book the calls under way;
    `tool_outcomes`: by tool, how many calls ended in `ok` or in which kind of ToolError; `outages`: by tool, the first
    error of the service behind it. In a judge's session `sources` are those the agent retrieved, and `answers` is
    shared by the judges of a run. `collection_name`: the documents that the question names. `check` raises the error
    that must end all work, even work that has caught it; `decide` says what `spent` returns, given what it found: in a
    replay, what it returned when it was recorded. `memory`: an evaluation's name for the attempt, whose conversations
    are its own; empty if they continue from session to session, as in `aiq chat`. `store` opens, at its first call, the
    run's LangGraph store of what agents remember of conversations (`aiq.agents.toolkit.memory`).
    """

    key: SampleKey
    run_seed: int
    now: datetime
    models: Models
    tools: Toolbox
    web: Web
    user: User
    limits: Limits
    citations: CitationSettings
    events: EventLog
    sources: Registry
    checkpointer: Any = None
    store: Callable[[], Awaitable[Any]] = no_store
    collection_name: str | None = None
    memory: str = ""
    attempt: int = 1
    spend: UsageLedger = field(default_factory=UsageLedger)
    usage: UsageLedger = field(default_factory=UsageLedger)
    answers: Answers = field(default_factory=Answers)
    check: Callable[[], None] = lambda: None
    decide: Callable[[str, str | None], str | None] = lambda path, reason: reason
    replies: list[RawReply] = field(default_factory=list)
    open_calls: dict[object, Callable[[str], object]] = field(default_factory=dict)
    tool_outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    outages: dict[str, str] = field(default_factory=dict)
    _drafts: list[str] = field(default_factory=list)
    _tool_calls: Iterator[int] = field(default_factory=itertools.count)
    _denied: list[int] = field(default_factory=list)
    _timers: list[asyncio.Timeout] = field(default_factory=list)
    _stop_reasons: list[str] = field(default_factory=list)
    _spent_checks: Counter[tuple[int, ...]] = field(default_factory=Counter)

    def seed(self, vote: int = 0, subject: str | None = None) -> int:
        """The seed of model requests. A `subject` replaces sample and epoch: then it is the same whoever asks."""
        return derive(self.run_seed, *(self.key if subject is None else (subject,)), vote)

    def thread(self, name: str) -> str:
        """The checkpointer's name for a conversation."""
        return f"{name}.{self.memory}" if self.memory else name

    def record_usage(self, role: str, usage: Usage) -> None:
        """Book one HTTP exchange; called by the transport only."""
        for ledger in (self.usage, self.spend, account.get()):
            if ledger is not None:
                ledger.record(role, usage)

    def end(self) -> None:
        """Book the calls that nobody waits for any more, such as a stream abandoned halfway."""
        for book in list(self.open_calls.values()):
            book("still open when the work ended")

    @property
    def draft(self) -> str | None:
        """The latest report as written, which reaches the attempt's row whatever fails afterwards."""
        return self._drafts[-1] if self._drafts else None

    def keep_draft(self, text: str) -> None:
        """Remember a report as soon as it is written; a blank one does not replace an earlier one."""
        if text.strip():
            self._drafts.append(text)

    def end_turn(self) -> None:
        """End an answered turn: its drafts and replies do not count for the next one."""
        self._drafts.clear()
        self.replies.clear()

    @property
    def denied(self) -> int:
        """Pages and search results that `web.deny` has kept from the agent."""
        return sum(self._denied)

    def check_limits(self) -> None:
        """Raises LimitReached when no further model call may start."""
        self.limits.check(self.usage, self.spend)

    def spent(self) -> str | None:
        """Why the research is over, in words; None while it may go on, and always with `limits.on_limit=stop`.

        From then on tools are refused. An agent that asks learns it here and answers with what it has, for which the
        rest of the limit is kept. One that does not ask learns it from its tools. Either attempt ends as `limit`.
        """
        if self.limits.on_limit == "stop" or not self.limits.of("sample"):
            return None
        reached = self._stop_reasons[0] if self._stop_reasons else self.limits.reached(self.usage, self._elapsed)
        path = call_path.get()
        self._spent_checks[path] += 1
        if reason := self.decide(f"{'.'.join(map(str, path))}/{self._spent_checks[path]}", reached):
            self._stop_reasons.append(reason)
        return reason

    @property
    def stop_reason(self) -> str | None:
        """Why the research is over, as the agent was told; None if it was not."""
        return self._stop_reasons[0] if self._stop_reasons else None

    @property
    def _elapsed(self) -> float:
        """How much of the time of `within_time` has passed; 0 outside of it."""
        ends = [end for timer in self._timers if (end := timer.when()) is not None]
        return (self.limits.sample_seconds or 0.0) - (ends[-1] - asyncio.get_running_loop().time()) if ends else 0.0

    def openai(self, role: str) -> "AsyncOpenAI":
        """A stock client bound to the role: it calls the run's endpoint with the run's key, and its calls are counted.

        `models.name(role)` is the model to ask for. The role's configured temperature and token limit are sent if a
        request states none, its extra body and the seed always. Chat completions and embeddings only.
        Raises ModelError, LimitReached, RunAborted.
        """
        return self.models.openai(role)

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | str, call_id: str | None = None) -> ToolResult:
        """Run a tool by name, log it, and register what it retrieved and which other URLs it showed.

        `arguments` are as the model wrote them: an object, or its JSON; `call_id` is the model's id of the call, and
        without one the session numbers it. Within one `nested_call`, or outside any, sources are in the order in which
        the calls began.
        Raises ToolError, typed; the caller shows its text to the model.
        """
        number = next(self._tool_calls)
        call, path = {"call_id": call_id or f"call-{number}", "tool": name}, (*call_path.get(), number)
        parsed = _parse_arguments(arguments)
        logged = parsed or {}
        self.events.emit(ToolCalled(**call, arguments=logged))
        self.sources.note(json.dumps(logged, ensure_ascii=False), "echoed", path, **call)
        start = time.perf_counter()

        def log_return(content: str, visible: str, kind: SourceKind, **outcome: Any) -> None:
            latency = (time.perf_counter() - start) * 1000
            self.sources.note(visible, kind, path, **call)
            self.events.emit(ToolReturned(**call, content=content, latency_ms=latency, **outcome))

        try:
            with binding(parent_call, call["call_id"]):
                self._allow_call()
                if parsed is None:
                    text = f"{name}: arguments are no JSON object: {str(arguments)[:200]}"
                    raise ToolError(ToolErrorKind.INVALID_ARGUMENTS, text)
                result = await self._run_tool(name, logged)
        except ToolError as error:
            trace = traceback_of(error.__cause__) if error.kind is ToolErrorKind.FAILED else None
            log_return(str(error), str(error), "echoed", success=False, error=error.kind, traceback=trace)
            self._denied.append(error.kind is ToolErrorKind.DENIED)
            self.tool_outcomes[name][error.kind] += 1
            if error.kind in OUTAGES:
                self.outages.setdefault(name, mask_secrets(str(error)))  # the run prints it
            raise
        self._denied.append(result.denied)
        self.tool_outcomes[name]["ok"] += 1
        for rank, source in enumerate(result.sources):
            self.sources.add(source.model_copy(update=call), (*path, rank))
        visible = "\n".join([result.content, *(source.text for source in result.sources)])
        targets = tuple(source.address for source in result.sources)
        log_return(result.content, visible, "mentioned" if targets else "echoed", success=True, sources=targets)
        return result

    def _allow_call(self) -> None:
        """Count a tool call. Raises ToolError if the research is over, LimitReached if no more calls are allowed."""
        if reason := self.spent():
            raise ToolError(ToolErrorKind.OVER_BUDGET, f"{BUDGET_SPENT} ({reason})")
        self.limits.check(self.usage, self.spend, TOOL_CALL_LIMITS)
        for ledger in (self.usage, self.spend):
            ledger.tool_calls += 1

    async def _run_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        tool = self.tools.get(name)
        try:
            parsed = tool.parameters.model_validate(arguments)
        except ValidationError as error:
            raise ToolError(ToolErrorKind.INVALID_ARGUMENTS, f"{name}: {describe(error)}") from None
        try:
            result = await tool.run(parsed)
        except AiqError:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and being_cancelled():
                raise  # we are being cancelled; the tool did not fail
            raise ToolError(ToolErrorKind.FAILED, f"{name}: {type(error).__name__}: {message_of(error)}") from error
        if tool.data_source is None or not result.content.strip():
            return result.model_copy(update={"sources": ()})  # helpers and empty results retrieve nothing
        return result

    def bind(self) -> "AbstractContextManager[Session]":
        """Make this the session that `current` finds, here and in tasks started from here."""
        return binding(_current, self)

    async def within_time(self, work: Awaitable[T]) -> T:
        """Await `work` for at most `limits.sample_seconds`; raises LimitReached after that."""
        seconds = self.limits.sample_seconds
        try:
            async with asyncio.timeout(seconds) as timer:
                self._timers.append(timer)
                return await work
        except TimeoutError:
            if seconds is not None and timer.expired():
                raise LimitReached("limits.sample_seconds", seconds) from None
            raise

    @property
    def time_is_up(self) -> bool:
        """Whether the current cancellation is due to `limits.sample_seconds`."""
        return any(timer.expired() for timer in self._timers)

    def end_time(self) -> None:
        """Let the time of `within_time` be up now: in a replay, where it was up when the run was recorded."""
        for timer in self._timers if not self.time_is_up else ():
            timer.reschedule(asyncio.get_running_loop().time())


def _parse_arguments(arguments: Mapping[str, Any] | str) -> dict[str, Any] | None:
    """The object, given as such or as JSON; an empty text means no arguments. None if an event cannot hold it."""
    try:
        value = json_value(arguments or "{}") if isinstance(arguments, str) else dict(arguments)
        value = utf8_safe_value(value)  # models cut characters in two
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@contextmanager
def nested_call(turn: int, index: int, call_id: str | None) -> Iterator[None]:
    """Mark the running code as call `index` of `turn`, below the call that it is already part of.

    Agent loops wrap each tool execution in it, so that the order of sources and events does not depend on which of
    several parallel calls returns first. `call_id` becomes the parent of what runs inside; None if the code inside
    logs the call itself (`Session.call_tool`).
    """
    parent = parent_call.get() if call_id is None else call_id
    with binding(call_path, (*call_path.get(), turn, index)), binding(parent_call, parent):
        yield


def current() -> Session:
    """The session of the running attempt. Raises RuntimeError outside of one (a bug, not a user's mistake)."""
    session = _current.get()
    if session is None:
        raise RuntimeError("no session is bound: models and tools work only inside an attempt")
    return session
