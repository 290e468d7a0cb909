"""General knowledge of words: stems, irregular forms, synonyms, and what kind of thing a noun stands for.

The vocabulary is `synonyms.toml`: a thesaurus of everyday language, nothing of any data set.
"""

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lemminflect import getAllLemmas

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_WORD_START = 4
"""Letters that a stem keeps at least."""


class Vocabulary(NamedTuple):
    """The data file, read: base of an irregular form, groups of a stem, phrases by first stem, classes of a noun."""

    bases: dict[str, str]
    groups: dict[str, frozenset[int]]
    phrases: dict[str, list[tuple[tuple[str, ...], int]]]
    classes: dict[str, str]
    chinese: re.Pattern[str]
    lines: list[list[str]]


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))


def table(name: str) -> dict[str, Any]:
    """A table of the data file: `units`, `measures`, `degrees`, `bases` or `irregular`."""
    found: dict[str, Any] = _data()[name]
    return found


@cache
def ordered(name: str) -> tuple[str, ...]:
    """A list of words of the data file, as it stands."""
    return tuple(_data()["words"][name].split())


def listed(name: str) -> frozenset[str]:
    """A list of words of the data file, to look words up in."""
    return frozenset(ordered(name))


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary, read once."""
    data = _data()
    bases: dict[str, str] = {}
    for entry in re.split(r"[;\n]", data["forms"]):
        base, *forms = entry.split() or [""]
        bases |= {form: base for form in forms if form not in bases}
    lines = [line.split() for line in data["groups"].strip().splitlines()]
    groups: dict[str, set[int]] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for number, line in enumerate(lines):
        for word in line:
            roots = tuple(_stem(part, bases) for part in re.split(r"[_-]", word))
            if len(roots) == 1:
                groups.setdefault(roots[0], set()).add(number)
            else:
                phrases.setdefault(roots[0], []).append((roots, number))
    classes: dict[str, str] = {}
    for name, members in data["classes"].items():
        classes |= {word: name for word in members.split() if word not in classes}
    chinese = {w for line in lines for w in line if _CHINESE.match(w)} | {w for w in classes if _CHINESE.match(w)}
    pattern = re.compile("|".join(sorted(chinese, key=lambda w: (-len(w), w))))
    return Vocabulary(bases, {r: frozenset(g) for r, g in groups.items()}, phrases, classes, pattern, lines)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a word, lower-cased: `founder`, `founded` and `foundation` give the same one."""
    return _stem(word, vocabulary().bases)


def _stem(word: str, bases: dict[str, str]) -> str:
    word = word.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    word = bases.get(word) or bases.get(word.removesuffix("s")) or word
    if len(word) < _WORD_START or not word.isascii() or not word.isalpha():
        return word
    for suffix in ordered("suffixes"):
        rest = word.removesuffix(suffix)
        if rest == word or (suffix == "s" and word.endswith(("ss", "us", "is"))):
            continue
        if len(rest) >= (3 if suffix in ("s", "es", "ed", "ing", "e", "er", "ers", "ies") else _WORD_START):
            rest += "i" if suffix == "ies" else ""
            undoubled = rest[:-1] if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "aeiouls" else rest
            word = bases.get(rest) or bases.get(rest + "e") or undoubled
            break
    return word[:-1] + "i" if word.endswith("y") and len(word) >= _WORD_START else word.removesuffix("e")


def groups(root: str) -> frozenset[int]:
    """The numbers of the synonym groups that a stem belongs to."""
    return vocabulary().groups.get(root, frozenset())


@lru_cache(maxsize=65536)
def parts_of_speech(word: str) -> frozenset[str]:
    """What an English word can be: NOUN, VERB, ADJ, ADV, ...; empty for one that the dictionary has not."""
    return frozenset(getAllLemmas(word.lower()))


@cache
def _common() -> frozenset[str]:
    return frozenset(word for line in vocabulary().lines for word in line) | vocabulary().classes.keys()


def is_common(word: str) -> bool:
    """Whether the vocabulary has a word as it is, or its singular."""
    return not {word.lower(), word.lower().removesuffix("s")}.isdisjoint(_common())


@lru_cache(maxsize=32768)
def alike(word: str, others: str) -> bool:
    """Whether a word is, or shares a synonym group with, one of the others."""
    mine, roots = groups(stem(word)), [stem(other) for other in others.split()]
    return stem(word) in roots or any(mine & groups(root) for root in roots)


@lru_cache(maxsize=8192)
def synonyms(word: str, most: int = 3) -> tuple[str, ...]:
    """Other words for a word, those of its smallest group first."""
    lines = vocabulary().lines
    numbers = sorted(groups(stem(word)), key=lambda n: (word.lower() not in lines[n], len(lines[n]), n))
    written = bool(_CHINESE.search(word))
    found = dict.fromkeys(
        other.replace("_", " ")
        for n in numbers
        for other in lines[n]
        if stem(other) != stem(word) and bool(_CHINESE.search(other)) == written
    )
    return tuple(found)[:most]


@lru_cache(maxsize=8192)
def kind_of(noun: str) -> str:
    """What a noun stands for: person, place, organisation, work, thing, time, number, colour, material; else ""."""
    classes = vocabulary().classes
    word = noun.lower()
    for form in (
        word,
        vocabulary().bases.get(word, word),
        word.removesuffix("s"),
        word.removesuffix("es"),
        re.sub("ies$", "y", word),
    ):
        if form in classes:
            return "person" if classes[form] == "occupation" else classes[form]
    if _CHINESE.search(word):
        return next((classes[word[i:]] for i in range(1, len(word)) if word[i:] in classes), "")
    return "person" if _is_agent(word) else ""


def _is_agent(word: str) -> bool:
    """Whether a noun by its ending names somebody who does something: of a known verb, or of a trade."""
    word = word.removesuffix("s")
    if re.search(r"(?:[^aeiou]ist|ian|eer|woman|man|grapher|keeper|maker)$", word):
        return len(word) > 5
    return bool(re.search(r"[^e](?:er|or)$", word)) and len(word) > 5 and stem(word) != word and stem(word) in _verbs()


@cache
def _verbs() -> frozenset[str]:
    """The stems that the vocabulary knows other than by the word in -er itself."""
    plain = (word for line in vocabulary().lines for word in line if not word.endswith(("er", "or")))
    return frozenset(stem(word) for word in (*plain, *vocabulary().bases.values()))


def is_occupation(noun: str) -> bool:
    """Whether a noun names what somebody does for a living."""
    word = noun.lower().removesuffix("s")
    return vocabulary().classes.get(word) == "occupation" or _is_agent(word)
