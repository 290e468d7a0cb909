"""What to search for: queries for a hop, in an order from plain to desperate."""

from datetime import datetime

from aiq.offline.reading.compose import pick
from aiq.offline.reading.questions import Hop, ParsedQuestion
from aiq.offline.reading.text import is_chinese, words

MOST = 397
"""Search APIs take no longer queries."""


def for_hop(subject: str, hop: Hop, question: ParsedQuestion, *, now: datetime | None, seed: object) -> list[str]:
    """Queries for one fact: name and property first, then other words for the same, then the name alone.

    The first is dated where the question asks for the latest and the prompt states the date.
    """
    if hop.relation is None or len(question.hops) == 1:
        return _in_own_words(subject, hop, question, now=now)
    wording = pick((0, 1), seed, "query wording", question.text, subject, hop.phrase)
    plain = _joined(subject, hop.noun, wording)
    if question.recent and hop is question.hops[-1] and now is not None:
        plain = f"{plain} {now.year}"
    options = [plain, _joined(subject, hop.phrase, 1 - wording), subject]
    return [query[:MOST] for query in dict.fromkeys(options) if query.strip()]


def _in_own_words(subject: str, hop: Hop, question: ParsedQuestion, *, now: datetime | None) -> list[str]:
    """For a question of one step: its own words, then name and property or its content words, then the name alone."""
    asked = question.bare
    plain = f"{asked} {now.year}" if question.recent and now is not None else asked
    second = _joined(subject, hop.noun, 0) if hop.relation else " ".join(hop.words)
    options = [plain, second, subject]
    return [query[:MOST] for query in dict.fromkeys(options) if query.strip()]


def dated(subject: str, hop: Hop, now: datetime) -> str:
    """The query that looks for the newest word on a fact that changes."""
    latest = "最新" if is_chinese(subject) else "latest"
    return f"{subject} {latest} {hop.noun} {now.year}"[:MOST]


def whole(question: str) -> str:
    """A question as keywords: for questions that name nothing."""
    return (" ".join(words(question)) or question)[:MOST]


def _joined(subject: str, noun: str, wording: int) -> str:
    if not subject:
        return noun
    if is_chinese(subject):
        return f"{subject} {noun}"
    return f"{noun} of {subject}" if wording and noun and not subject.startswith("the ") else f"{subject} {noun}"
