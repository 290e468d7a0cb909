"""Finds the passages of a source that hold most of a statement's terms: windows of words, best first."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from aiq.citations.claims.records import Passage
from aiq.citations.claims.rules import rules
from aiq.citations.claims.source import SourceText, holds
from aiq.citations.claims.terms import Term

_MOST_PLACES = 400
"""Places of terms, rarest first, by which windows are looked for; the other terms are looked up in what is found."""
_CANDIDATES = 12
_PASSAGES = 3
_SENTENCE = re.compile(r"(?<=[.!?。！？])[\"”’)\]]*\s+|(?<=[。！？])|\n{2,}")
_MOST_AROUND = 240


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens first .. last of a source, the terms (by position) that stand in it, and their weight."""

    first: int
    last: int
    held: frozenset[int]
    weight: float


def best_windows(terms: Sequence[Term], source: SourceText, words: int) -> list[Window]:
    """The best passage and up to two that add most to it; none where no term stands anywhere."""
    size = rules().passage
    length = int(min(size.most, max(size.least, size.times * words)))
    candidates = [_window(terms, first, first + length - 1) for first in _starts(terms, length)]
    if not candidates:
        return []
    chosen = [max(candidates, key=lambda window: (window.weight, -window.first))]
    while len(chosen) < _PASSAGES:
        held = frozenset().union(*(window.held for window in chosen))
        gains = [(sum(terms[n].weight for n in window.held - held), -window.first, window) for window in candidates]
        gain, _, window = max(gains, key=lambda item: item[:2])
        if gain <= 0:
            break
        chosen.append(window)
    return chosen


def passage_of(window: Window, terms: Sequence[Term], source: SourceText) -> Passage:
    """The text from the first to the last term in the window, widened to whole sentences where they are short."""
    places = [at for n in window.held for at in _inside(terms[n].places, window.first, window.last)]
    start, end = source.tokens.starts[min(places)], source.tokens.ends[max(places)]
    before = list(_SENTENCE.finditer(source.text, max(0, start - _MOST_AROUND), start))
    after = _SENTENCE.search(source.text, end, end + _MOST_AROUND)
    start = before[-1].end() if before else max(0, start - _MOST_AROUND)
    end = after.start() if after else min(len(source.text), end + _MOST_AROUND)
    text = source.text[start:end]
    start += len(text) - len(text.lstrip())
    end -= len(text) - len(text.rstrip())
    return Passage(start, end, source.text[start:end])


def _starts(terms: Sequence[Term], length: int) -> list[int]:
    """Where the most promising windows begin, by the rarest terms; they do not overlap."""
    chosen: list[int] = []
    budget = _MOST_PLACES
    for number in sorted((n for n, term in enumerate(terms) if term.places), key=lambda n: (len(terms[n].places), n)):
        chosen.append(number)
        budget -= len(terms[number].places)
        if budget <= 0:
            break
    events = sorted((at, number) for number in chosen for at in terms[number].places[:_MOST_PLACES])
    scored: list[tuple[float, int]] = []
    inside: dict[int, int] = {}
    weight, tail = 0.0, 0
    for at, number in events:
        if inside.get(number, 0) == 0:
            weight += terms[number].weight
        inside[number] = inside.get(number, 0) + 1
        while at - events[tail][0] >= length:
            gone = events[tail][1]
            inside[gone] -= 1
            if inside[gone] == 0:
                weight -= terms[gone].weight
            tail += 1
        middle = max(0, (events[tail][0] + at - length + 1) // 2)
        scored.append((weight, middle))
    scored.sort(key=lambda item: (-item[0], item[1]))
    starts: list[int] = []
    for _, first in scored:
        if all(abs(first - other) >= length // 2 for other in starts):
            starts.append(first)
            if len(starts) == _CANDIDATES:
                break
    return starts


def _window(terms: Sequence[Term], first: int, last: int) -> Window:
    held = frozenset(n for n, term in enumerate(terms) if holds(term.places, first, last))
    return Window(first, last, held, sum(terms[n].weight for n in sorted(held)))


def _inside(places: Sequence[int], first: int, last: int) -> Sequence[int]:
    return places[bisect_left(places, first) : bisect_left(places, last + 1)]
