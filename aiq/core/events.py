"""What happened during an attempt, in order: the events of a run, one vocabulary for every agent.

Events are facts, not scores; totals are derived from them and never the other way round.
"""

import itertools
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Literal

from pydantic import ConfigDict, Field, JsonValue, SkipValidation

from aiq.core.base import Record
from aiq.core.errors import ToolErrorKind
from aiq.core.sources import CallPath
from aiq.core.usage import Usage

call_path: ContextVar[CallPath] = ContextVar("call_path", default=())
"""Position of the running call: an agent loop sets it to (turn, call within the turn) below its parent's."""

parent_call: ContextVar[str | None] = ContextVar("parent_call", default=None)
"""`call_id` of the tool call that the running code is part of; None at the top."""


class Event(Record):
    """Fields of every event, set by its log. `seq` counts from 0; `time_ns` is monotonic, since the attempt's start."""

    model_config = ConfigDict(frozen=False)

    seq: int = -1
    time_ns: int = 0
    parent_id: str | None = None


class RunStarted(Event):
    type: Literal["run_started"] = "run_started"
    question: str
    clock: str


class RunFinished(Event):
    type: Literal["run_finished"] = "run_finished"
    status: str
    error: str | None = None


class StageChanged(Event):
    """An agent enters a stage: `intent_classifier`, `clarifier`, `shallow_research`, ..."""

    type: Literal["stage_changed"] = "stage_changed"
    stage: str
    detail: Mapping[str, JsonValue] = {}


class AgentStarted(Event):
    type: Literal["agent_started"] = "agent_started"
    agent: str
    task: str = ""


class AgentFinished(Event):
    type: Literal["agent_finished"] = "agent_finished"
    agent: str
    output: str = ""


class ModelCalled(Event):
    """One HTTP exchange with a model endpoint: `messages` and `reply` as they were on the wire.

    For embeddings these are the texts, as user messages, and the number and length of the vectors. `attempt` counts
    earlier sends of the same request in this session.
    """

    type: Literal["model_called"] = "model_called"
    operation: Literal["chat", "embeddings"] = Field("chat", exclude_if=lambda operation: operation == "chat")
    call_id: str
    role: str
    model: str
    attempt: int
    status: int | None
    latency_ms: float
    finish_reason: str | None = None
    usage: Usage | None = None
    messages: SkipValidation[JsonValue] = None  # from the wire, so JSON; long prompts
    reply: SkipValidation[JsonValue] = None
    request_sha256: str = ""
    error: str | None = None


class ToolCalled(Event):
    type: Literal["tool_called"] = "tool_called"
    call_id: str
    tool: str
    arguments: Mapping[str, JsonValue]


class ToolReturned(Event):
    """How a tool call ended: `content` for the model and the URLs or keys retrieved, or the typed error.

    `traceback` is that of an exception raised by the tool's own code.
    """

    type: Literal["tool_returned"] = "tool_returned"
    call_id: str
    tool: str
    success: bool
    error: ToolErrorKind | None = None
    content: str = ""
    sources: tuple[str, ...] = ()
    latency_ms: float = 0.0
    traceback: str | None = None


class Decision(Event):
    """A choice that steers the run (route, escalation, budget used up), and what caused it."""

    type: Literal["decision"] = "decision"
    name: str
    value: JsonValue
    cause: str = ""
    detail: Mapping[str, JsonValue] = {}


class Round(Event):
    """One research round: its queries, the sources it added, and the gaps stated after it."""

    type: Literal["round"] = "round"
    number: int
    queries: tuple[str, ...]
    new_sources: tuple[str, ...]
    gaps: tuple[str, ...] = ()


class Approval(Event):
    """A question or plan put to the user, and the answer."""

    type: Literal["approval"] = "approval"
    kind: Literal["question", "plan"]
    prompt: str
    answer: str


class Recovery(Event):
    """Something broken was repaired (empty content, tool name, malformed JSON, retry).

    `seconds`: how long a retry waits first; `lasted`: how long the failed call took.
    """

    type: Literal["recovery"] = "recovery"
    what: str
    detail: str = ""
    seconds: float | None = None
    lasted: float = 0.0


class ReportWritten(Event):
    type: Literal["report"] = "report"
    text: str
    raw_text: str
    route: str


class ReportChunk(Event):
    """A part of a report as its model writes it, not yet verified; `start`: its offset in characters, 0 starts anew."""

    type: Literal["report_chunk"] = "report_chunk"
    text: str
    start: int


class EventLog:
    """Numbers events and hands each to `write` (one JSON line per call); keeps none of them."""

    def __init__(self, write: Callable[[Event], None]) -> None:
        self._write = write
        self._seq = itertools.count()
        self._start_ns = time.monotonic_ns()

    def emit(self, event: Event) -> None:
        event.seq, event.time_ns = next(self._seq), time.monotonic_ns() - self._start_ns
        event.parent_id = parent_call.get()
        self._write(event)
