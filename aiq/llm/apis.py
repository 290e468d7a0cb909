"""The two model APIs, chat completions and embeddings: what a request carries and how an answer is read.

Everything else (roles, limits, retries, accounting, cassettes) is the same for both.
"""

import base64
import binascii
import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from aiq.core.llm_settings import LlmSettings
from aiq.core.replies import failed
from aiq.llm.http import Request
from aiq.llm.quirks import adapted, as_openai_message


class Answer(NamedTuple):
    """A usable answer. `payload`: as the caller gets it; `message`: what the model said, as events record it."""

    payload: dict[str, Any]
    message: dict[str, Any]
    finish_reason: object = None


class Api(Protocol):
    """One of the APIs. `path`: what the URLs of its requests end with; `writes`: whether its answers are text."""

    path: str
    writes: bool

    def request(self, body: Mapping[str, Any], settings: LlmSettings, role: str | None, seed: int) -> dict[str, Any]:
        """The body as the endpoint wants it. `role`: the role whose configured options are added; None adds none."""

    def messages(self, body: Mapping[str, Any]) -> Any:
        """What was asked, as events record it."""

    def read(self, answer: Any, body: Mapping[str, Any]) -> Answer:
        """Read the answer to this body. Raises ValueError, which says what is missing, if it is unusable."""


class Chat:
    """https://platform.openai.com/docs/api-reference/chat/create"""

    path, writes = "/chat/completions", True

    def request(self, body: Mapping[str, Any], settings: LlmSettings, role: str | None, seed: int) -> dict[str, Any]:
        """Add the seed, the role's extra body, and the configured temperature and token limit if the body has none."""
        fields = dict(body)
        if role is not None:
            setup: Any = settings.setup(role)
            limit = None if "max_tokens" in body else setup["max_tokens"]
            options = {"temperature": setup["temperature"], "max_completion_tokens": limit}
            defaults = {name: value for name, value in options.items() if value is not None}
            fields = {**defaults, **body, **setup["extra_body"]}
        return adapted({**fields, "seed": seed}, settings.quirks)

    def messages(self, body: Mapping[str, Any]) -> Any:
        return body.get("messages")

    def read(self, answer: Any, body: Mapping[str, Any]) -> Answer:
        try:
            choice, *others = answer["choices"]
            message, finish_reason = as_openai_message(choice["message"], body["messages"]), choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError, ValueError):
            raise ValueError("an answer without choices") from None
        if choice.get("error") or failed(finish_reason):
            raise ValueError(f"the endpoint broke off its answer (finish_reason {finish_reason})")
        return Answer({**answer, "choices": [{**choice, "message": message}, *others]}, message, finish_reason)


class Embeddings:
    """https://platform.openai.com/docs/api-reference/embeddings/create

    A vector depends on its text and model alone, so requests carry no seed; temperature, token limit and
    `llm.extra_body` belong to chat completions. Events record how many vectors came, not their numbers.
    """

    path, writes = "/embeddings", False

    def request(self, body: Mapping[str, Any], settings: LlmSettings, role: str | None, seed: int) -> dict[str, Any]:
        return {**body, **(settings.role(role).extra_body if role is not None else {})}

    def messages(self, body: Mapping[str, Any]) -> Any:
        texts = (text if isinstance(text, str) else json.dumps(text) for text in _texts(body))
        return [{"role": "user", "content": text} for text in texts]

    def read(self, answer: Any, body: Mapping[str, Any]) -> Answer:
        vectors = read_vectors(answer, len(_texts(body)))
        return Answer(answer, {"content": f"{len(vectors)} vectors of {len(vectors[0])} numbers"})


def _texts(body: Mapping[str, Any]) -> list[Any]:
    """The texts of a request, each a string or its token ids."""
    value = body.get("input")
    single = not isinstance(value, list) or (bool(value) and all(isinstance(part, int) for part in value))
    return [value] if single else list(value or ())


def read_vectors(answer: Any, count: int) -> list[list[float]]:
    """The embeddings of `count` texts in their order, given as numbers or packed in base64.

    Raises ValueError, which says what came, unless there are `count`, all of one length and of finite numbers.
    """
    try:
        entries = sorted(answer["data"], key=lambda entry: entry.get("index", 0))
        vectors = [_numbers(entry["embedding"]) for entry in entries]
    except (LookupError, TypeError, AttributeError, ValueError, struct.error):
        raise ValueError("an answer without embeddings") from None
    lengths = dict.fromkeys(map(len, vectors))
    if len(vectors) != count:
        raise ValueError(f"an answer with {len(vectors)} embeddings for {count} texts")
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(f"an answer with embeddings of {' and '.join(map(str, lengths))} numbers")
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise ValueError("an answer with a number in an embedding that is not finite")
    return vectors


def _numbers(embedding: Any) -> list[float]:
    if not isinstance(embedding, str):
        return [float(number) for number in embedding]
    try:
        packed = base64.b64decode(embedding, validate=True)
    except binascii.Error:
        raise ValueError("not base64") from None
    return list(struct.unpack(f"<{len(packed) // 4}f", packed))


CHAT: Final = Chat()
APIS: Final[Sequence[Api]] = (CHAT, Embeddings())


def api_of(request: Request) -> Api | None:
    """The API by which this request calls a model (and so is paid for, counted and limited); None if it calls none."""
    path = request.url.path if request.method == "POST" else ""
    return next((api for api in APIS if path.endswith(api.path)), None)
