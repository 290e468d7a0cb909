"""Text to search terms: words where a script writes spaces, character pairs where it does not.

No stop words and no stemmer: a light ending rule for English plurals is all, so that every other
language is matched exactly as written.
"""

import re
import unicodedata
from functools import lru_cache

_CJK = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_SOUTH_EAST_ASIAN = "\u0e00-\u0e4e\u0e80-\u0ecd\u1000-\u103f\u1780-\u17d3"
_PAIRED = _CJK + _HANGUL + _SOUTH_EAST_ASIAN
"""Scripts without spaces, and Korean, whose words carry their particles: read in pairs of characters."""

_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc"
"""Vowel signs and accents that Python does not count as word characters but that belong to the word."""

_LETTERS = rf"[^\W_{_PAIRED}]+"
_TERM = re.compile(rf"[{_PAIRED}]+|{_LETTERS}(?:[{_MARKS}]+(?:{_LETTERS})?)*(?:'{_LETTERS})*")
_IN_PAIRS = re.compile(f"[{_PAIRED}]")
_PLURAL = re.compile(r"(?<=[a-z]{2})(?:(?P<y>ies)|(?<=ss|sh|ch)es|(?<=[xz])es|(?<![sui])s)$")


def tokens(text: str) -> list[str]:
    """The terms of a text in order, with repetitions; an empty list where it has no letter or digit.

    Lower-cased after NFKC (full-width forms become plain), accents off (`São` finds `Sao`). A run
    of Chinese, Japanese, Korean or South-East Asian script gives its overlapping pairs of
    characters, or the character itself where the run is one.
    """
    plain = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
    if plain.isascii():
        return [_word(term) for term in _TERM.findall(plain)]
    found: list[str] = []
    for term in _TERM.findall(plain):
        if term.isascii() or not _IN_PAIRS.match(term):
            found.append(_word(term))
        elif len(term) == 1:
            found.append(term)
        else:
            found.extend(term[i : i + 2] for i in range(len(term) - 1))
    return found


@lru_cache(maxsize=200_000)
def _word(word: str) -> str:
    """A lower-cased word without possessive, apostrophes, accents and English plural ending."""
    word = word.removesuffix("'s").replace("'", "")
    if not word.isascii():
        parts = unicodedata.normalize("NFKD", word)
        word = "".join(c for c in parts if not "\u0300" <= c <= "\u036f") or word
    return _PLURAL.sub(lambda m: "y" if m.group("y") else "", word) if len(word) > 3 else word
