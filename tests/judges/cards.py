"""A task's criteria, and answers of RACE's judge models to them."""

from typing import Any

from aiq.core.samples import Criterion, Rubric
from aiq.judges.race_scores import DIMENSIONS

RUBRIC = Rubric(
    dimension_weight=dict(zip(DIMENSIONS, (0.3, 0.35, 0.2, 0.15), strict=True)),
    criteria={
        name: (
            Criterion(criterion=f"Depth of {name}", explanation="How deep it goes.", weight=0.7),
            Criterion(criterion=f"Use of figures in {name}", explanation="Whether it has numbers.", weight=0.3),
        )
        for name in DIMENSIONS
    },
)
"""Two criteria a dimension, one of them heavier; dimension weights as the benchmark has them."""

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
