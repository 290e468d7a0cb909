"""How the model's endpoints answer a request body, and the processes that do the work.

An answer depends on the request alone. It is computed in another process, so that neither a long prompt nor a slow
regex holds up the server.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import forkserver
from typing import Any

from aiq.core.seeds import derive
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.faults import ENDPOINT, Faults
from aiq.offline.protocol.chat_completions import (
    CONTEXT_TOKENS,
    choice_digest,
    completion,
    digest_of,
    read_chat,
    stream_completion,
)
from aiq.offline.protocol.embeddings import embeddings
from aiq.offline.protocol.responses import read_responses, response, stream_response
from aiq.offline.protocol.validation import ApiError, read_json

COMPLETIONS, RESPONSES, EMBEDDINGS = "/v1/chat/completions", "/v1/responses", "/v1/embeddings"

FEWEST, MOST = 2, 16
"""Bounds on the number of workers: with only one, a long request would hold up every other."""

BROKEN_ENGINE = 422
"""The status when our own engine fails. It would fail again, so this is a status that no client retries."""

_FAILURES = {
    "http_429": ApiError("Rate limit reached: a planted fault.", code="rate_limit_exceeded", status=429),
    "http_500": ApiError("The server had an error: a planted fault.", status=500),
}


@dataclass(frozen=True)
class Answer:
    """What goes back over HTTP. `sent` is equal for equal model requests; `faults` are those that struck."""

    body: bytes
    status: int = 200
    streamed: bool = False
    sent: tuple[str, int] | None = None
    faults: tuple[str, ...] = ()


def json_answer(value: object, status: int = 200, **more: Any) -> Answer:
    return Answer(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), status, **more)


@dataclass(frozen=True)
class Work:
    """Answers requests to the endpoints that compute something. `context_tokens` limits the prompt."""

    faults: Faults
    context_tokens: int = CONTEXT_TOKENS

    def answer(self, path: str, role: str, attempt: str, body: bytes) -> Answer:
        """The answer to a POST of this body. `role` and `attempt` are our optional headers, empty if absent."""
        try:
            values = read_json(body)
            if not values.get("model"):
                raise ApiError("you must provide a model parameter")
            if path == EMBEDDINGS:
                return json_answer(embeddings(values))
            if not (attempt or "0").isdecimal() or len(attempt) > 9:
                raise ApiError(f"x-aiq-attempt must be a number, not '{attempt}'.", "x-aiq-attempt", "invalid_value")
            return self._model_answer(path, values, role, int(attempt or 0))
        except ApiError as error:
            return json_answer(error.body, error.status)

    def _model_answer(self, path: str, values: dict[str, Any], role: str, attempt: int) -> Answer:
        """The answer of either model endpoint, with the endpoint faults that strike it."""
        parse = read_responses if path == RESPONSES else read_chat
        request = parse(values, role, attempt, self.context_tokens)
        digest = digest_of(values, role)
        faults = tuple(name for name in ENDPOINT if self.faults.hits(name, attempt, digest))
        metadata: dict[str, Any] = {"sent": (digest, attempt), "faults": faults}
        for error in (_FAILURES[name] for name in faults if name in _FAILURES):
            return json_answer(error.body, error.status, **metadata)
        replies = [self._reply(request, index, choice_digest(digest, index)) for index in range(request.n)]
        if path == RESPONSES:
            result = response(values, request, replies[0], digest)
        else:
            result = completion(request, replies, digest)
        if not values.get("stream"):
            return json_answer(result, **metadata)
        usage = bool((values.get("stream_options") or {}).get("include_usage"))
        events = stream_response(result) if path == RESPONSES else stream_completion(result, usage=usage)
        return Answer(events.encode("utf-8", "replace"), streamed=True, **metadata)

    def _reply(self, request: ChatRequest, index: int, digest: str) -> ChatReply:
        """The engine's reply. Only here does the protocol call the engine; each choice has its own seed."""
        from aiq.offline import engine  # here, as only workers use it
        from aiq.offline.judging import judge

        if index:
            request = request.model_copy(update={"seed": derive(request.seed, "choice", index)})
        try:
            reply = judge(request) or engine.respond(request)
        except Exception as error:
            message = f"The offline model failed: {type(error).__name__}: {error}"
            raise ApiError(message, status=BROKEN_ENGINE) from error
        return self.faults.spoil(request, reply, digest)


class Workers:
    """A pool of processes, one per processor within bounds. They exit when this process exits.

    A fork server starts them, so that they share neither threads nor open files with this process.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._start()

    def _start(self) -> None:
        forkserver.set_forkserver_preload(["aiq.offline.engine", "aiq.offline.judging", __name__])
        forkserver.ensure_running()  # now, to be ready when the first request comes
        count = min(max(os.cpu_count() or 1, FEWEST), MOST)
        self._pool = ProcessPoolExecutor(count, multiprocessing.get_context("forkserver"), _start_worker)

    async def answer(self, *request: Any) -> Answer:
        """Run `Work.answer` in a worker. If one dies, so do the others, and the requests they worked on get a 500."""
        try:
            future = self._pool.submit(self._work.answer, *request)
        except BrokenProcessPool:
            self._start()
            future = self._pool.submit(self._work.answer, *request)
        try:
            return await asyncio.wrap_future(future)
        except BrokenProcessPool:
            raise ApiError("The process that worked on the request died; send it again.", status=500) from None

    def close(self) -> None:
        """Stop the workers at once, even in the middle of a request."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()


def _start_worker() -> None:
    """Ignore Ctrl-C, which reaches the server, and it stops its workers; exit when the server is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=follow, daemon=True).start()
