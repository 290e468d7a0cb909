"""Is a response to be credited: which answer it puts forward, of what, and whether that is an accepted one."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from aiq.offline.engine import dates
from aiq.offline.engine.dates import Stated
from aiq.offline.engine.lexicon import stem, vocabulary
from aiq.offline.engine.text import contains_name, is_chinese, sentences, words
from aiq.offline.judging.facts import (
    NEGATION,
    Claim,
    Value,
    among,
    claim,
    pattern,
    plain,
    read,
    roots,
    same,
    share,
    turned,
)  # fmt: skip

NEAR: Final = 0.8
"""Similarity of spelling from which two words pass for the same."""

_NO_ANSWER, _PREMISE, _REMAINS, _ENDED = (pattern(name) for name in ("no_answer", "premise", "remains", "ended"))
_HEDGE, _PAST, _NOW, _FORMER = (pattern(name) for name in ("hedge", "past", "now", "former"))
_TURN, _CONCLUSION, _BESIDE = (pattern(name) for name in ("turn", "conclusion", "beside"))
_LEAD = re.compile(
    r"^(?:[a-z' ]{2,40}[,:]\s+)?(?:it|he|she|they|(?:the |my )?(?:\w+ )?answer)\s+(?:is|was|are|were)\s+"
    r"|^(?:[\u3400-\u9fff]{2,6}[，：])?(?:答案)?是",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\0(?:,\s*\0)*(?:,?\s*(?:and|or|as well as)\s+(?:the )?|\s*[、和或与]\s*)\0", re.IGNORECASE)
_SUBJECT = re.compile(r"^(?:who|(?:which|what) \w+)\b", re.IGNORECASE)
_WHERE = re.compile(r"^(?:where|in (?:which|what))\b", re.IGNORECASE)
_PLACE = r"\b(?:in|at|on|near|to|from|of|is|was|has)\s+(?:the\s+)?"
Item = str | Value
"""What an answer is made of: names, values or a phrase."""


class Finding(NamedTuple):
    """Whether the response agrees with an accepted answer, why it seems so, and whether it answers at all."""

    agrees: bool
    reason: str
    answers: bool = True


class _Offer(NamedTuple):
    """What a clause puts forward: names, values or a phrase of the accepted kind, in order, and how well it answers."""

    fit: float
    agrees: bool
    clause: Claim
    given: list[Item]
    wanted: list[Item]


def credit(question: str, response: str, accepted: Sequence[str], strict: bool = False) -> Finding:
    """Whether a response is to be credited. `strict`: every further statement counts as well."""
    told = [plain(s) for line in response.splitlines() if not line.lstrip().startswith("#") for s in sentences(line)]
    forms = [re.sub(r"\s*\(.*?\)", "", form).strip() for form in accepted if form.strip()]
    verdicts = [m for form in forms if (m := re.match(r"(?:(yes|是)|no|否)(?![\w'])", form, re.IGNORECASE))]
    brief = bool(told) and _brief(told[0])
    counting = [s for n, s in enumerate(told) if not n or not brief or _CONCLUSION.search(s)]
    corrections = [form for form in forms if not verdicts and _corrects(form, question)]
    refuses = bool(told) and _NO_ANSWER.search(told[0]) and not (corrections and _denies(told[0], corrections))
    if corrections and not refuses and _denies(" ".join(counting[:3]), corrections):
        return Finding(True, "The response says that what the question takes for granted does not hold.")
    if not told or refuses:
        return Finding(False, "The response gives no answer.", answers=False)
    if verdicts:
        return _polar(question, told, bool(verdicts[0][1]))
    found = _primary(question, counting, [claim(form) for form in forms if form not in corrections])
    doubts = _doubts(told, f"{question} {accepted}") if found.agrees and strict else []
    return Finding(False, f"An accepted answer, but not so: {doubts[0]}") if doubts else found


def _brief(statement: str) -> bool:
    """Whether a statement is no more than an answer, so that what follows it only supports it."""
    core, told = _LEAD.sub("", statement), claim(statement)
    leads = core != statement or ((told.names or told.values) and not told.relation)
    return bool(leads) and not NEGATION.search(core) and 0 < len(words(core)) <= 4


def _corrects(form: str, question: str) -> bool:
    """Whether an accepted answer says that the question takes something wrong for granted."""
    if NEGATION.search(form):
        return len(form.split()) > 2 or is_chinese(form)
    return len(words(form)) > 2 and share(roots(question), roots(form)) >= 0.75


def _denies(start: str, corrections: Sequence[str]) -> bool:
    """Whether the first sentences deny what a correction denies, or state what is so instead."""
    denied = roots(NEGATION.sub(" ", " ".join(corrections)))
    for clause in (clause.text for sentence in read(start) for clause in sentence):
        after = NEGATION.split(clause)[-1] if NEGATION.search(clause) else ""
        near = roots(" ".join(re.findall(r"[A-Za-z'-]+|[\u3400-\u9fff]+", after)[:3]))
        if any(among(root, denied) for root in near) or _REMAINS.search(clause):
            return True
    instead = [part for form in corrections for parts in read(form) for part in parts if not part.negated]
    states = any(share(roots(part.text), roots(start)) >= 0.75 for part in instead if part.names)
    return states or _PREMISE.search(start) is not None


def _polar(question: str, told: Sequence[str], wanted: bool) -> Finding:
    """Credit for the accepted yes or no, said or implied, that no later sentence about today takes back."""
    ends = [bool(NEGATION.search(s) or _ENDED.search(s)) for s in told]
    first = re.match(r"\W*(?:(yes|是的|对)|(no|不|否|没有))(?!\w)", told[0], re.IGNORECASE)
    says, asked = bool(first[1]) if first else not ends[0], claim(question).relation
    if not first and not ends[0] and _brief(told[0]) and not share(asked, roots(told[0])):
        return Finding(False, "The response says neither yes nor no.")
    turned = any(
        _NOW.search(s) and end is says and (says or share(asked, roots(s)) >= 0.5)
        for s, end in zip(told[1:], ends[1:], strict=True)
    )
    return Finding(says is wanted and not turned, f"The response says {'yes' if says else 'no'}.")


def _primary(question: str, told: Sequence[str], forms: Sequence[Claim]) -> Finding:
    """Whether what the clause that answers best puts forward is an accepted answer, alone and without a doubt."""
    asked, found = claim(question), list[_Offer]()
    known = [*asked.names]  # the question's names, and those told of them
    brief = len(told) == 1 and _brief(told[0])
    topic = known[0] if len(known) == 1 and not brief else ""
    clauses = [clause for parts in read("\n".join(told), topic) for clause in parts]
    for number, clause in enumerate(clauses[-1:] if brief else clauses):
        linked = brief or clause.subject in ["", *known] or any(contains_name(clause.text, name) for name in known)
        known += [*clause.names] if linked else []
        for form in forms:
            wanted, given = _kind(form), _given(asked, clause, form, brief)
            agrees = all(any(_same(w, g) for g in given[: len(wanted)]) for w in wanted)
            if given:
                fit = (
                    _fit(asked, clause, form, given, linked or clause.subject in (*form.names, form.text))
                    - 0.1 * number
                )
                found.append(_Offer(fit, agrees, clause, given, wanted))
    if not found:
        return Finding(False, "The response gives no answer of the kind that is accepted.")
    best = max(found, key=lambda offer: offer[:2])
    if not best.agrees or best.fit < 0:
        return Finding(
            False, f"The primary answer is none of the accepted ones, past or denied: {best.clause.text[:80]}"
        )
    texts = [g if isinstance(g, str) else best.clause.text[g.start : g.end] for g in best.given]
    listed = _LISTED.search(re.sub("|".join(map(re.escape, texts)), "\0", best.clause.text))
    if len(best.wanted) == 1 and (listed or _HEDGE.search(best.clause.text)):
        return Finding(False, f"The accepted answer is only one of several possibilities: {best.clause.text[:80]}")
    return Finding(True, f"The primary answer agrees with an accepted one: {best.clause.text[:80]}")


def _kind(form: Claim) -> list[Item]:
    """What an accepted form consists of: its names, its values, or the phrase as a whole."""
    if len(form.relation) > 1 + len(form.names) + len(form.values):
        return [form.text]
    return [*form.names] or [*form.values] or [form.text]


def _given(asked: Claim, clause: Claim, form: Claim, brief: bool) -> list[Item]:
    """The names, values or phrases of a clause that are of the kind of an accepted form, in order.

    Names of the question count only where it asks which of them. Beside a phrase, words of its class (trades, colours)
    count, and a `brief` response as a whole.
    """
    kind = _kind(form)[-1]
    if not isinstance(kind, str):
        values = [value for value in clause.values if type(value) is type(kind)]
        return [v for v in values if among(stem(getattr(v, "unit", "")), asked.relation)] or [*values]
    if kind in form.names:
        choice = any(contains_name(asked.text, name) for name in form.names)
        names = [n for n in clause.names if n in clause.text and (choice or not contains_name(asked.text, n))]
        placed = _WHERE.search(asked.text) and clause.relation
        return [n for n in names if re.search(_PLACE + re.escape(n), clause.text)] if placed else [*names]
    if kind in clause.text or (roots(kind) and share(roots(kind), roots(clause.text)) > 0.8):
        return [kind]
    classes, head = vocabulary().classes, words(kind)[-1:]
    kin = [word for word in words(clause.text) if word in classes and classes[word] == classes.get(*head, "")]
    return [*kin] or ([clause.text] if brief else [])


def _fit(asked: Claim, clause: Claim, form: Claim, given: Sequence[Item], linked: bool) -> float:
    """How well a clause answers: it speaks of what is asked, of the thing and time that is meant, and affirms it.

    Below 0 it says it of another thing, denies it, or says that it was so. A bare answer speaks of what is asked.
    """
    text, supposed = clause.text, claim(_SUBJECT.sub(str(given[0]), asked.text))
    met = share(asked.relation, roots(text) | roots(clause.subject)) if clause.relation - roots(form.text) else 1.0
    former = _FORMER.search(text)
    gone = _PAST.search(text) or (former and (former[1][0].isupper() or among(stem(former[1]), asked.relation)))
    gone = gone and not _PAST.search(asked.text) and not re.search(r"\b(?:first|original)", asked.text)
    years, then = ({d.year for d in c.values if isinstance(d, Stated)} for c in (asked, clause))
    plus = 3 * met + any(contains_name(text, n) for n in asked.names) + 4 * bool(_CONCLUSION.search(text))
    minus = 6 * ((clause.negated and not asked.negated) or turned(supposed, clause)) + 6 * bool(gone)
    minus += 3 * bool(years and then and years.isdisjoint(then)) + 2 * bool(not linked or _BESIDE.match(text))
    return 0.8 + plus + bool(_NOW.search(text)) - minus


def _same(wanted: Item, given: Item) -> bool:
    """Whether what is offered is what is accepted: of a name the last word is enough, small slips are forgiven."""
    if not isinstance(wanted, str) or not isinstance(given, str):
        return not isinstance(wanted, str) and not isinstance(given, str) and same(wanted, given)
    ours, theirs = words(wanted), words(given)
    if is_chinese(wanted) or not ours or not theirs:
        return wanted.casefold() in given.casefold()
    near = [max(SequenceMatcher(None, word, t).ratio() * (word[0] == t[0]) for t in theirs) for word in ours]
    whole = min(near) >= NEAR - 0.1 and sum(near) >= NEAR * len(near)
    return whole or (len(theirs) < len(ours) < 4 and near[-1] >= NEAR)


def _doubts(told: Sequence[str], known: str) -> list[str]:
    """What a strict reader stumbles over: a later turn, and a year that question and accepted answers have otherwise."""
    years = {day.year for day in dates.find(known)}
    wrong = [s for s in told if years and any(day.year not in years for day in dates.find(s))]
    return wrong + [s for n, s in enumerate(told) if _TURN.search(s) or (n and _ENDED.search(s) and _NOW.search(s))]
