"""A model call as the session sends it, and the accounting of each send: its cost, as usage and as an event."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aiq.core.events import ModelCalled
from aiq.core.llm_settings import LlmSettings
from aiq.core.replies import read_reply
from aiq.core.session import BUDGET_SPENT, Session
from aiq.core.usage import Quantity, Usage
from aiq.llm.apis import Api
from aiq.llm.http import URL, ByteStream, Request
from aiq.llm.prices import PriceList
from aiq.llm.quirks import canonical, structured_as

ROLE = "x-aiq-role"
ATTEMPT = "x-aiq-attempt"
VOTE = "x-aiq-vote"
SUBJECT = "x-aiq-subject"

USAGE, ANSWER = "aiq_usage", "aiq_answer"
"""Extensions of an answer that does not stream: the `Usage` booked for it, and its parsed body."""

_DROPPED = frozenset({"content-length", "transfer-encoding", VOTE, SUBJECT})
"""Headers that are not sent on: the body is serialized again, and the seed already reflects vote and subject."""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A model call as its caller made it. `headers`: by lower-case name; `extensions`: those of httpx2."""

    api: Api
    url: URL
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    extensions: Mapping[str, Any]


async def read_call_request(api: Api, request: Request) -> CallRequest:
    """Read the model call that a client put into an HTTP request."""
    body = json.loads(await request.aread())
    return CallRequest(api, request.url, dict(request.headers.items()), body, request.extensions)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model. `digest` is the SHA-256 of role and canonical body (seed included)."""

    original: CallRequest
    role: str
    body: Mapping[str, Any]
    digest: str
    url: str
    wants_usage: bool
    """Whether the caller asked for the usage of its stream; if not, it expects no event without a choice."""
    section: str
    """The config section of the endpoint: `llm`, or `agent` for one that an agent names itself."""

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def api(self) -> Api:
        return self.original.api

    @property
    def address(self) -> str:
        """The endpoint's base URL, as in the config."""
        return self.url.removesuffix(self.api.path)

    @property
    def path_hint(self) -> str:
        """What the address lacks, to append to a message that names it."""
        path = self.original.url.path.removesuffix(self.api.path).strip("/")
        return "" if path else ", whose path is missing: usually /v1"

    @property
    def seconds(self) -> float | None:
        """How long the endpoint may stay silent, and how long the rest of an answer may take once it has begun."""
        limits: Mapping[str, float | None] = self.original.extensions.get("timeout", {})
        return limits.get("read")

    @property
    def key(self) -> str:
        """The bearer token it carries, to be removed from messages."""
        return self.original.headers.get("authorization", "").removeprefix("Bearer ").strip()

    def structured_as(self, form: str) -> "ModelCall":
        """The same call asking for its structured output in this form, if it now asks for a stricter one."""
        body = structured_as(self.body, form)
        return self if body == self.body else self.with_body(body)

    def with_body(self, body: Mapping[str, Any]) -> "ModelCall":
        digest = hashlib.sha256(f"{self.role}\n{canonical(body)}".encode()).hexdigest()
        return replace(self, body=body, digest=digest)

    def request(self, attempt: int) -> Request:
        """The HTTP request of one send; `attempt` counts earlier sends of the same call."""
        call, content = self.original, json.dumps(self.body, ensure_ascii=False).encode()
        kept = {name: value for name, value in call.headers.items() if name not in _DROPPED}
        headers = {"host": call.url.netloc.decode(), **kept, "content-length": str(len(content)), ATTEMPT: str(attempt)}
        stream = ByteStream(content)  # `content=` would look up each of the headers again
        request = Request("POST", call.url, headers=headers, stream=stream, extensions=call.extensions)
        request.read()
        return request


def read_call(call: CallRequest, session: Session, settings: LlmSettings) -> ModelCall:
    """The call a client made, with the role's options and the session's seed, as the endpoint wants it.

    Raises RuntimeError if the request names no role: its cost could not be attributed.
    """
    role, url = call.headers.get(ROLE), str(call.url)
    if not role:
        raise RuntimeError(f"a model call lacks the header {ROLE}: create clients only through RunModels")
    body = _without_tools(call.body, session)
    section = "llm" if url.startswith(settings.base_url.rstrip("/") + "/") else "agent"
    options_role = role if section == "llm" else None  # another endpoint has options of its own
    seed = session.seed(int(call.headers.get(VOTE, "0")), call.headers.get(SUBJECT))
    request_body = call.api.request(body, settings, options_role, seed)
    wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    return ModelCall(call, role, {}, "", url, wants_usage, section).with_body(request_body)


def _without_tools(body: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    """The request as it is or, once the sample's budget is spent, without the run's tools and with the reason.

    Otherwise a model may take the refusals that it gets instead of results for something that a page says.
    """
    if session.limits.on_limit == "stop" or not (tools := body.get("tools")):
        return body
    names = {tool.name for tool in session.tools.select(None)}
    agent_tools = [tool for tool in tools if tool.get("function", {}).get("name") not in names]
    if len(agent_tools) == len(tools) or not session.spent():
        return body
    rest = {name: value for name, value in body.items() if name not in ("tools", "tool_choice", "parallel_tool_calls")}
    messages = {"messages": [*body["messages"], {"role": "user", "content": f"{BUDGET_SPENT}."}]}
    return rest | messages | ({"tools": agent_tools} if agent_tools else {})


@dataclass(frozen=True, slots=True)
class Failure:
    """A send that brought no usable answer. `status` is None if no HTTP answer came.

    `code`: the endpoint's own error code (OpenAI's `error.code`); `retry_after`: the seconds that it asks to wait;
    `field`: the field that it refuses, if a quirk can leave it out; `lasted`: the seconds that the send took;
    `unreachable`: no model seems to be there (no connection, no completion).
    """

    message: str
    status: int | None = None
    code: str = ""
    retry_after: float | None = None
    field: str | None = None
    lasted: float = 0.0
    unreachable: bool = False


class Exchange:
    """The accounting of one send. The first of `answered`, `refused`, `lost` and `unsent` counts, the rest is ignored.

    While it is open it counts as in flight, so that parallel calls cannot exceed a limit together. `ended` is called
    with the usage that is booked.
    """

    def __init__(
        self, call: ModelCall, session: Session, prices: PriceList, ended: Callable[[Usage | None], None]
    ) -> None:
        self.attempt = session.usage.sent(call.digest)
        self._estimate: dict[Quantity, float] = {"model_calls": 1}
        if session.limits.uses_estimates:
            self._estimate |= prices.estimate(call.body, None)
        for ledger in (session.usage, session.spend):
            ledger.begin(self._estimate)
        self._call = call
        self._session = session
        self._prices = prices
        self._on_end = ended
        self._start = time.perf_counter()
        self._open = True
        session.open_calls[self] = self.lost

    def answered(self, message: Mapping[str, Any], finish_reason: object, reported: Any) -> Usage:
        """A reply came, useful or not; `reported` is its `usage` object. Returns the usage that is booked."""
        finish_reason = None if finish_reason is None else str(finish_reason)
        if self._open and self._call.api.writes:
            self._session.replies.append(read_reply(self._call.role, message, finish_reason))
        usage = self._usage(reported, message)
        self._book(usage, status=200, reply=message, finish_reason=finish_reason)
        return usage

    def refused(self, failure: Failure, *, counted: bool) -> Failure:
        """The endpoint answered with an error status: an exchange that costs no tokens."""
        self._book(Usage(calls=1) if counted else None, status=failure.status, error=failure.message)
        return replace(failure, lasted=self._elapsed())

    def lost(self, error: str, *, status: int | None = None, reply: Any = None, reported: Any = None) -> Failure:
        """The request went out but no complete answer came: tokens may have been spent on it."""
        counted_reply = reply or ("" if status else None)
        self._book(self._usage(reported, counted_reply), status=status, error=error, reply=reply)
        return Failure(error, status, lasted=self._elapsed(), unreachable=status == 200)

    def unsent(self, error: str) -> Failure:
        """No connection: nothing was exchanged and nothing is counted, but the attempt is logged."""
        self._book(None, status=None, error=error)
        return Failure(error, lasted=self._elapsed(), unreachable=True)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._start

    def _usage(self, reported: Any, reply: Any) -> Usage:
        return self._prices.usage(self._call.body, reply, reported)

    def _book(self, usage: Usage | None, **fields: Any) -> None:
        if not self._open:
            return
        self._open = False
        del self._session.open_calls[self]
        for ledger in (self._session.usage, self._session.spend):
            ledger.end(self._estimate)
        if usage is not None:
            self._session.record_usage(self._call.role, usage)
        event = ModelCalled(
            operation="chat" if self._call.api.writes else "embeddings",
            call_id=f"model-{self._call.digest[:16]}-{self.attempt}",
            role=self._call.role,
            model=self._call.model,
            attempt=self.attempt,
            latency_ms=self._elapsed() * 1000,
            usage=usage,
            messages=self._call.api.messages(self._call.body),
            request_sha256=self._call.digest,
            **fields,
        )
        self._session.events.emit(event)
        self._on_end(usage)
