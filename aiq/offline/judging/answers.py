"""Does a short response give an accepted answer: by numbers, dates, names and words of its opening."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from aiq.offline.judging.numbers import numbers
from aiq.offline.reading import dates
from aiq.offline.reading.text import contains_name, names, sentences, words

ROUNDING = 0.01
"""Relative difference up to which a number passes for a rounded one."""
NEAR = 0.8
"""Similarity of spelling from which two words pass for the same name."""

_DENIAL = re.compile(
    r"\b(?:never|not|no longer|no|none|nobody|cannot|without|false|incorrect|mistaken|wrong|already|still|cancel\w*"
    r"|premise)\b|n't\b|从未|没有|尚未|并非|并不|不是|取消|前提|不成立",
    re.IGNORECASE,
)
_STRONG_DENIAL = re.compile(
    r"\b(?:never|not yet|(?:has|have|had|did|does|do|is|are|was|were) not|no such|false premise"
    r"|premise (?:is|was) (?:false|incorrect|wrong|not)|not supported|incorrect|mistaken|cancel\w*)\b|n't\b"
    r"|从未|没有|尚未|并非|并不|不是|不成立|取消",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"\b(?:do(?:es)? not (?:say|give|state|provide|contain)|could not (?:find|determine|be found)"
    r"|cannot (?:answer|determine|say)|unable to|not enough (?:evidence|information)|insufficient"
    r"|no (?:information|access|answer)|unclear|unknown|i do not know|i don't know|not available)\b"
    r"|没有找到|未能找到|无法(?:确定|回答|得知)|资料不足|不清楚",
    re.IGNORECASE,
)
_HEDGE = re.compile(r"\b(?:either|possibly|or possibly|may be .* or|might be .* or)\b", re.IGNORECASE)
_NEGATED_BEFORE = re.compile(
    r"(?:\bnot|\bnever|\bisn't|\bwasn't|\bno longer|\bformer(?:ly)?|不是|并非)(?:\W+\w+){0,2}\W*$", re.IGNORECASE
)
_CONCLUSION = re.compile(r"^(?:the answer|in short|in conclusion|therefore|overall|so,|答案|总之|因此)", re.IGNORECASE)


class Finding(NamedTuple):
    agrees: bool
    reason: str


def compare(question: str, response: str, accepted: Sequence[str], *, strict: bool) -> Finding:
    """Whether the response gives one of the accepted answers, and why it seems so."""
    lines = [s for line in response.splitlines() if not line.lstrip().startswith("#") for s in sentences(line)]
    if not lines:
        return Finding(False, "The response is empty.")
    if all(len(words(form)) >= 3 for form in accepted) and any(_denies(form, question) for form in accepted):
        return _premise(lines, accepted)
    opening = _opening(lines)
    if _NO_ANSWER.search(lines[0]):
        return Finding(False, "The response says that it has no answer.")
    hit = next((form for form in accepted if _holds(form, opening, question)), None)
    if hit is not None and _HEDGE.search(opening):
        return Finding(False, f"It mentions {hit} only as one possibility.")
    if hit is not None:
        return _agreement(hit, lines, strict)
    late = next((form for form in accepted if _holds(form, " ".join(lines), question)), None)
    if late is not None and not _offers_another(late, opening, question):
        return Finding(True, f"The response comes to {late}, an accepted answer.")
    return Finding(False, f"The primary answer ({opening[:120]}) is none of the accepted ones.")


def _opening(lines: Sequence[str]) -> str:
    """What the response puts forward: its first sentence (two where the first is short) and its conclusions."""
    first = lines[:2] if len(words(lines[0])) < 4 else lines[:1]
    return " ".join([*first, *(line for line in lines[len(first) :] if _CONCLUSION.match(line))])


def _agreement(hit: str, lines: Sequence[str], strict: bool) -> Finding:
    """Credit for the primary answer; a strict reader stumbles over a later sentence that takes something back."""
    doubts = [line for line in lines[1:] if re.search(r"\b(?:however|although|but)\b|但是|不过", line, re.IGNORECASE)]
    if strict and doubts:
        return Finding(False, f"{hit} is accepted, but the response goes on: {doubts[0][:120]}")
    return Finding(True, f"The primary answer agrees with {hit}.")


def _denies(form: str, question: str) -> bool:
    """Whether an accepted answer says that the question's premise is wrong: a sentence that denies or corrects."""
    if re.match(r"(?:yes|no)\b", form, re.IGNORECASE):
        return False
    told = set(words(form)) & set(words(question))
    return _DENIAL.search(form) is not None or len(told) >= 3


def _premise(lines: Sequence[str], accepted: Sequence[str]) -> Finding:
    """Credit for a denial in the first sentences that speaks of what the accepted correction speaks of."""
    start = " ".join(lines[:3])
    denied = _STRONG_DENIAL.search(start) is not None
    about = max(_share(form, start) for form in accepted)
    if denied and not _NO_ANSWER.search(lines[0]) and about >= 0.3:
        return Finding(True, "The response says that the premise does not hold.")
    if about >= 0.75:
        return Finding(True, "The response states the correction itself.")
    return Finding(False, "The response goes along with a false premise or does not answer.")


def _share(form: str, text: str) -> float:
    """Which share of the form's content words stand in the text."""
    wanted = dict.fromkeys(words(form))
    there = set(words(text))
    return sum(word in there for word in wanted) / len(wanted) if wanted else 0.0


def _holds(form: str, text: str, question: str) -> bool:
    """Whether the text gives this accepted answer, and does not deny it."""
    if verdict := re.match(r"(yes|no)\b", form, re.IGNORECASE):
        return re.match(rf"\W*{verdict[1]}\b", text, re.IGNORECASE) is not None
    if days := _days(form):
        return any(
            (d.year, d.month, d.day or day) == (year, month, day) for d in dates.find(text) for year, month, day in days
        )
    if _is_number(form):
        wanted = numbers(form)[0]
        told = [n for n in numbers(text) if n.agrees(wanted, ROUNDING)]
        return any(not _NEGATED_BEFORE.search(text[: n.start]) for n in told)
    return _names_it(form, text, question)


def _days(form: str) -> list[tuple[int, int, int]]:
    """The days that an accepted answer may mean: `May 3, 2024`, `3-May-24`, and `5/3/2024` in both orders."""
    if short := re.fullmatch(r"(\d{1,2})-([A-Z][a-z]{2})-(\d\d)", form):
        form = f"{short[1]} {short[2]} 20{short[3]}"
    if plain := re.fullmatch(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", form):
        first, second, year = map(int, plain.groups())
        return [(year, month, day) for month, day in ((first, second), (second, first)) if month <= 12]
    return [(d.year, d.month, d.day) for d in dates.find(form) if d.month][:1]


def _is_number(form: str) -> bool:
    """A number with at most a unit: `418,878`, `$15/hour`, `8 billion people`."""
    return len(numbers(form)) == 1 and not names(form) and len(words(re.sub(r"[\d.,]+", "", form))) <= 2


def _names_it(form: str, text: str, question: str) -> bool:
    at = text.casefold().find(form.casefold())
    if at >= 0 and contains_name(text, form):
        return not _NEGATED_BEFORE.search(text[:at])
    asked = set(words(question))
    wanted = [word for word in dict.fromkeys(words(form)) if word not in asked]
    there = set(words(text))
    if not wanted:
        return False
    if len(wanted) <= 3:
        return all(get_close_matches(word, there, n=1, cutoff=NEAR) for word in wanted)
    return sum(word in there for word in wanted) / len(wanted) >= 0.6


def _offers_another(form: str, opening: str, question: str) -> bool:
    """Whether the opening gives something of the accepted answer's kind that the question did not mention."""
    if _is_number(form):
        asked = {n.value for n in numbers(question)}
        return any(n.value not in asked for n in numbers(opening))
    return any(not contains_name(question, name) for name in names(opening))
