"""Is a response to be credited: which answer it puts forward, of what, and whether that is an accepted one."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, NamedTuple

from aiq.offline.engine import dates
from aiq.offline.engine.quantities import Quantity, numbers
from aiq.offline.engine.text import contains_name, is_chinese, names, sentences, words
from aiq.offline.judging.clauses import (
    NEGATION,
    Clause,
    among,
    among_any,
    clauses,
    concepts,
    named_in,
    pattern,
    plain,
    roots,
    share,
)  # fmt: skip
from aiq.offline.judging.support import agrees

NEAR = 0.8
"""Similarity of spelling from which two words pass for the same name."""

_NO_ANSWER, _PREMISE, _CONCLUSION = pattern("no_answer"), pattern("premise"), pattern("conclusion")
_HEDGE, _PAST, _NOW = pattern("hedge"), pattern("past"), pattern("now")
_REMAINS, _ENDED, _TURN, _RETRACTS = pattern("remains"), pattern("ended"), pattern("turn"), pattern("retracts")
_BESIDE = re.compile(
    r"(?:The|A|An|Its)\s+(\w+)\s+(?:around|near|of|that|which|in|at|under|behind|opposite|beside|above|below|where|on)\b"
)
_HAN_VALUE = re.compile(r"(?:是|为|由)([\u3400-\u9fff·]{2,6}?)(?=[，。；]|$|创|担)")
_BETWEEN = re.compile(r"\s*(?:,|，|、|;)?\s*(?:and|or|as well as|和|或|与|及)?\s*(?:the )?", re.IGNORECASE)

Kind = Literal["date", "number", "name", "phrase"]


class Finding(NamedTuple):
    """Whether the response agrees with an accepted answer, and why it seems so."""

    agrees: bool
    reason: str

    @property
    def answers(self) -> bool:
        """Whether the response answers at all."""
        return not re.search(r"no answer|empty|does not answer", self.reason)


class _Offer(NamedTuple):
    """A value that the response puts forward. `before`: what is said from the last value to the end of this one."""

    text: str
    clause: Clause
    before: str
    start: int
    score: float = 0.0


def credit(question: str, response: str, accepted: Sequence[str], strict: bool = False) -> Finding:
    """Whether a response is to be credited. `strict`: every further statement counts as well."""
    told = [plain(s) for line in response.splitlines() if not line.lstrip().startswith("#") for s in sentences(line)]
    forms = [form.strip() for form in accepted if form.strip()]
    told = told[max((n for n, s in enumerate(told) if n and _RETRACTS.match(s)), default=0) :]
    if not told:
        return Finding(False, "The response is empty.")
    if any(_corrects(form, question) for form in forms):
        return _premise(
            told,
            [f for f in forms if _corrects(f, question)],
            [f for f in forms if not _corrects(f, question)],
            question,
        )
    if _NO_ANSWER.search(told[0]):
        return Finding(False, "The response says that it has no answer.")
    if verdicts := {m[0].lower() for f in forms if (m := re.match(r"(?:yes|no|是|否)(?![\w'])", f, re.IGNORECASE))}:
        return _polar(told, bool({"yes", "是"} & verdicts))
    found = _primary(question, " ".join(told) if is_chinese(response) else "\n".join(told), forms)
    if found.agrees and strict:
        return _strictly(question, told, forms, found)
    return found


def _corrects(form: str, question: str) -> bool:
    """Whether an accepted answer says that the question takes something wrong for granted."""
    if len(words(form)) < 3 or re.match(r"(?:yes|no)\b", form, re.IGNORECASE):
        return False
    return NEGATION.search(form) is not None or share(roots(question), roots(form)) >= 0.75


def _premise(told: Sequence[str], forms: Sequence[str], others: Sequence[str], question: str) -> Finding:
    """Credit for a denial, in the first sentences, of what the accepted correction denies."""
    start = " ".join(told[:3])
    if others and _primary(question, start, others).agrees:
        return Finding(True, "The response gives the accepted value.")
    if _NO_ANSWER.search(told[0]) and not _PREMISE.search(start):
        return Finding(False, "The response does not answer.")
    if _PREMISE.search(start):
        return Finding(True, "The response says that the premise does not hold.")
    denied = roots(NEGATION.sub(" ", " ".join(forms))) - frozenset(r for n in names(" ".join(forms)) for r in roots(n))
    for clause in (c for sentence in clauses(start) for c in sentence):
        told_of = NEGATION.sub("\0", clause.text).split("\0")
        if len(told_of) > 1:
            next_words = [
                frozenset([root])
                for word in re.findall(r"[A-Za-z'-]+|[\u3400-\u9fff]{2}", told_of[-1])[:6]
                for root in roots(word)
            ]
            if any(among(root, denied) for roots_of in next_words[:2] for root in roots_of) or (
                is_chinese(start) and clause.roots & denied
            ):
                return Finding(True, "The response denies what the question takes for granted.")
        if _REMAINS.search(clause.text) and (among_any(clause.roots, denied) or len(told) == 1):
            return Finding(True, "The response says that things are as they were.")
    if not any(NEGATION.search(form) for form in forms) and max(share(roots(f), roots(start)) for f in forms) >= 0.75:
        return Finding(True, "The response states the correction itself.")
    return Finding(False, "The response goes along with a false premise or does not answer.")


def _polar(told: Sequence[str], wanted: bool) -> Finding:
    """Credit for the accepted yes or no, said or implied, that no later sentence about today takes back."""
    first = re.match(r"\W*(?:(yes|是的|对)|(no|不|否|没有))(?!\w)", told[0], re.IGNORECASE)
    says = bool(first[1]) if first else not (NEGATION.search(told[0]) or _ENDED.search(told[0]))
    later = [s for s in told[1:] if _NOW.search(s) and bool(NEGATION.search(s) or _ENDED.search(s)) is says]
    if later:
        return Finding(False, f"The response takes its answer back: {later[-1][:120]}")
    return Finding(says is wanted, f"The response says {'yes' if says else 'no'}.")


def _primary(question: str, response: str, forms: Sequence[str]) -> Finding:
    """Whether the value that the response puts forward is an accepted one."""
    kind = _kind(forms)
    offers = _offers(question, response, forms, kind)
    if not offers:
        return Finding(False, "The response gives no answer of the kind that is accepted.")
    best = max(offers, key=lambda offer: (round(offer.score, 3), -offer.start))
    group = _group(offers, best)
    wanted = next((form for form in forms if _equal(form, best, kind, group)), None)
    if wanted is None:
        return Finding(False, f"The primary answer ({best.text[:80]}) is none of the accepted ones.")
    several = len(_members(wanted)) > 1
    if best.score < 0:
        return Finding(False, f"{best.text[:80]} is said of something else, of the past, or denied.")
    if not several and (
        len(group) > 1 or (_HEDGE.search(best.clause.told) and not _HEDGE.search(wanted) and _unsure(best, offers))
    ):
        return Finding(False, f"{best.text[:80]} is only one of several possibilities.")
    return Finding(True, f"The primary answer agrees with {wanted}.")


def _unsure(best: _Offer, offers: Sequence[_Offer]) -> bool:
    modal = re.search(r"\b(?:possibly|perhaps|could|may|might)\b|可能|也许|或许", best.clause.told)
    return modal is not None or any(o.clause is best.clause and o.text != best.text for o in offers)


def _kind(forms: Sequence[str]) -> Kind:
    if any(stated.month for form in forms for stated in dates.find(form)):
        return "date"
    if any(_is_number(form) for form in forms):
        return "number"
    if all(is_chinese(form) or not names(form) for form in forms):
        return "phrase"
    return "name"


def _is_number(form: str) -> bool:
    """A number with at most a unit: `418,878`, `$15/hour`, `8 billion people`."""
    return (
        len(numbers(form)) == 1
        and not named_in(re.sub(r"^[A-Z]", lambda m: m[0].lower(), form))
        and len(words(re.sub(r"[\d.,]+", "", form))) <= 2
    )


def _offers(question: str, response: str, forms: Sequence[str], kind: Kind) -> list[_Offer]:
    """Every value of the kind in the response that the question does not mention, with how well it fits."""
    found: list[_Offer] = []
    topic = next(iter(names(question)), "")
    for number, sentence in enumerate(clauses(response, topic)):
        said = " ".join(clause.text for clause in sentence)
        for clause in sentence:
            last = 0
            for start, end, text in _values(clause.told, forms, kind):
                if kind == "name" and contains_name(question, text):
                    continue
                after = re.split(r"[,;，]| and ", clause.told[end : end + 14])[0]
                offer = _Offer(text, clause, clause.told[last:end] + after, len(found))
                found.append(
                    offer._replace(score=_fit(offer, question, clause.told[last:start], said) - 0.3 * min(number, 4))
                )
                last = end
    return found


def _values(told: str, forms: Sequence[str], kind: Kind) -> list[tuple[int, int, str]]:
    """The values of a kind in a clause: (start, end, text)."""
    if kind == "date":
        return [(d.start, d.end, told[d.start : d.end]) for d in dates.find(told)]
    if kind == "number" and _year(forms):
        return [(d.start, d.end, str(d.year)) for d in dates.find(told)]
    if kind == "number":
        return [(n.start, n.end, told[n.start : n.end]) for n in numbers(told) if not n.is_year]
    spans = [(s.start, s.end, s.text) for s in named_in(told)]
    if kind == "phrase":
        spans += [
            (m.start(), m.end(), form) for form in forms for m in re.finditer(re.escape(form), told, re.IGNORECASE)
        ]
        spans += [(m.start(1), m.end(1), m[1]) for m in _HAN_VALUE.finditer(told)]
    return sorted(dict.fromkeys(spans))


def _year(forms: Sequence[str]) -> bool:
    return any(n.is_year and len(form.strip("年 ")) <= 8 for form in forms for n in numbers(form))


def _fit(offer: _Offer, question: str, before: str, sentence: str) -> float:
    """How well a value answers: its clause speaks of what is asked, affirms it, and of the time that is meant."""
    clause, asked, told = offer.clause, Clause(question), offer.clause.told
    wanted = concepts(question) if is_chinese(question) else asked.claim
    met = share(wanted, (concepts(offer.before) - concepts(offer.text)) | roots(clause.subject), offer.before)
    if not Clause(told).claim - roots("today now"):  # "today it is ...": what it is was said before
        met = max(met, 0.7 * share(wanted, concepts(sentence), sentence))
    bare = len(words(told)) <= len(words(offer.text))
    score = 3.8 if bare else 0.8 + 3.0 * met
    others = [n for n in clause.names if not contains_name(question, n) and n not in offer.text and offer.text not in n]
    if any(contains_name(question, name) for name in clause.names):
        score += 1.0
    elif others and clause.text.find(others[0]) < clause.text.find(offer.text) and names(question):
        score -= 2.0
    if (beside := _BESIDE.match(told)) and not among_any(roots(beside[1]), roots(question)):
        score -= 2.0
    if _CONCLUSION.match(told) or "itself" in told:
        score += 2.0
    if NEGATION.search(before[-24:]) or (clause.negated and not NEGATION.search(question)):
        score -= 6.0
    if (
        (_PAST.search(before) or _PAST.search(told))
        and not _PAST.search(question)
        and not re.search(r"\b(?:first|original)", question)
    ):
        score -= 6.0
    if asked.days and clause.days and not any(d.year == a.year for d in clause.days for a in asked.days):
        score -= 3.0
    return score + 1.0 if _NOW.search(told) else score


def _group(offers: Sequence[_Offer], best: _Offer) -> list[_Offer]:
    """The values that stand beside the best one in an enumeration, itself included."""
    same = [offer for offer in offers if offer.clause is best.clause]
    group, text = [best], best.clause.told
    for offer, following in pairwise(same):
        between = text[text.find(offer.text) + len(offer.text) : text.find(following.text)]
        if _BETWEEN.fullmatch(between) and (offer in group or following in group):
            group += [o for o in (offer, following) if o not in group]
    return group


def _members(form: str) -> list[str]:
    """The names that an accepted answer enumerates; itself where it is one."""
    parts = [
        part.strip()
        for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|、|和", re.sub(r"\(.*?\)", "", form))
        if part.strip()
    ]
    return parts if len(parts) > 1 and all(part[0].isupper() or is_chinese(part) for part in parts) else [form]


def _equal(form: str, offer: _Offer, kind: Kind, group: Sequence[_Offer]) -> bool:
    """Whether an accepted answer is the value offered, or the values enumerated."""
    members = _members(form)
    if len(members) > 1 and kind in ("name", "phrase"):
        told = [o.text for o in group]
        return len(told) == len(members) and all(any(_same_name(m, t) for t in told) for m in members)
    if kind == "date":
        given = dates.find(offer.text)
        return any(_same_day(d, g) for d in _days(form) for g in given)
    if kind == "number":
        given_numbers, wanted = _figures(offer), numbers(form)
        return bool(wanted) and any(agrees(g, wanted[0]) for g in given_numbers)
    return _same_name(re.sub(r"\s*\(.*?\)", "", form), offer.text)


def _figures(offer: _Offer) -> list[Quantity]:
    return [
        n for n in numbers(offer.clause.told) if offer.text.startswith(n.text.strip()) or n.text.startswith(offer.text)
    ]


def _same_day(wanted: tuple[int, int, int], given: dates.Stated) -> bool:
    """Whether the parts that both state are equal; the response states at least the month."""
    year, month, day = wanted
    return given.year == year and given.month == month and (not day or not given.day or given.day == day)


def _days(form: str) -> list[tuple[int, int, int]]:
    """The days that an accepted answer may mean: `May 3, 2024`, `3-May-24`, and `5/3/2024` in both orders."""
    if short := re.fullmatch(r"(\d{1,2})-([A-Z][a-z]{2})-(\d\d)", form):
        form = f"{short[1]} {short[2]} 20{short[3]}"
    if figures := re.fullmatch(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", form):
        first, second, year = map(int, figures.groups())
        return [(year, month, day) for month, day in ((first, second), (second, first)) if month <= 12]
    return [(d.year, d.month, d.day) for d in dates.find(form) if d.month][:1]


def _same_name(form: str, text: str) -> bool:
    """Whether a name offered is the accepted one: its last word is enough, small slips of spelling are forgiven."""
    if is_chinese(form) or is_chinese(text):
        return form in text or (text in form and len(text) >= 2)
    wanted, given = words(form), words(text)
    if not wanted or not given:
        return form.casefold() == text.casefold()
    near = [max(SequenceMatcher(None, word, g).ratio() if word[0] == g[0] else 0.0 for g in given) for word in wanted]
    whole = min(near) >= NEAR - 0.1 and sum(near) >= NEAR * len(near)
    return whole or (len(given) < len(wanted) and SequenceMatcher(None, wanted[-1], given[-1]).ratio() >= NEAR)


def _strictly(question: str, told: Sequence[str], forms: Sequence[str], found: Finding) -> Finding:
    """A strict reader stumbles over a later turn, and over a figure that the accepted answer has otherwise."""
    doubts = [s for s in told if _TURN.search(s)] + [s for s in told[1:] if _ENDED.search(s) and _NOW.search(s)]
    if doubts:
        return Finding(False, f"An accepted answer, but the response goes on: {doubts[0][:120]}")
    known = [n for form in forms for n in numbers(form)] + list(numbers(question))
    years = [n for n in known if n.is_year]
    wrong = [n.text for s in told for n in numbers(s) if n.is_year and years and not any(agrees(n, k) for k in years)]
    return Finding(False, f"An accepted answer, but {wrong[0]} beside it is not.") if wrong else found
