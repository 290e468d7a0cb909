"""A chat-completions request as the session sends it: with role, seed and a digest of its own.

Tokens as an endpoint reports them, and what they cost.

One send of a model call and what becomes of it: booked once, as usage and as an event.
"""

import hashlib
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiq.core.events import ModelCalled
from aiq.core.session import Session
from aiq.core.settings import Price
from aiq.core.usage import Usage
from aiq.llm.http import Headers, Request

ROLE = "x-aiq-role"
ATTEMPT = "x-aiq-attempt"
VOTE = "x-aiq-vote"
SUBJECT = "x-aiq-subject"


def is_chat(request: Request) -> bool:
    """Whether this request asks a model to answer (and so is paid for, counted and limited)."""
    return request.method == "POST" and request.url.path.endswith("/chat/completions")


def canonical(value: object) -> bytes:
    """JSON with sorted keys and no spaces: equal values have equal bytes, whatever client wrote them."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model. `digest` is the SHA-256 of role and canonical body (seed included)."""

    role: str
    body: Mapping[str, Any]
    digest: str
    _request: Request

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def url(self) -> str:
        return str(self._request.url)

    @property
    def seconds(self) -> float | None:
        """How long the endpoint may stay silent, and how long all the rest of an answer that has begun may take."""
        limits: Mapping[str, float | None] = self._request.extensions.get("timeout", {})
        return limits.get("read")

    @property
    def key(self) -> str:
        """The bearer token it carries, so that messages can be cleared of it."""
        return self._request.headers.get("authorization", "").removeprefix("Bearer ").strip()

    def request(self, attempt: int) -> Request:
        """The HTTP request of one send; `attempt` counts earlier sends of the same call."""
        headers = Headers([pair for pair in self._request.headers.raw if pair[0].lower() not in _OWN_HEADERS])
        headers[ATTEMPT] = str(attempt)
        return Request(
            self._request.method,
            self._request.url,
            headers=headers,
            content=json.dumps(self.body, ensure_ascii=False).encode(),
            extensions=self._request.extensions,
        )


_OWN_HEADERS = frozenset({b"content-length", b"transfer-encoding", VOTE.encode(), SUBJECT.encode()})
"""The body is written anew, and vote and subject have gone into the seed."""


async def read_call(request: Request, session: Session) -> ModelCall:
    """The call a client made, completed: the session's seed, and usage asked for where it is streamed.

    Raises RuntimeError when the request names no role: such a call is a bug, because nobody could
    say whose money it spent.
    """
    role = request.headers.get(ROLE)
    if not role:
        raise RuntimeError(f"a model call came without the header {ROLE}: make clients by RunModels only")
    body = json.loads(await request.aread())
    body["seed"] = session.seed(int(request.headers.get(VOTE, "0")), request.headers.get(SUBJECT))
    if body.get("stream"):
        body["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
    digest = hashlib.sha256(role.encode() + b"\n" + canonical(body)).hexdigest()
    return ModelCall(role, body, digest, request)


_log = logging.getLogger(__name__)


def _count(values: object, name: str) -> int | None:
    value = values.get(name) if isinstance(values, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class PriceList:
    """Prices by model name. A model without one costs None, and is warned of once."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self._warned: set[str] = set()

    def usage(self, model: str, reported: Any) -> Usage:
        """One exchange's usage from the `usage` object of a chat completion.

        An object that is absent or has no token counts gives an unreported call: its tokens and
        cost are unknown, so totals with `unreported_calls` are lower bounds.
        """
        prompt, completion = _count(reported, "prompt_tokens"), _count(reported, "completion_tokens")
        if prompt is None or completion is None:
            return Usage(calls=1, unreported_calls=1, cost_usd=self._cost(model, 0, 0, 0))
        cached = min(_count(reported.get("prompt_tokens_details"), "cached_tokens") or 0, prompt)
        return Usage(
            calls=1,
            input_tokens=prompt,
            cached_tokens=cached,
            output_tokens=completion,
            cost_usd=self._cost(model, prompt, cached, completion),
        )

    def knows(self, model: str) -> bool:
        """Whether this model has a price."""
        return model in self._prices

    def _cost(self, model: str, prompt: int, cached: int, completion: int) -> float | None:
        price = self._prices.get(model)
        if price is None:
            if model not in self._warned:
                self._warned.add(model)
                _log.warning("llm.prices has no price for model '%s': its cost is unknown", model)
            return None
        cached_price = price.input if price.cached_input is None else price.cached_input
        return ((prompt - cached) * price.input + cached * cached_price + completion * price.output) / 1e6


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
        self.attempt = session.usage.begin(call.digest)
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
        self._session.usage.end()
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
