"""General knowledge of words: stems, parts of speech, synonyms, and the kind of thing a noun denotes.

The vocabulary is `synonyms.toml`, a thesaurus of everyday language with nothing specific to any dataset; the forms
of English words come from the dictionary of `lemminflect`.
"""

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lemminflect import getAllLemmas

_CHINESE = re.compile(r"[\u3400-\u9fff]")

ENDINGS = {"place": "市县镇村省国州岛区城河湖山", "organisation": "司学院校馆局社部队行会厂"}
"""The last characters of Chinese names, by the kind of thing named."""


class Vocabulary(NamedTuple):
    """The parsed data file: bases of irregular nouns, groups of a stem, phrases by first stem, classes of nouns."""

    bases: dict[str, str]
    groups: dict[str, frozenset[int]]
    phrases: dict[str, list[tuple[tuple[str, ...], int]]]
    classes: dict[str, str]
    chinese: re.Pattern[str]
    lines: list[list[str]]


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))


@cache
def table(name: str) -> dict[str, Any]:
    """A table by word: `units` as in the file; `bases` gives the factor, `measures` the property, `irregular` the base;
    `degrees` the words of the property, the kind of its values, and whether the word means more of it.
    """
    data: dict[str, Any] = _data()[name]
    if name == "degrees":
        sides = [(*key.split(", "), more, side) for key, pair in data.items() for more, side in enumerate(pair[::-1])]
        return {word: [measure, kind, bool(more)] for measure, kind, more, side in sides for word in side.split()}
    if name == "bases":
        return {word: float(key) for key, words in data.items() for word in words.split()}
    if name in ("measures", "irregular"):
        return {word: key for key, words in data.items() for word in words.split()}
    return data


@cache
def ordered(name: str) -> tuple[str, ...]:
    """A word list from the data file, in order."""
    entries: list[str] = _data()["words"][name].split()
    return tuple(word for entry in entries for word in (ordered(entry[1:]) if entry[0] == "@" else (entry,)))


def listed(name: str) -> frozenset[str]:
    """A word list from the data file, for lookups."""
    return frozenset(ordered(name))


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary; read once."""
    data = _data()
    entries = [entry.split() for entry in re.split(r"[;\n]", data["forms"].strip())]
    bases = {form: base for base, *forms in entries for form in forms}
    lines = [line.split() for line in data["groups"].strip().splitlines()]
    groups: dict[str, set[int]] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for number, line in enumerate(lines):
        for word in line:
            first, *rest = (_stem(part, bases) for part in re.split(r"[_-]", word))
            if rest:
                phrases.setdefault(first, []).append(((first, *rest), number))
            else:
                groups.setdefault(first, set()).add(number)
    classes: dict[str, str] = {}
    for name, members in data["classes"].items():
        classes = dict.fromkeys(members.split(), name) | classes
    chinese = {word for word in (*classes, *(w for line in lines for w in line)) if _CHINESE.match(word)}
    pattern = re.compile("|".join(sorted(chinese, key=lambda w: (-len(w), w))))
    return Vocabulary(bases, {r: frozenset(g) for r, g in groups.items()}, phrases, classes, pattern, lines)


@lru_cache(maxsize=65536)
def parts_of_speech(word: str) -> frozenset[str]:
    """What an English word can be: NOUN, VERB, ADJ, ADV; empty if the dictionary lacks it."""
    return frozenset(getAllLemmas(word.lower()))


def _lemma(word: str) -> str:
    """The base form: as a verb, else as a noun, else as an adjective; the word itself if it is a base form."""
    lemmas = getAllLemmas(word)
    parts = ("VERB", "NOUN", "ADJ") if len(word) > 3 else ("VERB",)  # most short plurals are abbreviations
    bases = next((lemmas[part] for part in parts if part in lemmas), (word,))
    return word if word in bases else bases[0]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a word, in lower case: `founder`, `founded` and `foundation` have the same one."""
    return _stem(word, vocabulary().bases)


@cache
def _endings() -> re.Pattern[str]:
    """The longest ending of a word: an inflection must leave three letters, any other ending four."""
    return re.compile(rf"(?<=.{{4}})(?:{'|'.join(ordered('suffixes'))})$|(?<=.{{3}})(?:e[sd]?|(?<![su])s|ing|ers?)$")


def _stem(word: str, bases: dict[str, str]) -> str:
    word = word.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    if not word.isascii() or not word.isalpha() or word in ordered("auxiliaries"):
        return word
    lemma = _lemma(bases.get(word, word))
    root = re.sub(r"(?<=..)([^aeiouls])\1$", r"\1", _endings().sub("", bases.get(lemma, lemma)))
    return re.sub(r"(?<=...)y$", "i", root).removesuffix("e")


def groups(root: str) -> frozenset[int]:
    """The numbers of the synonym groups that a stem belongs to."""
    return vocabulary().groups.get(root, frozenset())


@cache
def _common_words() -> frozenset[str]:
    return frozenset(word for line in vocabulary().lines for word in line) | vocabulary().classes.keys()


@lru_cache(maxsize=65536)
def is_common(word: str) -> bool:
    """Whether a word looks like a name only because it is capitalised at the start of a sentence.

    A singular noun counts as a name unless the vocabulary has it: as a common noun it would have an article.
    """
    low = word.lower()
    lemmas = getAllLemmas(low)
    return low in _common_words() or (bool(lemmas) and low not in lemmas.get("NOUN", ()))


@lru_cache(maxsize=32768)
def similar(word: str, others: str) -> bool:
    """Whether a word is one of the others or shares a synonym group with one."""
    numbers, roots = groups(stem(word)), [stem(other) for other in others.split()]
    return stem(word) in roots or any(numbers & groups(root) for root in roots)


@lru_cache(maxsize=8192)
def synonyms(word: str, most: int = 3) -> tuple[str, ...]:
    """Synonyms of a word, starting with those of its smallest group."""
    lines = vocabulary().lines
    numbers = sorted(groups(stem(word)), key=lambda n: (word.lower() not in lines[n], len(lines[n]), n))
    is_chinese = bool(_CHINESE.search(word))
    candidates = (entry for n in numbers for entry in lines[n] if bool(_CHINESE.search(entry)) == is_chinese)
    return tuple(dict.fromkeys(entry.replace("_", " ") for entry in candidates if stem(entry) != stem(word)))[:most]


@lru_cache(maxsize=8192)
def kind_of(noun: str) -> str:
    """What a noun denotes: person, place, organisation, work, thing, time, number, colour, material; else ""."""
    classes, word = vocabulary().classes, noun.lower()
    forms = (word, vocabulary().bases.get(word, word), *getAllLemmas(word).get("NOUN", ()))
    if _CHINESE.search(word):
        forms = tuple(word[i:] for i in range(len(word)))
    kind = next((classes[form] for form in forms if form in classes), "person" if _is_agent(word) else "")
    return "person" if kind == "occupation" else kind


def _is_agent(word: str) -> bool:
    """Whether a noun's ending shows that it denotes someone who does something: from a known verb, or a trade."""
    word = word.removesuffix("s")
    if len(word) < 6 or not re.search(r"[^e][eo]r$", word):
        return re.search(r"..(?:[^aeiou]ist|ian|eer|man|grapher|keeper|maker)$", word) is not None
    is_from_verb = any("VERB" in parts_of_speech(form) for form in (word[:-1], word[:-2], word[:-3]))
    return is_from_verb and stem(word) in vocabulary().groups


def is_occupation(noun: str) -> bool:
    """Whether a noun denotes an occupation."""
    word = noun.lower().removesuffix("s")
    return vocabulary().classes.get(word) == "occupation" or _is_agent(word)
