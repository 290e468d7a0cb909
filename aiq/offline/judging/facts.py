"""What a text says, clause by clause: who or what, in which relation, with which values, and whether it is denied.

All judgements stand on this: an answer is credited, a statement supported and a report's content compared by it.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from aiq.offline.engine import dates
from aiq.offline.engine.lexicon import groups, stem, vocabulary
from aiq.offline.engine.quantities import Quantity, numbers
from aiq.offline.engine.text import Span, name_spans, sentences, words

DATA = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
"""General language that the judges read by."""


def pattern(name: str) -> re.Pattern[str]:
    """A pattern of `words.toml`: any of its lines."""
    return re.compile("|".join(DATA["patterns"][name].strip().splitlines()), re.IGNORECASE)


NEGATION = pattern("negation")
_OPPOSITES = [
    [frozenset(map(stem, side.split())) for side in line.split("|")] for line in DATA["opposites"].splitlines()
]
"""Pairs of sides of which a text that says the one does not say the other."""
_LIGHT = frozenset(map(stem, DATA["light"].split()))
_UNTIL = re.compile(r"\bnot\b.*\buntil\b|\bnot only\b|\bno (?:fewer|less)", re.IGNORECASE)
_BREAK = re.compile(
    r"[;；，]\s*|(?<![A-Za-z])[–—]\s|:\s+(?=[A-Z])"
    r"|,\s+(?=(?:but|while|whereas|which|who|whose|where|after|before|up|down|although|though|because|not|however|so"
    r"|with|its|his|her|and (?:it|he|she|they|its|his|her|their|the|today|now|later|then))\b|and \w+(?:ed|es|s)\b)"
    r"|\s+(?=(?:but|while|whereas|although|who)\s|and (?:later|today|now|then|is|was|has|had)\b"
    r"|and [a-z]+(?:s|ed) (?:at|in|on|to|by|a|an|the|its|around|about|\d|[A-Z]))",
)
_PERSONAL = re.compile(r"\b(?:he|she|him|his|her|they|them|their)\b", re.IGNORECASE)
_NEUTRAL = re.compile(r"\b(?:it(?!\s+(?:is|was)\s+(?:now |then |not )?(?-i:[A-Z]))|its)\b", re.IGNORECASE)
_VERB_FIRST = re.compile(r"(?:and |but |then |later |so )?(?!its|his|this|as\b)[a-z]+(?:s|ed|ught|de)\b")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|get|got)\s+(?:\w+\s+){0,2}?"
    r"(?:[a-z]+(?:ed|en|wn|ught|ilt|ade|old|orn|ung|eld|und)\b(?!\s+\w+ing)|\w+(?:\s+(?:up|out|on|off))?(?=\s+by\b))|[由被]",
)
_COPULA = re.compile(r"\b(?:is|are|was|were|has been|have been)\b|[是为]")
_TO = re.compile(r"[a-z] to\s+(?:the\s+)?$")
_PLACED = re.compile(r"\b(?:in|at|of|on|for|near|as|the same)\s+(?:the\s+)?$", re.IGNORECASE)
_OPENER = re.compile(
    r"^(?:In|On|By|Since|At|From|As of|After)\b(?:[^,]{0,40},|[^,A-Z]*(?:[A-Z][a-z]+ \d{4})?)\s"
    r"|\bchief executive\b|\b(?:head|vice)\b"
)
_HAN = r"(?![由被是在于为和与及的])[\u3400-\u9fff]"
_HAN_NAME = re.compile(
    rf"(?:{_HAN}){{2,10}}?(?:公司|集团|大学|学院|俱乐部|银行|半岛|群岛|[高平草]原|盆地|三角洲|海岸|[谷山湖河站桥社队院馆奖省县]|[厂市](?!长))"
    rf"|(?<=[是为叫])(?:{_HAN}){{2,4}}(?=[，。；]|$)|(?:{_HAN}){{1,6}}·(?:{_HAN}){{1,6}}"
)
_MARKS = re.compile(r"\[\^?\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|[*_`#]+")


class Claim(NamedTuple):
    """A clause. `text`: with pronouns replaced by what they stand for; `told`: as it was written.

    `names`: of each name 1 where it acts, -1 where something is done to it, 0 where neither shows. `relation`: the
    stems that belong to no name, number or date.
    """

    text: str
    told: str
    subject: str
    names: Mapping[str, int]
    relation: frozenset[str]
    numbers: tuple[Quantity, ...]
    days: tuple[dates.Stated, ...]
    negated: bool


def plain(text: str) -> str:
    """The text without citation marks, emphasis and heading signs."""
    return _MARKS.sub("", text)


def named_in(text: str) -> list[Span]:
    """The names of a text that are no dates or rounded numbers, with their places."""
    found = [Span(m.start(), m.end(), m[0]) for m in _HAN_NAME.finditer(text)]
    for start, _, text_ in name_spans(text):
        name = re.sub(r"\s+\d+$", "", text_)
        if len(name.rstrip(".")) > 1 and not dates.find(name):
            found.append(Span(start, start + len(name), name))
    return sorted(found)


@lru_cache(maxsize=2048)
def read(text: str, topic: str = "") -> tuple[tuple[Claim, ...], ...]:
    """The sentences of a text as claims. `topic`: what the text is about where no name was yet."""
    found, about = [], topic
    for sentence in sentences(plain(text)):
        parts: list[Claim] = []
        for told in (piece.strip() for piece in _BREAK.split(sentence) if piece and piece.strip(" .,")):
            lead = re.match(r"(?:who|which|whose)\b", told)
            if lead and parts and parts[-1].names:
                parts.append(claim(list(parts[-1].names)[-1] + "," + told[lead.end() :], about, told))
            else:
                parts.append(claim(_resolved(told, about, topic or about), about, told))
            about = parts[-1].subject or about
        if parts:
            found.append(tuple(parts))
    return tuple(found)


def _resolved(told: str, about: str, topic: str) -> str:
    """A clause with what its pronouns or a missing subject stand for; `it` is what the text is about."""
    if about and _VERB_FIRST.match(told):
        told = f"{about} {re.sub(r'^(?:and|but) ', '', told)}"
    told = _NEUTRAL.sub(topic, told) if topic else told
    return _PERSONAL.sub(about, told) if about else told


def claim(text: str, about: str = "", told: str = "") -> Claim:
    """One clause read. `about`: what was spoken of before, its subject where it names none in front."""
    spans, days = named_in(text), tuple(dates.find(text))
    leads = spans and len(words(text[: spans[0].start])) <= 3
    subject = spans[0].text if leads else about
    taken = sorted([(d.start, d.end) for d in days] + [(s.start, s.end) for s in spans])
    rest = text
    for start, end in reversed(taken):
        rest = rest[:start] + "\0" * (end - start) + rest[end:]
    names = ({subject: 0} if subject else {}) | _roles(text, spans)
    relation = frozenset(root for root in roots(rest) if not root[:1].isdigit()) - _LIGHT
    negated = len(NEGATION.findall(text)) % 2 == 1 and not _UNTIL.search(text)
    return Claim(text, told or text, subject, names, relation, numbers(rest), days, negated)


def _roles(text: str, spans: list[Span]) -> dict[str, int]:
    """What each name does: names that nothing stands between do the same."""
    passive, found, end = _PASSIVE.search(text), dict[str, int](), 0
    role = -1 if passive else 0 if _COPULA.search(text) else 1
    for start, stop, name in spans:
        between = text[end:start]
        if passive and start > passive.start():
            role = 1
        elif not passive and words(_OPENER.sub("", between)):
            role = -1 if role and end else 0
        if role and _TO.search(between):  # who has it in the end: "went to", "lost to", "belongs to"
            found, role = dict.fromkeys(found, -1), 1
        found.setdefault(name, 0 if _PLACED.search(text[:start]) else role)
        end = stop
    return found


@lru_cache(maxsize=65536)
def roots(text: str) -> frozenset[str]:
    """The content stems of a text, of Chinese the pairs of characters; of a phrase with synonyms the group's number."""
    told, phrases = [stem(word) for word in re.findall(r"[A-Za-z'’]+", text)], vocabulary().phrases
    groups_ = (
        str(group)
        for at, root in enumerate(told)
        for phrase, group in phrases.get(root, ())
        if tuple(told[at : at + len(phrase)]) == phrase
    )
    return frozenset(filter(None, map(stem, words(text)))).union(f"={group}" for group in groups_)


@lru_cache(maxsize=65536)
def _senses(root: str) -> frozenset[object]:
    """What a stem may mean: its groups of synonyms, its side of an opposition, itself or its start."""
    sides = [(n, m) for n, pair in enumerate(_OPPOSITES) for m, side in enumerate(pair) if root in side]
    return groups(root).union(sides, [int(root[1:]) if root[:1] == "=" else root[:5]])


def alike(one: str, other: str) -> bool:
    """Whether two stems may mean the same."""
    return not _senses(one).isdisjoint(_senses(other))


def among(root: str, others: Iterable[str]) -> bool:
    """Whether a stem or one like it is among the others."""
    return any(alike(root, other) for other in others)


def share(wanted: frozenset[str], there: frozenset[str]) -> float:
    """The share of the wanted stems that are there, those that only mean the same counting 0.8; 1 where none is."""
    met = [1.0 if root in there else 0.8 * among(root, there) for root in sorted(wanted) if root[:1] != "="]
    return sum(met) / len(met) if met else 1.0


def contrary(one: str, other: str) -> bool:
    """Whether one text says up where the other says down, and neither says both."""
    ours, theirs = ({stem(word) for word in re.findall(r"[A-Za-z]+", text)} for text in (one, other))
    sides = [(bool(ours & up), bool(theirs & up), bool(ours & down), bool(theirs & down)) for up, down in _OPPOSITES]
    return any(side in ((True, False, False, True), (False, True, True, False)) for side in sides)


def same_name(one: str, other: str) -> bool:
    """Whether the words of one name are among those of the other."""
    first, second = set(one.split()), set(other.split())
    return first <= second or second <= first


def same_day(wanted: tuple[int, ...], there: tuple[int, ...]) -> bool:
    """Whether a date states what is wanted of (year, month, day); 0 wants nothing."""
    return wanted[0] == there[0] and wanted[1] in (0, there[1]) and wanted[2] in (0, there[2])


def agrees(one: Quantity, other: Quantity) -> bool:
    """Whether two numbers are equal, or one is the other rounded to the digits that it shows."""
    low, high = sorted((one.value, other.value))
    if low == high or one.is_year or other.is_year or high - low > 0.05 * high:
        return low == high
    return any(_rounds(*pair) for pair in ((low, high), (high, low)))


def _rounds(exact: float, rounded: float) -> bool:
    digits = len(f"{rounded:.9e}".split("e")[0].rstrip("0").replace(".", ""))
    return float(f"{exact:.{digits}g}") == rounded
