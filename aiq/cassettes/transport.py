"""The HTTP transport that records and replays. What it records it hands on exactly as a replay will.

So an answer is read whole before the caller gets its first byte, without its secrets and with the headers that are
kept; a failure is raised as it will be again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Protocol

from aiq.cassettes.guard import ours
from aiq.cassettes.store import GIVEN_UP, Exchange
from aiq.core.concurrency import holding
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.session import current
from aiq.llm.http import SEND_ERRORS, AsyncBaseTransport, AsyncByteStream, Request, Response, failure_text, send_error

MOST_BYTES = 64 * 2**20
"""Of one body; a longer one is cut here, far above what a reader of pages takes (`web.max_bytes`)."""


class Slot(Protocol):
    """The cassette of the work under way."""

    async def asked(self, request: Request) -> Exchange:
        """The request as it is recorded and looked up."""

    def take(self, asked: Exchange) -> Exchange | None:
        """The recorded exchange; None where it is to be made. Raises CassetteMiss where that may not be."""

    def keeping(self, asked: Exchange) -> "Keep":
        """A function that keeps what came of the request. Called before the request goes out: it holds its place."""


class Keep(Protocol):
    """Keeps the end of an exchange, and returns it as it was kept: with fewer headers, and without secrets."""

    def __call__(
        self,
        *,
        status: int | None = None,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        error: str | None = None,
        final: bool = True,
    ) -> Exchange: ...


class CassetteTransport(AsyncBaseTransport):
    """Answers from the cassette that `slot` gives, or through `inner`; where it gives none, through `inner` alone."""

    def __init__(self, inner: AsyncBaseTransport, slot: Callable[[], Slot | None]) -> None:
        self._inner = inner
        self._slot = slot

    async def handle_async_request(self, request: Request) -> Response:
        slot = self._slot()
        if slot is None:
            with holding(ours, True):
                return await self._inner.handle_async_request(request)
        asked = await slot.asked(request)
        if (found := slot.take(asked)) is not None:
            return await _replayed(found)
        keep = slot.keeping(asked)
        try:
            with holding(ours, True):
                response = await self._inner.handle_async_request(request)
        except asyncio.CancelledError:
            keep(error=GIVEN_UP)
            raise
        except (*SEND_ERRORS, ToolError) as error:
            raise failure(keep(error=named(error))) from error
        shown = keep(status=response.status_code, headers=response.headers.multi_items(), final=False)
        return Response(shown.status or 0, headers=shown.response_headers, stream=_Received(response, keep))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Received(AsyncByteStream):
    """An answer's body on its way: kept when it has come to its end, however that is."""

    def __init__(self, response: Response, keep: Keep) -> None:
        self._response = response
        self._keep = keep
        self._kept = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._kept:
            return  # `openai` reads on after the last event of a stream
        received, error = bytearray(), None
        try:
            async for piece in self._response.aiter_bytes():
                received += piece
                if len(received) > MOST_BYTES:
                    break
        except SEND_ERRORS as broken:
            error = named(broken)
        except BaseException:
            self._end(bytes(received), GIVEN_UP)
            raise
        exchange = self._end(bytes(received), error)
        yield exchange.response_body
        if exchange.error is not None:
            raise failure(exchange)

    def _end(self, body: bytes, error: str | None) -> Exchange:
        self._kept = True
        answer = self._response
        return self._keep(status=answer.status_code, headers=answer.headers.multi_items(), body=body, error=error)

    async def aclose(self) -> None:
        if not self._kept:
            self._end(b"", None)  # a redirect, a refused search: its body was of no use
        await self._response.aclose()


class _Recorded(AsyncByteStream):
    """The body of a recorded answer, and how it broke off."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._exchange.response_body
        await _fail(self._exchange)


async def _replayed(exchange: Exchange) -> Response:
    if exchange.status is None:
        await _fail(exchange)
    return Response(exchange.status or 0, headers=exchange.response_headers, stream=_Recorded(exchange))


async def _fail(exchange: Exchange) -> None:
    """Raise what the exchange ended in, if it did not end well."""
    if exchange.error == GIVEN_UP and _has_time_limit():
        await asyncio.Event().wait()  # it may have been the sample's time that was up; so it is again
    if exchange.error is not None:
        raise failure(exchange)


def _has_time_limit() -> bool:
    with suppress(RuntimeError):  # a test's client may be asked outside of any session
        return current().limits.sample_seconds is not None
    return False


def named(error: Exception) -> str:
    """A failure as an exchange keeps it: what it was, and its message."""
    if isinstance(error, ToolError):
        return f"tool/{error.kind}: {error}"
    return f"{type(error).__name__}: {error if str(error) else failure_text(error)}"


def failure(exchange: Exchange) -> Exception:
    """The failure that an exchange kept; TimeoutError where whoever asked had not waited for the end."""
    name, _, message = (exchange.error or "").partition(": ")
    if name == GIVEN_UP:
        return TimeoutError("given up when it was recorded")
    if name.startswith("tool/"):
        return ToolError(ToolErrorKind(name.removeprefix("tool/")), message)
    return send_error(name, message)
