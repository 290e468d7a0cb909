"""Server-sent events of a streamed chat completion, put together again as the completion they are parts of."""

import json
from typing import Any

from aiq.core.text import whole_value


class StreamReader:
    """Feed it the bytes of a stream in any pieces; it knows the reply, the usage, and whether it ended.

    An event that is no JSON object is passed over, as clients do.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._message: dict[str, Any] = {"role": "assistant", "content": None}
        self._calls: dict[int, dict[str, Any]] = {}
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
        message: dict[str, Any] = whole_value({**self._message, "tool_calls": calls} if calls else self._message)
        return message

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line.strip(b"\r"))

    def _line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        payload = line[5:].strip()
        if payload == b"[DONE]":
            self.done = True
            return
        try:
            event = json.loads(payload)
        except ValueError:
            return
        if isinstance(event, dict):
            try:
                self._event(event)
            except (AttributeError, TypeError):
                self.error = self.error or "an event of it is no part of a completion"

    def _event(self, event: dict[str, Any]) -> None:
        self.error = self.error or event.get("error")
        self.usage = event.get("usage") or self.usage
        for choice in event.get("choices") or ():
            if choice.get("index", 0) != 0:
                continue
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            delta = choice.get("delta") or {}
            for part in ("content", "refusal"):
                if isinstance(delta.get(part), str):
                    self._message[part] = (self._message.get(part) or "") + delta[part]
            for part in delta.get("tool_calls") or ():
                self._call(part)

    def _call(self, part: dict[str, Any]) -> None:
        empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        call = self._calls.setdefault(part.get("index", 0), empty)
        call["id"] = part.get("id") or call["id"]
        function = part.get("function") or {}
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""
