"""A (statement, page) pair with the verdict that is known or was given, and what each way of checking says of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from aiq.citations.claims.evidence import Evidence
from aiq.citations.claims.lexicon import CJK, folded
from aiq.citations.claims.rules import rules
from aiq.citations.claims.source import SourceText
from aiq.citations.claims.support import check_against
from aiq.citations.claims.terms import Statement
from aiq.offline.world.claims.claim import Claim

_WORD = re.compile(rf"[^\W_{CJK}]+|[{CJK}]+")


@dataclass(frozen=True, slots=True)
class Pair:
    """`cluster` names what is resampled together: an entity, a topic, a page; `summary`: a finding, no single fact."""

    kind: str
    statement: str
    page: str
    verdict: str
    cluster: str
    summary: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair with our verdict, score and reasons, whether scripts differ, the score's parts, the baseline's score.

    Without parts where nothing could be compared.
    """

    pair: Pair
    verdict: str
    score: float
    across: bool
    reasons: tuple[str, ...]
    parts: Mapping[str, float]
    overlap: float


def planted(claims: Iterable[Claim], part: str) -> list[Pair]:
    """The planted claims of one half."""
    return [Pair(c.kind, c.statement, c.page, c.verdict, c.entity, c.summary) for c in claims if c.part == part]


def judge(pairs: Sequence[Pair]) -> list[Judged]:
    """Every pair checked; a page that several statements cite is read once."""
    sources: dict[str, SourceText] = {}
    found = []
    for pair in pairs:
        source = sources.setdefault(pair.page, SourceText(pair.page))
        statement = Statement.read(pair.statement)
        support = check_against(statement, source)
        across = statement.across(source)
        evidence = Evidence.gathered(statement, source)
        parts = {} if support.verdict == "unknown" else evidence.parts
        score = overlap(pair.statement, pair.page)
        found.append(Judged(pair, support.verdict, support.score, across, support.reasons, parts, score))
    return found


def overlap(statement: str, page: str) -> float:
    """The baseline: the share of the statement's content words that stand somewhere on the page."""
    words = content_words(statement)
    return len(words & content_words(page)) / len(words) if words else 0.0


@cache
def content_words(text: str) -> frozenset[str]:
    """Words and figures but function words, in lower case; Chinese as pairs of signs."""
    found: set[str] = set()
    for word in _WORD.findall(text):
        if word[0] >= "\u3005":
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif (plain := folded(word)) not in rules().words.function:
            found.add(plain)
    return frozenset(found)
