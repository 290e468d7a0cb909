"""A long tool result in few characters: where it comes from, and the sentences that say most.

Made from the text alone and without chance, so that the same conversation always looks the same to a model.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from aiq.tools.tokens import tokens

MARK = "[shortened]"
"""The last line of an extract: a model may search again for what is left out."""

SENTENCE = 300
"""Characters; a longer sentence (or a text without sentences) is weighed in pieces of this length."""

_SOURCE_LINE = re.compile(
    r"</?(?:Document|title|published|Answer)\b"  # blocks of search and fetch
    r"|---"  # between blocks, and `--- Result 1 ---` of documents
    r"|(?:Source|Page|Citation|Title|URL|Link):\s"
    r"|-\s+\*\*(?:Link|Publication)\*\*:"  # of papers
    r"|\d+\.\s+\*\*"
    r"|\*\*(?:Sources|References):?\*\*|#+\s+(?:Sources|References)\b"  # of a researcher's findings
    r"|\[\d+\]\s",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


class _Piece(NamedTuple):
    line: int
    text: str
    is_source: bool


def extract(text: str, most: int, about: str = "") -> str:
    """`text` in at most `most` characters, what is kept in its order; `text` itself where it fits.

    Lines that say where something comes from (tags, titles, URLs, citation keys, reference lists) come first. The
    room that they leave goes to the sentences that share most words with `about`, the earlier one of equals.
    """
    if len(text) <= most:
        return text
    pieces = list(_pieces(text))
    wanted = frozenset(tokens(about))
    order = sorted(range(len(pieces)), key=lambda n: (not pieces[n].is_source, -_shared(pieces[n], wanted), n))
    left, kept = most - len(MARK), set()
    for number in order:
        cost = len(pieces[number].text) + 1
        if cost <= left:
            kept.add(number)
            left -= cost
    lines: dict[int, list[str]] = {}
    for number in sorted(kept):
        lines.setdefault(pieces[number].line, []).append(pieces[number].text)
    return "\n".join([*(" ".join(parts) for parts in lines.values()), MARK])[:most]


def _shared(piece: _Piece, wanted: frozenset[str]) -> int:
    """How many of the wanted words a sentence has; source lines are not weighed."""
    return 0 if piece.is_source else len(wanted & frozenset(tokens(piece.text)))


def _pieces(text: str) -> Iterator[_Piece]:
    """Source lines whole (to 2 * SENTENCE characters), other lines by sentence; blank ones left out."""
    in_title = False
    for number, raw in enumerate(text.splitlines()):
        line = raw.strip()
        if in_title or _SOURCE_LINE.match(line):
            yield _Piece(number, line[: 2 * SENTENCE], True)
            in_title = line.lower() == "<title>"
            continue
        for sentence in _SENTENCE_END.split(line):
            for start in range(0, len(sentence), SENTENCE):
                yield _Piece(number, sentence[start : start + SENTENCE], False)
