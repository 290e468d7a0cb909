"""Texts as vectors by their words alone: near are texts of the same words, whatever they mean.

Serves where no model embeds. The numbers are the same in every process and on every machine.
"""

import math
import zlib
from collections import Counter

from aiq.tools.ranking import tokens

DIMENSIONS = 1024
"""Of a question's some 60 features few meet in an entry; twice as many dimensions find nothing more."""

_BEGINNING = 6
"""Characters. A term counts by this beginning: a stemmer good enough for nearness, in any alphabet."""

_HEAVIEST = 10
"""Bytes of UTF-8 from which on longer terms weigh no more: of letters the length of content words."""


def embedding(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of length 1 of a text's terms (`tokens`), by feature hashing with signs.

    A term weighs (1 + ln of its count) times its bytes, 10 at most: the longer a word, the more it says (Piantadosi
    et al. 2011, "Word lengths are optimized for efficient communication", PNAS 108), so that no list of stop words
    is needed; a pair of Chinese characters has 6. One half of the squared weight is for its beginning, the other for
    its trigrams, which inflections and slips leave alike, or its characters where it has two at most. Weinberger et
    al. 2009, "Feature hashing for large scale multitask learning", say why signs keep the cosine unbiased.
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
    """Add to, or take from, the entry that the feature's hash names."""
    number = zlib.crc32(feature.encode())
    vector[(number >> 1) % len(vector)] += weight if number & 1 else -weight
