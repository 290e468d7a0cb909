"""A prompt's sentences as clauses: what is wanted or not, and how many of what.

Two negations make a positive ("do not forget to cite"); quoted words are named, they do not instruct.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aiq.offline.engine.text import sentences

Limits = tuple[int | None, int | None]
"""(least, most), None where open."""


@dataclass(frozen=True)
class Clause:
    """A sentence of the prompt: `text` with its quotations blanked, `quotes` what stood in them."""

    text: str
    quotes: tuple[str, ...]
    conditional: bool

    def wants(self, pattern: str) -> bool | None:
        """Whether the clause wants what the pattern names: True, False where it is negated, None where not named."""
        match = re.search(pattern, self.text, re.IGNORECASE)
        return None if match is None else not self.negated(match.start())

    def negated(self, at: int) -> bool:
        """Whether an odd number of negations stands before the place, in its part of the clause."""
        part = re.split(r"[,;:，；：]|\bbut\b|\binstead\b|而是", self.text[:at])[-1]
        return len(_NEGATION.findall(part)) % 2 == 1


_NEGATION = re.compile(
    r"\b(?:not|\w+n[’']t|never|no|none|without|avoid|neither|nor|forbidden|omit|skip|forget|fail|refrain|leave out"
    r"|drop|hide|exclude|zero)\b|不要|不得|不可|不需|无需|无须|不必|不用|勿|别|禁止|省略|忘记|没有|不(?=引|使|搜|写|列|附|给|加|含|带)",
    re.IGNORECASE,
)
_QUOTE = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,80})”|「([^」\n]{1,80})」|`([^`\n]{1,80})`|(?<!\w)'([^'\n]{2,80})'(?!\w)"
)
LIMITING = re.compile(
    r"\bonly\b|\bjust\b|\bsingle\b|(?<!not )(?<!not be )enough|allow|budget|limit|stop after|exactly|precisely"
    r"|suffic|^\W*(?:please )?(?:make|run|use|perform|do|issue|conduct|search|call|work)\b|恰好|正好|仅|只|次",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"\b(?:^should|if|when|whenever|where|unless|until|in case|as long as)\b|如果|若|倘若|除非|当", re.IGNORECASE
)
_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBERS = {**{w: n for n, w in enumerate(_ONES)}, "single": 1, "once": 1, "twice": 2, "thrice": 3, "couple": 2,
            "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "dozen": 12,
            **{c: n for n, c in enumerate("零一二三四五六七八九十")}, "两": 2}  # fmt: skip
NUMBER = (
    r"(?:\d[\d,]*|(?:"
    + "|".join(w for w in sorted(_NUMBERS, key=len, reverse=True) if w.isascii())
    + r")\b|[零一二三四五六七八九十两])"
)
_MOST = re.compile(
    r"at (?:the )?most|up to|(?:no|not) more than|maximum|\bmax\b|limit\w*|within|under|below|only|(?:not|n[’']t"
    r"|never) exceed|or (?:fewer|less)|fewer than|less than|enough|≤|至多|最多|不超过|不多于|以内|之内|仅|只|少于",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"at (?:the )?least|minimum|\bmin\b|(?:no|not) (?:fewer|less) than|or more|more than|over|≥|至少|不少于|以上|超过",
    re.I,
)
_ABOUT = re.compile(r"about|around|approximately|roughly|some|~|大约|左右|约", re.IGNORECASE)


def clauses(told: str) -> Iterator[Clause]:
    """The clauses of a prompt's text, in order, without list marks."""
    for line in told.splitlines():
        for sentence in sentences(re.sub(r"^\s*(?:[-*•]\s+|\d+[.)]\s+|#+\s+)", "", line)):
            for piece in re.split(r"[;；]\s*", sentence):
                quotes = tuple(next(g for g in m.groups() if g) for m in _QUOTE.finditer(piece))
                text = _QUOTE.sub(lambda m: f"`{m[4]}`" if m[4] else '""', piece)
                yield Clause(text, quotes, CONDITION.search(text) is not None)


def value_of(word: str) -> int:
    """The number that a word or figures stand for."""
    return int(word.replace(",", "")) if word[0].isdigit() else _NUMBERS[word.lower()]


def amounts(clause: Clause, unit: str) -> Iterator[tuple[Limits, int]]:
    """How many of a unit a clause speaks of, and where: "at most 3 calls", "5 to 8 sections", "twice"."""
    text = clause.text
    counted = (
        rf"(?P<a>(?<![A-Za-z\d.\[])(?:{NUMBER}))(?:\s*(?:to|or|and|-|–|到|至"
        rf"|或)\s*(?P<b>{NUMBER}))?[\s-]*(?:[\w-]+\s+){{0,2}}?(?:{unit})"
    )
    limited = (
        rf"(?:{unit})(?: \w+){{0,3}}?(?<! up) (?:to|is|are|of|:)\s*(?:at most |at least "
        rf"|up to )?(?P<a>{NUMBER})(?![\w\]]|\.\d)"
    )
    often = r"\b(?P<a>once|twice|thrice)\b" if "times" in unit else r"(?!)"
    for pattern in (counted, limited, often):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            first = value_of(match["a"])
            second = value_of(match["b"]) if "b" in match.groupdict() and match["b"] else None
            before, after = text[max(0, match.start() - 32) : match.start()], text[match.end() : match.end() + 12]
            yield _bounds(first, second, before, match.group(), after, clause.negated(match.start())), match.start()


def _bounds(first: int, second: int | None, before: str, said: str, after: str, negated: bool) -> Limits:
    before, after = re.split(r"[.,;，；]", before)[-1], re.split(r"[.,;，；]", after)[0]
    near = before + (
        said + after
        if re.search(r"or (?:fewer|less|more)|at most|at least|以内|以上|左右|enough", said + after)
        else ""
    )
    if second is not None:
        return (None if _MOST.search(near) else min(first, second), max(first, second))
    if _ABOUT.search(before[-16:]) or "左右" in after:
        return first * 8 // 10, -(-first * 12 // 10)
    if re.search(r"(?:more|over|exceed\w*)(?: than)?\s*$", before, re.IGNORECASE) or "超过" in before:
        return (None, first) if negated or re.search(r"exceed|不超过", before) else (first + 1, None)
    if re.search(r"(?:fewer|less|under|below)(?: than)?\s*$", before, re.IGNORECASE):
        return (first, None) if negated else (None, first - 1)
    least, most = (max((m.end() for m in kind.finditer(near)), default=-1) for kind in (_LEAST, _MOST))
    if least == most:
        return (None, None) if negated else (first, first)
    return (first, None) if least > most else (None, first)
