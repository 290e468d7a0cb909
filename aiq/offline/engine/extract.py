"""Extracts from a sentence the pieces that could be the value, by the expected kind of answer, and rates their fit."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import pairwise

from aiq.offline.engine.analysis import PARTICLES, Sentence, analyse
from aiq.offline.engine.dates import MONTHS
from aiq.offline.engine.evidence import Hit
from aiq.offline.engine.lexicon import (
    ENDINGS,
    is_occupation,
    kind_of,
    listed,
    parts_of_speech,
    similar,
    stem,
    vocabulary,
)
from aiq.offline.engine.quantities import Quantity, with_unit
from aiq.offline.engine.question import FUNCTION_WORDS, THINGS, Ask
from aiq.offline.engine.text import is_chinese

_KINDS = ("named", "date", "number", "age", "colour", "material", "occupation", "reason")


@dataclass(frozen=True)
class Piece:
    """A piece of a sentence that could be the value: its offsets (-1 for the page's subject), and its fit, 0 to 1."""

    start: int
    end: int
    value: str
    fit: float


def pieces(ask: Ask, hit: Hit) -> Iterator[Piece]:
    """The parts of a sentence that may be of the kind asked for."""
    sentence = hit.sentence
    kind = "named" if ask.kind in (*THINGS, "name") else ask.kind
    if kind == "date":
        yield from _dates(ask, sentence)
    elif kind in ("number", "age"):
        yield from _numbers(ask, sentence)
    elif kind in ("colour", "material", "occupation"):
        yield from _of_class(kind, sentence)
    elif kind == "reason":
        yield from _reasons(sentence)
    elif is_chinese(sentence.text):
        yield from _in_chinese(ask, hit)
    else:
        yield from _names(ask, hit) if kind == "named" else _phrases(ask, sentence)
    if kind not in _KINDS and not sentence.text.endswith(("?", "？")):
        yield from _clauses(hit)


_LEADS = re.compile(r"\s*,?\s*|.{0,40}\b(?:is|was|are|were|called|named|at)\b(?:\s+the)?\s*", re.IGNORECASE)
"""What may come between "the stadium of X" and the stadium's name."""


def _names(ask: Ask, hit: Hit) -> Iterator[Piece]:
    for span in hit.sentence.names:
        name = hit.page.in_full(span.text)
        rate = _person_fit if ask.kind == "person" else _name_fit
        yield Piece(span.start, span.end, name, rate(ask, name, hit.sentence, span.start, span.end))
    subject = hit.page.subject
    if subject and not any(subject in span.text or span.text in subject for span in hit.sentence.names):
        mismatch = ask.kind == "person" or kind_of_name(subject) not in ("", ask.kind, "name")
        yield Piece(-1, -1, subject, 0.3 if mismatch else 0.6)


def kind_of_name(name: str) -> str:
    """The kind that a name itself states: "Harrow Polytechnic" is an organisation."""
    parts = re.findall(r"[^\W\d_]+", name)
    kinds = (kind_of(word) for word in (parts[-1:] + parts[:1]))
    return next((kind for kind in kinds if kind in ("organisation", "place", "thing")), "")


def _person_fit(ask: Ask, name: str, sentence: Sentence, start: int, end: int) -> float:
    preposition = re.search(r"\b(?:in|at|from|near)\s+(?:the\s+)?$", sentence.text[:start])
    return 0.35 if preposition or kind_of_name(name) else 0.95 if " " in name else 0.6


def _name_fit(ask: Ask, name: str, sentence: Sentence, start: int, end: int) -> float:
    """How well a name fits a place, organisation, work or thing, and the noun asked for."""
    kind = kind_of_name(name)
    if ask.head:
        apposition = re.match(r"\s*(?:,|is\b|was\b|\()[^.;]{0,36}", sentence.text[end:])
        roots = analyse(f"{name} {apposition.group() if apposition else ''}").roots
        noun_ends = [t.end for t in sentence.tokens if t.end <= start and similar(t.text, ask.head)]
        if stem(ask.head) in roots or (noun_ends and _LEADS.fullmatch(sentence.text[noun_ends[-1] : start])):
            return 1.0
        if kind_of_name(name.split()[-1]) and not similar(name.split()[-1], ask.head):
            return 0.4  # "Balotti Coast" is not a city
    if ask.kind == "place":
        preposition = re.search(r"\b(?:in|at|to|from|near|of|on|into)\s+(?:the\s+)?$", sentence.text[:start])
        return 0.6 if not preposition else 0.9 if kind in ("", "place") else 0.7
    return 0.55 if ask.head else 0.95 if kind == ask.kind else 0.7


_PART = re.compile(
    rf"(?P<month>\b(?:{'|'.join(MONTHS)})\b(?!\s+\d{{4}})|\d{{1,2}}月(?:\d{{1,2}}日)?|农历\w{{1,6}})|\b(?:1\d|20)\d0s\b"
    r"|\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
)
"""A month without a year, a decade, or a day of the week."""


def _dates(ask: Ask, sentence: Sentence) -> Iterator[Piece]:
    unit = ask.head.removesuffix("s")
    for date in (date for date in sentence.dates if date.month or unit != "month"):
        text = sentence.text[date.start : date.end]
        text = MONTHS[date.month - 1] if unit == "month" else str(date.year) if unit == "year" else text
        yield Piece(date.start, date.end, text, 0.6 if unit in ("day", "date") and not date.day else 0.95)
    for match in _PART.finditer(sentence.text) if unit != "year" else ():
        exact = match["weekday"] and "week" in ask.text if unit == "day" else match["month"] and unit == "month"
        if not any(date.start <= match.start() < date.end for date in sentence.dates):
            yield Piece(*match.span(), match.group(), 1.0 if exact else 0.2 if match["weekday"] else 0.6)


def _numbers(ask: Ask, sentence: Sentence) -> Iterator[Piece]:
    for quantity in sentence.numbers:
        if not any(date.start <= quantity.start < date.end for date in sentence.dates):
            fit = 0.7 if quantity.unit else 0.5
            fit = fit if not ask.units else 1.0 if _matches_unit(ask, quantity, sentence.text) else 0.25
            yield Piece(quantity.start, quantity.end, with_unit(sentence.text, quantity), fit)


def _matches_unit(ask: Ask, quantity: Quantity, text: str) -> bool:
    """Whether a number has a unit asked for, or counts what is asked for: "12 wheels", "a population of 4,600"."""
    people = ask.units.startswith("pe") and kind_of(quantity.unit) == "person"
    nearby = re.findall(r"[^\W\d]+", text[quantity.end : quantity.end + 40])[:3] if ask.head else []
    if ask.head and not quantity.unit:
        nearby += re.findall(r"[^\W\d]+", text[max(0, quantity.start - 40) : quantity.start])[-2:]
    return people or re.search(ask.units, quantity.unit) is not None or any(similar(word, ask.head) for word in nearby)


_AS_A = re.compile(
    r"\b(?:as|be|is|was|became|become|by|former(?:ly)?|then|,)\s+(?:an?|the)\s+"
    r"((?:former |retired )?[a-z][a-z-]+(?:\s(?:and\s)?[a-z][a-z-]+)?)"
    r"(?=[,.;]|\s+(?:who|by|from|in|at|and|under|then)\b|\s[A-Z])"
)


def _of_class(kind: str, sentence: Sentence) -> Iterator[Piece]:
    """Colours, materials and occupations, with the modifier before them and what "and" adds to them."""
    is_job, text = kind == "occupation", sentence.text
    last: Piece | None = None
    for number, token in enumerate(sentence.tokens):
        if not (is_occupation(token.text) if is_job else vocabulary().classes.get(token.text.lower()) == kind):
            continue
        prior = sentence.tokens[number - 1] if number else token
        joined = prior.text.islower() and prior.text not in FUNCTION_WORDS and text[prior.end : token.start] == " "
        start = prior.start if joined and parts_of_speech(prior.text) & {"NOUN", "ADJ"} else token.start
        cue = re.search(r"\b(?:an?|as|former|retired|by)\s(?:[a-z-]+\s)?$|[一是名位的]$", text[:start])
        fit = 0.95 if (cue or not is_job) and len(token.text) > 1 else 0.5
        if last and re.fullmatch(r",? and |、|和", text[last.end : start]):
            yield Piece(last.start, token.end, text[last.start : token.end], min(1.0, last.fit + 0.1))
        last = Piece(start, token.end, text[start : token.end], fit)
        yield last
    for match in _AS_A.finditer(text) if is_job else ():
        yield Piece(*match.span(1), match[1], 0.85 if kind_of(match[1].split()[-1]) in ("", "person") else 0.4)


_CAUSE = re.compile(
    r"(?:\b(?:because(?: of)?|as a result of|due to|owing to)\s+|因为?|由于)([^.;。；]{4,140})", re.IGNORECASE
)
_AIM = re.compile(r"(?:\b(?:since|so that|after|in order to|to)\s+|为了)([^.;。；]{4,140})", re.IGNORECASE)


def _reasons(sentence: Sentence) -> Iterator[Piece]:
    for pattern, fit in ((_CAUSE, 0.95), (_AIM, 0.6)):
        yield from (Piece(*match.span(1), match[1].strip(), fit) for match in pattern.finditer(sentence.text))
    yield Piece(0, len(sentence.text), sentence.text, 0.5)


_CUT = re.compile(
    r"[,;:()–—\"“”]|\s(?:which|that|who|when|where|because|and|but|while|until|after|before|than|although|whose|if)\s",
    re.IGNORECASE,
)


def _phrases(ask: Ask, sentence: Sentence) -> Iterator[Piece]:
    """Names, and stretches up to the next break that do not repeat the question."""
    yield from (Piece(span.start, span.end, span.text, 0.7) for span in sentence.names)
    query = analyse(ask.text)
    for token in sentence.tokens:
        phrase = _CUT.split(sentence.text[token.start :], maxsplit=1)[0].strip(" .!?,;")
        parts = phrase.split()
        if parts and len(parts) <= 9 and parts[0].lower() not in FUNCTION_WORDS - {"the", "a", "an"}:
            parsed = analyse(phrase)
            repeated = len(parsed.roots.keys() & query.roots.keys()) + len(parsed.groups.keys() & query.groups.keys())
            fit = 0.75 * (1 - 0.7 * min(1.0, repeated / max(1, len(parsed.roots))))
            yield Piece(token.start, token.start + len(phrase), phrase, fit)


def _clauses(hit: Hit) -> Iterator[Piece]:
    """The clauses, rated by their share of the ask: the answer if no shorter phrase is one."""
    sentence = hit.sentence
    breaks = re.finditer(r"[,;:–—]\s+|[，；：]|\s(?=but\s)", sentence.text)
    total = sum(worth for _, worth in hit.places) or 1.0
    for start, end in pairwise([0, *(match.end() for match in breaks), len(sentence.text)]):
        share = sum(worth for place, worth in hit.places if sentence.at(start) <= place < sentence.at(end)) / total
        clause = sentence.text[start:end].strip(" ,.;:，。；")
        if is_chinese(clause) or (" " in clause and clause.split()[-1].lower() not in FUNCTION_WORDS):
            yield Piece(start, end, clause, 0.6 * share)


_CHINESE_CUT = re.compile(
    r"[^\w·\-]+|[是在为于由用被把的了过和与及因从向对以将并曾至到已位]|当选|当过|选举|出生|毕业|任命|获得|担任"
    r"|现任|新一任|新任|一任|昨日|名叫|叫做"
)
_SURNAMES = frozenset("".join(listed("surnames")))


def _in_chinese(ask: Ask, hit: Hit) -> Iterator[Piece]:
    """Pieces of a Chinese sentence between particles, common verbs and the words of the ask; titles whole."""
    text, known = hit.sentence.text, vocabulary().groups.keys()
    fit = 0.95 if ask.kind in ("work", "name") else 0.5
    yield from (Piece(span.start, span.end, span.text, fit) for span in hit.sentence.names)
    cuts = {0, len(text)} | {edge for match in _CHINESE_CUT.finditer(text) for edge in match.span()}
    for token in (hit.sentence.tokens[place] for place, _ in hit.places):
        if token.root in known or token.root in ask.words:
            ends_name = token.start not in cuts and kind_of(token.text) in ("place", "organisation", "thing")
            cuts |= {token.end} if ends_name else {token.start, token.end}
    for start, end in pairwise(sorted(cuts)):
        piece = text[start:end]
        if 2 <= len(piece) <= 14 and is_chinese(piece) and piece not in PARTICLES | known:
            repeated = analyse(ask.text).roots.keys() & analyse(piece.removesuffix(ask.head)).roots.keys()
            yield Piece(start, end, piece, _fit_in_chinese(ask, piece) * (0.5 if repeated else 1))


def _fit_in_chinese(ask: Ask, piece: str) -> float:
    if ask.kind == "person":
        is_name = (len(piece) <= 3 and piece[0] in _SURNAMES) or "·" in piece
        return (0.95 if is_name else 0.5) * (0.5 if piece[-1] in "".join(ENDINGS.values()) else 1)
    if ask.kind in ENDINGS:
        return 1.0 if piece[-1] in ENDINGS[ask.kind] else 0.6
    return 0.8 if not ask.head else 1.0 if piece.endswith(ask.head) else 0.55


DENIED = re.compile(
    r"\b(?:not(?! only\b| to be confused| just\b| least\b)|never|neither|nor|no(?! longer than)|false|denied|rumou?r"
    r"|contrary|myth|wrongly|mistaken(?:ly)?|abandoned|unlike|ruled out|disproved|unfounded|untrue)\b|n't\b"
    r"|不是|并非|没有|未|误",
    re.IGNORECASE,
)
_BACKWARD_DENIALS = ("ruled out", "disproved", "unfounded", "untrue")
"""Denials of the words before them; the others deny the words after them."""


@dataclass(frozen=True)
class Candidate:
    """A value that was found. `score`: 0 to 1, how well the sentence and the position fit."""

    value: str
    hit: Hit
    score: float


def candidates(ask: Ask, hit: Hit, known: str = "") -> list[Candidate]:
    """The values that a sentence may give, except those that only repeat what is `known`."""
    known_roots = analyse(ask.text).roots.keys() | analyse(known).roots.keys()
    return [
        Candidate(p.value, hit, min(1.0, hit.score * p.fit * _nearness(hit, p) * _affirmation(hit, p)))
        for p in pieces(ask, hit)
        if not _repeats(p.value, known_roots, ask)
    ]


def _repeats(value: str, known_roots: Set[str], ask: Ask) -> bool:
    roots = [t.root for t in analyse(value).tokens if t.text.lower() not in FUNCTION_WORDS]
    new_figure = ask.kind in ("number", "date") and value not in ask.text
    return bool(roots) and not new_figure and all(root in known_roots for root in roots)


def _nearness(hit: Hit, piece: Piece) -> float:
    """How near a piece is to the words of the ask: 1 beside them, less with every token and break between."""
    if not hit.places or piece.start < 0:
        return 0.7
    sentence = hit.sentence
    first, last = sentence.at(piece.start), sentence.at(max(piece.start, piece.end - 1))
    total = 0.0
    for place, worth in hit.places:
        low, high = sorted((sentence.tokens[place].start, piece.start))
        breaks = len(re.findall(r"[,;,；]|\b(?:and|but|who|which)\b", sentence.text[low:high]))
        total += worth / (1 + 0.1 * max(max(place - last, first - place, 0) + 3 * breaks - 1, 0))
    return 0.4 + 0.6 * total / sum(worth for _, worth in hit.places)


def _affirmation(hit: Hit, piece: Piece) -> float:
    """1, or less for a value that the words before it deny."""
    context = re.split(r"[,;.，；]", hit.sentence.text[: max(0, piece.start)])[-1][-40:]
    denial = DENIED.search(context)
    return 0.4 if denial and not re.search(r"\bbut\b|而是", context[denial.start() :]) else 1.0


def denies(hit: Hit) -> bool:
    """Whether a sentence denies what was found in it: a negation precedes a matching word in the same clause."""
    return bool(denied(hit))


def denied(hit: Hit) -> list[str]:
    """The stems among the words of the ask that a sentence denies: those near a negation in the same clause."""
    sentence, roots = hit.sentence, []
    for match in DENIED.finditer(sentence.text):
        reach = re.split(r"[,;.:，；。]", sentence.text[match.end() :], maxsplit=1)[0]
        first, last = sentence.at(match.end()), sentence.at(match.end() + len(reach))
        backward = match.group().lower() in _BACKWARD_DENIALS
        first, last = (max(0, first - 6), first) if backward else (first, min(last, first + 6))
        roots += [sentence.tokens[place].root for place, _ in hit.places if first <= place < last]
    return roots
