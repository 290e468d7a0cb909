"""What a statement says, as terms to look for: words, names, numbers, dates."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from aiq.citations.claims.dates import Date, dates
from aiq.citations.claims.lexicon import CJK, glue
from aiq.citations.claims.names import Name, names
from aiq.citations.claims.numbers import Number
from aiq.citations.claims.rules import rules
from aiq.citations.claims.source import SourceText
from aiq.citations.claims.tokens import Tokens, tokenize
from aiq.citations.markdown import masked

_LONGEST = 4_000  # signs of a statement that are read: no sentence is longer, and a hostile line must cost nothing
_SURNAME = r"[A-Z\u00c0-\u00de][^\W\d_]{1,30}(?:[-’'][^\W\d_]{1,30})?"
_DESIGNATION = re.compile(r"[A-Za-z]$|[A-Z][-‐]$")  # GPT-4, CO2: the figures belong to a name
_AUTHOR = re.compile(
    rf"{_SURNAME}(?:, {_SURNAME}){{0,3}},? et al\.?(?:,? ?[（(]?(?:19|20)\d\d[a-z]?[)）])?"
    rf"|[{CJK}]{{1,3}}等人(?:[（(](?:19|20)\d\d[)）])?"
)
"""`Tal et al. (2021)`, `陈等人`: names who wrote a source, which need not name its author, and not what it says.

A name with only a year is left: `Halden (2021)` is mostly something else.
"""
_MOSTLY_CJK = 0.4
_HARDLY_CJK = 0.05
_KIN = 0.5  # what a word is worth of which the source has only one of the same family
_KIN_SIGN = 0.3  # ... and a pair of signs of which it has only one sign in other pairs
_IN_CJK_TEXT = 0.5  # what a pair of signs is worth if one of them is a function word


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for, its weight, and the source's tokens where it stands, in order.

    `worth` is how well the best of these places bears it out (0 without any); `label` how the statement has it.
    """

    kind: Literal["word", "name", "number", "date"]
    label: str
    weight: float
    places: tuple[int, ...]
    worth: float


@dataclass(frozen=True)
class Statement:
    """A statement taken apart; read once, compared with any source."""

    text: str
    tokens: Tokens = field(repr=False)
    names: tuple[Name, ...]
    dates: tuple[Date, ...]

    @classmethod
    def read(cls, text: str) -> "Statement":
        """Take a statement apart."""
        text = text[:_LONGEST]
        said = masked(text, [match.span() for match in _AUTHOR.finditer(text)], " ")
        tokens = tokenize(said)
        without_units = masked(said, [(number.start, number.end) for number in tokens.numbers if number.dimension], "0")
        return cls(text, tokens, names(without_units), _once(dates(said)))

    @cached_property
    def cjk_share(self) -> float:
        """How much of it is Chinese, Japanese or Korean."""
        return self.tokens.cjk / max(1, len(self.tokens))

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers that must be borne out: not those of a date, not small ones glued to words, each once."""
        every = dates(self.text)
        found: dict[tuple[float, str], Number] = {}
        for number in self.tokens.numbers:
            of_date = any(date.start <= number.start < date.end for date in every)
            designation = _DESIGNATION.search(self.text, max(0, number.start - 2), number.start)
            if not (of_date and not number.year) and designation is None:
                found.setdefault((number.value, number.dimension), number)
        return tuple(found.values())

    @cached_property
    def word_keys(self) -> frozenset[str]:
        """The keys of its words that are no names."""
        named = {key for name in self.names for key in name.keys}
        return frozenset(word for word in self.tokens.words if word not in named)

    def across(self, source: SourceText) -> bool:
        """Whether statement and source are in different scripts, so that their words cannot be compared."""
        one, other = self.cjk_share, source.cjk_share
        return (one >= _MOSTLY_CJK and other < _HARDLY_CJK) or (one < _HARDLY_CJK and other >= _MOSTLY_CJK)

    def terms(self, source: SourceText) -> list[Term]:
        """What to look for in this source, with what was found."""
        return [*self._words(source), *self._numbers(source), *self._dates(source)]

    def _words(self, source: SourceText) -> list[Term]:
        weights, across = rules().weights, self.across(source)
        named = {name: whole for whole in self.names for name in whole.keys}
        found = []
        for word, places in self.tokens.words.items():
            is_name = word in named
            if across and not is_name and not word.startswith("=") and not word.isascii():
                continue
            if across and self.cjk_share < _HARDLY_CJK and not is_name and not word.startswith("="):
                continue
            where = tuple(source.words(word))
            if not where and is_name:
                where = tuple(source.abbreviated(named[word]) or source.expanded(named[word]))
            worth = 1.0 if where else 0.0
            if not where and not is_name and (where := tuple(source.kin(word))):
                worth = _KIN if word.isascii() else _KIN_SIGN
            own = weights.name if is_name else 1.0
            if word in glue():
                own *= weights.glue
            elif not word.isascii() and any(sign in rules().words.cjk_function for sign in word):
                own *= _IN_CJK_TEXT
            token = places[0]
            label = self.text[self.tokens.starts[token] : self.tokens.ends[token]]
            found.append(Term("name" if is_name else "word", label, own * source.rarity(len(where)), where, worth))
        return found

    def _numbers(self, source: SourceText) -> list[Term]:
        found = []
        for number in self.numbers:
            places = source.numbers(number)
            weight = source.rarity(len(places)) * rules().weights.number * (0.6 if number.year else 1.0)
            worth = max((worth for _, worth in places), default=0.0)
            found.append(Term("number", number.written, weight, tuple(at for at, _ in places), worth))
        return found

    def _dates(self, source: SourceText) -> list[Term]:
        found = []
        for date in self.dates:
            same, part = source.dates(date)
            weight = rules().weights.number * source.rarity(len(same))
            worth = 1.0 if same else 0.5 if part else 0.0
            found.append(Term("date", self.text[date.start : date.end], weight, tuple(same or part), worth))
        return found


def _once(found: Iterable[Date]) -> tuple[Date, ...]:
    """Each day or month once, where it stands first."""
    first: dict[tuple[int | None, int, int | None], Date] = {}
    for date in found:
        first.setdefault((date.year, date.month, date.day), date)
    return tuple(first.values())
