"""Names in a statement: runs of capitalised words, acronyms, words with capitals or figures inside."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aiq.citations.claims.lexicon import CJK, folded, glue, key
from aiq.citations.claims.numbers import is_unit
from aiq.citations.claims.rules import rules

_WORD: Final = re.compile(rf"[^\W\d_{CJK}]+(?:['’][^\W\d_{CJK}]+)?")
_GAP: Final = re.compile(r" |-|‐|–|\. |’s |'s ")
_LINKS: Final = frozenset(["of", "de", "van", "von", "der", "den", "la", "le", "du", "di", "da", "del", "the"])
_STARTS: Final = re.compile(r"(?:^|[.!?:;。！？：；\n•|(（\"“][\"”»')）\]]*)\s*$")
_LOOK_BACK: Final = 20
_TITLE: Final = 0.6
"""Share of capitalised words from which on a statement is a title, or German, and capitals mean nothing."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written, and the keys of its words in order."""

    written: str
    keys: tuple[str, ...]

    @property
    def is_acronym(self) -> bool:
        """Whether it is written in capitals: `QEC`, `NASA`."""
        return self.written.isalpha() and self.written.isupper() and 2 <= len(self.written) <= 7

    @property
    def initials(self) -> str:
        """The first letters of its words, in capitals; empty for fewer than three words."""
        words = [word for word in re.split(r"[\s-]+", self.written) if word and word.lower() not in _LINKS]
        return "".join(word[0] for word in words).upper() if len(words) > 2 else ""


_GERMAN: Final = frozenset(
    ["der", "die", "das", "den", "dem", "des", "und", "von", "mit", "ist", "ein", "eine", "im", "zu"]
)
_DESIGNATION: Final = re.compile(r"[-‐]?(\d+(?:\.\d+)?)(?![\d.]*\d)")


def names(text: str) -> tuple[Name, ...]:
    """The names of a statement, each once, in order."""
    words = list(_WORD.finditer(text))
    capitals = sum(word[0][0].isupper() for word in words)
    in_cjk = re.search(f"[{CJK}]", text) is not None
    german = sum(word[0].lower() in _GERMAN for word in words) > 1
    if not in_cjk and len(words) >= 4 and (german or capitals > _TITLE * len(words)):
        found = [_name([word]) for word in words if _odd(word[0])]
    else:
        found = [_name(run) for run in _runs(text, words, in_cjk)]
    return tuple(dict.fromkeys(name for name in found if name.keys and not is_unit(name.written)))


def _runs(text: str, words: list[re.Match[str]], in_cjk: bool) -> Iterator[list[re.Match[str]]]:
    run: list[re.Match[str]] = []
    for number, word in enumerate(words):
        if run and not _GAP.fullmatch(text, run[-1].end(), word.start()):
            yield from _trimmed(text, run)
            run = []
        capital = word[0][0].isupper() or _odd(word[0]) or (in_cjk and len(word[0]) > 1)
        follows = number + 1 < len(words) and words[number + 1][0][0].isupper()
        plain = word[0].lower()
        if (capital and plain not in rules().words.calendar) or (run and plain in _LINKS and follows):
            run.append(word)
        elif run:
            yield from _trimmed(text, run)
            run = []
    yield from _trimmed(text, run)


def _trimmed(text: str, run: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """A sentence's first word is no name for its capital alone."""
    while run and (run[-1][0].lower() in _LINKS):
        run = run[:-1]
    if run and _STARTS.search(text, max(0, run[0].start() - _LOOK_BACK), run[0].start()) and not _odd(run[0][0]):
        plain = folded(run[0][0])
        compound = text[run[0].end() : run[0].end() + 1] in ("-", "‐")  # "Non-Gaussian" is one first word
        if len(run) == 1 or compound or plain in rules().words.openers or key(plain) is None or key(plain) in glue():
            run = run[1:]
    while run and key(run[0][0]) is None and not _odd(run[0][0]):
        run = run[1:]
    if run:
        yield run


def _name(run: list[re.Match[str]]) -> Name:
    """With the figures of a designation, which make it another name: `GPT-4`, `CO2`."""
    text, start, end = run[0].string, run[0].start(), run[-1].end()
    keys = [found for word in run if (found := key(word[0])) is not None]
    figures = _DESIGNATION.match(text, end)
    if figures and keys and not keys[-1].startswith("="):
        keys[-1] = folded(run[-1][0]) + figures[1]
        end = figures.end()
    return Name(text[start:end], tuple(keys))


def _odd(word: str) -> bool:
    """Capitals where a sentence would have none: `NASA`, `iPhone`, `DeepMind`."""
    return len(word) > 1 and any(char.isupper() for char in word[1:])
