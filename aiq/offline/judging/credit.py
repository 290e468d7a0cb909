"""Decides whether to credit a response: which answer it gives, to what, and whether that is an accepted one."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from aiq.offline.engine import dates
from aiq.offline.engine.lexicon import stem
from aiq.offline.engine.text import contains_name, is_chinese, sentences, words
from aiq.offline.judging.facts import (
    NEGATION,
    Claim,
    Item,
    claim,
    has_synonym,
    overlap,
    pattern,
    read,
    roles_swap,
    roots,
    same,
    stripped,
)

_NO_ANSWER, _PREMISE, _ENDED, _HEDGE = map(pattern, ("no_answer", "premise", "ended", "hedge"))
_PAST, _NOW, _FORMER, _TURN, _CONCLUSION = map(pattern, ("past", "now", "former", "turn", "conclusion"))
_LEAD = pattern("lead")
_DENIED_WORDS = re.compile(rf"(?:{NEGATION.pattern})([\u3400-\u9fff]{{1,3}}|(?:\W+[\w'-]+){{0,3}})", re.IGNORECASE)
_POLAR = re.compile(r"\W*(?:(yes|是的?|对)|(?:no|不|否|没有))(?![\w'])", re.IGNORECASE)
_ENUMERATION = re.compile(
    r"^\0(?:,\s*\0)*(?:,?\s*(?:and|as well as)\s+(?:the )?|\s*[、和与]\s*)\0|\0,? or\b|\bor (?:an? |the )?\0|\0或|或\0",
    re.IGNORECASE,
)
_WHO_QUESTION = re.compile(r"^(?:who|(?:which|what) \w+)\b", re.IGNORECASE)
_WHERE_QUESTION = re.compile(r"^(?:where|in (?:which|what))\b", re.IGNORECASE)
_PREPOSITION = r"\b(?:in|at|near|to|from|of)\s+(?:the\s+)?"


class Finding(NamedTuple):
    """Whether the response agrees with an accepted answer, why it seems so, and whether it answers at all."""

    agrees: bool
    reason: str
    answers: bool = True


class _Offer(NamedTuple):
    """What a clause puts forward: how well it answers, whether it is accepted, and whether it is the only candidate."""

    fit: float
    agrees: bool
    alone: bool
    text: str


def credit(question: str, response: str, accepted: Sequence[str], strict: bool = False) -> Finding:
    """Whether to credit a response. With `strict`, every further statement must hold as well.

    If the first statement is nothing more than an answer, it decides; otherwise the clause that answers best does.
    """
    statements = [stripped(s) for p in response.splitlines() if not p.lstrip().startswith("#") for s in sentences(p)]
    statements = statements or [""]
    start = statements[:1] if _is_bare(statements[0]) else statements
    forms = [form.strip() for form in accepted if form.strip()]
    if words(response) in map(words, forms):
        return Finding(True, "The response is an accepted answer, word for word.")
    polarities = [bool(match[1]) for form in forms if (match := _POLAR.match(form))]
    corrections = [form for form in forms if not polarities and _is_correction(form, question)]
    refuses = not statements[0] or (_NO_ANSWER.search(statements[0]) and not _denies(statements[0], corrections))
    if refuses:
        return Finding(False, "The response gives no answer.", answers=False)
    if _denies(" ".join(start[:3]), corrections):
        return Finding(True, "The response says that what the question takes for granted does not hold.")
    if polarities:
        return _yes_or_no(question, statements, polarities[0])
    finding = _primary_answer(claim(question), start, [claim(form) for form in forms if form not in corrections])
    years = {day.year for text in (question, *forms) for day in dates.find(text)}
    wrong = any((years and {day.year for day in dates.find(s)} - years) or _TURN.search(s) for s in statements)
    doubtful = strict and (wrong or any(_ENDED.search(s) and _NOW.search(s) for s in statements[1:]))
    return Finding(False, "An accepted answer, but not all else holds.") if finding.agrees and doubtful else finding


def _is_bare(statement: str) -> bool:
    """Whether a statement is nothing more than an answer, so that what follows it only supports it."""
    core, clause = _LEAD.sub("", statement), claim(statement)
    bare = core != statement or ((clause.names or clause.values) and not clause.relation)
    return bool(bare) and not NEGATION.search(core) and 0 < len(words(core)) <= 4


def _is_correction(form: str, question: str) -> bool:
    """Whether an accepted answer says that the question has a false premise."""
    if NEGATION.search(form):
        return len(form.split()) > 2 or is_chinese(form)
    return len(words(form)) > 2 and overlap(roots(question), roots(form)) >= 0.75


def _denies(start: str, corrections: Sequence[str]) -> bool:
    """Whether the first statements deny what a correction denies, or state what is true instead."""
    denied = roots(NEGATION.sub(" ", " ".join(corrections)))
    alternatives = [part for form in corrections for parts in read(form) for part in parts if not part.negated]
    states = any(overlap(roots(part.text), roots(start)) >= 0.75 for part in alternatives if part.names)
    negated = roots(" ".join(_DENIED_WORDS.findall(start)))
    return states or any(has_synonym(root, denied) for root in negated) or bool(corrections and _PREMISE.search(start))


def _yes_or_no(question: str, statements: Sequence[str], accepted: bool) -> Finding:
    """Credit a response that says or implies the accepted yes or no, unless a later sentence on today retracts it."""
    asked_stems, denials = claim(question).relation, [bool(NEGATION.search(s) or _ENDED.search(s)) for s in statements]
    polar_word = _POLAR.match(_LEAD.sub("", statements[0]))
    yes = bool(polar_word[1]) if polar_word else not denials[0]
    later = [s for s, d in zip(statements, denials, strict=True) if d is yes and _NOW.search(s) and s != statements[0]]
    retracted = any(yes or overlap(asked_stems, roots(s)) >= 0.5 for s in later)
    silent = not polar_word and yes and _is_bare(statements[0]) and not overlap(asked_stems, roots(statements[0]))
    return Finding(yes is accepted and not retracted and not silent, f"The response says {'yes' if yes else 'no'}.")


def _primary_answer(query: Claim, lines: Sequence[str], forms: Sequence[Claim]) -> Finding:
    """Whether the clause that answers best gives an accepted answer, alone and without hedging."""
    brief = len(lines) == 1 and _is_bare(lines[0])
    topic = "".join(query.names) if len(query.names) == 1 else ""
    clauses = [claim(_LEAD.sub("", lines[0]))] if brief else [c for p in read("\n".join(lines), topic) for c in p]
    offers = [offer for n, c in enumerate(clauses) for form in forms if (offer := _offer(query, c, form, n, brief))]
    if not offers:
        return Finding(False, "The response gives no answer of the kind that is accepted.")
    best = max(offers)
    if not best.agrees or best.fit < 0:
        return Finding(False, f"The primary answer is none of the accepted ones, past or denied: {best.text[:80]}")
    if not best.alone:
        return Finding(False, f"The accepted answer is only one of several possibilities: {best.text[:80]}")
    return Finding(True, f"The primary answer agrees with an accepted one: {best.text[:80]}")


def _offer(query: Claim, clause: Claim, form: Claim, number: int, brief: bool) -> _Offer | None:
    """What a clause offers where an answer like `form` is accepted; None if it offers nothing of that kind."""
    accepted: list[Item] = [*form.names] or [*form.values] or [form.text]
    if len(form.relation) > 1 + len(form.names) + len(form.values):
        accepted = [form.text]
    items = _items(query, clause, accepted, brief)
    if not items:
        return None
    agrees = all(any(same(target, item) for item in items[: len(accepted)]) for target in accepted)
    texts = [item if isinstance(item, str) else clause.text[item.start : item.end] for item in items]
    enumeration = _ENUMERATION.search(re.sub("|".join(map(re.escape, texts)), "\0", clause.text, flags=re.IGNORECASE))
    alone = len(accepted) > 1 or not (enumeration or _HEDGE.search(clause.text))
    return _Offer(_fit(query, clause, form, texts[0]) - 0.1 * number, agrees, alone, clause.text)


def _items(query: Claim, clause: Claim, accepted: Sequence[Item], brief: bool) -> list[Item]:
    """The names, values or phrases of the wanted kind in a clause, in order.

    Names in the question count only if it asks to choose among them. A `brief` response without the phrase has another.
    """
    kind = accepted[-1]
    if not isinstance(kind, str):
        values = [value for value in clause.values if type(value) is type(kind)]
        return [v for v in values if has_synonym(stem(getattr(v, "unit", "")), query.relation)] or [*values]
    if kind in claim(kind).names:
        choice = any(contains_name(query.text, str(name)) for name in accepted)
        names = [n for n in clause.names if n in clause.text and (choice or not contains_name(query.text, n))]
        places = [n for n in names if re.search(_PREPOSITION + re.escape(n), clause.text)]
        if _WHERE_QUESTION.search(query.text):
            return [n for n in names if n in places or not clause.relation or f"is {n}" in clause.text]
        return [n for n in names if n not in places or len(accepted) > 1] or [*names]
    has_phrase = kind in clause.text or (roots(kind) and overlap(roots(kind), roots(clause.text)) > 0.8)
    return [kind] if has_phrase else [kind[:0]] if brief else []


def _fit(query: Claim, clause: Claim, form: Claim, answer: str) -> float:
    """How well a clause answers: whether it is about what is asked, the right thing and time, and affirms it.

    Below 0 if it is about another thing, denies it, or says it used to be so. A bare answer is about what is asked.
    """
    text, former = clause.text, _FORMER.search(clause.text)
    share = overlap(query.relation, roots(text) | roots(clause.subject)) if clause.relation - roots(form.text) else 1.0
    past = _PAST.search(text) or (former and (former[1][0].isupper() or has_synonym(stem(former[1]), query.relation)))
    stray = clause.subject not in (*query.names, answer, form.text, "") and not any(n in text for n in query.names)
    attribution = re.search(rf"\b(?:of|in|at|for) (?:the )?{re.escape(clause.subject)}\b", text)
    denied = (clause.negated and not query.negated) or roles_swap(claim(_WHO_QUESTION.sub(answer, query.text)), clause)
    wrong = denied or (past and not _PAST.search(query.text)) or (stray and attribution and len(query.relation) < 2)
    bonus = bool(_NOW.search(text)) + 4 * bool(_CONCLUSION.search(text)) - 2 * bool(stray and query.names)
    return 0.8 + 3 * share + bonus - 6 * bool(wrong)
