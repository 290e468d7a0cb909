"""Ranking pages by their best passage: BM25 (the `bm25s` library) over passages with the title in front.

Owns the index and the excerpts; where pages come from is `corpus.py`'s.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from aiq.tools.passages import passages
from aiq.tools.tokens import tokens

TITLE_WEIGHT = 3
"""How many times a page's title counts in each of its passages."""

GAP = "\n[...]\n"
"""Stands where an excerpt leaves out passages between two that it shows."""


class PassageIndex:
    """The passages of (title, text) documents, ranked by BM25 (Lucene's formula, k1 1.5, b 0.75)."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        import bm25s

        self._passages: list[str] = []
        self._starts: list[int] = []  # of each document, the number of its first passage
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
        vocabulary = self._vocabulary
        return [vocabulary.setdefault(term, len(vocabulary)) for term in terms]

    def search(
        self, query: str, k: int, max_chars: int, allowed: Sequence[bool] | None = None
    ) -> list[tuple[int, float, str]]:
        """(document number, score > 0, excerpt) of the `k` best documents; equal scores in document order.

        A document scores as its best passage. None is found where no term of the query is known.
        `allowed` says of each document whether it may be found.
        """
        import numpy as np

        known = [self._vocabulary[term] for term in tokens(query) if term in self._vocabulary]
        if not known:
            return []
        scores = self._bm25.get_scores(known)
        best = np.maximum.reduceat(scores, self._starts)
        if allowed is not None:
            best = np.where(allowed, best, 0)
        ranking = np.argsort(-best, kind="stable")[:k]
        return [(int(i), float(best[i]), self._excerpt(int(i), scores, max_chars)) for i in ranking if best[i] > 0]

    def _excerpt(self, document: int, scores: Any, max_chars: int) -> str:
        """The document's best passages that fit, in page order; where even the best does not fit, its beginning."""
        starts = [*self._starts, len(self._passages)]
        numbers = range(starts[document], starts[document + 1])
        chosen: list[int] = []
        room = max_chars
        for i in sorted(numbers, key=lambda i: (-scores[i], i)):
            cost = len(self._passages[i]) + (len(GAP) if chosen else 0)
            if chosen and (cost > room or scores[i] <= 0):
                break
            chosen.append(i)
            room -= cost
        chosen.sort()
        text = self._passages[chosen[0]]
        for before, i in pairwise(chosen):
            text += ("\n" if i == before + 1 else GAP) + self._passages[i]
        return text[:max_chars]
