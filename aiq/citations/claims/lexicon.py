"""What a word is compared as: its stem, or the concept it names; and how much it is worth."""

import re
import unicodedata
from functools import cache
from typing import Final

from aiq.citations.claims.rules import concepts, rules

CJK: Final = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Signs of Chinese, Japanese and Korean, as the inside of a character class."""
_LONGEST_CONCEPT: Final = 5
_LONGEST_SUFFIX: Final = 8


@cache
def stem(word: str) -> str:
    """A word in lower case without accents, possessive and ending; shorter ones stay as they are."""
    word = folded(word)
    word = re.sub(r"['’].*", "", word)
    endings = _suffixes()
    for size in range(min(_LONGEST_SUFFIX, len(word) - 3), 0, -1):
        ending = word[-size:]
        if ending in endings and len(word) - size >= (3 if ending in ("s", "y", "e") else 4):
            word = word[:-size]
            break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word  # running -> runn -> run


def folded(word: str) -> str:
    """Lower case, ligatures and full-width signs resolved, accents off."""
    if word.isascii():
        return word.casefold()
    text = unicodedata.normalize("NFKD", word).casefold()
    return "".join(char for char in text if not unicodedata.combining(char))


@cache
def key(word: str) -> str | None:
    """What a Latin word is compared as; None for one that carries no meaning. Concepts begin with `=`."""
    plain = folded(word)
    if plain in rules().words.function or (len(plain) < 2 and plain.isascii()):
        return None
    root = stem(word)
    return _latin_concepts().get(root, root)


@cache
def glue() -> frozenset[str]:
    """The keys of words that are worth less."""
    latin = (found for word in sorted(rules().words.glue) if (found := key(word)))
    pairs = (word[at : at + 2] for word in rules().words.cjk_glue for at in range(len(word) - 1))
    return frozenset([*latin, *pairs])


@cache
def opposite() -> dict[str, str]:
    """Concept -> the concept that says the opposite."""
    pairs = [tuple(f"={name}" for name in line.split()) for line in concepts().opposites]
    return {one: other for first, second in pairs for one, other in ((first, second), (second, first))}


def cjk_concepts(run: str) -> list[tuple[int, str]]:
    """The concepts that a run of Chinese signs names, each with its place; the longest word wins."""
    table, found, at = _cjk_concepts(), [], 0
    while at < len(run):
        for size in range(min(_LONGEST_CONCEPT, len(run) - at), 0, -1):
            if name := table.get(run[at : at + size]):
                found.append((at, name))
                at += size - 1
                break
        at += 1
    return found


@cache
def _suffixes() -> frozenset[str]:
    return frozenset(ending for table in rules().suffixes.values() for ending in table.split())


@cache
def _latin_concepts() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in concepts().concepts:
        words = line.split("|")[0].split()
        for word in words:
            table.setdefault(stem(word), f"={words[0]}")
    return table


@cache
def _cjk_concepts() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in concepts().concepts:
        latin, _, cjk = line.partition("|")
        for word in cjk.split():
            table.setdefault(word, f"={latin.split()[0]}")
    return table
