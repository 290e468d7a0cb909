"""Does a page say what a statement claims: who, what, which value, and whether it is denied, read clause by clause."""

import re
from functools import lru_cache
from typing import Final, Literal

from aiq.offline.engine.lexicon import stem
from aiq.offline.engine.text import contains_name, is_chinese, sentences, words
from aiq.offline.judging.facts import (
    Claim,
    Value,
    among,
    claim,
    conflict,
    named_in,
    pattern,
    plain,
    read,
    roots,
    same,
    same_name,
    share,
)  # fmt: skip

Verdict = Literal["supported", "unsupported", "unknown"]

ENOUGH: Final = 0.4
"""Share of what a clause says besides names and values that one sentence of the page must say."""
_WALL = pattern("wall")


def support(statement: str, page: str, *, in_part: bool = False) -> Verdict:
    """Whether the page says so. `unknown`: it is an error page, a wall, or empty.

    Numbers must agree as rounded, names and dates be in the same sentence, the same one act, and nothing be denied
    that the statement affirms, or the other way round. `in_part`: one clause of it will do, whatever its figures.
    """
    if unreadable(page):
        return "unknown"
    topic = next((span.text for span in named_in(sentences(plain(page))[0])), "")
    parts = [part for sentence in read(statement) for part in sentence]
    whole = claim(plain(statement), parts[0].subject if parts else "")
    if len(parts) == 1:
        parts = [claim(piece, whole.subject) for piece in re.split(r",? and (?=[a-z])", parts[0].text)]

    def said(wanted: Claim) -> bool:
        return any(_says(passage, wanted, topic, in_part) for passage in read(page, topic))

    met = [said(part) for part in parts]
    return "supported" if said(whole) or (any(met) if in_part else len(met) > 1 and all(met)) else "unsupported"


@lru_cache(maxsize=512)
def unreadable(page: str) -> bool:
    """Whether a page has no text to judge by."""
    return len(words(page)) < 4 or (len(page) < 1500 and _WALL.search(page) is not None and len(sentences(page)) < 8)


def _says(passage: tuple[Claim, ...], wanted: Claim, topic: str, in_part: bool) -> bool:
    """Whether a sentence of the page makes a claim. `topic`: what the page is about."""
    best = max(passage, key=lambda clause: _nearness(clause, wanted))
    text = " ".join(clause.text for clause in passage)
    if is_chinese(wanted.text) is not is_chinese(text):  # a reader of one language has only the figures
        return bool(wanted.values) and _valued(passage, best, wanted)
    said = [topic, *(name for clause in passage for name in clause.names)]
    if any(not contains_name(text, name) and not any(same_name(name, n) for n in said) for name in wanted.names):
        return False
    told = share(wanted.relation.difference(*map(roots, said)), roots(text))
    if told < (ENOUGH / 2 if in_part else ENOUGH) or not (in_part or _valued(passage, best, wanted)):
        return False
    agents, ours = ([name for name, role in c.names.items() if role > 0] for c in (best, wanted))
    if not ours and wanted.names.get(wanted.subject) == 0:
        ours = [wanted.subject]
    other = agents and ours and not any(same_name(one, agent) for one in ours for agent in agents)
    return not other and not conflict(wanted, best)


def _nearness(clause: Claim, wanted: Claim) -> float:
    """How much of a claim a clause has, values and names counted in."""
    values = sum(any(same(value, other) for other in clause.values) for value in wanted.values)
    told = sum(among(root, clause.relation) for root in wanted.relation)
    return 2 * told + values + 0.5 * sum(name in clause.text for name in wanted.names)


def _valued(passage: tuple[Claim, ...], best: Claim, wanted: Claim) -> bool:
    """Whether every value is in the sentence, of the same unit, and not displaced in the best clause by another."""
    at = passage.index(best)
    for value in wanted.values:
        kin = [[v for v in clause.values if type(v) is type(value) and _fits(value, v)] for clause in passage]
        holds = [any(same(value, v) for v in found) for found in kin]
        if not any(holds) or (kin[at] and not holds[at]):
            return False
    return True


def _fits(one: Value, other: Value) -> bool:
    """Whether two values may be of the same unit."""
    units = [getattr(value, "unit", "") for value in (one, other)]
    return not all(units) or "people" in units or among(stem(units[0]), [stem(units[1])])


def same_statement(one: str, other: str) -> bool:
    """Whether two statements say exactly the same: nearly all words, all values, the same roles, both affirmed."""
    first, second = claim(plain(one)), claim(plain(other))
    ours, theirs = roots(first.text), roots(second.text)
    like = len(ours & theirs) >= 0.8 * max(1, len(ours | theirs))
    agree = len(first.values) == len(second.values) and all(map(same, first.values, second.values))
    return like and agree and first.names == second.names and not conflict(first, second)
