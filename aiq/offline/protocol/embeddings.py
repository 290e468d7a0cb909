"""`/v1/embeddings`: texts as hashed words and character trigrams, so that texts of the same words are near.

https://platform.openai.com/docs/api-reference/embeddings/create
"""

import base64
import math
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from aiq.offline.protocol.chat_request import tokens
from aiq.offline.protocol.errors import Body, either, invalid, read_body, wrong_type
from aiq.tools.tokens import tokens as terms

DIMENSIONS = 1536
"""A vector's length where the request names none."""

INPUT_TOKENS = 8192
"""The most tokens of one text."""

TRIGRAM_WEIGHT = 0.3
"""A trigram's weight beside a whole word's 1: enough that inflected words are near, too little to outvote words."""

_STEM_CHARS = 6
"""Words count by this beginning: a stemmer good enough for nearness, in any alphabet."""

Embedded = str | list[int]
"""One text, or its token ids."""


class EmbeddingsBody(Body):
    model: str
    input: Annotated[str | list[Any], either("one of a string or an array", str, list)]
    dimensions: int = Field(default=DIMENSIONS, ge=1, le=4096)
    encoding_format: Literal["float", "base64"] = "float"
    user: str = ""


def embeddings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The answer's JSON. Raises ApiError 400 when the request is malformed.

    Token ids are hashed as they are: texts given as ids are near each other, but not near texts given as words.
    """
    body = read_body(EmbeddingsBody, values)
    inputs = _inputs(body.input)
    counts = [len(one) if isinstance(one, list) else tokens(one) for one in inputs]
    if max(counts) > INPUT_TOKENS:
        limit = (
            f"This model's maximum context length is {INPUT_TOKENS} tokens, however you requested {max(counts)} tokens."
        )
        raise invalid("input", f"{limit} Please reduce your prompt.", "context_length_exceeded")
    vectors = [embedding(one, body.dimensions) for one in inputs]
    packed = body.encoding_format == "base64"
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": i, "embedding": _packed(vector) if packed else vector}
            for i, vector in enumerate(vectors)
        ],
        "model": body.model,
        "usage": {"prompt_tokens": sum(counts), "total_tokens": sum(counts)},
    }


def embedding(text: Embedded, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of length 1 whose entries are sums of signed, hashed features; equal texts have equal vectors."""
    vector = [0.0] * dimensions
    for feature, weight in _features(text).items():
        number = zlib.crc32(feature.encode())
        vector[(number >> 1) % dimensions] += weight if number & 1 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0:  # no word at all, or features that cancel out
        return [1.0, *vector[1:]]
    return [value / length for value in vector]


def _features(text: Embedded) -> dict[str, float]:
    """Weights by feature: 1 + ln(count) for a word, less for a trigram of it."""
    if isinstance(text, list):
        return {f"#{number}": 1 + math.log(count) for number, count in Counter(text).items()}
    words = Counter(terms(text))
    weights: defaultdict[str, float] = defaultdict(float)
    for word, count in words.items():
        weight = 1 + math.log(count)
        weights[word[:_STEM_CHARS]] += weight
        for i in range(len(word)):
            weights[f"~{f' {word} '[i : i + 3]}"] += weight * TRIGRAM_WEIGHT
    return dict(weights)


def _packed(vector: Sequence[float]) -> str:
    """Little-endian 32-bit floats in base64."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _inputs(value: str | list[Any]) -> list[Embedded]:
    """The texts of a request. Raises ApiError 400 where there is none, too many, or one is empty or no text."""
    if isinstance(value, str):
        inputs: list[Any] = [value]
    else:
        inputs = [value] if value and all(_is_id(one) for one in value) else value
    if not inputs or any(one in ("", []) for one in inputs):
        raise invalid("input", "Invalid 'input': input cannot be an empty string or array.")
    if len(inputs) > 2048:
        wanted = f"Expected an array with maximum length 2048, but got an array with length {len(inputs)} instead."
        raise invalid("input", f"Invalid 'input': array too long. {wanted}", "array_above_max_length")
    for number, one in enumerate(inputs):
        if not isinstance(one, str) and not (isinstance(one, list) and all(_is_id(part) for part in one)):
            message = "expected a string or an array of token ids"
            raise wrong_type(f"input[{number}]", message, one)
    return inputs


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
