"""The cassettes of a run: which work is in progress, what the mode allows, and what to report at the end."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from pydantic import BaseModel

from aiq.cassettes.exchange import Exchange
from aiq.cassettes.guard import Guard, other_counter
from aiq.cassettes.match import differences
from aiq.cassettes.redact import REQUEST_HEADERS, Redactor
from aiq.cassettes.store import Cassette, NoRecording, Store
from aiq.cassettes.transport import CassetteTransport, ExchangeWriter, decode_error, encode_error, given_up, reraise
from aiq.core.concurrency import being_cancelled, binding
from aiq.core.errors import AiqError, RunAborted, ToolError, ToolErrorKind, UserError, message_of
from aiq.core.run_settings import CassetteSettings
from aiq.core.samples import SampleKey
from aiq.core.tools import Tool, ToolResult
from aiq.llm.http import AsyncBaseTransport, Request

Account = Literal["agent", "judge"]

SHARED: Final = "shared"
"""The judges' cassette of what is requested once per run, by whichever sample is first: pages and shared questions."""

ROLE: Final = "x-aiq-role"
TOOL: Final = "TOOL"

_READ_MODES: Final = ("replay", "auto", "refresh")  # modes that answer from the recording
_JSON: Final = (("content-type", "application/json"),)
_SETUP_ERRORS: Final = frozenset({401, 402, 407})  # refusals that end once the set-up is fixed; so may a model's 403
_EXECUTED: Final = 202  # status of a tool call that is executed again, since its own requests are recorded


_current_slot: ContextVar["Slot | None"] = ContextVar("current_slot", default=None)
_tool_requests: ContextVar[list[str] | None] = ContextVar("asked_by_tool", default=None)


class CassetteMiss(RunAborted):
    """A replay requested what was not recorded or opened its own connection; or an exchange could not be stored."""


class Wording(NamedTuple):
    """Parts of messages: how a mode is chosen, what all requests must go through, and what to use for that."""

    option: str = "cassette="
    way: str = "the session"
    use: str = "session.openai and the session's tools"


def cassette_name(key: SampleKey) -> str:
    """`SAMPLE/EPOCH`."""
    return f"{key.sample_id}/{key.epoch}"


class Recorder:
    """Lends each sample's work its cassette, in `agent.sqlite` or `judge.sqlite` of a folder, as `settings.mode` says.

    `record` makes every exchange; `replay` makes none; `auto` makes those that are not recorded; `refresh` does so too
    and, like `record`, deletes at the end of a whole run what was not requested. Raises UserError for a recording that
    is missing or cannot be read.
    """

    def __init__(
        self,
        settings: CassetteSettings,
        folder: Path,
        redactor: Redactor,
        *,
        accounts: Sequence[Account] = get_args(Account),
        wording: Wording = Wording(),  # noqa: B008  immutable
    ) -> None:
        mode, self.redactor, self.wording = settings.mode, redactor, wording
        self.on, self.replays = mode != "off", mode == "replay"
        self.reads, self.writes = mode in _READ_MODES, mode in ("record", "auto", "refresh")
        self._prunes = mode in ("record", "refresh")
        self._guard = Guard(forbids=self.replays, at_work=lambda: _current_slot.get() is not None)
        self._miss: CassetteMiss | None = None
        self._folder, self._accounts = folder, accounts
        self.stopping = False
        self._unused = 0
        self._stores: dict[str, Store] = {}
        self._stack = self._open(settings.ignored) if self.on else ExitStack()

    def _open(self, ignored: Collection[str]) -> ExitStack:
        with ExitStack() as stack:
            for account in self._accounts:
                path = self._folder / f"{account}.sqlite"
                with suppress(NoRecording):
                    self._stores[account] = stack.enter_context(Store(path, writes=self.writes, ignored=ignored))
            if not self._stores:
                raise UserError(f"cassette.dir={self._folder}: nothing is recorded there; record with cassette=record")
            stack.enter_context(self._guard)
            return stack.pop_all()

    @property
    def about(self) -> dict[str, Any]:
        """What the recording says about itself; empty for a new one."""
        return next((store.about for store in self._stores.values() if store.about), {})

    def describe(self, description: Mapping[str, Any]) -> None:
        """Write this description, without secrets, into the recording, if it is being written."""
        redacted = json.loads(self.redactor.text(json.dumps(description)))
        for store in self._stores.values() if self.writes else ():
            store.describe(redacted)

    def transport(self, inner: AsyncBaseTransport, slot: "Slot | None" = None) -> AsyncBaseTransport:
        """`inner` behind the cassettes: that of `slot`, or of the work that makes the request."""
        return CassetteTransport(inner, (lambda: slot) if slot else self._require_slot) if self.on else inner

    def tool(self, tool: Tool) -> Tool:
        """A tool that does not use HTTP through the run's client, behind the cassettes."""
        return RecordedTool(tool) if self.on else tool

    def slot(self, account: Account, name: str, label: str) -> "Slot | None":
        """The cassette of that name, for work that errors call `label`; None if nothing is recorded or replayed."""
        return Slot(self, self.cassette(account, name), label) if self.on else None

    @contextmanager
    def for_sample(self, account: Account, key: SampleKey) -> Iterator[None]:
        """Requests to the outside in the block belong to this sample and epoch. Raises as `use_slot` does."""
        name = cassette_name(key)
        with self.use_slot(self.slot(account, name, f"{name} ({account})")) as slot:
            yield
        if slot and slot.cassette is not None and self.writes and not self.stopping:
            slot.cassette.mark(whole=True)

    @contextmanager
    def use_slot(self, slot: "Slot | None") -> Iterator["Slot | None"]:
        """Requests to the outside in the block go to this slot.

        Raises CassetteMiss at the end if a request was not recorded, even if the caller caught the error.
        """
        with binding(_current_slot, slot):
            yield slot
            self.check()

    def check(self) -> None:
        """Raises CassetteMiss if a request of the current work was not recorded, even if it caught the error."""
        if (slot := _current_slot.get()) and (miss := self.miss_error(slot.name)):
            raise miss

    def decide(self, place: str, reason: str | None) -> str | None:
        """Why the research of the current work is over, or None; in a replay, the decision that was recorded.

        A replay cannot know how much time has passed, or which parallel call came first.
        """
        slot = _current_slot.get()
        return reason if slot is None else slot.recorded_decision(place, reason)

    def miss_error(self, name: str) -> CassetteMiss | None:
        """The error for requests so far that were not recorded, by work that errors call `name`."""
        if self.replays and self._guard.connections:
            return self.record_miss(
                f"{name}: a connection ({', '.join(self._guard.connections)}) does not go through "
                f"{self.wording.way}, so no cassette can hold it; use {self.wording.use}"
            )
        return self._miss

    def note_connections(self, connections: Mapping[str, int]) -> None:
        """Note further connections that did not go through the session."""
        self._guard.connections.update(connections)

    def finish(self, *, from_start: bool = True, of_whole: Mapping[str, Any] | None = None) -> None:
        """Call when all work is done. If this run did it `from_start` to end, what it did not request is useless.

        What judges share may still be needed by samples that this run did not take. `of_whole` describes a file whose
        cassettes have all taken part.
        """
        for store in self._stores.values():
            whole = store.opened.keys() == store.names().keys()
            opened = [cassette for name, cassette in store.opened.items() if from_start and (whole or name != SHARED)]
            self._unused += sum(cassette.unused() for cassette in opened)
            for cassette in opened if self._prunes else ():
                cassette.drop_unused()
            for cassette in store.opened.values() if self.writes else ():
                cassette.mark(whole=True)
            if whole and self.writes:
                store.describe(of_whole or {})

    def close(self) -> list[str]:
        """Close the recording, and return the notes to print."""
        notes = []
        if self._unused and not self._prunes:
            notes.append(
                f"{self._unused} recorded exchanges were not requested; {self.wording.option}refresh deletes them"
            )
        if self.writes and self._guard.connections:
            connections = _counted(self._guard.connections)
            notes.append(f"these connections did not go through {self.wording.way} and are not recorded: {connections}")
        if self._guard.processes:
            outcome = (
                "were not started, as they were while recording" if self.replays else "cannot be started in a replay"
            )
            notes.append(f"these processes {outcome}: {_counted(self._guard.processes)}")
        self._stack.close()
        return [f"{self._folder}: {note}" for note in notes]

    def cassette(self, account: Account, name: str) -> Cassette | None:
        if account not in self._stores:
            raise UserError(
                f"{self._folder}: no {account}.sqlite is recorded there; add it with {self.wording.option}auto"
            )
        return self._stores[account].cassette(name, make=self.writes)

    def _require_slot(self) -> "Slot | None":
        slot = _current_slot.get()
        if slot is None and self.replays:
            raise RuntimeError("a replay got a request outside of any sample's work")
        return slot

    def record_miss(self, message: str) -> CassetteMiss:
        """The first such error, here with this message, which ends the run even if somebody swallows it."""
        self._miss = self._miss or CassetteMiss(message)
        return self._miss


@contextmanager
def shared_slot() -> Iterator[None]:
    """A judge's requests in the block belong to no sample; no effect if nothing is recorded or replayed."""
    slot = _current_slot.get()
    if slot is None:
        yield
        return
    recorder = slot.recorder
    with binding(_current_slot, Slot(recorder, recorder.cassette("judge", SHARED), "what the judges share")):
        yield


def read_description(mode: str, folder: Path) -> dict[str, Any]:
    """What the recording that a run will use says about itself; empty if the run begins a new one."""
    paths = (folder / f"{account}.sqlite" for account in get_args(Account))
    for path in paths if mode in _READ_MODES else ():
        with suppress(NoRecording), Store(path, writes=False) as store:
            return store.about
    return {}


class Slot:
    """The current work: its cassette (None if a replay has none of that name), and its name in errors."""

    def __init__(self, recorder: Recorder, cassette: Cassette | None, name: str) -> None:
        self.recorder, self.cassette, self.name = recorder, cassette, name

    async def request_exchange(self, request: Request) -> Exchange:
        """The request in the form in which it is recorded and looked up."""
        body = await request.aread()
        redactor = self.recorder.redactor
        return _note_request(
            Exchange(
                method=request.method,
                url=redactor.text(str(request.url)),
                request_headers=redactor.headers(request.headers.multi_items(), REQUEST_HEADERS),
                request_body=redactor.body(body, request.headers.get("content-type", "")),
                role=request.headers.get(ROLE, ""),
            )
        )

    def tool_exchange(self, tool: str, arguments: BaseModel) -> Exchange:
        """The call of a tool that does not use HTTP, in the form in which it is recorded and looked up."""
        body = json.dumps(arguments.model_dump(mode="json"), sort_keys=True).encode()
        redacted = self.recorder.redactor.body(body, _JSON[0][1])
        return _note_request(Exchange(TOOL, f"tool:///{tool}", request_body=redacted))

    def take(self, request: Exchange) -> Exchange | None:
        """The recorded exchange; None if it must be made. Raises CassetteMiss if it may not be made."""
        recorder = self.recorder
        if not recorder.reads:
            return None
        skip = None if recorder.replays else _is_setup_error
        recorded = None if self.cassette is None else self.cassette.take(request, skip)
        if recorded is None and recorder.replays:
            raise recorder.record_miss(self._miss_message(request))
        return recorded

    def recorded_decision(self, place: str, reason: str | None) -> str | None:
        """The decision recorded for this place; else, unless in a replay, the one found now, which is stored."""
        exchange = Exchange(TOOL, f"limit:///{place}")
        recorded = self.cassette.take(exchange) if self.cassette is not None and self.recorder.reads else None
        if recorded is not None:
            return recorded.response_body.decode()
        if self.recorder.replays:
            return None
        if reason is not None:
            self.writer(exchange)(status=200, body=reason.encode())
        return reason

    @property
    def used_up(self) -> bool:
        """Whether every exchange of the cassette has been requested."""
        return self.cassette is not None and not self.cassette.unused()

    def writer(self, request: Exchange) -> ExchangeWriter:
        """The function that stores how the request ended. Call it before sending, to reserve the place."""
        assert self.cassette is not None
        return ExchangeWriter(self.recorder, self.cassette, request)

    def _miss_message(self, exchange: Exchange) -> str:
        """The request that was not recorded, and its first differences from the closest recorded one."""
        asker = f"{exchange.role}, " if exchange.role else ""
        message = f"cassette of {self.name}: not recorded: {asker}{exchange.method} {exchange.url}"
        option = self.recorder.wording.option
        remedy = f"record it with {option}auto, or with {option}refresh if prompts have changed"
        if self.cassette is None:
            return f"{message}; there is no cassette of this name; {remedy}"
        recorded = list(self.cassette.exchanges())
        lines = differences(exchange, recorded, self.cassette.ignored)
        if lines is None:
            return f"{message}; the cassette is empty: its recording was cut off; {remedy}"
        details = "\n  ".join(lines) or "nothing: it was made more often than it was recorded"
        return f"{message}\n  the closest of {len(recorded)} recorded requests differs in\n  {details}\n  {remedy}"


class RecordedTool:
    """A tool whose calls are stored as exchanges. A call whose own requests are recorded is executed again."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.name, self.description = tool.name, tool.description
        self.parameters, self.data_source = tool.parameters, tool.data_source

    async def run(self, arguments: BaseModel) -> ToolResult:
        slot = _current_slot.get()
        if slot is None:
            return await self._tool.run(arguments)
        exchange = slot.tool_exchange(self.name, arguments)
        recorded = slot.take(exchange)
        if recorded is None:
            return await self._record_run(arguments, slot, slot.writer(exchange))
        if recorded.status == _EXECUTED:
            return await self._tool.run(arguments)
        await reraise(recorded, slot)
        return ToolResult.model_validate_json(recorded.response_body)

    async def _record_run(self, arguments: BaseModel, slot: Slot, write: ExchangeWriter) -> ToolResult:
        """The tool's result or failure, as a replay will give it. Its own connections only matter if a replay executes
        it again: if its requests are recorded, or if it met something that no tool decides (such as a limit).
        """
        start = time.monotonic()
        with binding(_tool_requests, list[str]()) as requests, binding(other_counter, Counter[str]()) as connections:
            outcome: dict[str, Any] = {"status": _EXECUTED}
            try:
                result = await self._tool.run(arguments)
                outcome = {"status": 200, "headers": _JSON, "body": result.model_dump_json().encode()}
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                if cancelled := isinstance(error, asyncio.CancelledError) and being_cancelled():
                    outcome = {"error": given_up(start)}
                elif isinstance(error, ToolError) or not isinstance(error, AiqError):
                    outcome = {"error": self._encode_failure(error)}
                if requests or cancelled or "error" not in outcome:
                    raise
            finally:
                if requests:
                    outcome = {"status": _EXECUTED}
                    slot.recorder.note_connections(connections)
                stored = write(**outcome)
        if requests:
            return result
        if stored.error is not None:
            raise decode_error(stored)
        return ToolResult.model_validate_json(stored.response_body)

    def _encode_failure(self, error: BaseException) -> str:
        """The failure as the session shows it."""
        if isinstance(error, ToolError):
            return encode_error(error)
        return f"tool/{ToolErrorKind.FAILED}: {self.name}: {type(error).__name__}: {message_of(error)}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))


def _note_request(exchange: Exchange) -> Exchange:
    """Note the request for the tool that makes it, if any: that tool has to be executed again in a replay."""
    if (requests := _tool_requests.get()) is not None:
        requests.append(exchange.url)
    return exchange


def _is_setup_error(exchange: Exchange) -> bool:
    """Whether it means that nobody answered or the key was wrong, which a later recording need not repeat."""
    refused = exchange.status in _SETUP_ERRORS or (exchange.status == 403 and exchange.role)
    return bool(refused) or (exchange.error or "").startswith(("ConnectError", "ConnectTimeout"))
