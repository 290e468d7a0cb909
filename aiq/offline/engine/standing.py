"""Judging a candidate by where it stands: how near to the words asked for, denied or over, and by whom."""

import re
from collections.abc import Set
from dataclasses import dataclass

from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.evidence import Hit
from aiq.offline.engine.extract import Piece, pieces
from aiq.offline.engine.question import FUNCTION_WORDS, Ask

DENIED = re.compile(
    r"\b(?:not(?! only\b| to be confused| just\b| least\b)|never|neither|nor|no(?! longer than)|false|denied|rumou?r"
    r"|contrary|myth|wrongly|mistaken(?:ly)?|abandoned|unlike|ruled out|disproved|unfounded|untrue)\b|n't\b"
    r"|不是|并非|没有|未|误",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Candidate:
    """A value found. `score`: 0 to 1, how well the sentence and the place fit."""

    value: str
    hit: Hit
    score: float


def candidates(ask: Ask, hit: Hit, known: str = "") -> list[Candidate]:
    """The values that a sentence may give; none that only repeats what is `known`."""
    asked = analyse(ask.text).roots.keys() | analyse(known).roots.keys()
    return [
        Candidate(p.value, hit, min(1.0, hit.score * p.fit * _nearness(hit, p) * _standing(hit, p)))
        for p in pieces(ask, hit)
        if not _repeats(p.value, asked, ask)
    ]


def _repeats(value: str, asked: Set[str], ask: Ask) -> bool:
    roots = [t.root for t in analyse(value).tokens if t.text.lower() not in FUNCTION_WORDS]
    new_figure = ask.kind in ("number", "date") and value not in ask.text
    return bool(roots) and not new_figure and all(root in asked for root in roots)


def _nearness(hit: Hit, piece: Piece) -> float:
    """How near a piece is to the words asked for: 1 beside them, less with every token and break between."""
    if not hit.places or piece.start < 0:
        return 0.7
    sentence = hit.sentence
    first, last = sentence.at(piece.start), sentence.at(max(piece.start, piece.end - 1))
    total = 0.0
    for place, worth in hit.places:
        low, high = sorted((sentence.tokens[place].start, piece.start))
        breaks = len(re.findall(r"[,;,；]|\b(?:and|but|who|which)\b", sentence.text[low:high]))
        total += worth / (1 + 0.1 * max(max(place - last, first - place, 0) + 3 * breaks - 1, 0))
    return 0.4 + 0.6 * total / sum(worth for _, worth in hit.places)


def _standing(hit: Hit, piece: Piece) -> float:
    """Less for a value that the words before it deny."""
    before = re.split(r"[,;.，；]", hit.sentence.text[: max(0, piece.start)])[-1][-40:]
    denial = DENIED.search(before)
    return 0.4 if denial and not re.search(r"\bbut\b|而是", before[denial.start() :]) else 1.0


def denies(hit: Hit) -> bool:
    """Whether a sentence denies what was found in it: a negation before a matching word of the same clause."""
    return bool(denied(hit))


def denied(hit: Hit) -> list[str]:
    """The stems among the words asked for that a sentence denies: those near a negation in its clause."""
    sentence, found = hit.sentence, []
    for match in DENIED.finditer(sentence.text):
        reach = re.match(r"[^,;.:，；。]*", sentence.text[match.end() :])
        first, last = sentence.at(match.end()), sentence.at(match.end() + (reach.end() if reach else 0))
        first, last = (max(0, first - 6), first) if match.group().lower() in _AFTER else (first, min(last, first + 6))
        found += [sentence.tokens[place].root for place, _ in hit.places if first <= place < last]
    return found


_AFTER = ("ruled out", "disproved", "unfounded", "untrue")
"""What denies what stands before it."""
