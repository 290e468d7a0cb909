"""One send of a model call and what becomes of it: booked once, as usage and as an event."""

import time
from dataclasses import dataclass
from typing import Any

from aiq.core.events import ModelCalled
from aiq.core.session import Session
from aiq.core.usage import Usage
from aiq.llm.calls import ModelCall
from aiq.llm.usage import PriceList


@dataclass(frozen=True, slots=True)
class Failure:
    """A send that brought no answer. `status` is None where no HTTP answer came; `asked` is its Retry-After.

    `code` is the endpoint's own word for it (OpenAI's `error.code`).
    """

    message: str
    status: int | None = None
    code: str = ""
    retry: bool = True
    asked: float | None = None


class Exchange:
    """The books of one send. Exactly one of `answered`, `refused`, `lost` and `unsent` counts; later ones do nothing.

    While it is open it counts as in flight, so that parallel calls cannot pass a limit together.
    """

    def __init__(self, call: ModelCall, session: Session, prices: PriceList) -> None:
        self.attempt = session.sends.get(call.digest, 0)
        session.sends[call.digest] = self.attempt + 1
        session.in_flight += 1
        self._call = call
        self._session = session
        self._prices = prices
        self._start = time.perf_counter()
        self._open = True

    def answered(self, message: Any, finish_reason: str | None, reported: Any) -> None:
        """A reply came, whatever its use; `reported` is its `usage` object."""
        usage = self._prices.usage(self._call.model, reported)
        self._book(usage, status=200, reply=message, finish_reason=finish_reason)

    def refused(self, failure: Failure) -> None:
        """The endpoint answered with an error status: an exchange that costs no tokens."""
        self._book(Usage(calls=1), status=failure.status, error=failure.message)

    def lost(self, error: str, *, status: int | None = None, reply: Any = None, reported: Any = None) -> None:
        """The request went out and its answer did not come whole: tokens may have been spent on it."""
        usage = self._prices.usage(self._call.model, reported)
        self._book(usage, status=status, error=error, reply=reply)

    def unsent(self, error: str) -> None:
        """No connection: nothing was exchanged, nothing is counted, but the attempt is in the log."""
        self._book(None, status=None, error=error)

    def _book(self, usage: Usage | None, **what: Any) -> None:
        if not self._open:
            return
        self._open = False
        self._session.in_flight -= 1
        if usage is not None:
            self._session.record_usage(self._call.role, usage)
        self._session.events.emit(
            ModelCalled(
                call_id=f"model-{self._call.digest[:16]}-{self.attempt}",
                role=self._call.role,
                model=self._call.model,
                attempt=self.attempt,
                latency_ms=(time.perf_counter() - self._start) * 1000,
                usage=usage,
                messages=self._call.body.get("messages"),
                request_sha256=self._call.digest,
                **what,
            )
        )
