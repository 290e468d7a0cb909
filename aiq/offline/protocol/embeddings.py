"""`/v1/embeddings`: texts as hashed words, so that texts with the same words are close to each other.

https://platform.openai.com/docs/api-reference/embeddings/create
"""

import base64
import struct
from collections.abc import Mapping
from typing import Any

from aiq.offline.protocol.chat_completions import tokens
from aiq.offline.protocol.validation import ApiError, check
from aiq.tools.embedding import embedding

DIMENSIONS = 1536
"""The length of a vector if the request does not set one."""

INPUT_TOKENS = 8192
"""The maximum number of tokens in one text."""


def embeddings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The response. Token ids count as words: texts given as ids are comparable with each other, not with plain text.

    Raises ApiError if the request is malformed, or a text is empty or too long.
    """
    fields = check(values, "embeddings")
    value = fields["input"]
    texts = [value] if isinstance(value, str) or all(type(part) is int for part in value) else value
    data, counts = [], []
    for index, text in enumerate(texts):
        if not text:
            raise ApiError("Invalid 'input': input cannot be an empty string or array.", "input", "invalid_value")
        if not isinstance(text, str):
            check(text, "string|array of integer", f"input[{index}]")
        counts.append(tokens(text) if isinstance(text, str) else len(text))
        words = text if isinstance(text, str) else " ".join(map(str, text))
        vector: Any = embedding(words, fields.get("dimensions", DIMENSIONS))
        if fields.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    if max(counts) > INPUT_TOKENS:
        message = f"This model's maximum context length is {INPUT_TOKENS} tokens, however you requested {max(counts)}."
        raise ApiError(message, "input", "context_length_exceeded")
    usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
    return {"object": "list", "data": data, "model": fields["model"], "usage": usage}
