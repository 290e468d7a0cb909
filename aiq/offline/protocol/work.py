"""What a worker process does with one request: read it, have the engine answer it, write the answer.

Nothing here waits or shares anything: an answer follows from the request alone.
"""

import json
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiq.core.seeds import derive
from aiq.offline import engine
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.faults import ENDPOINT, RETRY_AFTER_SECONDS, Faults
from aiq.offline.judging import judge
from aiq.offline.protocol.chat_completions import choice_digest, completion, stream_completion
from aiq.offline.protocol.chat_request import CONTEXT_TOKENS, digest_of, read_chat
from aiq.offline.protocol.embeddings import embeddings
from aiq.offline.protocol.errors import ApiError, read_json
from aiq.offline.protocol.responses import read_responses, response, stream_response

BROKEN_ENGINE = 422
"""The status where our own engine fails. It would fail again, so this is a status that no client retries."""

COMPLETIONS, RESPONSES, EMBEDDINGS = "/v1/chat/completions", "/v1/responses", "/v1/embeddings"

_FAILURES = {
    "http_429": ApiError(
        "Rate limit reached: a planted fault.", code="rate_limit_exceeded", status=429, kind="requests"
    ),
    "http_500": ApiError("The server had an error: a planted fault.", status=500, kind="server_error"),
}


@dataclass(frozen=True)
class Answer:
    """What goes back over HTTP. Counted are digest and attempt of a model request, and the faults that struck it."""

    status: int
    body: bytes
    media: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    attempt: int = 0
    faults: tuple[str, ...] = ()


def json_answer(value: object, status: int = 200, **more: Any) -> Answer:
    return Answer(status, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), **more)


@dataclass(frozen=True)
class Work:
    """Answers the endpoints that take work. `context_tokens` bounds a prompt."""

    faults: Faults
    context_tokens: int = CONTEXT_TOKENS

    def answer(self, path: str, role: str, attempt: str, body: bytes) -> Answer:
        """The answer to a POST of this body. `role` and `attempt` are our optional headers, empty where absent."""
        try:
            values = read_json(body)
            if path == EMBEDDINGS:
                return json_answer(embeddings(values))
            if not re.fullmatch("[0-9]{0,9}", attempt):
                raise ApiError(f"{{param}} must be a number, not '{attempt}'.", "x-aiq-attempt", "invalid_value")
            return self._model_answer(path, values, role, int(attempt or 0))
        except ApiError as error:
            return json_answer(error.body, error.status)

    def _model_answer(self, path: str, values: Mapping[str, Any], role: str, attempt: int) -> Answer:
        """The answer of either endpoint of the model, with the endpoint's faults that strike it."""
        if path == RESPONSES:
            body, request = read_responses(values, role, attempt, self.context_tokens)
        else:
            body, request = None, read_chat(values, role, attempt, self.context_tokens)
        digest = digest_of(values, role)
        struck = tuple(name for name in ENDPOINT if self.faults.hits(name, attempt, digest))
        counted: dict[str, Any] = {"digest": digest, "attempt": attempt, "faults": struck}
        for error in (_FAILURES[name] for name in struck if name in _FAILURES):
            wait = {"retry-after": str(RETRY_AFTER_SECONDS)} if error.status == 429 else {}
            return json_answer(error.body, error.status, headers=wait, **counted)
        replies = [self._reply(request, index, choice_digest(digest, index)) for index in range(request.n)]
        whole = response(body, request, replies[0], digest) if body else completion(request, replies, digest)
        if not values.get("stream"):
            return json_answer(whole, **counted)
        usage = bool((values.get("stream_options") or {}).get("include_usage"))
        events = stream_response(whole) if body else stream_completion(whole, usage=usage)
        return Answer(200, events.encode("utf-8", "replace"), "text/event-stream", **counted)

    def _reply(self, request: ChatRequest, index: int, digest: str) -> ChatReply:
        """The engine's reply, which is the one place where the protocol meets it; each choice has its own seed."""
        if index:
            request = request.model_copy(update={"seed": derive(request.seed, "choice", index)})
        try:
            reply = judge(request) or engine.respond(request)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
            message = f"the offline model failed: {type(error).__name__}: {error} ({where})"
            raise ApiError(message, status=BROKEN_ENGINE, kind="server_error") from error
        return self.faults.spoil(request, reply, digest)
