"""Answers of RACE's judge models, as they give them."""

from typing import Any

from aiq.core.samples import Rubric
from aiq.judges.race_scores import DIMENSIONS

Card = dict[str, Any]


def card(rubric: Rubric, first: float = 6.0, second: float = 4.0) -> Card:
    """A complete answer with the same two scores everywhere."""
    return _card(rubric, article_1_score=first, article_2_score=second)


def points(rubric: Rubric, score: float = 7.0) -> Card:
    """The same for a report that is judged by itself."""
    return _card(rubric, score=score)


def _card(rubric: Rubric, **scores: float) -> Card:
    return {
        name: [{"criterion": c.criterion, "analysis": "a", **scores} for c in rubric.criteria[name]]
        for name in DIMENSIONS
    }
