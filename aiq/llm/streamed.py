"""A streamed answer on its way to the caller, booked when it is whole."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from aiq.core.errors import ModelError
from aiq.llm import wording
from aiq.llm.calls import ModelCall
from aiq.llm.exchange import Exchange
from aiq.llm.http import SEND_ERRORS, AsyncByteStream, Response
from aiq.llm.sse import StreamReader


class BookedStream(AsyncByteStream):
    """The bytes as they come: `first`, then `rest`.

    A stream that stops in the middle raises ModelError: part of it is already with the caller, so
    it is not sent for again.
    """

    def __init__(
        self, first: bytes, rest: AsyncGenerator[bytes, None], response: Response, call: ModelCall, exchange: Exchange
    ) -> None:
        self._first = first
        self._rest = rest
        self._response = response
        self._call = call
        self._exchange = exchange
        self._reader = StreamReader()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._read(self._first)
        yield self._first
        try:
            async with aclosing(self._rest) as rest:
                async for piece in rest:
                    self._read(piece)
                    yield piece
        except SEND_ERRORS as error:
            raise self._cut(wording.of_exception(error)) from error
        if not self._reader.ended:
            raise self._cut("it ended in the middle")
        self._book()

    def _read(self, piece: bytes) -> None:
        self._reader.feed(piece)
        if self._reader.error is not None:
            raise self._cut(wording.of_error(self._reader.error, self._call.key))
        if self._reader.done:  # clients stop reading here
            self._book()

    def _book(self) -> None:
        self._exchange.answered(self._reader.message, self._reader.finish_reason, self._reader.usage)

    def _lost(self, why: str) -> None:
        self._exchange.lost(why, status=200, reply=self._reader.message, reported=self._reader.usage)

    def _cut(self, why: str) -> ModelError:
        self._lost(why)
        return ModelError(f"{self._call.role}: {self._call.url} broke off its stream: {why}", status=200)

    async def aclose(self) -> None:
        self._lost("given up by the caller")
        await self._rest.aclose()
        await self._response.aclose()
