"""Is a response to be credited: which answer it puts forward, of what, and whether that is an accepted one."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from aiq.offline.engine import dates
from aiq.offline.engine.quantities import numbers
from aiq.offline.engine.text import contains_name, is_chinese, names, sentences, words
from aiq.offline.judging.facts import (
    NEGATION,
    Claim,
    agrees,
    among,
    claim,
    pattern,
    plain,
    read,
    roots,
    same_day,
    share,
)  # fmt: skip

NEAR: Final = 0.8
"""Similarity of spelling from which two words pass for the same."""

_NO_ANSWER, _PREMISE, _REMAINS, _ENDED = (pattern(name) for name in ("no_answer", "premise", "remains", "ended"))
_HEDGE, _PAST, _NOW = pattern("hedge"), pattern("past"), pattern("now")
_TURN, _CONCLUSION = pattern("turn"), pattern("conclusion")
_ENUMERATED = re.compile(r"\0\s*[,，、;]?\s*(?:and|or|as well as|和|或|与|及)?\s*(?:the )?\0", re.IGNORECASE)
_BESIDE = re.compile(r"(?:The|An?|Its)\s+\w+\s+(?:a?round|near|under|behind|beside|above|below)\b")


class Finding(NamedTuple):
    """Whether the response agrees with an accepted answer, why it seems so, and whether it answers at all."""

    agrees: bool
    reason: str
    answers: bool = True


def credit(question: str, response: str, accepted: Sequence[str], strict: bool = False) -> Finding:
    """Whether a response is to be credited. `strict`: every further statement counts as well."""
    told = [plain(s) for line in response.splitlines() if not line.lstrip().startswith("#") for s in sentences(line)]
    start = " ".join(told[:3])
    if not told or (_NO_ANSWER.search(told[0]) and not _PREMISE.search(start)):
        return Finding(False, "The response gives no answer.", answers=False)
    values = [form.strip() for form in accepted if form.strip() and not _corrects(form, question)]
    corrections = [form.strip() for form in accepted if _corrects(form, question)]
    if corrections and _denies(start, corrections):
        return Finding(True, "The response says that what the question takes for granted does not hold.")
    if verdicts := [
        m for form in values if (m := re.match(r"(yes|是)?(?:no|否)?(?![\w'])", form, re.IGNORECASE)) and m[0]
    ]:
        return _polar(told, bool(verdicts[0][1]))
    found = _primary(question, told, values)
    doubts = _doubts(question, told, values) if found.agrees and strict else []
    return Finding(False, f"An accepted answer, but not so: {doubts[0]}") if doubts else found


def _corrects(form: str, question: str) -> bool:
    """Whether an accepted answer says that the question takes something wrong for granted."""
    if len(words(form)) < 3 or re.match(r"(?:yes|no)\b", form, re.IGNORECASE):
        return False
    return NEGATION.search(form) is not None or share(roots(question), roots(form)) >= 0.75


def _denies(start: str, corrections: Sequence[str]) -> bool:
    """Whether the first sentences deny what a correction denies, or state what is so instead."""
    denied = claim(NEGATION.sub(" ", " ".join(corrections))).relation
    for clause in (clause for sentence in read(start) for clause in sentence):
        after = NEGATION.split(clause.told)[-1] if NEGATION.search(clause.told) else ""
        near = roots(" ".join(re.findall(r"[A-Za-z'-]+|[\u3400-\u9fff]+", after)[:3]))
        if any(among(root, denied) for root in near) or _REMAINS.search(clause.told):
            return True
    instead = [part for form in corrections for parts in read(form) for part in parts if not part.negated]
    states = any(share(roots(part.told), roots(start)) >= 0.75 for part in instead if part.names)
    return states or _PREMISE.search(start) is not None


def _polar(told: Sequence[str], wanted: bool) -> Finding:
    """Credit for the accepted yes or no, said or implied, that no later sentence about today takes back."""
    ends = [bool(NEGATION.search(s) or _ENDED.search(s)) for s in told]
    first = re.match(r"\W*(?:(yes|是的|对)|(no|不|否|没有))(?!\w)", told[0], re.IGNORECASE)
    says = bool(first[1]) if first else not ends[0]
    turned = any(_NOW.search(s) and end is says for s, end in zip(told[1:], ends[1:], strict=True))
    return Finding(says is wanted and not turned, f"The response says {'yes' if says else 'no'}.")


def _primary(question: str, told: Sequence[str], forms: Sequence[str]) -> Finding:
    """Whether the value of the clause that fits the question best is an accepted one, alone and without a doubt."""
    offers = [
        (_fit(question, clause, values[0]) - 0.3 * min(number, 4), clause.told, values)
        for number, sentence in enumerate(read("\n".join(told), next(iter(names(question)), "")))
        for clause in sentence
        if (values := [v for v in _values(clause.told, forms) if not contains_name(question, v)])
    ]
    if not offers:
        return Finding(False, "The response gives no answer of the kind that is accepted.")
    fit, clause, values = max(offers, key=lambda offer: offer[0])
    wanted = next((form for form in forms if _equal(form, values)), None)
    if wanted is None or fit < 0:
        return Finding(False, f"The primary answer ({values[0][:80]}) is none of the accepted ones, past or denied.")
    listed = _ENUMERATED.search(re.sub("|".join(map(re.escape, values)), "\0", clause))
    if len(_members(wanted)) == 1 and (listed or _HEDGE.search(clause)):
        return Finding(False, f"{values[0][:80]} is only one of several possibilities.")
    return Finding(True, f"The primary answer agrees with {wanted}.")


def _values(told: str, forms: Sequence[str]) -> list[str]:
    """What a clause states of the kind that is accepted: dates, numbers, else names and the accepted words."""
    kinds = [claim(form) for form in forms]
    if any(kind.days and not kind.names for kind in kinds):
        return [told[day.start : day.end] for day in dates.find(told)]
    if any(kind.numbers and not kind.names for kind in kinds):
        taken = [(day.start, day.end) for day in dates.find(told)]
        return [n.text for n in numbers(told) if not n.is_year and not any(a <= n.start < b for a, b in taken)]
    named = claim(told).names
    words_ = (form for form in forms if form in told and not any(form in name for name in named))
    return sorted({*named, *words_}, key=told.find)


def _fit(question: str, clause: Claim, value: str) -> float:
    """How well a clause answers: it speaks of what is asked, affirms it, and is of the time that is meant."""
    told, asked = clause.told, claim(question)
    about = asked.relation or roots(question)
    met = share(about, roots(clause.text).union(roots(clause.subject))) if clause.relation else 1.0  # a bare answer
    named = any(contains_name(question, name) for name in clause.names)
    other = (names(question) and not named and clause.subject and clause.subject != value) or _BESIDE.match(told)
    gone = _PAST.search(told) and not _PAST.search(question) and not re.search(r"\b(?:first|original)", question)
    then = asked.days and clause.days and not any(day.year == a.year for day in clause.days for a in asked.days)
    plus = 3 * met + named + 2 * bool(_CONCLUSION.search(told)) + bool(_NOW.search(told))
    denied = clause.negated and not NEGATION.search(question)
    return 0.8 + plus - 6 * denied - 6 * bool(gone) - 3 * bool(then) - 2 * bool(other)


def _members(form: str) -> list[str]:
    """The names that an accepted answer enumerates; itself, without what stands in brackets, where it is one."""
    form = re.sub(r"\s*\(.*?\)", "", form)
    parts = re.split(r",\s*(?:and\s+)?|\s+and\s+|、|和", form)
    return parts if all(re.match(r"[A-Z\u3400-\u9fff]", part) for part in parts) else [form]


def _equal(form: str, values: Sequence[str]) -> bool:
    """Whether an accepted answer is the first of the values offered, or all that it enumerates."""
    wanted, given, members = claim(form), values[0], _members(form)
    if wanted.days and not wanted.names:
        return any(same_day(d, g) or (g.month and same_day(g, d)) for d in wanted.days for g in dates.find(given))
    if wanted.numbers and not wanted.names:
        return any(agrees(number, wanted.numbers[0]) for number in numbers(given))
    if len(members) > 1:
        return len(values) == len(members) and all(any(_same(m, v) for v in values) for m in members)
    return _same(members[0], given)


def _same(form: str, text: str) -> bool:
    """Whether a name offered is the accepted one: its last word is enough, small slips of spelling are forgiven."""
    wanted, given = words(form), words(text)
    if is_chinese(form) or not wanted or not given:
        return form.casefold() in text.casefold()
    near = [max(SequenceMatcher(None, word, g).ratio() * (word[0] == g[0]) for g in given) for word in wanted]
    whole = min(near) >= NEAR - 0.1 and sum(near) >= NEAR * len(near)
    return whole or (len(given) < len(wanted) and near[-1] >= NEAR)


def _doubts(question: str, told: Sequence[str], forms: Sequence[str]) -> list[str]:
    """What a strict reader stumbles over: a later turn, and a year that the accepted answer has otherwise."""
    years = {n.value for text in (question, *forms) for n in numbers(text) if n.is_year}
    wrong = [n.text for s in told for n in numbers(s) if n.is_year and years and n.value not in years]
    return wrong + [
        s[:120] for n, s in enumerate(told) if _TURN.search(s) or (n and _ENDED.search(s) and _NOW.search(s))
    ]
