"""Streamed chat completions: passed on as they come, reassembled, and booked when complete."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from aiq.core.errors import ModelError
from aiq.core.replies import failed
from aiq.core.text import json_value, utf8_safe_value
from aiq.llm.calls import Exchange, ModelCall
from aiq.llm.http import SEND_ERRORS, AsyncByteStream, Response, error_text, failure_text


class StreamReader:
    """Reads the bytes of a stream, fed in any pieces: the reply, the usage, and whether it ended.

    An event that is not a JSON object is skipped, as clients do. `hide_usage`: the caller gets no event that has the
    usage and no choice, because a caller that has not asked for one takes the first choice of every event.
    """

    def __init__(self, *, hide_usage: bool = False) -> None:
        self.rest = b""
        """The beginning of an unfinished line."""
        self._hide_usage = hide_usage
        self._message: dict[str, Any] = {"role": "assistant", "content": None}
        self._calls: dict[int, dict[str, Any]] = {}
        self.events = 0
        self.done = False
        """`[DONE]` was read."""
        self.finish_reason: str | None = None
        self.usage: Any = None
        self.error: Any = None

    @property
    def ended(self) -> bool:
        """Whether a stream that stops here is whole: some endpoints leave `[DONE]` out."""
        return self.done or self.finish_reason is not None

    @property
    def message(self) -> dict[str, Any]:
        """The assistant's message so far, in the shape of an unstreamed reply."""
        calls = [self._calls[i] for i in sorted(self._calls)]
        message: dict[str, Any] = utf8_safe_value({**self._message, "tool_calls": calls} if calls else self._message)
        return message

    def feed(self, data: bytes) -> bytes:
        """Read the data; returns the lines that are now complete, as the caller gets them."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        return b"".join(line + b"\n" for line in lines if self._read_line(line.strip(b"\r")))

    def _read_line(self, line: bytes) -> bool:
        """Read the line; returns whether the caller gets it."""
        if not line.startswith(b"data:"):
            return True
        self.events += 1
        payload = line[5:].strip()
        if payload == b"[DONE]":
            self.done = True
            return True
        try:
            event = json_value(payload)
            if isinstance(event, dict):
                self._read_event(event)
                return not (self._hide_usage and event.get("usage") and not event.get("choices"))
        except ValueError:
            return True
        except (AttributeError, TypeError):
            self.error = self.error or "one of its events is not part of a completion"
        return True

    def _read_event(self, event: dict[str, Any]) -> None:
        self.error = self.error or event.get("error")
        self.usage = event.get("usage") or self.usage
        for choice in event.get("choices") or ():
            if choice.get("index", 0) != 0:
                continue
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            if failed(self.finish_reason):
                self.error = self.error or choice.get("error") or f"finish_reason {self.finish_reason}"
            delta = choice.get("delta") or {}
            for part in ("content", "refusal"):
                if isinstance(delta.get(part), str):
                    self._message[part] = (self._message.get(part) or "") + delta[part]
            for part in delta.get("tool_calls") or ():
                empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                call = self._calls.setdefault(part.get("index", 0), empty)
                call["id"] = part.get("id") or call["id"]
                for name in ("name", "arguments"):
                    call["function"][name] += (part.get("function") or {}).get(name) or ""


@dataclass(eq=False)
class BookedStream(AsyncByteStream):
    """The bytes as they come: `first`, then `rest`.

    One that stops midway raises ModelError: the caller already has part of it, so it is not requested again.
    """

    first: bytes
    rest: AsyncGenerator[bytes, None]
    response: Response
    call: ModelCall
    exchange: Exchange
    _reader: StreamReader = field(init=False)

    def __post_init__(self) -> None:
        self._reader = StreamReader(hide_usage=not self.call.wants_usage)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._read(self.first)
        try:
            async with aclosing(self.rest) as rest:
                silence, start = 0.0, time.monotonic()
                async for piece in rest:
                    events = self._reader.events
                    output = self._read(piece)
                    silence = silence + time.monotonic() - start if self._reader.events == events else 0.0
                    if self.call.seconds is not None and silence > self.call.seconds:
                        raise self._cut_error("no event in time")  # blanks that keep a connection alive are not events
                    yield output
                    start = time.monotonic()
        except SEND_ERRORS as error:
            raise self._cut_error(failure_text(error)) from error
        if not self._reader.ended:
            raise self._cut_error("it ended in the middle" if self._reader.events else "this endpoint sends no events")
        self._book()
        yield self._reader.rest

    def _read(self, piece: bytes) -> bytes:
        output = self._reader.feed(piece)
        if self._reader.error is not None:
            raise self._cut_error(error_text(self._reader.error, self.call.key))
        if self._reader.done:  # clients stop reading here
            self._book()
        return output

    def _book(self) -> None:
        self.exchange.answered(self._reader.message, self._reader.finish_reason, self._reader.usage)

    def _book_lost(self, why: str) -> None:
        self.exchange.lost(why, status=200, reply=self._reader.message, reported=self._reader.usage)

    def _cut_error(self, why: str) -> ModelError:
        self._book_lost(why)
        return ModelError(f"{self.call.role}: {self.call.url} broke off its stream: {why}", status=200, broke_off=True)

    async def aclose(self) -> None:
        self._book_lost("given up by the caller")
        with suppress(RuntimeError):  # if the stream was left midway, the event loop closes this as well
            await self.rest.aclose()
        await self.response.aclose()
