"""Ranking pages by their best passage: BM25 (the `bm25s` library) over passages with the title in front.

Terms are words in scripts with spaces, and character pairs in scripts without. There are no stop words and no stemmer,
only a light rule for English plural endings, so that every other language is matched exactly as written.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

WINDOW = 900
"""Target length of a passage in characters: long enough for a fact with its context, short enough to rank well."""

_PARAGRAPH = re.compile(r"\n\s*\n|\n")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def passages(text: str) -> list[str]:
    """The text's passages in order; none for a blank text.

    Paragraphs (lines) are joined up to `WINDOW` characters; a longer one is cut between sentences, and a longer
    sentence between characters. Nothing is lost but white space.
    """
    pieces: list[str] = []
    for paragraph in map(str.strip, _PARAGRAPH.split(text)):
        pieces += [paragraph] if len(paragraph) <= WINDOW else _joined(_sentences(paragraph), " ")
    return _joined(filter(None, pieces), "\n")


def _sentences(paragraph: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(paragraph):
        yield from (sentence[start : start + WINDOW] for start in range(0, len(sentence), WINDOW))


def _joined(pieces: Iterable[str], separator: str) -> list[str]:
    """The pieces in groups of at most `WINDOW` characters."""
    groups: list[str] = []
    for piece in pieces:
        if groups and len(groups[-1]) + len(piece) + 1 <= WINDOW:
            groups[-1] += separator + piece
        else:
            groups.append(piece)
    return groups


_CJK = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_SOUTH_EAST_ASIAN = "\u0e00-\u0e4e\u0e80-\u0ecd\u1000-\u103f\u1780-\u17d3"
UNSPACED = _CJK + _HANGUL + _SOUTH_EAST_ASIAN
"""Scripts without spaces, and Korean, whose words carry their particles: read in pairs of characters."""

_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc"
"""Vowel signs and accents that Python does not count as word characters but that belong to the word."""

_LETTERS = rf"[^\W_{UNSPACED}]+"
_TERM = re.compile(rf"[{UNSPACED}]+|{_LETTERS}(?:[{_MARKS}]+(?:{_LETTERS})?)*(?:'{_LETTERS})*")
_IN_PAIRS = re.compile(f"[{UNSPACED}]")
_PLURAL = re.compile(r"(?<=[a-z]{2})(?:(?P<y>ies)|(?<=ss|sh|ch)es|(?<=[xz])es|(?<![sui])s)$")


def tokens(text: str) -> list[str]:
    """The terms of a text in order, with repetitions; an empty list if it has no letter or digit.

    Lower-cased after NFKC (full-width forms become plain), accents off (`São` finds `Sao`). A run of Chinese, Japanese,
    Korean or South-East Asian script gives its overlapping pairs of characters, or its single character.
    """
    plain = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
    terms: list[str] = []
    for term in _TERM.findall(plain):
        if term.isascii() or not _IN_PAIRS.match(term):
            terms.append(_word(term))
        else:
            terms.extend(term[i : i + 2] for i in range(max(1, len(term) - 1)))
    return terms


@lru_cache(maxsize=200_000)
def _word(word: str) -> str:
    """A lower-cased word without possessive, apostrophes, accents and English plural ending."""
    word = word.removesuffix("'s").replace("'", "")
    if not word.isascii():
        parts = unicodedata.normalize("NFKD", word)
        word = "".join(c for c in parts if not "\u0300" <= c <= "\u036f") or word
    return _PLURAL.sub(lambda m: "y" if m.group("y") else "", word) if len(word) > 3 else word


TITLE_WEIGHT = 3
"""How many times a page's title counts in each of its passages."""

GAP = "\n[...]\n"
"""Marks passages that an excerpt leaves out."""


class PassageIndex:
    """The passages of (title, text) documents, ranked by BM25 (Lucene's formula, k1 1.5, b 0.75)."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        import bm25s

        self._passages: list[str] = []
        self._starts: list[int] = []  # the number of each document's first passage
        self._vocabulary: dict[str, int] = {}
        rows: list[list[int]] = []
        for title, text in documents:
            heading = self._learn(tokens(title) * TITLE_WEIGHT)
            self._starts.append(len(rows))
            for passage in passages(text) or [""]:
                self._passages.append(passage)
                rows.append(heading + self._learn(tokens(passage)))
        self._bm25 = bm25s.BM25()
        if self._vocabulary:
            self._bm25.index((rows, self._vocabulary), create_empty_token=False, show_progress=False)

    def _learn(self, terms: list[str]) -> list[int]:
        return [self._vocabulary.setdefault(term, len(self._vocabulary)) for term in terms]

    def search(
        self, query: str, k: int, max_chars: int, allowed: Sequence[bool] | None = None
    ) -> list[tuple[int, float, str]]:
        """(document number, score > 0, excerpt) of the `k` best documents; equal scores in document order.

        A document has the score of its best passage; `allowed` says for each document whether it may be found.
        """
        import numpy as np

        term_ids = [self._vocabulary[term] for term in tokens(query) if term in self._vocabulary]
        if not term_ids:
            return []
        scores = self._bm25.get_scores(term_ids)
        best = np.maximum.reduceat(scores, self._starts)
        if allowed is not None:
            best = np.where(allowed, best, 0)
        ranking = np.argsort(-best, kind="stable")[:k]
        return [(int(i), float(best[i]), self._excerpt(int(i), scores, max_chars)) for i in ranking if best[i] > 0]

    def _excerpt(self, document: int, scores: Any, max_chars: int) -> str:
        """The document's best passages that fit, in page order; if even the best does not fit, its beginning."""
        start, end = [*self._starts, len(self._passages)][document : document + 2]
        chosen: list[int] = []
        room = max_chars
        for i in sorted(range(start, end), key=lambda i: (-scores[i], i)):
            cost = len(self._passages[i]) + (len(GAP) if chosen else 0)
            if chosen and (cost > room or scores[i] <= 0):
                break
            chosen.append(i)
            room -= cost
        chosen.sort()
        text = self._passages[chosen[0]]
        for previous, i in pairwise(chosen):
            text += ("\n" if i == previous + 1 else GAP) + self._passages[i]
        return text[:max_chars]
