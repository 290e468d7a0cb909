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
    """A part of a sentence of the prompt: `text` with its quotations blanked, `quotes` what stood in them."""

    text: str
    quotes: tuple[str, ...]

    @property
    def conditional(self) -> bool:
        return _CONDITION.search(self.text) is not None

    def negated(self, at: int) -> bool:
        """Whether an odd number of negations stands before the place, in its part of the clause."""
        part = re.split(r"[,;:，；：]|\bbut\b|\binstead\b|而是", self.text[:at])[-1]
        return len(_NEGATION.findall(part)) % 2 == 1


_CONDITION = re.compile(
    r"\b(?:^should|if|when|whenever|where|unless|until|in case|as long as)\b|如果|若|倘若|除非|当", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|\w+n[’']t|never|no|none|without|avoid|neither|nor|forbidden|omit|skip|forget|fail|refrain|leave out"
    r"|drop|hide"
    r"|exclude|zero)\b|不要|不得|不可|不需|无需|无须|不必|不用|勿|别|禁止|省略|忘记|没有|不(?=引|使|搜|写|列|附|给|加|含|带)",
    re.IGNORECASE,
)
_QUOTE = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,80})”|「([^」\n]{1,80})」|`([^`\n]{1,80})`|(?<!\w)'([^'\n]{2,80})'(?!\w)"
)
_ONES = "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBERS = {word: n for n, word in enumerate(_ONES.split("|"))} | {c: n for n, c in enumerate("零一二三四五六七八九十")}
_NUMBERS |= {"single": 1, "once": 1, "twice": 2, "thrice": 3, "couple": 2, "fifteen": 15, "twenty": 20, "thirty": 30}
_NUMBERS |= {"fifty": 50, "hundred": 100, "dozen": 12, "两": 2}
_NUMBER = rf"(?:\d[\d,]*|(?:{'|'.join(w for w in _NUMBERS if w.isascii())})\b|[零一二三四五六七八九十两])"
_BOUNDS = (
    (r"(?:about|around|approximately|roughly|some|~|大约|约)\W*#|#.*左右", lambda n: (n * 8 // 10, -(-n * 12 // 10))),
    (r"(?:no|not|n[’']t)\b[^,;#]*(?:fewer|less) than|at (?:the )?least|minimum|\bmin\b|or more|≥|至少|不少于|以上",
     lambda n: (n, None)),
    (r"(?:fewer|less|under|below)(?: than)?\W*#|(?<!不)少于", lambda n: (None, n - 1)),
    (r"(?:no|not|never|n[’']t)\b[^,;#]*(?:more than|exceed|over)|at (?:the )?most|up to|maximum|\bmax\b|limit"
     r"|within|only|or (?:fewer|less)|(?<!not )(?<!not be )enough|≤|至多|最多|不超过|不多于|以内|之内|仅|只",
     lambda n: (None, n)),
    (r"(?:more than|over|exceed\w*)\W*#|超过", lambda n: (n + 1, None)),
    ("", lambda n: (n, n)),
)  # fmt: skip
"""What the words around a number (#) make of it: the first that fits."""


def clauses(told: str) -> Iterator[Clause]:
    """The clauses of a prompt's text, in order, without list marks."""
    for line in told.splitlines():
        for sentence in sentences(re.sub(r"^\s*(?:[-*•]\s+|\d+[.)]\s+|#+\s+)", "", line)):
            for piece in re.split(r"[;；]\s*", sentence):
                quotes = tuple(next(g for g in m.groups() if g) for m in _QUOTE.finditer(piece))
                yield Clause(_QUOTE.sub(lambda m: f"`{m[4]}`" if m[4] else '""', piece), quotes)


def amounts(clause: Clause, unit: str) -> Iterator[tuple[Limits, int]]:
    """How many of a unit a clause speaks of, and where: "at most 3 calls", "5 to 8 sections", "twice"."""
    counted = (
        rf"(?<![A-Za-z\d.\[])(?P<a>{_NUMBER})(?:\s*(?:to|or|and|-|–|到|至|或)\s*(?P<b>{_NUMBER}))?[\s-]*"
        rf"(?:[\w-]+\s+){{0,2}}?(?:{unit})"
    )
    limited = (
        rf"(?:{unit})(?:(?: \w+){{0,3}}?(?<! up) (?:to|is|are|of|:)\s*(?:at most |at least |up to )?"
        rf"|.{{0,12}}?at most )"
        rf"(?P<c>{_NUMBER})(?![\w\]]|\.\d| times)"
    )
    often = r"\b(?P<d>once|twice|thrice)\b" if "times" in unit else r"(?!)"
    any_number = re.search(f"{_NUMBER}|twice|thrice", clause.text, re.IGNORECASE)
    for match in re.finditer(f"{counted}|{limited}|{often}", clause.text, re.IGNORECASE) if any_number else ():
        values = [_value(word) for word in match.groups() if word]
        before = re.split(r"[.,;，；]", clause.text[: match.start()][-32:])[-1]
        after = re.split(r"[.,;，；]", clause.text[match.end() :][:12])[0]
        around = f"{before}{re.sub(_NUMBER, '#', match[0], count=1, flags=re.IGNORECASE)}{after}"
        least, most = next(make(max(values)) for words, make in _BOUNDS if re.search(words, around, re.IGNORECASE))
        if len(values) > 1 and least:
            least = min(values)
        if least != most or not clause.negated(match.start()):
            yield (least, most), match.start()


def _value(word: str) -> int:
    return int(word.replace(",", "")) if word[0].isdigit() else _NUMBERS[word.lower()]
