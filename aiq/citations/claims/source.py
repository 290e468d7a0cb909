"""A source's text made searchable once, for all statements that cite it."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from aiq.citations.claims.dates import Date, dates
from aiq.citations.claims.lexicon import CJK, key
from aiq.citations.claims.names import Name
from aiq.citations.claims.numbers import Number, agree
from aiq.citations.claims.rules import rules
from aiq.citations.claims.tokens import Tokens, tokenize
from aiq.citations.claims.usable import why_unusable

_BLOCK: Final = 50
"""Words by which a term's rarity is counted."""
_NEAR: Final = 4
"""How far the words of one name may stand apart."""
_ACRONYM: Final = re.compile(r"\b[A-Z]{3,7}(?=s?\b)")
_BEGINNING: Final = 5
"""Letters that words of one family have in common at least."""
_AKIN: Final = 0.65
"""... and as a share of the longer word."""
_MOST_KIN: Final = 200
"""Places from which on a sign stands everywhere and says nothing; and words of one family that are looked at."""
CJK_SIGN: Final = re.compile(f"[{CJK}]")
_LATIN: Final = re.compile(r"[^\W\d_]+")


class SourceText:
    """A text with its tokens; everything is worked out when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._together: dict[tuple[str, ...], list[int]] = {}

    @cached_property
    def unusable(self) -> str | None:
        """Why nothing can be read from it, as a sentence; None for a text that can be read."""
        return why_unusable(self.text, self.tokens)

    @cached_property
    def tokens(self) -> Tokens:
        return tokenize(self.text)

    @cached_property
    def cjk_share(self) -> float:
        """How much of it is Chinese, Japanese or Korean."""
        return self.tokens.cjk / max(1, len(self.tokens))

    def rarity(self, places: int) -> float:
        """From 1 for a term that stands nowhere or once to `weights.common` for one that stands everywhere."""
        blocks = len(self.tokens) / _BLOCK + 1
        rare = math.log1p(blocks / max(0.5, places)) / math.log1p(2 * blocks)
        return rules().weights.common + (1 - rules().weights.common) * min(1.0, rare)

    def words(self, name: str) -> Sequence[int]:
        """The tokens at which a key stands."""
        return self.tokens.words.get(name, ())

    def kin(self, name: str) -> Sequence[int]:
        """The tokens of words that a key which stands nowhere is akin to: of one beginning, or, for a pair, a sign."""
        if CJK_SIGN.match(name):
            every = [self._signs.get(sign, []) for sign in name if sign not in rules().words.cjk_function]
            return sorted({at for places in every if len(places) <= _MOST_KIN for at in places})
        if len(name) < _BEGINNING or name.startswith("="):
            return ()
        found = [
            other
            for other in self._beginnings.get(name[:_BEGINNING], ())[:_MOST_KIN]
            if other.startswith(name[: math.ceil(_AKIN * max(len(name), len(other)))])
        ]
        return sorted({at for other in found for at in self.words(other)[:_MOST_KIN]})

    def together(self, keys: tuple[str, ...]) -> list[int]:
        """The tokens at which all these keys stand near each other."""
        if keys not in self._together:
            self._together[keys] = self._find_together(keys)
        return self._together[keys]

    def _find_together(self, keys: tuple[str, ...]) -> list[int]:
        if len(keys) == 1:
            return list(self.words(keys[0]))
        lists = [self.words(name) for name in keys]
        if not lists or not all(lists):
            return []
        rarest = min(lists, key=len)
        reach = _NEAR + len(keys)
        return [at for at in rarest if all(holds(places, at - reach, at + reach) for places in lists)]

    def numbers(self, stated: Number) -> list[tuple[int, float]]:
        """The tokens of the numbers that bear out a stated one, and how well each does."""
        found: dict[int, float] = {}
        for values, numbers, wanted in (
            (*self._by_value, stated.value),
            (*self._by_figures, stated.bare),
        ):
            first = bisect_left(values, wanted - stated.slack - 1e-9)
            last = bisect_right(values, wanted + stated.slack + 1e-9)
            for number in numbers[first:last]:
                if (worth := agree(stated, number)) > found.get(number.at, 0.0):
                    found[number.at] = worth
        return sorted(found.items())

    def dates(self, stated: Date) -> tuple[list[int], list[int]]:
        """The tokens of dates that say the same, and of those that say part of it."""
        found = self._dates.get(stated.month, [])
        same = [self.token_at(date.start) for date in found if date.says(stated)]
        part = [self.token_at(date.start) for date in found if date.allows(stated)]
        return same, part

    def token_at(self, offset: int) -> int:
        """The token at or behind an offset."""
        return bisect_left(self.tokens.starts, offset)

    def abbreviated(self, name: Name) -> list[int]:
        """The tokens of the acronym that a name of several words has."""
        return self._acronyms.get(name.initials, []) if name.initials else []

    def expanded(self, name: Name) -> list[int]:
        """The tokens at which words stand whose first letters make an acronym; short ones must be capitals."""
        if not name.is_acronym or len(name.written) < 3:
            return []
        letters, places = self._initials
        wanted = name.written
        found: list[int] = []
        at = letters.casefold().find(wanted.casefold())
        while at >= 0 and len(found) < 20:
            if len(wanted) > 3 or letters.startswith(wanted, at):
                found.append(self.token_at(places[at]))
            at = letters.casefold().find(wanted.casefold(), at + 1)
        return found

    @cached_property
    def _beginnings(self) -> dict[str, list[str]]:
        """The keys of Latin words by their first letters."""
        found: dict[str, list[str]] = {}
        for name in self.tokens.words:
            if len(name) >= _BEGINNING and name[0] != "=":
                found.setdefault(name[:_BEGINNING], []).append(name)
        return found

    @cached_property
    def _signs(self) -> dict[str, list[int]]:
        """The tokens at which a Chinese, Japanese or Korean sign stands first in a pair."""
        found: dict[str, list[int]] = {}
        for name, places in self.tokens.words.items():
            if CJK_SIGN.match(name):
                found.setdefault(name[0], []).extend(places)
        return found

    @cached_property
    def _by_value(self) -> tuple[list[float], list[Number]]:
        ordered = sorted(self.tokens.numbers, key=lambda number: (number.value, number.at))
        return [number.value for number in ordered], ordered

    @cached_property
    def _by_figures(self) -> tuple[list[float], list[Number]]:
        ordered = sorted(self.tokens.numbers, key=lambda number: (number.bare, number.at))
        return [number.bare for number in ordered], ordered

    @cached_property
    def _dates(self) -> dict[int, list[Date]]:
        """The dates by month."""
        by_month: dict[int, list[Date]] = {}
        for date in dates(self.text):
            by_month.setdefault(date.month, []).append(date)
        return by_month

    @cached_property
    def _acronyms(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for match in _ACRONYM.finditer(self.text):
            found.setdefault(match[0], []).append(self.token_at(match.start()))
        return found

    @cached_property
    def _initials(self) -> tuple[str, list[int]]:
        words = [(m[0][0], m.start()) for m in _LATIN.finditer(self.text) if len(m[0]) > 1 and key(m[0]) is not None]
        return "".join(letter for letter, _ in words), [start for _, start in words]


def holds(places: Sequence[int], first: int, last: int) -> bool:
    """Whether one of these tokens, which are in order, lies in first .. last, both included."""
    at = bisect_left(places, first)
    return at < len(places) and places[at] <= last
