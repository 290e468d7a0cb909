"""Decides whether a page supports a statement, clause by clause: who, what, which value, and whether it is denied."""

from functools import lru_cache
from typing import Final, Literal

from aiq.offline.engine.text import contains_name, sentences, words
from aiq.offline.judging.facts import (
    Claim,
    claim,
    has_synonym,
    named_in,
    opposites,
    overlap,
    pattern,
    read,
    roles_swap,
    roots,
    same,
    stripped,
)

Verdict = Literal["supported", "unsupported", "unknown"]

ENOUGH: Final = 0.4
"""The share of a clause's content, besides names and values, that one sentence of the page must state."""
_WALL = pattern("wall")


def support(statement: str, page: str, *, in_part: bool = False) -> Verdict:
    """Whether the page supports the statement. `unknown`: the page is an error page, behind a wall, or empty.

    Numbers must agree up to rounding, names and dates must be in the same sentence, the same name must act, and neither
    may deny what the other affirms. `in_part`: support for one clause is enough, whatever its figures.
    """
    if unreadable(page):
        return "unknown"
    topic = next((span.text for span in named_in(sentences(stripped(page))[0])), "")
    parts = [part for sentence in read(statement) for part in sentence]
    whole = claim(stripped(statement), parts[0].subject if parts else "")
    whole_holds, *holds = (any(_states(p, c, topic, in_part) for p in read(page, topic)) for c in (whole, *parts))
    enough = any(holds) if in_part else len(holds) > 1 and all(holds)
    return "supported" if whole_holds or enough else "unsupported"


@lru_cache(maxsize=512)
def unreadable(page: str) -> bool:
    """Whether a page has no text to judge by."""
    return len(words(page)) < 4 or (len(page) < 1500 and _WALL.search(page) is not None and len(sentences(page)) < 8)


def _states(passage: tuple[Claim, ...], wanted: Claim, topic: str, in_part: bool) -> bool:
    """Whether a sentence of the page makes a claim. `topic`: what the page is about."""
    best = max(passage, key=lambda clause: _nearness(clause, wanted))
    text = " ".join(clause.text for clause in passage)
    names = [topic, *(name for clause in passage for name in clause.names)]
    if any(not contains_name(text, name) and not any(same(name, n) for n in names) for name in wanted.names):
        return False
    if overlap(wanted.relation.difference(*map(roots, names)), roots(text)) < (ENOUGH / 2 if in_part else ENOUGH):
        return False
    for value in () if in_part else wanted.values:
        displaced = not best.has(value) and any(type(other) is type(value) for other in best.values)
        if displaced or not any(clause.has(value) for clause in passage):
            return False
    agents, wanted_agents = ([name for name, role in c.names.items() if role > 0] for c in (best, wanted))
    wanted_agents = wanted_agents or [name for name in (wanted.subject,) if wanted.names.get(name) == 0]
    mismatch = agents and wanted_agents and not any(same(name, agent) for name in wanted_agents for agent in agents)
    return not (mismatch or best.negated is not wanted.negated or opposites(wanted, best) or roles_swap(wanted, best))


def _nearness(clause: Claim, wanted: Claim) -> float:
    """How much of a claim a clause contains, including values and names."""
    matches = sum(has_synonym(root, clause.relation) for root in wanted.relation)
    return 2 * matches + sum(map(clause.has, wanted.values)) + 0.5 * sum(name in clause.text for name in wanted.names)


def same_statement(one: str, other: str) -> bool:
    """Whether two statements say the same: nearly all words, all values, the same roles, both affirmed or denied."""
    first, second = claim(stripped(one)), claim(stripped(other))
    stems, others = roots(first.text), roots(second.text)
    facts = [({value[:2] for value in c.values}, c.names, c.negated) for c in (first, second)]
    return len(stems & others) >= 0.8 * len(stems | others) and facts[0] == facts[1] and not opposites(first, second)
