"""Says whether a line is the title of a reference list, in any of the languages of `titles.toml`, however marked up."""

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Literal

from aiq.core.base import Record

Strength = Literal["strong", "weak"]

_LONGEST = 100
_MARKUP = re.compile(r"<[^<>]*>|\{[^{}]*\}|\]\([^()]*\)|\\[a-z]+\*?\{?")
_NUMBERING = re.compile(
    r"[\W_]*(?:(?:appendix|annexe?|anhang|anexo|附录|附錄|part|section|chapter)\s*[a-z0-9一二三四五六七八九十]?\s*[:：.、\s-]"
    r"|第?\s*(?:\d{1,3}(?:\.\d{1,3})*|[一二三四五六七八九十百]{1,4})\s*(?:章|节|節|部分|部|장|[.、):]|(?=\s)|$)"
    r"|[ivxlc]{1,6}\s*[.、):]|[a-z][.、):]|\d{1,3}(?=[^\W\d]))\s*"
)
_BEHIND = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\]|\d{1,4})[\W_]*$")
_AND_MORE = re.compile(r"\s*(?:\b(?:and|und|et|y)\b|[&/]|[与及和與])\s*[\w\s]{1,40}$")


class _Words(Record):
    strong: frozenset[str]
    weak: frozenset[str]
    beside: frozenset[str]


def title_strength(line: str) -> Strength | None:
    """`strong` for `References`, `weak` for `Notes` (other things stand there too), None for any other line."""
    if len(line) > _LONGEST or not line.strip(" \t>-=|"):
        return None
    words = _MARKUP.sub(" ", unicodedata.normalize("NFKC", line).lower()).strip()
    meanings = [words, _NUMBERING.sub("", words, count=1)]
    meanings += [_BEHIND.sub("", meaning) for meaning in dict.fromkeys(meanings)]
    meanings += [_AND_MORE.sub("", meaning) for meaning in dict.fromkeys(meanings)]
    found = {_strength(meaning) for meaning in dict.fromkeys(meanings)}
    return "strong" if "strong" in found else "weak" if "weak" in found else None


def _strength(words: str) -> Strength | None:
    """Of a title made of the table's words only; a word of several weighs before the words in it."""
    table, pattern = _words()
    found: list[str] = []
    at = 0
    while at < len(words):
        word = pattern.match(words, at)
        if word is None:
            return None
        found.append(word[1] or "")
        at = word.end()
    if table.strong.isdisjoint(found):
        return None if table.weak.isdisjoint(found) else "weak"
    return "strong"


@cache
def _words() -> tuple[_Words, re.Pattern[str]]:
    """The table, and a pattern for its next word, the longest first, with what is no word around it."""
    table = _Words.model_validate(tomllib.loads(Path(__file__).with_name("titles.toml").read_text(encoding="utf-8")))
    words = sorted(table.strong | table.weak | table.beside, key=lambda word: (-len(word), word))
    spelled = (re.escape(word) + (r"(?![^\W\d_])" if _has_blanks(word[-1]) else "") for word in words)
    return table, re.compile(rf"[\W_]*(?:({'|'.join(spelled)})[\W_]*|$)")


def _has_blanks(letter: str) -> bool:
    """Whether words in this letter's script are set apart: Chinese and Japanese are not, Korean adds particles."""
    return letter < "\u1100"
