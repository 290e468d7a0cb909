"""How well a phrase of a sentence stands as the answer: closeness to the relation word, and what speaks against it.

The closer to a word of the relation the better; worse behind "former", "succeeded", "until", "from"; worse in headings
and list entries; single relations have habits of their own (a founder stands behind "by", a city behind "in").
"""

import re
from collections.abc import Sequence

from aiq.offline.reading import answers
from aiq.offline.reading.documents import Document
from aiq.offline.reading.hops import Hop
from aiq.offline.reading.text import Span, contains_name, is_chinese, same_name

_FORMER = re.compile(
    r"(?:succeed(?:s|ed|ing)?|replac(?:es|ed|ing)|follow(?:s|ed|ing)|took over from|taking over from|from|after"
    r"|former(?:ly)?"
    r"|predecessor,?|previous(?:ly)?|ex-|unlike|not|than|until|before|had been|接替|从|上一次统计为"
    r"|上一届的获胜者是|取代|前任|原)\s*(?:the |its |mayor |director |coach )*$",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:former(?:ly)?|previous(?:ly)?|until|used to|once|had been|stepped down|left office|resigned"
    r"|retired)\b|曾任|前任|卸任"
)
_PLACED = re.compile(r"(?:\b(?:in|at|to|of|near|is|city of|town of)|在|于)\s*(?:the )?$")


def of_phrase(
    sentence: str, span: Span, cues: Sequence[int], subject: str, hop: Hop, avoid: Sequence[str]
) -> float | None:
    """How well a phrase stands as the answer, about -1 to 1.5; None where it cannot be it."""
    if hop.answer in ("why", "text", "yesno"):
        return 0.5 - 0.001 * max(0, len(sentence) - 250) - _fragment(sentence)
    if _excluded(span.text, (subject, *avoid)):
        return None
    before = sentence[: span.start]
    distance = min(_gap(cue, span) for cue in cues)
    fit = 0.8 / (1 + distance / 30) - _fragment(sentence)
    if _FORMER.search(before):
        fit -= 0.8
    if hop.changing and _PAST.search(sentence):
        fit -= 0.5
    if hop.answer == "place":
        fit += 0.3 if _PLACED.search(before) else -0.2
    if hop.relation is not None:
        fit += _habits(sentence, span, hop.relation.name)
    return fit


def doubt(span: Span, document: Document) -> float:
    """A lone capitalised word at the start of a sentence may be an ordinary one, unless it has a capital elsewhere."""
    word = span.text
    if span.start > 1 or " " in word or is_chinese(word) or not word[:1].isalpha():
        return 0.0
    inside = re.search(rf"(?<=[a-z,] ){re.escape(word)}\b", document.text)
    return 0.0 if inside or contains_name(document.title, word) else 0.6


def _fragment(sentence: str) -> float:
    """Headings, list entries and link lines are poor witnesses."""
    whole = re.search(r"[.!?。！？)\]\"”]$", sentence) is not None and len(sentence) > 15
    return 0.0 if whole and re.search(r"https?://|\.com\b|Retrieved", sentence) is None else 0.6


def _habits(sentence: str, span: Span, relation: str) -> float:
    """Small preferences of single relations that closeness alone gets wrong."""
    before, after = sentence[: span.start], sentence[span.end :]
    if relation == "river":
        named = re.match(r"\s+river|河", after, re.IGNORECASE) or re.search(r"river\s*$", before, re.IGNORECASE)
        return 0.5 if named else 0
    if relation == "studied":
        return 0.5 if answers.INSTITUTION.search(span.text) or re.search(r"[学书]院|大学|研究院", span.text) else -0.3
    if relation in ("founder", "author", "painter", "inventor", "film_director", "designer", "composer"):
        return 0.4 if re.search(r"\bby\s*(?:the [\w ]{3,40})?$", before) or "由" in before[-2:] else 0
    if relation == "country":
        return 0.3 if re.search(r"\b(?:in|of)\s*(?:the )?$|,\s*$", before) else -0.2
    return 0


def _gap(cue: int, span: Span) -> int:
    """Characters between a cue and a phrase."""
    return span.start - cue if span.start >= cue else cue - span.end


def _excluded(answer: str, names: Sequence[str]) -> bool:
    """Whether a phrase is one of these names, or a part of one."""
    return any(name and (same_name(answer, name) or contains_name(name, answer)) for name in names)
