"""A chat-completions request as the session sends it: with role, seed and a digest of its own."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiq.core.session import Session
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
