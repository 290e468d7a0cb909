"""Does a page say what a statement claims: who, what, which value, and whether it is denied, read clause by clause."""

import re
from functools import lru_cache
from typing import Final, Literal

from aiq.offline.engine.lexicon import stem
from aiq.offline.engine.text import contains_name, is_chinese, sentences, words
from aiq.offline.judging.facts import (
    Claim,
    agrees,
    alike,
    among,
    claim,
    contrary,
    named_in,
    pattern,
    plain,
    read,
    roots,
    same_day,
    same_name,
    share,
)  # fmt: skip

Verdict = Literal["supported", "unsupported", "unknown"]

ENOUGH: Final = 0.4
"""Share of what a clause says of its names and values that one sentence of the page must say."""
_WALL = pattern("wall")


def support(statement: str, page: str, *, in_part: bool = False) -> Verdict:
    """Whether the page says so. `unknown`: it is an error page, a wall, or empty.

    Numbers must agree as rounded, names and dates be in the same sentence, the same one act, and nothing be denied
    that the statement affirms, or the other way round. `in_part`: one clause of it will do, whatever its figures.
    """
    if unreadable(page):
        return "unknown"
    statement = plain(statement)
    topic = next((span.text for span in named_in(sentences(plain(page))[0])), "")
    passages = read(page, topic)

    def said(wanted: Claim, enough: float = ENOUGH) -> bool:
        return any(_says(passage, wanted, enough, topic) for passage in passages)

    parts = [part for sentence in read(statement) for part in sentence]
    if parts and said(claim(statement, parts[0].subject)):
        return "supported"
    if len(parts) == 1:
        parts = [claim(piece, parts[0].subject) for piece in re.split(r",? and (?=[a-z])", parts[0].text)]
    if in_part:
        return "supported" if any(said(part, ENOUGH / 2) for part in parts) else "unsupported"
    return "supported" if len(parts) > 1 and all(map(said, parts)) else "unsupported"


@lru_cache(maxsize=512)
def unreadable(page: str) -> bool:
    """Whether a page has no text to judge by."""
    return len(words(page)) < 4 or (len(page) < 1500 and _WALL.search(page) is not None and len(sentences(page)) < 8)


def _says(passage: tuple[Claim, ...], wanted: Claim, enough: float, topic: str) -> bool:
    """Whether a sentence of the page makes a claim. `topic`: what the page is about."""
    best = max(passage, key=lambda clause: _nearness(clause, wanted))
    text = " ".join(clause.text for clause in passage)
    if is_chinese(wanted.text) is not is_chinese(text):  # a reader of one language has only the figures
        return bool(wanted.numbers) and _figures(passage, best, wanted)
    said = [topic, *(name for clause in passage for name in clause.names)]
    for name in wanted.names:
        if not contains_name(text, name) and not any(same_name(name, other) for other in said):
            return False
    if share(wanted.relation.difference(*map(roots, said)), roots(text)) < enough:
        return False
    return (enough < ENOUGH or _figures(passage, best, wanted)) and _acts(best, wanted)


def _nearness(clause: Claim, wanted: Claim) -> float:
    """How much of a claim a clause has, figures and names counted in."""
    figures = sum(any(agrees(n, other) for other in clause.numbers) for n in wanted.numbers)
    days = sum(any(same_day(d, other) for other in clause.days) for d in wanted.days)
    told = sum(among(root, clause.relation) for root in wanted.relation)
    return 2 * told + figures + days + 0.5 * sum(name in clause.text for name in wanted.names)


def _figures(passage: tuple[Claim, ...], best: Claim, wanted: Claim) -> bool:
    """Whether every number and date is in the sentence, of the same things, and not displaced in the best clause."""
    for number in wanted.numbers:
        unit = number.unit
        holds = [
            clause
            for clause in passage
            for n in clause.numbers
            if agrees(number, n)
            and (
                not (unit and n.unit)
                or "people" in (unit, n.unit)
                or among(stem(unit), {stem(n.unit), *clause.relation})
            )
        ]
        if not holds or (
            best not in holds and any(unit == n.unit or alike(stem(unit), stem(n.unit)) for n in best.numbers)
        ):
            return False
    for day in wanted.days:
        holds = [clause for clause in passage if any(same_day(day, d) for d in clause.days)]
        if not holds or (best not in holds and best.days):
            return False
    return True


def _acts(best: Claim, wanted: Claim) -> bool:
    """Whether the same one does it, and both affirm or both deny it."""
    if best.negated is not wanted.negated or contrary(wanted.text, best.text):
        return False
    agents, ours = ([name for name, role in c.names.items() if role > 0] for c in (best, wanted))
    if not ours and wanted.names.get(wanted.subject) == 0:
        ours = [wanted.subject]
    acted = [
        role == best.names[other]
        for name, role in wanted.names.items()
        for other in best.names
        if role and best.names[other] and same_name(name, other)
    ]
    if len(acted) > 1 and not all(acted):
        return False
    return not agents or not ours or any(same_name(one, agent) for one in ours for agent in agents)


def same_statement(one: str, other: str) -> bool:
    """Whether two statements say exactly the same: nearly all words, all figures, the same roles, both affirmed."""
    first, second = claim(plain(one)), claim(plain(other))
    values = [({n.value for n in c.numbers}, {d[:3] for d in c.days}, c.negated, c.names) for c in (first, second)]
    ours, theirs = roots(first.text), roots(second.text)
    like = len(ours & theirs) >= 0.8 * max(1, len(ours | theirs))
    return like and values[0] == values[1] and not contrary(first.text, second.text)
