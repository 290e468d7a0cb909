"""Server-sent events: each has its number as id, so that `Last-Event-ID` goes on without a loss or a repetition."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_RETRY_MS = 2000
_HEARTBEAT = b":\n\n"


class EventStream(Response):
    """Sends batches of events (number, type, JSON) as they come; `held` is left when the stream ends.

    A reader that takes nothing for `stall_seconds` is cut off.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        batches: AsyncIterator[Iterable[tuple[int, str, str]]],
        held: AbstractContextManager[None],
        stall_seconds: float,
    ) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._batches, self._held, self._stall = batches, held, stall_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._held:
            sending = asyncio.ensure_future(self._send_all(send))
            leaving = asyncio.ensure_future(_left(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sending, leaving):
                    task.cancel()
                await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await self._send(send, f"retry: {_RETRY_MS}\n\n".encode())
        async for batch in self._batches:
            text = "".join(f"id: {seq}\nevent: {kind}\ndata: {data}\n\n" for seq, kind, data in batch)
            await self._send(send, text.encode() or _HEARTBEAT)
        await self._send(send, b"", more=False)

    async def _send(self, send: Send, body: bytes, *, more: bool = True) -> None:
        """Raises TimeoutError where the reader's connection stays full."""
        async with asyncio.timeout(self._stall):
            await send({"type": "http.response.body", "body": body, "more_body": more})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
