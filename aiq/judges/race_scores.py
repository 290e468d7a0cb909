"""RACE's arithmetic: parses a judge model's marks strictly and turns them, with the task's weights, into figures.

As Deep Research Bench defines it: a dimension's mean is weighted by criterion, the total is the sum of dimension
mean times dimension weight, and every figure is ours / (ours + reference): 0.5 is as good as the reference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import BeforeValidator, Field, JsonValue

from aiq.core.reports import Caveat
from aiq.core.samples import Criterion, Rubric
from aiq.judges.structured import ModelAnswer, NonBlank, Unusable, read_as

T = TypeVar("T")

NOTICES: Final = ("sections", "facts", "roles", "numbers", "nonsense")
"""The perturbations that every figure claims to notice: those of content."""

HIGHEST: Final = 10.0

Points = Annotated[float, Field(ge=0, le=HIGHEST)]


class ByDimension(ModelAnswer, Generic[T]):
    """An answer with one value per dimension."""

    comprehensiveness: T
    insight: T
    instruction_following: T
    readability: T


DIMENSIONS: Final = tuple(ByDimension.model_fields)
FIGURES: Final = ("overall", *DIMENSIONS)


class CriterionMark(ModelAnswer):
    """A judge model's mark for one criterion; `criterion` is as the model spelt it."""

    criterion: NonBlank
    analysis: Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")] = ""


class PointMark(CriterionMark):
    """The mark of a report judged on its own."""

    score: Points


class PairMark(CriterionMark):
    """The marks of both articles, ours being article 1."""

    ours: Points = Field(validation_alias="article_1_score")
    reference: Points = Field(validation_alias="article_2_score")


class SwappedMark(CriterionMark):
    """The marks of both articles, ours being article 2."""

    ours: Points = Field(validation_alias="article_2_score")
    reference: Points = Field(validation_alias="article_1_score")


@dataclass(frozen=True)
class RaceOutcome:
    """The outcome of one answer, by figure: `figures` and, if articles were compared, the `means` of each.

    `marks` are by dimension; `unmatched`: criteria, as the model spelt them, that match none of the task's.
    """

    figures: Mapping[str, float]
    marks: Mapping[str, Sequence[CriterionMark]]
    unmatched: tuple[str, ...]
    means: Mapping[str, Mapping[str, float]]

    def detail(self, figure: str) -> dict[str, JsonValue]:
        """What a row's detail shows of this judgement: the marks of a dimension, nothing for the total."""
        marks = self.marks.get(figure)
        return {} if marks is None else {"marks": [mark.model_dump(mode="json") for mark in marks]}


def compare(answer: str, rubric: Rubric, *, swapped: bool = False) -> RaceOutcome:
    """The share of ours in ours + reference, 0 to 1; 0 if both are 0, as officially. Raises Unusable.

    Criteria may be spelt differently, but there must be as many marks as criteria, and no criterion marked twice.
    `swapped`: article 1 was the reference.
    """
    card = _MatchedAnswer(SwappedMark if swapped else PairMark, answer, rubric)
    ours, reference = card.means("ours"), card.means("reference")
    totals = {name: ours[name] + reference[name] for name in FIGURES}
    shares = {name: ours[name] / total if total > 0 else 0.0 for name, total in totals.items()}
    return RaceOutcome(shares, card.marks, card.unmatched, {"ours": ours, "reference": reference})


def grade(answer: str, rubric: Rubric) -> RaceOutcome:
    """The means of a report judged on its own, 0 to 10, with dimension weights made to add up to 1. Raises Unusable."""
    card = _MatchedAnswer(PointMark, answer, rubric)
    means, total = card.means("score"), sum(rubric.dimension_weight[name] for name in DIMENSIONS)
    return RaceOutcome({**means, "overall": means["overall"] / total}, card.marks, card.unmatched, means={})


class _MatchedAnswer:
    """An answer matched with the task's criteria: its marks, their weights, and those that match no criterion."""

    def __init__(self, mark: type[CriterionMark], answer: str, rubric: Rubric) -> None:
        card: ByDimension[Any] = read_as(ByDimension[list[mark]], answer)  # type: ignore[valid-type]
        self.marks: dict[str, list[CriterionMark]] = dict(card)
        self.unmatched: tuple[str, ...] = ()
        self._weights: dict[str, list[float]] = {}
        self._rubric = rubric
        for dimension, marks in self.marks.items():
            criteria = rubric.criteria[dimension]
            if len(marks) != len(criteria):
                raise Unusable(f"dimension {dimension} has {len(marks)} marks for {len(criteria)} criteria")
            places = match([mark.criterion for mark in marks], criteria)
            matched = [place for place in places if place is not None]
            if len(set(matched)) < len(matched):
                raise Unusable(f"dimension {dimension} marks a criterion twice")
            mean = sum(criterion.weight for criterion in criteria) / len(criteria)
            self._weights[dimension] = [mean if place is None else criteria[place].weight for place in places]
            self.unmatched += tuple(mark.criterion for mark, at in zip(marks, places, strict=True) if at is None)

    def means(self, value: str) -> dict[str, float]:
        """Weighted means of one field of the marks: overall and by dimension."""
        means = {}
        for name, marks in self.marks.items():
            weights = self._weights[name]
            weighted = (getattr(mark, value) * weight for mark, weight in zip(marks, weights, strict=True))
            means[name] = sum(weighted) / sum(weights)
        return {"overall": sum(mean * self._rubric.dimension_weight[name] for name, mean in means.items()), **means}


def match(names: Sequence[str], criteria: Sequence[Criterion]) -> list[int | None]:
    """For each name the position of the criterion it means, or None; only equal names may share a position.

    As officially, tries equality, equality but for case, then whether one contains the other. Unlike
    there, containment does not match a criterion that another name fits better.
    """
    keys = [criterion.criterion.strip() for criterion in criteria]
    lowered = [key.lower() for key in keys]
    names = [name.strip() for name in names]
    positions = [
        keys.index(name) if name in keys else lowered.index(name.lower()) if name.lower() in lowered else None
        for name in names
    ]
    taken = set(positions)
    for at, name in enumerate(names):
        if positions[at] is None and (lower := name.lower()):
            candidates = (i for i, key in enumerate(lowered) if i not in taken and (lower in key or key in lower))
            positions[at] = next(candidates, None)
            taken.add(positions[at])
    return positions


def unmatched(outcomes: Sequence[RaceOutcome]) -> Caveat:
    """The marks that count with the mean weight, because their criterion is not one of the task's."""
    names = [name for outcome in outcomes for name in outcome.unmatched]
    marks = sum(len(marks) for outcome in outcomes for marks in outcome.marks.values())
    what = "marks without a criterion of the task, counted with the mean weight"
    reasons = {"unmatched": len(names)} if names else {}
    return Caveat(what=what, of=marks, reasons=reasons, first="".join(names[:1]), retry=False)


def mean_shares(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The official summary of per-task shares: the plain mean of each figure over the given tasks."""
    return {name: sum(row[name] for row in values) / len(values) for name in values[0]}
