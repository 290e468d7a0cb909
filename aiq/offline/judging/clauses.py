"""Texts taken apart for judging: clauses with what they are about, what they claim, and whether they deny it."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from aiq.offline.engine import dates
from aiq.offline.engine.lexicon import groups, stem, vocabulary
from aiq.offline.engine.quantities import Quantity, numbers
from aiq.offline.engine.text import Span, is_chinese, name_spans, sentences, words

DATA = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
"""General language that the judges read by."""


def pattern(name: str) -> re.Pattern[str]:
    """A pattern of `words.toml`: any of its lines."""
    return re.compile("|".join(DATA["patterns"][name].strip().splitlines()), re.IGNORECASE)


def listed(name: str) -> frozenset[str]:
    """A list of words of `words.toml`."""
    return frozenset(DATA["words"][name].split())


def _pairs(name: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """Pairs of sides of `words.toml`, as stems."""
    lines = (line.split("|") for line in DATA["words"][name].splitlines())
    return tuple(tuple(frozenset(map(stem, side.split())) for side in line) for line in lines)


NEGATION = pattern("negation")
OPPOSITES = _pairs("opposites")
"""Pairs of sides of which a text that says the one does not say the other."""
_CONVERSE = _pairs("converse")
"""Verbs that tell the same event from either side: who is named first changes with them."""
_NONE: frozenset[tuple[int, int]] = frozenset()
_SIDE = {root: frozenset([(n, m)]) for n, pair in enumerate(OPPOSITES) for m in (0, 1) for root in sorted(pair[m])}
_LIGHT = frozenset(map(stem, listed("light")))
_MEASURES = listed("measures")

_UNTIL = re.compile(r"\bnot\b.*\buntil\b|\bnot only\b|\bno (?:fewer|less)", re.IGNORECASE)
_BREAK = re.compile(
    r"[;；，]\s*|(?<![A-Za-z])[–—]\s|:\s+(?=[A-Z])"
    r"|,\s+(?=(?:but|while|whereas|which|who|whose|where|after|before|up|down|although|though|because|not|however|so"
    r"|with|its|his|her|and (?:it|he|she|they|its|his|her|their|today|now|later|then|since))\b|and \w+(?:ed|es|s)\b)"
    r"|\s+(?=(?:but|while|whereas|although|who)\s|and (?:later|today|now|then|is|was|has|had)\b"
    r"|and [a-z]+(?:s|ed) (?:at|in|on|to|by|a|an|the|its|around|about|\d|[A-Z]))",
)
_PERSONAL = re.compile(r"\b(?:he|she|him|his|her|they|them|their)\b", re.IGNORECASE)
_NEUTRAL = re.compile(r"\b(?:it(?!\s+(?:is|was)\s+(?:now |then |not )?(?-i:[A-Z]))|its)\b", re.IGNORECASE)
_THE_FIRM = re.compile(rf"^(?:The|This)\s+(?:{'|'.join(sorted(listed('general')))})\s+(?=[a-z]+\b)")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|get|got)\s+(?:\w+\s+){0,2}?"
    r"(?:\w+(?:ed|en|wn|ught|ilt|ade|old|orn|ung|eld|und)\b(?!\s+\w+ing)|\w+(?:\s+(?:up|out|on|off))?(?=\s+by\b))",
    re.IGNORECASE,
)
_PLACED = re.compile(r"\b(?:in|at|of|on|for|near|as|the same)\s+(?:the\s+)?$", re.IGNORECASE)
_OBLIQUE = re.compile(r"\b(?:to|from|with|by|against|like|than)\s+(?:the\s+)?$|[a-z]\s+(?:in|at|on)\s+$")
_OPENER = re.compile(
    r"^(?:In|On|By|Since|At|From|As of|After)\b(?:[^,]{0,40},|[^,A-Z]*(?:[A-Z][a-z]+ \d{4})?)\s"
    r"|\bchief executive\b|\b(?:head|vice)\b"
)
_NO_NAME = re.compile(
    r"(?:About|Around|Some|Roughly|Nearly|Almost|Over|Under|Up|Only|Until|Just|Exactly|First|Second|Third|Place)\b"
)
_MARKS = re.compile(r"\[\^?\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|[*_`#]+")


def plain(text: str) -> str:
    """The text without citation marks, emphasis and heading signs."""
    return _MARKS.sub("", text)


def named_in(text: str) -> list[Span]:
    """The names of a text that are no dates or rounded numbers, with their places."""
    spans = (_without_number(span) for span in name_spans(text) if len(span.text.rstrip(".")) > 1)
    return [span for span in spans if not dates.find(span.text) and not _NO_NAME.match(span.text)]


def _without_number(span: Span) -> Span:
    name = re.sub(r"\s+\d+$", "", span.text)
    return Span(span.start, span.start + len(name), name)


@lru_cache(maxsize=65536)
def roots(text: str) -> frozenset[str]:
    """The content stems of a text; of Chinese the pairs of characters."""
    return frozenset(stem(word) for word in words(text))


@lru_cache(maxsize=65536)
def concepts(text: str) -> frozenset[str]:
    """What a text speaks of: its stems, in Chinese the words that the vocabulary knows."""
    if not is_chinese(text):
        return roots(text)
    return frozenset(word for word in vocabulary().chinese.findall(text) if len(word) > 1)


@lru_cache(maxsize=65536)
def alike(one: str, other: str) -> bool:
    """Whether two stems are one or stand in a group of synonyms."""
    if one == other or not groups(one).isdisjoint(groups(other)) or (len(one) > 4 and one[:5] == other[:5]):
        return True
    return not _SIDE.get(one, _NONE).isdisjoint(_SIDE.get(other, _NONE))


def among(root: str, others: Iterable[str]) -> bool:
    """Whether a stem or one like it is among the others."""
    return any(alike(root, other) for other in others)


def among_any(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether any of some stems is among the others."""
    return any(among(root, others) for root in some)


@lru_cache(maxsize=16384)
def senses(text: str) -> frozenset[int]:
    """The groups of synonyms whose phrases ("went to", "took over") the text has."""
    told = [stem(word) for word in re.findall(r"[A-Za-z'’]+", text)]
    phrases = vocabulary().phrases
    return frozenset(
        group
        for at, root in enumerate(told)
        for phrase, group in phrases.get(root, ())
        if tuple(told[at : at + len(phrase)]) == phrase
    )


def share(wanted: frozenset[str], there: frozenset[str], text: str = "") -> float:
    """The share of the wanted stems that are there, synonyms and phrases of `text` included; 1 where none is wanted."""
    told, said = senses(text), sides(text)

    def met(root: str) -> float:
        if root in there:
            return 1.0
        return 0.8 * (
            among(root, there) or not groups(root).isdisjoint(told) or not _SIDE.get(root, _NONE).isdisjoint(said)
        )

    return sum(map(met, wanted)) / len(wanted) if wanted else 1.0


@lru_cache(maxsize=16384)
def sides(text: str) -> frozenset[tuple[int, int]]:
    """Which sides of which opposites a text has words of."""
    told = {stem(word) for word in re.findall(r"[A-Za-z]+", text)}
    return frozenset((n, m) for n, pair in enumerate(OPPOSITES) for m, side in enumerate(pair) if side & told)


def contrary(one: str, other: str) -> bool:
    """Whether one text says up where the other says down, and neither says both."""
    ours, theirs = sides(one), sides(other)
    return any((n, 1 - m) not in ours and (n, m) not in theirs and (n, 1 - m) in theirs for n, m in ours)


@dataclass(frozen=True)
class Clause:
    """A clause. `text`: with pronouns replaced by what they stand for, where that is known; `told`: as it was written.

    `subject`: the name it is about.
    """

    text: str
    subject: str = ""
    told: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in order; the subject first where it only carries over."""
        named = [span.text for span in named_in(self.text)]
        return tuple(dict.fromkeys([*([self.subject] if self.subject else []), *named]))

    @cached_property
    def roots(self) -> frozenset[str]:
        return roots(self.text)

    @cached_property
    def claim(self) -> frozenset[str]:
        """The stems that belong to no name, number or date: what is said of them."""
        text = self.text
        for name in sorted(self.names, key=len, reverse=True):
            text = text.replace(name, " ")
        for stated in reversed(dates.find(text)):
            text = text[: stated.start] + " " + text[stated.end :]
        for number in reversed(numbers(text)):
            text = text[: number.start] + " " + text[number.end :]
        units = frozenset(stem(number.unit) for number in self.numbers if number.unit in _MEASURES)
        return frozenset(root for root in roots(text) if not re.search(r"\d", root)) - _LIGHT - units

    @cached_property
    def days(self) -> tuple[dates.Stated, ...]:
        return tuple(dates.find(self.text))

    @cached_property
    def numbers(self) -> tuple[Quantity, ...]:
        """The numbers that are no part of a date or name."""
        taken = [(d.start, d.end) for d in self.days] + [(s.start, s.end) for s in named_in(self.text)]
        return tuple(n for n in numbers(self.text) if not any(a <= n.start < b for a, b in taken))

    @cached_property
    def negated(self) -> bool:
        return len(NEGATION.findall(self.text)) % 2 == 1 and not _UNTIL.search(self.text)

    def acts(self, name: str) -> int:
        """1 where the name is who acts, -1 where something is done to it, 0 where neither shows."""
        at = self.text.find(name)
        if at < 0 or _PLACED.search(self.text[:at]):
            return 0
        first = next((span.start for span in named_in(self.text)), at)
        if passive := _PASSIVE.search(self.text):
            by = re.search(r"\bby\b", self.text[passive.end() :])
            return -1 if at < passive.start() else 1 if by and not self._said(passive.end() + by.end(), at) else 0
        if self._said(0, first):
            return 0
        return -1 if self._said(first, at) else 1

    def _said(self, start: int, end: int) -> bool:
        """Whether anything but names stands between two places."""
        between = self.text[start:end]
        for name in self.names:
            between = between.replace(name, " ")
        return bool(words(_OPENER.sub("", between)))


def converse(left: str, right: str) -> bool:
    """Whether two clauses tell of an event from opposite sides ("beat", "lost to")."""
    one, other = roots(left), roots(right)
    return any((a & one and b & other and not b & one) or (b & one and a & other and not a & one) for a, b in _CONVERSE)


@lru_cache(maxsize=2048)
def clauses(text: str, topic: str = "") -> tuple[tuple[Clause, ...], ...]:
    """The sentences of a text as clauses. `topic`: what the text is about where no name was yet."""
    found, about = [], topic
    for sentence in sentences(plain(text)):
        parts: list[Clause] = []
        for part in (piece.strip() for piece in _BREAK.split(sentence) if piece and piece.strip(" .,")):
            if (lead := re.match(r"(?:who|which|whose)\b", part)) and parts and parts[-1].names:
                part = parts[-1].names[-1] + part[lead.end() :]
            clause = _clause(part, about, topic or about)
            about = clause.subject or about
            parts.append(clause)
        if parts:
            found.append(tuple(parts))
    return tuple(found)


def _clause(told: str, about: str, topic: str) -> Clause:
    """One clause: its pronouns resolved to what was spoken of, its subject found. `it` is what the text is about."""
    part = told
    if is_chinese(part):
        head = re.match(r"[\u3400-\u9fff·]{2,10}?(?=[于在是自由共有从为被将曾已的])", part)
        return Clause(part, head[0] if head else about, told)
    if (firm := _THE_FIRM.match(part)) and topic and not name_spans(part[: firm.end()]):
        return Clause(f"{topic} {part[firm.end() :]}", topic, told)
    if re.match(r"(?:and |but |then |later |so )?(?!its|his|this|as\b)[a-z]+(?:s|ed|ught|de)\b", part) and about:
        part = f"{about} {re.sub(r'^(?:and|but) ', '', part)}"
    part = _NEUTRAL.sub(topic, part) if topic else part
    part = _PERSONAL.sub(about, part) if about else part
    spans = named_in(part)
    leads = spans and len(words(part[: spans[0].start])) <= 3 and not _OBLIQUE.search(part[: spans[0].start])
    return Clause(part, spans[0].text if leads else about, told)
