"""Which relation a question asks for."""

import re
from functools import lru_cache

from aiq.offline.reading.relation_table import RELATIONS, TIME, AnswerType, Relation


@lru_cache(maxsize=2048)
def find(phrase: str, wanted: AnswerType) -> Relation | None:
    """The relation that a phrase of a question asks for, given the wanted type of answer; the earliest in the table."""
    if wanted == "yesno":
        return None
    lowered = phrase.casefold()
    for relation in RELATIONS:
        fits = not relation.needs or wanted in relation.needs
        if fits and _answers(relation, wanted) and re.search(relation.asked, lowered):
            return relation
    return None


def _answers(relation: Relation, wanted: AnswerType) -> bool:
    """Whether a relation can answer with this type; `text` and `thing` leave it open."""
    if wanted in ("text", "why") or relation.answer == wanted:
        return True
    if relation.answer in ("year", "month") and wanted in TIME:
        return True
    if (wanted, relation.name) in (("number", "birth_year"), ("place", "studied")):
        return True
    return wanted == "thing" and relation.answer in ("person", "thing", "place")
