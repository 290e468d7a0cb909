"""Does a page say what a statement claims: who, what, which value, and whether it is denied, read clause by clause."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from aiq.offline.engine.lexicon import stem
from aiq.offline.engine.quantities import Quantity
from aiq.offline.engine.text import contains_name, is_chinese, names, sentences, words
from aiq.offline.judging.clauses import (
    Clause,
    alike,
    among,
    among_any,
    clauses,
    contrary,
    converse,
    pattern,
    plain,
    roots,
    senses,
    share,
)  # fmt: skip

Verdict = Literal["supported", "unsupported", "unknown"]

ENOUGH = 0.4
"""Share of what a clause says of its names and numbers that one passage must say."""
ENOUGH_CHINESE = 0.45
_FAR = 0.05
"""Relative difference from which no rounding keeps the meaning."""
_WALL = pattern("wall")
_HAN_VERB = re.compile(
    r"(收购|创办|创立|创建|击败|战胜|接替|起诉|发明|发现|设计|教|任命|聘请|出版|经营|并购|打败)(?:了)?"
)
_HAN_VALUE = re.compile(r"(?:是|为|叫)([\u3400-\u9fff·]{2,12})[。！]?$")


def support(statement: str, page: str, *, in_part: bool = False) -> Verdict:
    """Whether the page says so. `unknown`: it is an error page, a wall, or empty.

    Numbers must agree as rounded, names and dates be in the same passage, the same one act, and nothing be denied
    that the statement affirms, or the other way round. `in_part`: one clause or one figure of it will do.
    """
    if unreadable(page):
        return "unknown"
    statement = plain(statement)
    if is_chinese(statement) or is_chinese(page):
        held = _chinese(statement, page, in_part)
    else:
        held = _english(statement, page, in_part)
    return "supported" if held else "unsupported"


@lru_cache(maxsize=512)
def unreadable(page: str) -> bool:
    """Whether a page has no text to judge by."""
    return len(words(page)) < 4 or (len(page) < 1500 and _WALL.search(page) is not None and len(sentences(page)) < 8)


def agrees(one: Quantity, other: Quantity) -> bool:
    """Whether two numbers mean the same: one rounds to the other, with the digits that it shows."""
    if one.value == other.value:
        return True
    if one.is_year or other.is_year or max(one.value, other.value) == 0:
        return False
    if abs(one.value - other.value) > _FAR * max(one.value, other.value):
        return False
    return _rounds_to(one, other) or _rounds_to(other, one)


def _rounds_to(exact: Quantity, rounded: Quantity) -> bool:
    digits = re.sub(r"\D", "", rounded.text.split(" ")[0]).lstrip("0")
    significant = digits.rstrip("0") if "." not in rounded.text else digits
    if not significant or (exact.value < 100 and exact.value == int(exact.value)):
        return False
    unit = (
        10.0 ** (len(str(int(rounded.value))) - len(significant)) if rounded.value >= 1 else 10.0 ** -len(significant)
    )
    return abs(exact.value - rounded.value) <= unit / 2 * 1.0001


def _english(statement: str, page: str, in_part: bool) -> bool:
    parts = [clause for sentence in clauses(statement) for clause in sentence]
    if not parts:
        return False
    topic = next(iter(names(sentences(plain(page))[0])), "")
    passages = clauses(page, topic)

    def said(clause: Clause, enough: float = ENOUGH) -> bool:
        return any(_says(passage, clause, enough, topic) for passage in passages)

    if said(Clause(statement, parts[0].subject)):
        return True
    if len(parts) == 1:
        parts = [Clause(piece, parts[0].subject) for piece in re.split(r",? and (?=[a-z])", parts[0].text)]
    if in_part:
        return any(said(part, ENOUGH / 2) for part in parts)
    return len(parts) > 1 and all(map(said, parts))


def _says(passage: tuple[Clause, ...], wanted: Clause, enough: float, topic: str) -> bool:
    """Whether a sentence of the page makes the claim of a clause. `topic`: what the page is about."""
    text = " ".join(clause.text for clause in passage)
    there = frozenset().union(*(clause.roots | roots(clause.subject) for clause in passage))
    said = [name for clause in passage for name in (*clause.names, topic)]
    if not all(_named(name, said, text) or _ordinary(name, wanted, there) for name in wanted.names):
        return False
    claim = frozenset(root for root in wanted.claim if not any(root in roots(name) for name in said))
    if not (claim or wanted.numbers or wanted.days or len(wanted.names) > 1):
        return False
    if share(claim, there, text) < enough and len(wanted.names) < 4:  # four names in a row are a claim of their own
        return False
    best = max(passage, key=lambda clause: _nearness(clause, wanted))
    return _figures(passage, best, wanted) and _roles(best, wanted)


def _named(name: str, said: Sequence[str], text: str) -> bool:
    return any(_same_name(name, other) for other in said) or contains_name(text, name)


def _nearness(clause: Clause, wanted: Clause) -> float:
    """How much of the claim a clause has, its own figures and names counted in."""
    figures = sum(any(agrees(n, other) for other in clause.numbers) for n in wanted.numbers)
    days = sum(any(d[:3] == other[:3] for other in clause.days) for d in wanted.days)
    named = sum(name in clause.text for name in wanted.names)
    told = sum(among(root, clause.claim) for root in wanted.claim) + len(senses(wanted.text) & senses(clause.text))
    return 2 * told + figures + days + 0.5 * named


def _ordinary(name: str, wanted: Clause, there: frozenset[str]) -> bool:
    """Whether a capital is only that of the sentence's first word, and the passage has the word or one like it."""
    return " " not in name and wanted.text.startswith(name) and among(stem(name), there)


def _same_name(one: str, other: str) -> bool:
    """Whether the words of one name are among those of the other."""
    first, second = set(one.split()), set(other.split())
    return first <= second or second <= first


def _figures(passage: tuple[Clause, ...], best: Clause, wanted: Clause) -> bool:
    """Whether every number and date is in the passage, of the same things, and not displaced in the best clause."""
    given = [(number, clause) for clause in passage for number in clause.numbers]
    for number in wanted.numbers:
        equal = [(n, c) for n, c in given if agrees(number, n) and _same_unit(number, n, c)]
        if not equal:
            return False
        if not any(c is best for _, c in equal) and any(_rivals(number, n) for n in best.numbers):
            return False
        if any(stem(n.unit) == stem(number.unit) for n, _ in given if number.unit) and not any(
            stem(n.unit) == stem(number.unit) or n.unit == "" for n, _ in equal
        ):
            return False
    for day in wanted.days:
        year = f" {day.year} " if not day.month else "\0"  # within a name: "the Prize 2023 went to"
        holds = [c for c in passage if any(_same_day(day, d) for d in c.days) or year in c.text]
        if not holds or (best not in holds and best.days):
            return False
    return True


def _same_day(wanted: tuple[int, ...], there: tuple[int, ...]) -> bool:
    return wanted[0] == there[0] and wanted[1] in (0, there[1]) and wanted[2] in (0, there[2])


def _same_unit(wanted: Quantity, there: Quantity, clause: Clause) -> bool:
    """Whether both count the same: equal units, one without, or the wanted one named elsewhere in the clause."""
    if not wanted.unit or not there.unit:
        return True
    one, other = stem(wanted.unit), stem(there.unit)
    return alike(one, other) or among(one, clause.claim) or "people" in (wanted.unit, there.unit)


def _rivals(one: Quantity, other: Quantity) -> bool:
    return one.is_year is other.is_year and (one.unit == other.unit or alike(stem(one.unit), stem(other.unit)))


def _roles(best: Clause, wanted: Clause) -> bool:
    """Whether the same one does it, and both affirm or both deny it."""
    if best.negated is not wanted.negated or contrary(wanted.text, best.text):
        return False
    flip = -1 if converse(wanted.text, best.text) else 1
    acted = [(wanted.acts(name), flip * _acts(best, name)) for name in wanted.names]
    acted = [pair for pair in acted if all(pair)]
    if len(acted) > 1 and any(here != there for here, there in acted):
        return False
    agents = [name for name in best.names if flip * best.acts(name) > 0]
    ours = [name for name in wanted.names if wanted.acts(name) > 0]
    if agents and ours and not any(_same_name(one, other) for one in ours for other in agents):
        return not among_any(wanted.claim, best.claim) or stem(agents[0]) in wanted.claim
    about, other = wanted.subject, best.subject
    if not about or not other or flip < 0 or _same_name(about, other) or stem(other) in wanted.claim:
        return True
    if wanted.acts(about) < 0 or best.acts(other) <= 0 or re.search(r"\b(?:is|was) [A-Z]", wanted.text):
        return True  # who is spoken of is not who acts
    return not any(among(root, best.claim) for root in wanted.claim)


def _acts(clause: Clause, name: str) -> int:
    found = next((n for n in clause.names if _same_name(name, n)), "")
    return clause.acts(found) if found else 0


def _chinese(statement: str, page: str, in_part: bool) -> bool:
    """The same for Chinese: pairs of characters for words, verbs that take an agent and a patient for roles."""
    [wanted] = [Clause(statement)]
    told = [c for sentence in clauses(page) for c in sentence]
    if is_chinese(statement) is not is_chinese(page):  # a reader of one language has only the figures
        given = [n for c in told for n in c.numbers]
        return bool(wanted.numbers) and all(any(agrees(n, g) for g in given) for n in wanted.numbers)
    there = frozenset().union(*(c.roots for c in told)) if told else frozenset()
    numbers_there = [n for c in told for n in c.numbers]
    days_there = [d for c in told for d in c.days]
    figures = all(any(agrees(n, g) for g in numbers_there) for n in wanted.numbers)
    days = all(any(_same_day(d, g) for g in days_there) for d in wanted.days)
    pairs = frozenset(root for root in wanted.roots if not re.search(r"\d", root))
    covered = sum(root in there for root in pairs) / max(1, len(pairs))
    if in_part:
        return covered >= ENOUGH_CHINESE / 2 and (
            covered >= ENOUGH_CHINESE or (figures and bool(wanted.numbers or wanted.days))
        )
    best = max(told, key=lambda c: len(pairs & c.roots), default=wanted)
    if not figures or not days or covered < ENOUGH_CHINESE or best.negated is not wanted.negated:
        return False
    return not _strange(statement, there) and _han_roles(statement, told)


def _strange(statement: str, there: frozenset[str]) -> bool:
    """Whether the value that a statement ends in (who it is, what it is called) is nowhere on the page."""
    value = _HAN_VALUE.search(statement)
    pairs = roots(value[1]) if value else frozenset()
    return sum(root in there for root in pairs) * 2 < len(pairs)


def _han_roles(statement: str, told: list[Clause]) -> bool:
    """Whether agent and patient of the statement's verb are those of the page's, where both name them."""
    ours = _han_parts(statement)
    if not ours:
        return True
    topic = told[0].text if told else ""
    for clause in told:
        theirs = _han_parts(clause.text)
        if theirs and theirs[0] == ours[0]:
            agent, patient = theirs[1] or topic, theirs[2] or topic
            straight = _overlap(ours[1], agent) + _overlap(ours[2], patient)
            crossed = _overlap(ours[1], patient) + _overlap(ours[2], agent)
            return straight >= crossed
    return True


def _han_parts(text: str) -> tuple[str, str, str] | None:
    """(verb, agent, patient) of a Chinese clause; parts that it does not name are empty."""
    verb = _HAN_VERB.search(text)
    if not verb:
        return None
    left, right = text[: verb.start()], text[verb.end() :]
    if by := re.search(r"[被由]", left):
        return verb[1], left[by.end() :], left[: by.start()]
    return verb[1], re.sub(r"^.*年", "", left) if re.match(r"\d+年", left) else left, right


def _overlap(one: str, other: str) -> int:
    return len(roots(one) & roots(other)) if one and other else 0


def same_statement(one: str, other: str) -> bool:
    """Whether two statements say exactly the same: nearly all words, all figures, the same roles, both affirmed."""
    first, second = Clause(plain(one)), Clause(plain(other))
    figures = {n.value for n in first.numbers} == {n.value for n in second.numbers}
    days = {d[:3] for d in first.days} == {d[:3] for d in second.days}
    if not figures or not days or first.negated is not second.negated or set(first.names) != set(second.names):
        return False
    if len(first.roots & second.roots) < 0.8 * max(1, len(first.roots | second.roots)):
        return False
    return all(first.acts(name) == second.acts(name) for name in first.names) and not contrary(first.text, second.text)
