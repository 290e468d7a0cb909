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
from aiq.offline.protocol.chat_request import CONTEXT_TOKENS, ChatBody, digest_of, read_chat
from aiq.offline.protocol.embeddings import embeddings
from aiq.offline.protocol.errors import ApiError, invalid, read_json
from aiq.offline.protocol.responses import response, stream_response
from aiq.offline.protocol.responses_request import ResponsesBody, read_responses

BROKEN_ENGINE = 422
"""The status where our own engine fails. It would fail again, so this is a status that no client retries."""

COMPLETIONS, RESPONSES, EMBEDDINGS = "/v1/chat/completions", "/v1/responses", "/v1/embeddings"

_FAILURES = {
    "http_429": ApiError(429, "Rate limit reached: a planted fault.", kind="requests", code="rate_limit_exceeded"),
    "http_500": ApiError(500, "The server had an error: a planted fault.", kind="server_error"),
}


def respond(request: ChatRequest) -> ChatReply:
    """The model's reply, whoever asks: a judgement where one is asked for, else what the engine says."""
    return judge(request) or engine.respond(request)


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
                raise invalid("x-aiq-attempt", f"x-aiq-attempt must be a number, not '{attempt}'.")
            return self._model_answer(path, values, role, int(attempt or 0))
        except ApiError as error:
            return json_answer(error.body, error.status)

    def _model_answer(self, path: str, values: Mapping[str, Any], role: str, attempt: int) -> Answer:
        """The answer of either endpoint of the model, with the endpoint's faults that strike it."""
        body: ResponsesBody | ChatBody
        request: ChatRequest
        if path == RESPONSES:
            body, request = read_responses(values, role, attempt, self.context_tokens)
        else:
            body = request = read_chat(values, role, attempt, self.context_tokens)
        digest = digest_of(values, role)
        struck = tuple(name for name in ENDPOINT if self.faults.hits(name, attempt, digest))
        counted: dict[str, Any] = {"digest": digest, "attempt": attempt, "faults": struck}
        for name, error in _FAILURES.items():
            if name in struck:
                wait = {"retry-after": str(RETRY_AFTER_SECONDS)} if error.status == 429 else {}
                return json_answer(error.body, error.status, headers=wait, **counted)
        replies = [self._reply(_choice(request, i), choice_digest(digest, i)) for i in range(request.n)]
        if isinstance(body, ResponsesBody):
            whole = response(body, request, replies[0], digest)
            events = stream_response(whole) if body.stream else ""
        else:
            whole = completion(request, replies, digest)
            usage = bool((body.stream_options or {}).get("include_usage"))
            events = stream_completion(whole, usage=usage) if body.stream else ""
        if body.stream:
            return Answer(200, events.encode("utf-8", "replace"), "text/event-stream", **counted)
        return json_answer(whole, **counted)

    def _reply(self, request: ChatRequest, digest: str) -> ChatReply:
        try:
            reply = respond(request)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
            message = f"the offline model failed: {type(error).__name__}: {error} ({where})"
            raise ApiError(BROKEN_ENGINE, message, kind="server_error") from error
        return self.faults.spoil(request, reply, digest)


def _choice(request: ChatRequest, index: int) -> ChatRequest:
    """The request as the choice of this index is asked for: each has a seed of its own."""
    return request.model_copy(update={"seed": derive(request.seed, "choice", index)}) if index else request
