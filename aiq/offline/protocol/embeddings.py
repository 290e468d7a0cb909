"""`/v1/embeddings`: texts as hashed words and character trigrams, so that texts of the same words are near.

https://platform.openai.com/docs/api-reference/embeddings/create
"""

import base64
import math
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from aiq.offline.protocol.chat_request import tokens
from aiq.offline.protocol.errors import ApiError, Body, read_body, wrong_type
from aiq.tools.tokens import tokens as terms

DIMENSIONS = 1536
"""A vector's length where the request names none."""

INPUT_TOKENS = 8192
"""The most tokens of one text."""

MOST_TEXTS = 2048

TRIGRAM_WEIGHT = 0.3
"""A trigram's weight beside a whole word's 1: enough that inflected words are near, too little to outvote words."""

_STEM_CHARS = 6
"""Words count by this beginning: a stemmer good enough for nearness, in any alphabet."""

Embedded = str | list[int]
"""One text, or its token ids."""


class EmbeddingsBody(Body):
    model: str
    input: Any
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
        limit = f"This model's maximum context length is {INPUT_TOKENS} tokens"
        message = f"{limit}, however you requested {max(counts)} tokens. Please reduce your prompt."
        raise ApiError(message, "input", "context_length_exceeded")
    data = []
    for index, one in enumerate(inputs):
        vector: Any = embedding(one, body.dimensions)
        if body.encoding_format == "base64":
            vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
    return {"object": "list", "data": data, "model": body.model, "usage": usage}


def embedding(text: Embedded, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of length 1 whose entries are sums of signed, hashed features; equal texts have equal vectors."""
    vector = [0.0] * dimensions
    for feature, weight in _features(text).items():
        number = zlib.crc32(feature.encode())
        vector[(number >> 1) % dimensions] += weight if number & 1 else -weight
    length = math.hypot(*vector)
    if length == 0:  # no word at all, or features that cancel out
        return [1.0, *vector[1:]]
    return [value / length for value in vector]


def _features(text: Embedded) -> Mapping[str, float]:
    """Weights by feature: 1 + ln(count) for a word, less for a trigram of it."""
    if isinstance(text, list):
        return {f"#{number}": 1 + math.log(count) for number, count in Counter(text).items()}
    weights: defaultdict[str, float] = defaultdict(float)
    for word, count in Counter(terms(text)).items():
        weight = 1 + math.log(count)
        weights[word[:_STEM_CHARS]] += weight
        for i in range(len(word)):
            weights[f"~{f' {word} '[i : i + 3]}"] += weight * TRIGRAM_WEIGHT
    return weights


def _inputs(value: Any) -> list[Embedded]:
    """The texts of a request. Raises ApiError 400 where there is none, too many, or one is empty or no text."""
    inputs = value if isinstance(value, list) and not (value and all(map(_is_id, value))) else [value]
    if not inputs or "" in inputs or [] in inputs:
        raise ApiError("Invalid '{param}': input cannot be an empty string or array.", "input", "invalid_value")
    if len(inputs) > MOST_TEXTS:
        wanted = f"Expected an array with maximum length {MOST_TEXTS}, but got an array with length {len(inputs)}"
        raise ApiError(f"Invalid '{{param}}': array too long. {wanted} instead.", "input", "array_above_max_length")
    for number, one in enumerate(inputs):
        if not isinstance(one, str) and not (isinstance(one, list) and all(map(_is_id, one))):
            raise wrong_type(f"input[{number}]", "a string or an array of token ids", one)
    return inputs


def _is_id(value: object) -> bool:
    return type(value) is int and value >= 0
