"""Invented names: pronounceable in English, with a Chinese transliteration, each used only once.

Companies, institutes and festivals share stems on purpose ("Halden Works", "Halden Institute"), so that a search for
one also finds the other.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.tables import Language, table


class Name(NamedTuple):
    """What something is called in English and in Chinese."""

    en: str
    zh: str

    def text(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en

    def short(self, language: Language) -> str:
        """The name without a book's brackets."""
        return self.text(language).strip("《》")


def names(text: str) -> tuple[Name, ...]:
    """Parse names such as `hal/哈尔 vel/韦尔`."""
    return tuple(Name(*pair.split("/")) for pair in text.split())


_TABLE = table("names")
_FIRST, _MIDDLE, _LAST, _QUALITIES, _THINGS, MONTHS = (
    names(_TABLE[key]) for key in ("first", "middle", "last", "qualities", "things", "months")
)


def form(kind: str, *parts: Name) -> Name:
    """A name composed of others, according to the table's `forms`."""
    forms = Name(**_TABLE["forms"][kind])
    return Name(*(text.format(*words) for text, words in zip(forms, zip(*parts, strict=True), strict=True)))


class Names:
    """Generates names; no two are equal in either language."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._used: set[str] = set(_TABLE["real"])
        self._brands: list[tuple[Name, int]] = []
        self._given: list[Name] = []
        self._ids: Counter[str] = Counter()

    def id(self, text: str) -> str:
        """An id such as `halden-works`; a number tells equal ones apart."""
        slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
        self._ids[slug] += 1
        return slug if self._ids[slug] == 1 else f"{slug}-{self._ids[slug]}"

    def stem(self, syllables: int = 2) -> Name:
        """A new word such as `Halden`, a syllable longer if the short ones are used up."""
        lengths = (syllables + (attempt > 60) + self._draw.chance(25) for attempt in range(10_000))
        return self.unused(map(self._word, lengths))

    def person(self) -> Name:
        """Given name and surname; given names may repeat, surnames do not."""
        if len(self._given) < 60 or self._draw.chance(15):
            self._given.append(self.stem())
        return form("person", self._draw.pick(self._given), self.stem())

    def brands(self, suffixes: Sequence[Name], place: int) -> Iterator[Name]:
        """Stems with one of the suffixes; half of the stems are already in use in another place."""
        draw, brands = self._draw, self._brands
        for _ in range(20):
            stem, home = draw.pick(brands) if brands and draw.chance(50) else (self.stem(), None)
            if home is None:
                brands.append((stem, place))
            if home != place:
                yield form("brand", stem, draw.pick(suffixes))
        yield form("brand", self.stem(3), draw.pick(suffixes))

    def titles(self) -> Iterator[Name]:
        """Book titles, such as `The Glass Meridian`."""
        draw = self._draw
        for _ in range(30):
            yield form("title", draw.pick(_QUALITIES), draw.pick(_THINGS))
        yield form("title_of_place", self.stem(), draw.pick(_THINGS))

    def unused(self, names: Iterable[Name]) -> Name:
        """The first of the names that is not used yet."""
        name = next(name for name in names if self._used.isdisjoint(name))
        self._used.update(name)
        return name

    def _word(self, syllables: int) -> Name:
        draw = self._draw
        sounds = [draw.pick(_FIRST), *(draw.pick(_MIDDLE) for _ in range(syllables - 2)), draw.pick(_LAST)]
        english, chinese = map("".join, zip(*sounds, strict=True))
        return Name(re.sub(r"(.)\1\1+", r"\1\1", english).capitalize(), chinese)
