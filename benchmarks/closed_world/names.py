"""Invented names: pronounceable in English, with a Chinese transliteration, each given out only once.

Companies, institutes and festivals share stems on purpose ("Halden Works", "Halden Institute"), so that a search for
one also finds the other.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.tables import Language, table


@dataclass(frozen=True, slots=True)
class Name:
    """What something is called in English and in Chinese."""

    en: str
    zh: str

    def text(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en


def names(text: str) -> tuple[Name, ...]:
    """`hal/哈尔 vel/韦尔` as names."""
    return tuple(Name(*pair.split("/")) for pair in text.split())


def name(row: Mapping[str, str]) -> Name:
    """A table's `{ en = ..., zh = ... }`."""
    return Name(row["en"], row["zh"])


_TABLE = table("names")
_FIRST, _MIDDLE, _LAST = (names(_TABLE[key]) for key in ("first", "middle", "last"))
_QUALITIES, _THINGS = names(_TABLE["qualities"]), names(_TABLE["things"])


class Names:
    """Gives out names; no two are equal in either language."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._used: set[str] = set(_TABLE["real"])
        self._brands: list[tuple[Name, int]] = []
        self._given: list[Name] = []

    def stem(self, syllables: int = 2) -> Name:
        """A new word such as `Halden`; it grows by a syllable where the short ones are used up."""
        for attempt in range(10_000):
            word = self._word(syllables + (attempt > 60) + self._draw.chance(25))
            if self._take(word):
                return word
        raise AssertionError("names ran out")

    def person(self) -> Name:
        """Given name and surname; given names repeat among people, surnames do not."""
        if len(self._given) < 60 or self._draw.chance(15):
            self._given.append(self.stem())
        given, family = self._draw.pick(self._given), self.stem()
        return Name(f"{given.en} {family.en}", f"{given.zh}·{family.zh}")

    def brand(self, suffixes: Sequence[Name], place: int) -> Name:
        """A stem with one of the suffixes; half of the time the stem is in use in another place already."""
        for _ in range(20):
            stem, home = self._draw.pick(self._brands) if self._brands and self._draw.chance(50) else (None, place)
            if stem is None:
                stem = self.stem()
                self._brands.append((stem, place))
            elif home == place:
                continue
            joined = _joined(stem, self._draw.pick(suffixes))
            if self._take(joined):
                return joined
        joined = _joined(self.stem(3), self._draw.pick(suffixes))
        self._take(joined)
        return joined

    def title(self) -> Name:
        """A book's title such as `The Glass Meridian`."""
        for _ in range(30):
            quality, thing = self._draw.pick(_QUALITIES), self._draw.pick(_THINGS)
            title = Name(f"The {quality.en} {thing.en}", f"《{quality.zh}{thing.zh}》")
            if self._take(title):
                return title
        place, thing = self.stem(), self._draw.pick(_THINGS)
        title = Name(f"The {thing.en} of {place.en}", f"《{place.zh}的{thing.zh}》")
        self._take(title)
        return title

    def _word(self, syllables: int) -> Name:
        draw = self._draw
        sounds = [draw.pick(_FIRST), *(draw.pick(_MIDDLE) for _ in range(syllables - 2)), draw.pick(_LAST)]
        english = "".join(sound.en for sound in sounds)
        return Name(re.sub(r"(.)\1\1+", r"\1\1", english).capitalize(), "".join(sound.zh for sound in sounds))

    def _take(self, name: Name) -> bool:
        if {name.en, name.zh} & self._used:
            return False
        self._used.update((name.en, name.zh))
        return True


def _joined(stem: Name, suffix: Name) -> Name:
    return Name(f"{stem.en} {suffix.en}", f"{stem.zh}{suffix.zh}")


class Slugs:
    """Gives every entity an id that is also its page's address, such as `halden-works`; a second equal one a number."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def make(self, text: str) -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
        self._count[slug] = self._count.get(slug, 0) + 1
        return slug if self._count[slug] == 1 else f"{slug}-{self._count[slug]}"
