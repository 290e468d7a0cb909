"""Texts as vectors by their words alone: texts with the same words are near, whatever they mean.

Used if no model computes embeddings. The numbers are the same in every process and on every machine.
"""

import math
import zlib
from collections import Counter

from aiq.tools.ranking import tokens

DIMENSIONS = 1024
"""Few of a question's roughly 60 features collide; twice as many dimensions find nothing more."""

_BEGINNING = 6
"""Characters. A term counts by its first ones: a stemmer good enough for similarity, in any alphabet."""

_HEAVIEST = 10
"""Bytes of UTF-8 beyond which a longer term weighs no more; as letters, the length of content words."""


def embedding(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A unit vector of a text's terms (`tokens`), by feature hashing with signs.

    A term weighs (1 + ln of its count) times its bytes, at most 10: the longer a word, the more it says (Piantadosi
    et al. 2011, "Word lengths are optimized for efficient communication", PNAS 108), so that no list of stop words
    is needed; a pair of Chinese characters has 6 bytes. Half of the squared weight goes to the term's beginning, half
    to its trigrams, which survive inflections and typos, or to its characters if it has at most two. Weinberger et
    al. 2009, "Feature hashing for large scale multitask learning", explain why signs keep the cosine unbiased.
    """
    vector = [0.0] * dimensions
    for term, count in Counter(tokens(text)).items():
        weight = (1 + math.log(count)) * min(len(term.encode()), _HEAVIEST) * math.sqrt(0.5)
        _add(vector, term[:_BEGINNING], weight)
        edged = f"<{term}>"
        parts = [edged[i : i + 3] for i in range(len(term))] if len(term) > 2 else list(term)
        for part in parts:
            _add(vector, f"~{part}", weight / math.sqrt(len(parts)))
    length = math.hypot(*vector)
    if length == 0:  # no term at all, or features that cancel out
        return [1.0, *vector[1:]]
    return [value / length for value in vector]


def _add(vector: list[float], feature: str, weight: float) -> None:
    """Add to, or subtract from, the entry that the feature's hash selects."""
    number = zlib.crc32(feature.encode())
    vector[(number >> 1) % len(vector)] += weight if number & 1 else -weight
