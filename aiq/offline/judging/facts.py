"""What a text says, clause by clause: who or what, in which relation, with which values, and whether it is denied.

All judgements build on this: crediting an answer, supporting a statement and comparing the content of reports.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from aiq.offline.engine import dates
from aiq.offline.engine.lexicon import groups, stem, vocabulary
from aiq.offline.engine.quantities import Quantity, base_value, numbers
from aiq.offline.engine.source import LINK, URL
from aiq.offline.engine.text import Span, name_spans, sentences, words

DATA = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
"""General language used by the judges."""


def pattern(name: str) -> re.Pattern[str]:
    """A pattern of `words.toml`."""
    return re.compile(DATA["patterns"][name], re.IGNORECASE)


NEGATION = pattern("negation")
_OPPOSITES = [
    [frozenset(map(stem, side.split())) for side in line.split("|")] for line in DATA["opposites"].splitlines()
]
"""Pairs of opposites: a text that states one side does not state the other."""
_LIGHT_STEMS = frozenset(map(stem, DATA["light"].split()))
_FALSE_NEGATION = re.compile(r"\bnot\b.*\buntil\b|\bnot only\b|\bno (?:fewer|less)", re.IGNORECASE)
_BREAK = re.compile(
    r"[;；，]\s*|(?<![A-Za-z])[–—]\s|:\s+(?=[A-Z])"
    r"|,\s+(?=(?:but|while|whereas|which|who|whose|where|after|before|up|down|although|though|because|not|however|so"
    r"|with|its|his|her|and (?:it|he|she|they|its|his|her|their|the|today|now|later|then))\b|and \w+(?:ed|es|s)\b)"
    r"|\s+(?=(?:but|while|whereas|although|who)\s|and (?:later|today|now|then|is|was|has|had)\b"
    r"|and [a-z]+(?:s|ed) (?:at|in|on|to|by|a|an|the|its|around|about|\d|[A-Z]))",
)
_RELATIVE = re.compile(r"^(?:who|which|whose)\b")
_PERSONAL = re.compile(r"\b(?:he|she|him|his|her|they|them|their)\b", re.IGNORECASE)
_NEUTRAL = re.compile(r"\b(?:it(?!\s+(?:is|was)\s+(?:now |then |not |the )?(?-i:[A-Z]))|its)\b", re.IGNORECASE)
_VERB_FIRST = re.compile(r"(?:and |but )?(?=(?:then |later |so )?(?!its|his|this|as\b)[a-z]+(?:s|ed|ught|de)\b)")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|get|got)\s+(?:\w+\s+){0,2}?"
    r"(?:[a-z]+(?:ed|en|wn|ught|ilt|ade|old|orn|ung|eld|und)\b(?!\s+\w+ing)|\w+(?:\s+(?:up|out|on|off))?(?=\s+by\b))|[由被]",
)
_COPULA = re.compile(r"\b(?:is|are|was|were|has been|have been)\b|[是为]")
_RECIPIENT = re.compile(r"[a-z] to\s+(?:the\s+)?$")
_OPENER = re.compile(
    r"^(?:In|On|By|Since|At|From|As of|After)\b(?:[^,]{0,40},|[^,A-Z]*(?:[A-Z][a-z]+ \d{4})?)\s"
    r"|\bchief executive\b|\b(?:head|vice)\b"
)
_HAN = r"(?![由被是在于为和与及的了否或哪该])[\u3400-\u9fff]"
_HAN_NAME = re.compile(
    r"(?:例如|比如|包括|解释|比较|说明|介绍|分析|讨论|评估|紧扣|围绕|覆盖)?"
    rf"((?:{_HAN}){{2,10}}?(?:公司|集团|大学|学院|俱乐部|银行|半岛|群岛|[高平草]原|盆地|三角洲|海岸|院(?!校)"
    rf"|[谷山湖河站桥社队馆奖省县]|[厂市](?!长))(?!谷)|(?<=(?<!不)[是为叫])(?:{_HAN}){{2,4}}(?=[，。；]|$)"
    rf"|(?:{_HAN}){{1,6}}·(?:{_HAN}){{1,6}})"
)
"""A name, after an optional verb that takes it as its object."""
_LINKED = re.compile(r"\s*\(\s*(?:\[[^\]\n]*\]\(https?://[^\s()]*\)|https?://[^\s()]*)[,;\s]*\)")
"""An address or a link in its own brackets."""
_MARKS = re.compile(r"\[\^?\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|[*_`#]+")


NEAR: Final = 0.85
"""Spelling similarity from which two names count as the same."""
Value = Quantity | dates.Stated
Item = str | Value


class Claim(NamedTuple):
    """A clause, with its pronouns replaced by what they refer to.

    `names`: for each name, 1 if it acts, -1 if it is acted upon, 0 if neither is clear. `relation`: the stems that
    belong to no name, number or date. `values`: its numbers, then its dates.
    """

    text: str
    subject: str
    names: Mapping[str, int]
    relation: frozenset[str]
    values: tuple[Value, ...]
    negated: bool

    def has(self, value: Value) -> bool:
        """Whether it states a value."""
        return any(same(value, other) for other in self.values)


def stripped(text: str) -> str:
    """The text without citation marks, addresses, emphasis and heading signs; link texts stay, unless in brackets."""
    return _MARKS.sub("", URL.sub("", LINK.sub(r"\1", _LINKED.sub("", text))))


def named_in(text: str) -> list[Span]:
    """The names in a text, with their positions; dates and plain numbers are not names."""
    found = [Span(m.start(1), m.end(), m[1]) for m in _HAN_NAME.finditer(text)]
    for start, _, told in name_spans(text):
        name = re.sub(r"\s+\d+$", "", told)
        if len(name.rstrip(".")) > 1 and not dates.find(name) and [name] != [n.text for n in numbers(name)]:
            found.append(Span(start, start + len(name), name))
    return sorted(found)


@lru_cache(maxsize=2048)
def read(text: str, topic: str = "") -> tuple[tuple[Claim, ...], ...]:
    """The sentences of a text as claims. `topic`: what the text is about until it gives a name."""
    claims, about = [], topic
    for sentence in sentences(stripped(text)):
        clauses: list[Claim] = []
        for clause in (piece.strip() for piece in _BREAK.split(sentence) if piece.strip(" .,")):
            if clauses and clauses[-1].names:
                clause = _RELATIVE.sub(f"{list(clauses[-1].names)[-1]},", clause)
            clauses.append(claim(_resolve_pronouns(clause, about, topic or about), about))
            about = clauses[-1].subject or about
        claims += [tuple(clauses)] if clauses else []
    return tuple(claims)


def _resolve_pronouns(clause: str, about: str, topic: str) -> str:
    """A clause with its pronouns or missing subject filled in, "it" by the topic, others by what was mentioned."""
    if about and _VERB_FIRST.match(clause):
        clause = _VERB_FIRST.sub(f"{about} ", clause, count=1)
    clause = _NEUTRAL.sub(topic, clause) if topic else clause
    return _PERSONAL.sub(about, clause) if about else clause


@lru_cache(maxsize=8192)
def claim(text: str, about: str = "") -> Claim:
    """Parse one clause. `about`: what was mentioned before, which is its subject if it does not begin with one."""
    spans, days = named_in(text), tuple(dates.find(text))
    subject = spans[0].text if spans and len(words(text[: spans[0].start])) <= 3 else about
    rest = text
    for start, end in sorted([(d.start, d.end) for d in days] + [(s.start, s.end) for s in spans], reverse=True):
        rest = rest[:start] + "\0" * (end - start) + rest[end:]
    names = ({subject: 0} if subject else {}) | _roles(text, spans)
    relation = frozenset(root for root in roots(rest) if not root[:1].isdigit()) - _LIGHT_STEMS
    negated = len(NEGATION.findall(text)) % 2 == 1 and not _FALSE_NEGATION.search(text)
    return Claim(text, subject, names, relation, (*numbers(rest), *days), negated)


def _roles(text: str, spans: list[Span]) -> dict[str, int]:
    """The role of each name: names with nothing between them share a role."""
    passive, roles, end = _PASSIVE.search(text), dict[str, int](), 0
    role = -1 if passive else 0 if _COPULA.search(text) else 1
    for start, stop, name in spans:
        between = text[end:start]
        if passive and start > passive.start():
            role = 1
        elif not passive and words(_OPENER.sub("", between)):
            role = -1 if role and end else 0
        if role and _RECIPIENT.search(between):  # who has it in the end: "went to", "lost to", "belongs to"
            roles, role = dict.fromkeys(roles, -1), 1
        roles.setdefault(name, role)
        end = stop
    return roles


@lru_cache(maxsize=65536)
def roots(text: str) -> frozenset[str]:
    """The content stems of a text (in Chinese, pairs of characters), and the synonym group numbers of its phrases."""
    stems, phrases = [stem(word) for word in re.findall(r"[A-Za-z'’]+", text)], vocabulary().phrases
    entries = [(n, *entry) for n, root in enumerate(stems) for entry in phrases.get(root, ())]
    senses = {f"={group}" for n, phrase, group in entries if tuple(stems[n : n + len(phrase)]) == phrase}
    return frozenset(senses.union(filter(None, map(stem, words(text)))))


@lru_cache(maxsize=65536)
def _senses(root: str) -> frozenset[object]:
    """What a stem may mean: its synonym groups, and its first letters."""
    return groups(root).union([int(root[1:]) if root[:1] == "=" else root[:5] or None])


def has_synonym(root: str, others: Iterable[str]) -> bool:
    """Whether a stem, or one that may mean the same, is among the others."""
    return any(not _senses(root).isdisjoint(_senses(other)) for other in others)


def overlap(wanted: frozenset[str], there: frozenset[str]) -> float:
    """The share of the wanted stems that are there; those that only mean the same count 0.8; 1 if none is wanted."""
    scores = [1.0 if root in there else 0.8 * has_synonym(root, there) for root in sorted(wanted) if root[:1] != "="]
    return sum(scores) / len(scores) if scores else 1.0


def same(wanted: Item, there: Item) -> bool:
    """Whether a name or value is the wanted one.

    A few words of a name are enough and small misspellings are forgiven; a date need only match the parts that the
    wanted one gives; either number may be rounded.
    """
    if isinstance(wanted, str) and isinstance(there, str):
        tokens, other_tokens = set(words(wanted)), set(words(there))
        similar = SequenceMatcher(None, wanted.casefold(), there.casefold()).ratio() >= NEAR
        return similar or bool(tokens and other_tokens and (tokens <= other_tokens or other_tokens <= tokens))
    if isinstance(wanted, Quantity) and isinstance(there, Quantity):
        expected, other = base_value(wanted), base_value(there)
        rounded = any(float(f"{a:.{n}g}") == b for n in (2, 3, 4) for a, b in ((expected, other), (other, expected)))
        return expected == other or (rounded and not wanted.is_year)
    if isinstance(wanted, dates.Stated) and isinstance(there, dates.Stated):
        return all(part in (0, other) for part, other in zip(wanted[:3], there[:3], strict=True))
    return False


def opposites(one: Claim, other: Claim) -> bool:
    """Whether one clause states one side of an opposition (up, won) and the other only the opposite side."""
    sides, other_sides = (
        {(n, m) for n, pair in enumerate(_OPPOSITES) for m, side in enumerate(pair) if side & stems}
        for stems in ({*map(stem, re.findall(r"[A-Za-z]+", c.text))} for c in (one, other))
    )
    return any((n, 1 - m) in other_sides - sides and (n, m) not in other_sides for n, m in sides)


def roles_swap(wanted: Claim, there: Claim) -> bool:
    """Whether two names that both clauses share have swapped roles."""
    matches = [
        role == there.names[other]
        for name, role in wanted.names.items()
        for other in there.names
        if role and there.names[other] and same(name, other)
    ]
    return len(matches) > 1 and not any(matches)
