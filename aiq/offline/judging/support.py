"""Does a page say what a statement claims: by the numbers, names and words of its best passage."""

import re
from collections.abc import Sequence
from typing import Literal

from aiq.offline.judging.numbers import numbers
from aiq.offline.reading.text import contains_name, is_chinese, names, sentences, words

Support = Literal["supported", "unsupported", "unknown"]

WINDOW = 3
"""Sentences of a page that are read together."""
ENOUGH = 0.5
"""Share of a statement's words that must stand in one passage."""
_TOO_SHORT = 8  # words: less is no page
_WALL = re.compile(
    r"captcha|access denied|page (?:could )?not (?:be )?found|\b404\b|\b403 forbidden|enable (?:javascript|cookies)"
    r"|checking your browser|log ?in to (?:continue|read)|页面不存在|请登录",
    re.IGNORECASE,
)


class Page:
    """A page cut into passages once, for all the statements that cite it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.unreadable = len(words(text)) < _TOO_SHORT or (len(text) < 1500 and _WALL.search(text) is not None)
        told = sentences(text)
        title = told[0] if told else ""
        self.passages = [f"{title}\n" + "\n".join(told[at : at + WINDOW]) for at in range(max(1, len(told) - 1))]
        self.vocabularies = [frozenset(words(passage)) for passage in self.passages]

    def says(self, statement: str, *, in_part: bool = False) -> Support:
        """The verdict on one statement. Numbers must agree, most names be there, and the words be near each other.

        `in_part`: the words alone will do, fewer of them where a number agrees.
        """
        if self.unreadable:
            return "unknown"
        wanted = tuple(dict.fromkeys(words(statement)))
        if not wanted:
            return "unsupported"
        overlaps = [sum(word in there for word in wanted) / len(wanted) for there in self.vocabularies]
        best = max(overlaps)
        if in_part:
            told = numbers(self.text)
            shared = any(number.agrees(other, 0.005) for number in numbers(statement) for other in told)
            return "supported" if best >= (ENOUGH / 2 if shared else ENOUGH) else "unsupported"
        near = [passage for passage, overlap in zip(self.passages, overlaps, strict=True) if overlap >= best - 0.1]
        if is_chinese(statement) != is_chinese(self.text):  # a reader without the other language has only the figures
            return "supported" if numbers(statement) and _figures_agree(statement, [self.text]) else "unsupported"
        agrees = best >= ENOUGH and _figures_agree(statement, near) and self._names_agree(statement)
        return "supported" if agrees else "unsupported"

    def _names_agree(self, statement: str) -> bool:
        """Whether most names of the statement stand on the page, if only by their last word."""
        named = names(statement)
        there = sum(contains_name(self.text, name) or contains_name(self.text, name.split()[-1]) for name in named)
        return there * 4 >= len(named) * 3


def _figures_agree(statement: str, passages: Sequence[str]) -> bool:
    """Whether some passage has every number of the statement; half a percent passes for rounding."""
    wanted = numbers(statement)
    return any(
        all(any(number.agrees(other, 0.005) for other in numbers(passage)) for number in wanted) for passage in passages
    )
