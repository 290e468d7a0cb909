"""When a shallow answer is not enough: the phrases policy, as a pure function of the answer.

The table of cases is in specification section 3.2; the graph's edge is in `chat.py`.
"""

from aiq.citations.body import without_references
from aiq.core.base import Record

PHRASES = ("i don't have enough information", "unable to find", "need more research")
"""A shallow researcher's ways to say that it found too little."""

WINDOW = 800
"""Characters at the end of the answer, without its reference list, in which a phrase counts."""

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'"})


class Assessment(Record):
    """`cause` says why, also where there is nothing to escalate."""

    escalate: bool
    cause: str


def assess(answer: str | None) -> Assessment:
    """Escalate when the answer is empty or blank, or admits near its end that it found too little."""
    if answer is None or not answer.strip():
        return Assessment(escalate=True, cause="empty answer")
    end = without_references(answer).translate(_APOSTROPHES).lower()[-WINDOW:]
    for phrase in PHRASES:
        if phrase in end:
            return Assessment(escalate=True, cause=f"phrase: {phrase}")
    return Assessment(escalate=False, cause="no phrase")
