"""The HTTP transport that records and replays. While recording, it passes on exactly what a replay will.

So an answer is read to its end before the caller gets the first byte, without secrets and with only the headers that
are kept; a failure is raised as it will be in a replay.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from aiq.cassettes.exchange import GIVEN_UP, TIME_UP, Exchange
from aiq.cassettes.guard import in_client
from aiq.cassettes.redact import RESPONSE_HEADERS
from aiq.cassettes.store import Cassette
from aiq.core.concurrency import binding
from aiq.core.errors import ToolError, ToolErrorKind, UserError
from aiq.core.session import current
from aiq.llm.http import (
    BOUNDS,
    SEND_ERRORS,
    AsyncBaseTransport,
    AsyncByteStream,
    Bounds,
    Request,
    Response,
    failure_text,
    send_error,
)

if TYPE_CHECKING:
    from aiq.cassettes.recorder import Recorder, Slot

MOST_BYTES = 64 * 2**20
"""The longest body if the request states no bound; a longer one is cut here."""

_SLACK = 0.05
"""Seconds by which a timer may appear to end early."""


class ExchangeWriter:
    """Stores how a request ended, and returns the exchange as stored: with fewer headers, and without secrets."""

    def __init__(self, recorder: "Recorder", cassette: Cassette, request: Exchange) -> None:
        self._recorder, self._cassette, self._request, self._place = recorder, cassette, request, cassette.place()

    def __call__(
        self,
        *,
        status: int | None = None,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        error: str | None = None,
        final: bool = True,
    ) -> Exchange:
        redactor = self._recorder.redactor
        kept = redactor.headers(headers, RESPONSE_HEADERS)
        exchange = replace(
            self._request,
            status=status,
            response_headers=kept,
            response_body=redactor.body(body, dict(kept).get("content-type", "")),
            error=None if error is None else redactor.text(error),
        )
        if final and not self._recorder.stopping:
            try:
                self._cassette.add(exchange, self._place)
            except UserError as error:
                raise self._recorder.record_miss(str(error)) from None
        return exchange


class CassetteTransport(AsyncBaseTransport):
    """Answers from the cassette that `slot` gives, or through `inner`; if it gives none, only through `inner`."""

    def __init__(self, inner: AsyncBaseTransport, slot: "Callable[[], Slot | None]") -> None:
        self._inner = inner
        self._slot = slot

    async def handle_async_request(self, request: Request) -> Response:
        slot = self._slot()
        if slot is None:
            with binding(in_client, True):
                return await self._inner.handle_async_request(request)
        exchange = await slot.request_exchange(request)
        if (recorded := slot.take(exchange)) is not None:
            return await _recorded_response(recorded, slot)
        write, start = slot.writer(exchange), time.monotonic()
        try:
            with binding(in_client, True):
                response = await self._inner.handle_async_request(request)
        except asyncio.CancelledError:
            write(error=given_up(start, _bounds(request)))
            raise
        except (*SEND_ERRORS, ToolError) as error:
            raise decode_error(write(error=encode_error(error))) from error
        draft = write(status=response.status_code, headers=response.headers.multi_items(), final=False)
        return Response(draft.status or 0, headers=draft.response_headers, stream=_LiveBody(request, response, write))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _LiveBody(AsyncByteStream):
    """The body of an answer being received; stored when it ends, however it ends."""

    def __init__(self, request: Request, response: Response, write: ExchangeWriter) -> None:
        self._request = request
        self._response = response
        self._write = write
        self._stored = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._stored:
            return  # `openai` reads on after the last event of a stream
        received, error, start = bytearray(), None, time.monotonic()
        bounds = _bounds(self._request)
        limit = bounds.most_bytes if bounds else MOST_BYTES
        try:
            async for piece in self._response.aiter_bytes():
                received += piece
                if len(received) > limit:
                    del received[limit + 1 :]
                    break
        except SEND_ERRORS as failure:
            error = encode_error(failure)
        except BaseException:
            read_timeout = self._request.extensions.get("timeout", {}).get("read")
            self._store(bytes(received), given_up(start, bounds, read_timeout))
            raise
        exchange = self._store(bytes(received), error)
        yield exchange.response_body
        if exchange.error is not None:
            raise decode_error(exchange)

    def _store(self, body: bytes, error: str | None) -> Exchange:
        self._stored = True
        answer = self._response
        return self._write(status=answer.status_code, headers=answer.headers.multi_items(), body=body, error=error)

    async def aclose(self) -> None:
        if not self._stored:
            self._store(b"", None)  # a redirect or a refused search, whose body nobody needed
        await self._response.aclose()


class _RecordedBody(AsyncByteStream):
    """The body of a recorded answer, and how it broke off, if it did."""

    def __init__(self, exchange: Exchange, slot: "Slot") -> None:
        self._exchange = exchange
        self._slot = slot

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._exchange.response_body
        await reraise(self._exchange, self._slot)


async def _recorded_response(exchange: Exchange, slot: "Slot") -> Response:
    if exchange.status is None:
        await reraise(exchange, slot)
    return Response(exchange.status or 0, headers=exchange.response_headers, stream=_RecordedBody(exchange, slot))


def _bounds(request: Request) -> Bounds | None:
    return request.extensions.get(BOUNDS)


def given_up(start: float, bounds: Bounds | None = None, in_time: float | None = None) -> str:
    """The error of a request that is being cancelled now, begun at `start` (monotonic clock).

    `bounds` and `in_time` (seconds from the start) are limits that the caller set, for which a replay need not wait.
    """
    with suppress(RuntimeError):  # a test's client may be used outside any session
        if current().time_is_up:
            return TIME_UP
    seconds = time.monotonic() - start
    too_late = bounds is not None and asyncio.get_running_loop().time() >= bounds.deadline - _SLACK
    return f"{GIVEN_UP}: {0 if too_late or (in_time is not None and seconds >= in_time - _SLACK) else seconds:.2f}"


async def reraise(exchange: Exchange, slot: "Slot") -> None:
    """Raise the error that the exchange ended in, if any.

    If others gave it up (by a timer of theirs, or because a parallel call failed), they get as much time to do so
    again. If the sample's time was up, it is up again once all its other recorded exchanges have been requested.
    """
    name, _, seconds = (exchange.error or "").partition(": ")
    if name == GIVEN_UP and float(seconds):
        await asyncio.sleep(float(seconds) + 2 * _SLACK)
    if name == TIME_UP and current().limits.sample_seconds is not None:
        while not slot.used_up:  # noqa: ASYNC110  taking the last exchange sets no event
            await asyncio.sleep(_SLACK)
        await asyncio.sleep(_SLACK)
        current().end_time()
        await asyncio.Event().wait()
    if exchange.error is not None:
        raise decode_error(exchange)


def encode_error(error: Exception) -> str:
    """A failure as an exchange stores it: its kind and its message."""
    if isinstance(error, ToolError):
        return f"tool/{error.kind}: {error}"
    return f"{type(error).__name__}: {error if str(error) else failure_text(error)}"


def decode_error(exchange: Exchange) -> Exception:
    """The failure that an exchange stored; TimeoutError if the caller had not waited for the end."""
    name, _, message = (exchange.error or "").partition(": ")
    if name in (GIVEN_UP, TIME_UP):
        return TimeoutError("given up when it was recorded")
    if name.startswith("tool/"):
        return ToolError(ToolErrorKind(name.removeprefix("tool/")), message)
    return send_error(name, message)
