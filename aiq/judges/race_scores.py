"""RACE's arithmetic: criterion scores and weights in, shares of ours against the reference out. Pure functions.

Official definition (Deep Research Bench, score calculation; benchmarks-details 4.3): the mean of a
dimension's scores weighted by criterion, the total as sum of dimension mean times dimension weight,
and every figure as ours / (ours + reference), so that 0.5 means as good as the reference.

Reading a RACE answer strictly: four dimensions, every criterion once, every score from 0 to 10.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import JsonValue

from aiq.core.base import Record
from aiq.core.samples import Criterion, Rubric
from aiq.judges.structured import Unusable, read_object

DIMENSIONS: Final = ("comprehensiveness", "insight", "instruction_following", "readability")
NOTICES: Final = ("sections", "facts", "roles", "numbers", "nonsense")
"""The perturbations that every figure claims to notice: those of the content."""


class Mark(Record):
    """One criterion as the judge model scored it: both articles, 0 to 10; `criterion` as the model spelt it."""

    criterion: str
    ours: float
    reference: float
    analysis: str = ""


class PointMark(Record):
    """One criterion of a report judged by itself, 0 to 10; `criterion` as the model spelt it."""

    criterion: str
    score: float
    analysis: str = ""


class Means(Record):
    """Weighted means of both articles, 0 to 10, in a dimension or overall."""

    ours: float
    reference: float

    @property
    def share(self) -> float:
        """Ours / (ours + reference), 0 to 1; 0 where both are 0, as officially."""
        total = self.ours + self.reference
        return self.ours / total if total > 0 else 0.0


class Outcome(Record):
    """What one scorecard amounts to. `unmatched`: criteria as spelt by the model that fit none of the task's."""

    overall: Means
    dimensions: Mapping[str, Means]
    unmatched: tuple[str, ...] = ()

    def means(self, name: str) -> Means:
        """`overall`, or a dimension's."""
        return self.overall if name == "overall" else self.dimensions[name]


def match(names: Sequence[str], criteria: Sequence[Criterion]) -> list[int | None]:
    """For each name the position of the criterion it means, None where it fits none; no position twice but by equality.

    Official order: equal, equal but for case, one contained in the other. Unlike there, a criterion
    that one name fits better is not given to another by containment.
    """
    keys = [criterion.criterion.strip() for criterion in criteria]
    lowered = [key.lower() for key in keys]
    found: list[int | None] = []
    for name in names:
        name = name.strip()
        exact = keys.index(name) if name in keys else None
        found.append(exact if exact is not None else _position(lowered, name.lower()))
    taken = {position for position in found if position is not None}
    for at, name in enumerate(names):
        if found[at] is None and (lower := name.strip().lower()):
            inside = (i for i, key in enumerate(lowered) if i not in taken and (lower in key or key in lower))
            found[at] = next(inside, None)
            taken |= {position for position in (found[at],) if position is not None}
    return found


def _position(keys: Sequence[str], key: str) -> int | None:
    return keys.index(key) if key in keys else None


def weights(names: Sequence[str], criteria: Sequence[Criterion]) -> list[float]:
    """The weight of each name's criterion; the criteria's mean weight where it fits none."""
    mean = sum(criterion.weight for criterion in criteria) / len(criteria)
    return [mean if at is None else criteria[at].weight for at in match(names, criteria)]


def weighted_mean(values: Sequence[float], shares: Sequence[float]) -> float:
    """0 where there is no value or no weight."""
    total = sum(shares)
    return sum(value * share for value, share in zip(values, shares, strict=True)) / total if total > 0 else 0.0


def weighted_means(marks: Sequence[Mark], criteria: Sequence[Criterion]) -> Means:
    """A dimension's means; 0 where there is no mark or no weight."""
    shares = weights([mark.criterion for mark in marks], criteria)
    return Means(
        ours=weighted_mean([mark.ours for mark in marks], shares),
        reference=weighted_mean([mark.reference for mark in marks], shares),
    )


def absolute(marks: Mapping[str, Sequence[PointMark]], rubric: Rubric) -> dict[str, float]:
    """`overall` and each dimension of a report judged by itself, 0 to 10: the same means, dimension weights made 1."""
    means = {
        name: weighted_mean(
            [mark.score for mark in marks[name]],
            weights([mark.criterion for mark in marks[name]], rubric.criteria[name]),
        )
        for name in DIMENSIONS
    }
    overall = weighted_mean(list(means.values()), [rubric.dimension_weight[name] for name in DIMENSIONS])
    return {"overall": overall, **means}


def outcome(marks: Mapping[str, Sequence[Mark]], rubric: Rubric) -> Outcome:
    """The scorecard of one judge answer; `marks` by dimension, as `race_answer` reads them."""
    dimensions = {name: weighted_means(marks[name], rubric.criteria[name]) for name in DIMENSIONS}
    overall = Means(
        ours=sum(dimensions[name].ours * rubric.dimension_weight[name] for name in DIMENSIONS),
        reference=sum(dimensions[name].reference * rubric.dimension_weight[name] for name in DIMENSIONS),
    )
    return Outcome(overall=overall, dimensions=dimensions, unmatched=unmatched(marks, rubric))


def unmatched(marks: Mapping[str, Sequence[Mark | PointMark]], rubric: Rubric) -> tuple[str, ...]:
    """The criteria, as spelt by the model, that fit none of the task's."""
    names = {name: [mark.criterion for mark in marks[name]] for name in DIMENSIONS}
    return tuple(
        spelt
        for name in DIMENSIONS
        for spelt, at in zip(names[name], match(names[name], rubric.criteria[name]), strict=True)
        if at is None
    )


def published(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The official summary of per-task shares: the plain mean of each figure over the tasks given."""
    names = dict.fromkeys(name for row in values for name in row)
    return {name: sum(row[name] for row in values) / len(values) for name in names}


_HIGHEST: Final = 10

AnyMark = TypeVar("AnyMark", Mark, PointMark)
Entry = Mapping[str, JsonValue]


def read_marks(answer: str, rubric: Rubric, *, swapped: bool = False) -> dict[str, tuple[Mark, ...]]:
    """The marks by dimension, in the answer's order; raises Unusable where anything is missing or out of range.

    A criterion may be spelt differently, but there must be as many marks as criteria, and no
    criterion marked twice. Keys other than the dimensions are passed over. `swapped`: article 1 was the reference.
    """
    ours, reference = ("article_2_score", "article_1_score") if swapped else ("article_1_score", "article_2_score")

    def mark(dimension: str, entry: Entry) -> Mark:
        return Mark(
            criterion=_criterion(dimension, entry),
            ours=number(entry, ours, dimension),
            reference=number(entry, reference, dimension),
            analysis=_analysis(entry),
        )

    return _marks(read_object(answer), rubric, mark)


def read_points(answer: str, rubric: Rubric) -> dict[str, tuple[PointMark, ...]]:
    """The same for a report that was judged by itself."""

    def mark(dimension: str, entry: Entry) -> PointMark:
        return PointMark(
            criterion=_criterion(dimension, entry),
            score=number(entry, "score", dimension),
            analysis=_analysis(entry),
        )

    return _marks(read_object(answer), rubric, mark)


def number(entry: Entry, key: str, where: str, highest: float = _HIGHEST) -> float:
    """A number from 0 to `highest`; raises Unusable for anything else, a text with digits among it."""
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unusable(f"{key} of {where} is no number")
    if not 0 <= value <= highest:
        raise Unusable(f"{key} of {where} is not in 0..{highest:g}")
    return float(value)


def _marks(value: Entry, rubric: Rubric, read: Callable[[str, Entry], AnyMark]) -> dict[str, tuple[AnyMark, ...]]:
    return {name: _dimension(name, value.get(name), rubric.criteria[name], read) for name in DIMENSIONS}


def _dimension(
    name: str, entries: JsonValue, criteria: Sequence[Criterion], read: Callable[[str, Entry], AnyMark]
) -> tuple[AnyMark, ...]:
    if not isinstance(entries, list):
        raise Unusable(f"dimension {name} is missing or no list")
    if len(entries) != len(criteria):
        raise Unusable(f"dimension {name} has {len(entries)} marks for {len(criteria)} criteria")
    marks = tuple(read(name, _object(name, entry)) for entry in entries)
    positions = [at for at in match([mark.criterion for mark in marks], criteria) if at is not None]
    if len(set(positions)) < len(positions):
        raise Unusable(f"dimension {name} marks a criterion twice")
    return marks


def _object(dimension: str, entry: JsonValue) -> Entry:
    if not isinstance(entry, dict):
        raise Unusable(f"a mark in {dimension} is no object")
    return entry


def _criterion(dimension: str, entry: Entry) -> str:
    criterion = entry.get("criterion")
    if not isinstance(criterion, str) or not criterion.strip():
        raise Unusable(f"a mark in {dimension} names no criterion")
    return criterion.strip()


def _analysis(entry: Entry) -> str:
    analysis = entry.get("analysis")
    return analysis if isinstance(analysis, str) else ""
