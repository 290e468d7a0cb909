"""Which sentence answers a hop, and with which phrase: generic scoring, no knowledge of any world.

For every sentence of every document:

1. Subject: the sentence names the thing, or it stands on the thing's own page. Otherwise it is no evidence.
2. Relation: it contains a word of the relation (synonyms from `relations`), or enough of the question's own words.
3. Answer: a phrase of the wanted type that is not the thing itself; the closer to the relation word the better, and
   worse behind words such as "former", "succeeded", "until", "from".
4. Date: of the sentence, else of its page. Where the fact changes and the prompt states today's date, the newest of
   the good sentences wins; otherwise the best one.

Nothing found is an empty list, never a guess.
"""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise

from aiq.core.base import Record
from aiq.offline.reading import answers, fit
from aiq.offline.reading.documents import Document, Sentence
from aiq.offline.reading.hops import Hop
from aiq.offline.reading.text import contains_name, same_name, stem, stems, words

GOOD_ENOUGH = 0.9
"""Evidence this far below the best still competes by its date."""

UNNAMED = 0.3
"""Weight of a sentence that does not name the subject, where the question has no known relation to hold on to."""

LEAST_SHARE = 0.34
"""Share of such a question's words below which a sentence is no evidence."""

Weights = Mapping[str, float]

_PRONOUN = re.compile(r"^(?:It|Its|He|His|She|Her|They|Their|The|This|该|其|他|她|这)\b")


class Evidence(Record):
    """An answer with the sentence that gives it. `when` is the day it speaks of; `score` compares within one search."""

    answer: str
    sentence: str
    document: Document
    when: date | None
    score: float


def search(
    documents: Sequence[Document], subject: str, hop: Hop, *, now: datetime | None, avoid: Sequence[str] = ()
) -> list[Evidence]:
    """Evidence for `hop` of `subject`, best first; at most one for each document and answer.

    `avoid` are names that cannot be the answer, such as those that the question itself contains. `now` is the date the
    prompt states; None means that freshness cannot be judged.
    """
    found: dict[tuple[str, str], Evidence] = {}
    weights = _weights(documents, hop)
    for document in documents:
        for piece in _readings(document, subject, hop, avoid, weights):
            key = (document.key, piece.answer.casefold())
            if key not in found or piece.score > found[key].score:
                found[key] = piece
    ranked = sorted(_supported(list(found.values())), key=lambda e: (-e.score, e.document.rank))
    if now is not None and hop.changing and ranked:
        ranked = _freshest_first(ranked, now)
    return ranked


def _freshest_first(ranked: list[Evidence], now: datetime) -> list[Evidence]:
    """The good ones by date, newest first, undated and future ones behind; then the rest."""
    floor = ranked[0].score - GOOD_ENOUGH
    good = [e for e in ranked if e.score >= floor]
    past = sorted((e for e in good if e.when and e.when <= now.date()), key=lambda e: (-_day(e), -e.score))
    rest = [e for e in ranked if e not in past]
    return [*past, *rest]


def _day(evidence: Evidence) -> int:
    return evidence.when.toordinal() if evidence.when else 0


def _supported(found: list[Evidence]) -> list[Evidence]:
    """Scores raised a little where several documents give the same answer."""
    counted = []
    for piece in found:
        others = sum(1 for e in found if e.answer.casefold() == piece.answer.casefold()) - 1
        counted.append(piece.model_copy(update={"score": piece.score + min(0.3, 0.15 * others)}))
    return counted


def _readings(document: Document, subject: str, hop: Hop, avoid: Sequence[str], weights: Weights) -> list[Evidence]:
    """All readings of one document."""
    found = []
    own_page = _own_page(document.title, subject)
    before = ""
    for sentence in document.sentences:
        weight = _subject_weight(sentence, before, subject, own_page)
        if hop.relation is None:
            weight = max(weight, UNNAMED)
        before = sentence.text
        if weight == 0:
            continue
        cues = _cues(sentence.text, document.title, hop, weights)
        if not cues:
            continue
        strength = max(cue[1] for cue in cues)
        for span in answers.candidates(sentence.text, hop.answer):
            good = fit.of_phrase(sentence.text, span, [cue[0] for cue in cues], subject, hop, avoid)
            if good is not None:
                score = _base(hop, weight, strength) + good - fit.doubt(span, document) - 0.01 * document.rank
                found.append(
                    Evidence(
                        answer=span.text, sentence=sentence.text, document=document, when=sentence.when, score=score
                    )
                )
    return found


def _base(hop: Hop, weight: float, strength: float) -> float:
    """Subject and relation together, 0 to 3; a question's own words weigh more than a name among them."""
    if hop.relation is not None:
        return 2 * weight + strength
    return 0.7 * weight + 2.6 * strength


def _own_page(title: str, subject: str) -> float:
    """How much a page is about the subject, by its title: 1 the same, less where the title only contains it."""
    if not subject:
        return 0.7
    if same_name(title, subject):
        return 1.0
    head = re.split(r"\s+[-–—|:(]\s*|\s*[:：|]\s*", title)[0]
    if same_name(head, subject):
        return 0.95
    return 0.7 if contains_name(title, subject) else 0.0


def _subject_weight(sentence: Sentence, before: str, subject: str, own_page: float) -> float:
    """1 where the sentence names the subject, less where only its page or the sentence before does; 0 otherwise."""
    if not subject:
        return own_page
    if contains_name(sentence.text, subject):
        return 1.0
    if own_page:
        return 0.85 * own_page
    if _PRONOUN.match(sentence.text) and contains_name(before, subject):
        return 0.6
    return 0.0


def _cues(sentence: str, title: str, hop: Hop, weights: Weights) -> list[tuple[int, float]]:
    """Where the sentence speaks of the relation, with a strength of 0 to 1; empty where it does not.

    For a relation that is not in the table, the strength is the weighted share of the question's words that the
    sentence has; words that only the page's title has count for less.
    """
    if hop.relation is not None:
        return [(match.start(), 1.0) for match in re.finditer(hop.relation.told, sentence.casefold())]
    here, above = stems(sentence), stems(title)
    share = sum(weight for word, weight in weights.items() if word in here)
    share += 0.4 * sum(weight for word, weight in weights.items() if word in above and word not in here)
    if share < LEAST_SHARE:
        return []
    share += 0.35 * _pairs(sentence, hop)
    lowered = sentence.casefold()
    places = [match.start() for word in weights if word in here and (match := re.search(re.escape(word), lowered))]
    return [(place, min(1.2, share)) for place in places or [0]]


def _pairs(sentence: str, hop: Hop) -> float:
    """Share of the question's neighbouring words that are neighbours in the sentence too (`hottest year`)."""
    asked = [stem(word) for word in hop.words]
    told = [stem(word) for word in words(sentence)]
    wanted = set(pairwise(asked))
    return len(wanted & set(pairwise(told))) / max(1, len(wanted))


def _weights(documents: Sequence[Document], hop: Hop) -> Weights:
    """How much each of the question's words says, summing to 1: rare ones among the sentences at hand say more."""
    if hop.relation is not None:
        return {}
    bodies = [stems(sentence.text) for document in documents for sentence in document.sentences]
    raw = {}
    for word in sorted(stem(word) for word in hop.words):
        known = sum(word in body for body in bodies)
        raw[word] = math.log(1 + (len(bodies) + 1) / (known + 1))
    total = sum(raw.values()) or 1.0
    return {word: weight / total for word, weight in raw.items()}
